"""Secrets in what programs read: command lines, calls in code, and configuration files with a grammar of their own."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import LINE, QUOTES, PlaceRule, behind

_TOOLS: Final = (
    r"sshpass|redis-cli|login|mongo(?:sh|dump|restore|import|export)?|\b(?:sqlcmd|bcp|osql|isql|tsql|ipmitool|twine)|ldap[a-z]{3,8}"
    r"|psexec[0-9.a-z]*|evil-winrm|crackmapexec|netexec|mosquitto_[a-z]+|7z[a-z]?|\b(?:un)?zip|\bunrar|keytool|cqlsh|clickhouse"
    r"|rdesktop|\bsecurity|altool|notarytool|fastlane"
)
"""Commands that take a password behind a flag of one letter."""

_SINKS: Final = (
    r"(?:sudo[ \t]+(?:-[A-Za-z]+[ \t]+)*(?:-S|--stdin)|[a-z./-]*[ \t]*(?:registry[ \t]+)?login\b"
    r"|(?:docker|podman)[ \t]+secret"
    r"|(?:wrangler|gh|fly|flyctl|pulumi)[ \t]+(?:secrets?|config|auth)|passwd|smbpasswd|kinit|cryptsetup|keepassxc"
    r"|[^\n|]*(?:--password-stdin|--passphrase-fd|--with-token|--stdin))"
)
"""Commands that read a secret from their standard input."""

# fmt: off
COMMANDS: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("command-password",
        rf"(?:-u|--user|--proxy-user|-U)(?:[ \t]+|=){QUOTES}?[^\s:\"'`/\\-][^\s:\"'`/\\]*:[^\s\"'`\\]{{3}}",
        rf"(?:-u|--user|--proxy-user|-U)(?:[ \t]+|=){QUOTES}?[^\s:\"'`/\\]+:([^\s\"'`\\]{{3,}})", "chosen",
        ("restic-rest -u admin:", "{w5}7{w6}", " x"), "docker run -u 1000:1000 x"),
    behind("command-password",
        rf"(?:-[a-zA-Z]*u|--user|--proxy-user|-U)(?:[ \t]*|=){QUOTES}?[^\s:\"'`/\\-][^\s:\"'`/\\]*:{QUOTES}?",
        "password", ("curl -su admin:", "{W12}", " https://x.test"), "curl -u $USER:$PASS https://x.test", least=3,
        before=r"(?:curl|wget|\bab|\bhey|siege|httpie)[ \t](?:[^|;\n]|\\+n)*$"),
    PlaceRule(
        "command-password",
        r"[ \t]-[pP][^\s\"'`\\=:/-][^\s\"'`\\]{3}",
        r"[ \t]-[pP]([^\s\"'`\\-][^\s\"'`\\]{3,})",
        "password",
        ("mysql -u root -p", "{W12}", " app"),
        "mysql -u root -port 3306",
        edge=False,
        before=r"(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?|sshpass|\bbcp|\bisql|osql|tsql|7z[a-z]?|\b(?:un)?rar)"
        r"(?:[ \t][^\n|;]*)?$",
    ),
    behind("command-password", rf"[ \t]-[pP]{QUOTES}", "password", ("mysqldump -u root -p'", "{W12}", "' app"),
        'mysqldump -u root -p"$PASS" app', edge=False,
        before=r"(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?|sshpass|7z[a-z]?|\b(?:un)?rar)"
        r"(?:[ \t][^\n|;]*)?$"),
    PlaceRule("command-password", rf"[ \t]-[pPwa][ \t]+{QUOTES}?[^\s\"'`\\$<-][^\s\"'`\\]{{3}}",
        rf"[ \t]-[pPwa][ \t]+{QUOTES}?([^\s\"'`\\$<-][^\s\"'`\\]{{3,}})", "chosen",
        ("sshpass -p '", "{W12}", "' ssh host"), "sshpass -p $PASS ssh host", edge=False,
        before=rf"(?:{_TOOLS})(?:[ \t][^\n|;]*)?$"),
    PlaceRule("command-password", rf"(?i:convertto-securestring)[ \t]+(?:-[sS]tring[ \t]+)?{QUOTES}[^\s\"'`\\$]",
        rf"(?i:convertto-securestring)[ \t]+(?:-[sS]tring[ \t]+)?{QUOTES}([^\"'`\\\n]{{4,}})", "password",
        ('ConvertTo-SecureString "', "{W12}", '" -AsPlainText -Force'),
        'ConvertTo-SecureString "password" -AsPlainText'),
    behind("command-password", r"(?i:convertto-securestring)[ \t]+(?:-(?i:string)[ \t]+)?", "chosen",
        ("ConvertTo-SecureString ", "{w6}7{w6}", " -AsPlainText -Force"), "ConvertTo-SecureString $plain2 -AsPlainText",
        value=r"[^\s\"'`\\()]"),
    PlaceRule("ci-secret", rf"gh secret set [A-Za-z0-9_]{{1,80}} (?:--body|-b)[ =]{QUOTES}?[^\s\"'`\\$<]{{8}}",
        rf"gh secret set [A-Za-z0-9_]+ (?:--body|-b)[ =]{QUOTES}?([^\s\"'`\\$<]{{8,}})", "short",
        ('gh secret set DEPLOY --body "', "{W32}", '"'), "gh secret set DEPLOY --body the-value-of-it"),
    behind("command-password", r"pass:", "password", ("openssl enc -aes-256-cbc -pass pass:", "{W12}", " -in a"),
        "openssl enc -pass pass:$PASS", before=rf"-pass(?:in|out)?(?:[ \t]+|=){QUOTES}?$"),
    behind("command-password", r"/(?:p|rp|pass)(?::|[ \t]+)", "chosen",
        ("xfreerdp /v:10.0.0.2 /u:bob /p:", "{w6}7{w6}", ""), "msbuild app.sln /p:Configuration=Release", edge=False,
        before=r"(?:[xw]freerdp[0-9]*|sdl-freerdp|mstsc|cmdkey|rdesktop|signtool|schtasks)[ \t][^\n|;]*$"),
    behind("command-password", rf"(?i:net)[ \t]+(?i:user)[ \t]+[^\s/]+[ \t]+{QUOTES}?", "chosen",
        ("net user bob ", "{W12}", " /add"), "net user bob /delete", value=r"[^\s\"'`\\/]"),
    behind("command-password", r"(?i:net)[ \t]+(?i:use)[ \t]+(?:[A-Za-z*]:?[ \t]+)?\\{2,4}[^\s]+[ \t]+", "chosen",
        (r"net use Z: \\fs\share ", "{w6}7{w6}", r" /user:ACME\bob"), r"net use Z: \\fs\share * /user:ACME\bob",
        value=r"[^\s\"'`\\/]", after=r"[ \t]+/(?i:user):"),
    behind("command-password", rf"/(?i:user):[^\s]+[ \t]+{QUOTES}?", "chosen",
        (r"net use Z: \\fs\share /user:ACME\bob ", "{W12}", ""), r"net use Z: \\fs\share /user:ACME\bob *", edge=False,
        before=r"(?i:net)[ \t]+(?i:use)[ \t][^\n]*$"),
    behind("command-password",
        rf"(?:echo|printf|Write-Output)[ \t]+(?:-[neE]+[ \t]+)?(?:{QUOTES}?%s(?:\\+n)?{QUOTES}?[ \t]+)?{QUOTES}?",
        "chosen", ('echo "', "{W12}", '" | sudo -S apt-get update'),
        "echo $PASSWORD | docker login -u bob --password-stdin", value=r"[^\s\"'`\\|]",
        after=rf"{QUOTES}?[ \t]*\|[ \t]*{_SINKS}"),
    behind("command-password", rf"(?:echo|printf)[ \t]+{QUOTES}?[^\s\"'`\\:|]+:", "password",
        ("echo 'bob:", "{W12}", "' | chpasswd"), "echo 'bob:$PASS' | chpasswd", value=r"[^\s\"'`\\|]",
        after=rf"{QUOTES}?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd"),
    behind("command-password",
        rf"(?:sqlplus|sqlldr|expdp|impdp|rman)[ \t]+(?:-[A-Za-z]+[ \t]+)*(?:target[ \t]+|userid=)?{QUOTES}?"
        r"[A-Za-z0-9_]+/", "password", ("sqlplus -s scott/", "{w12}", "@//db:1521/XE"), "sqlplus / as sysdba",
        value=r"[^\s\"'`\\@/]"),
    behind("command-password",
        rf"rabbitmqctl[ \t]+(?:-[^\s]+[ \t]+[^\s]+[ \t]+){{0,2}}(?:add_user|change_password|authenticate_user)"
        rf"[ \t]+[^\s]+[ \t]+{QUOTES}?", "password", ("rabbitmqctl add_user app ", "{W12}", ""),
        "rabbitmqctl add_user app $PASS"),
    behind("command-password",
        rf"mc[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+{QUOTES}?",
        "password", ("mc alias set store https://s3.x.test admin ", "{w20}", ""),
        "mc alias set store https://s3.x.test $KEY $SECRET"),
    behind("command-password",
        r"htpasswd[ \t]+(?:-[a-zA-Z]*b[a-zA-Z]*[ \t]+(?:-[a-zA-Z]+[ \t]+){0,3}[^\s-][^\s]*[ \t]+"
        r"|-[a-zA-Z]*(?:nb|bn)[a-zA-Z]*[ \t]+)"
        rf"[^\s]+[ \t]+{QUOTES}?", "chosen", ("htpasswd -bc /etc/users bob ", "{W12}", ""),
        "htpasswd -bc /etc/users bob $PASS"),
    behind("command-password",
        rf"(?:poetry|composer)[ \t]+config[ \t]+(?:-[^\s]+[ \t]+)*http-basic\.[^\s]+[ \t]+[^\s]+[ \t]+{QUOTES}?",
        "password", ("poetry config http-basic.acme bob ", "{W12}", ""), "poetry config http-basic.acme bob $PASS"),
    behind("command-password", rf"[ \t]-N[ \t]+{QUOTES}", "password",
        ("ssh-keygen -t ed25519 -N '", "{W12}", "' -f key"), 'ssh-keygen -t ed25519 -N "$PASS" -f key', edge=False,
        before=r"ssh-keygen(?:[ \t][^\n|;]*)?$"),
    behind("command-password", rf"[ \t]-[cAX][ \t]+{QUOTES}?", "chosen", ("snmpwalk -v2c -c ", "{w12}", " 10.0.0.1"),
        "snmpwalk -v2c -c public 10.0.0.1", edge=False, before=r"snmp[a-z]{3,10}(?:[ \t][^\n|;]*)?$"),
    behind("command-password", rf"[ \t]-(?:a|-?auth)[ \t]+{QUOTES}?[^\s:\"'`\\]+:", "password",
        ("http -a bob:", "{W12}", " x.test/api"), "http -a bob:$PASS x.test/api", edge=False,
        before=r"(?:\b(?:https?|xhs?)|jenkins-cli(?:\.jar)?)(?:[ \t][^\n|;]*)?$"),
    behind("command-password", rf"[ \t](?:-U|-u|--user)[ \t=]*{QUOTES}?[^\s%\"'`]+%", "password",
        ("smbclient //fs/share -U bob%", "{W12}", ""), "smbclient //fs/share -U bob%$PASS", edge=False,
        before=r"(?:smbclient|rpcclient|smbget|smbmap|winexe|\bnet|wmic)(?:[ \t][^\n|;]*)?$"),
    behind("command-password", rf"(?:lftp|ncftp)[ \t][^\n]{{0,80}}-u[ \t]+{QUOTES}?[^\s,\"'`]+,", "password",
        ("lftp -u bob,", "{W12}", " ftp.x.test"), "lftp -u bob,$PASS ftp.x.test"),
    behind("command-password",
        rf"(?:wpa_passphrase|dscl[ \t]+\.[ \t]+-passwd|ansible-vault[ \t]+encrypt_string)[ \t]+"
        rf"(?:[^\s\"'`-][^\s]*[ \t]+)?{QUOTES}?", "chosen", ("wpa_passphrase Office ", "{W12}", ""),
        "wpa_passphrase Office $PSK"),
    behind("generated-key",
        rf"(?:wg[ \t]+gen(?:key|psk)|openssl[ \t]+rand[ \t]+-(?:base64|hex)[ \t]+[0-9]+"
        rf"|pwgen[^\n\\]{{0,40}}){LINE}[ \t]*", "coded", ("$ openssl rand -base64 32\n", "{b43}=", "\n"),
        "openssl rand -hex 32\n# put it into the vault", value=r"[A-Za-z0-9+/=]", least=16),
    behind("api-key", r"(?:codecov(?:\.io/bash\)?)?|coveralls)[^\n|;\\]{0,80}[ \t](?:-t|--token)[ \t=]+", "key",
        ("codecov -t ", "{uuid}", ""), "codecov -t $CODECOV_TOKEN", value=r"[A-Za-z0-9-]", least=20),
    behind("api-key", r"vault[ \t]+login[ \t]+(?:token=)?", "key", ("vault login ", "{w24}", "\n"),
        "vault login with-the-token-of-your-team", value=r"[A-Za-z0-9._-]", least=16),
    behind("command-password",
        rf"openssl[ \t]+passwd[ \t]+(?:-salt[ \t]+[^\s]+[ \t]+|-[0-9a-z]+[ \t]+){{0,4}}{QUOTES}?", "chosen",
        ("openssl passwd -6 ", "{w6}7{w6}", "\n"), 'openssl passwd -6 "$PASS"', value=r"[^\s\"'`\\()]"),
    behind("command-password",
        r"bundle[ \t]+config[ \t]+(?:set[ \t]+)?(?:--[a-z]+[ \t]+){0,2}[a-z0-9-]+(?:\.[a-z0-9-]+)+[ \t]+[^\s:/]+:",
        "chosen", ("bundle config set gems.x.test bob:", "{w6}7{w6}", "\n"),
        "bundle config set gems.x.test https://mirror.x.test", value=r"[^\s\"'`\\/]"),
    behind("totp-secret", rf"oathtool[ \t]+(?:-[^\s]+[ \t]+){{0,6}}{QUOTES}?", "any",
        ("oathtool --totp -b ", "{t32}", "\n"), "oathtool --totp -b $SECRET", value=r"[A-Z2-7]", least=16),
    behind("private-key", r"importprivkey[ \t\"',\\(\[]{1,8}", "key", ("bitcoin-cli importprivkey ", "{k52}", "\n"),
        "bitcoin-cli importprivkey how-to", value=r"[1-9A-HJ-NP-Za-km-z]", least=50),
    behind("command-password", rf"<<<[ \t]*{QUOTES}?", "chosen",
        ("sudo -S systemctl restart nginx <<< '", "{W12}", "'"), 'sudo -S systemctl restart nginx <<< "$PASS"',
        value=r"[^\s\"'`\\<]", edge=False,
        before=r"(?:sudo[ \t]+(?:-[A-Za-z]+[ \t]+)*-S|passwd|kinit|cryptsetup|login|--password-stdin"
        r"|--passphrase-fd)[^\n]*$"),
    behind("command-password", rf"send(?:[lL]ine)?[ \t(]+(?:--[ \t]+)?{QUOTES}", "chosen",
        ("child.expect('password:')\nchild.sendline('", "{W12}", "')"),
        "child.expect('password:')\nchild.sendline('yes')", after=rf"(?:\\+[rn])*{QUOTES}",
        before=r"(?i:assword|passphrase)[^\n]{0,40}\n[^\n]{0,40}$"),
    behind("command-password", rf"(?:CURLOPT_(?:PROXY)?USERPWD[ \t]*,|=>?)[ \t]*{QUOTES}?[A-Za-z0-9_.@-]+:", "strong",
        ('curl_setopt($ch, CURLOPT_USERPWD, "admin:', "{w6}Q7x{w6}", '");'),
        'curl_setopt($ch, CURLOPT_USERPWD, "$user:$password");', edge=False,
        before=r"(?i:\b(?:login|userpass|userpwd|credentials)[ \t]?|setopt\([^,\n]{0,20},[ \t]*)$"),
)
# fmt: on


_WRAPPED_PEM: Final = (
    "LS0tLS1CRUdJTiB(?:QUklWQVRFIEtFWS|SU0EgUFJJVkFURSBL|FQyBQUklWQVRFIEtF|PUEVOU1NIIFBSSVZB|FTkNSWVBURUQgUFJJ|QR1AgUFJJVkFU"
    "|EU0EgUFJJVkFU)"
)
"""How the first lines of private keys begin in base64, as in kubeconfig files and CI variables."""


# fmt: off
FILES: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("netrc-password", r"machine[ \t]+[^\s]+\s+login[ \t]+[^\s]+\s+password[ \t]+[^\s\"'`\\]{4}",
        r"machine[ \t]+[^\s]+\s+login[ \t]+[^\s]+\s+password[ \t]+([^\s\"'`\\]{4,})", "password",
        ("machine x.test login bob password ", "{W12}", ""), "machine x.test login bob password $PASS"),
    PlaceRule("private-key", rf"(?:{_WRAPPED_PEM})[A-Za-z0-9+/]{{40}}",
        rf"((?:{_WRAPPED_PEM})[A-Za-z0-9+/]{{40,}}={{0,2}})", "any",
        ("client-key-data: ", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt{b80}", ""),
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t{b80}"),
    behind("configured-password",
        r"(?:requirepass|masterauth|bindpw|rootpw(?:[ \t]+--plaintext)?"
        r"|passwd/[a-z-]{1,40}[ \t]+password|r[ow]community6?|snmp-server[ \t]+community|auth[-_]pass|server-key"
        r"|enable[ \t]+(?:secret|password)"
        r"|pre-shared-key(?:[ \t]+(?:local|remote|ascii-text))*|(?:radius|tacacs)-server[ \t]+key|authentication-key"
        rf"|message-digest-key[ \t]+[0-9]+[ \t]+md5|stats[ \t]+auth[ \t]+[^\s:]+)"
        rf"(?:[ \t]*[:=][ \t]*|[ \t]+|:)(?:[0-9][ \t]+)?{QUOTES}?", "chosen", ("requirepass ", "{W12}", "\n"),
        "requirepass is off"),
    behind("configured-password", r"(?:(?:password|secret|passwd|md5|community)[ \t]+[0-9]|key[ ]7)[ \t]+", "short",
        ("enable secret 5 ", "{w16}", ""), "the password 3 times", value=r"[^\s\"'`\\<>]", least=6),
    behind("configured-password", r"(?i:pwd|password)=\\*\{", "short", ("Driver={x};UID=sa;PWD={", "{W12}", "};"),
        "<Login password={userPassword} />", value=r"[^{}\r\n]", after=r"\\*\}", edge=False),
    behind("configured-password", r"<(?i:password|passphrase|master)>\{", "coded",
        ("<password>{", "{b43}=", "}</password>"), "<password>{project.deploy.password}</password>",
        value=r"[A-Za-z0-9+/=]", least=24, after=r"\}"),
    behind("configured-secret",
        r"variable[ \t]+\\*\"[a-z0-9_]*(?:password|passwd|secret|token|api_key|private_key|access_key)"
        r"[a-z0-9_]*\\*\"[ \t]*\{[^{}]{0,200}\sdefault[ \t]*=[ \t]*\\*\"", "chosen",
        ('variable "api_token" {\n  type = string\n  default = "', "{w32}", '"\n}'),
        'variable "api_token" {\n  type = string\n  default = ""\n}', value=r"[^\"\\\r\n]"),
    behind("configured-secret",
        r"(?i:password|passwd|secret|token|api_?key)[A-Za-z0-9]{0,16}:[ \t]*"
        rf"{LINE}(?:[ \t]+[A-Za-z]+:[^\n\\]{{0,80}}{LINE}){{0,3}}[ \t]+(?:Default|default):[ \t]*{QUOTES}?", "chosen",
        ("  DbPassword:\n    Type: String\n    NoEcho: true\n    Default: ", "{w6}8{w6}", "\n"),
        "  DbPassword:\n    Type: String\n    Default: ''", edge=False),
    behind("configured-secret", rf"BUNDLE_[A-Z0-9]+(?:__?[A-Z0-9]+)+{QUOTES}?[ \t]*[:=][ \t]*{QUOTES}?", "drawn",
        ('BUNDLE_GEMS__X__COM: "', "{h8}:{h8}", '"'), "BUNDLE_PATH__SYSTEM: true"),
    behind("configured-password", rf":[ \t]*(?:EAP|PSK|XAUTH|NTLM)[ \t]+{QUOTES}", "chosen",
        ('bob : EAP "', "{w6}7{w6}", '"'), 'bob : EAP "password"', value=r"[^\"\\\r\n]", edge=False),
    behind("configured-secret",
        rf"(?:github-oauth|gitlab-token|gitlab-oauth){QUOTES}[ \t]*:\s*\{{\s*{QUOTES}[a-z0-9.-]{{1,64}}{QUOTES}"
        rf"[ \t]*:[ \t]*{QUOTES}", "key", ('{"github-oauth":{"github.com":"', "{h40}", '"}}'),
        '{"github-oauth":{"github.com":"the-one-of-your-own"}}', value=r"[A-Za-z0-9_-]", least=16),
    behind("configured-secret",
        rf"(?i:password|passwd|secret|token|api_?key)[ \t]*=[ \t]*{QUOTES}[^\"\n]{{0,80}}{QUOTES}"
        rf"[ \t]*->[ \t]*{QUOTES}", "chosen", ('~ admin_password = "old" -> "', "{w6}7{w6}", '"'),
        '~ admin_password = "old" -> "changeme"', value=r"[^\"\\\r\n]", edge=False),
    behind("configured-password", r"<(?:[A-Za-z]{1,12}:)?(?i:password|passphrase|secret|token)[ \t][^<>\r\n]{1,120}>",
        "chosen", ('<wsse:Password Type="#PasswordText">', "{w6}7{w6}", "</wsse:Password>"),
        '<Password label="x">Choose one with 8 signs</Password>', value=r"[^\s<>\"'`\\]", after="</", edge=False),
    behind("wifi-password", r"WIFI:(?:[A-OQ-Z]:[^;\s]*;){0,4}P:\\*\"?", "password",
        ("WIFI:T:WPA;S:Office;P:", "{w16}", ";;"), "WIFI:T:nopass;S:Office;;", value=r"[^;\"\s]"),
    behind("password-hash", r":[0-9]{3,6}:[A-Fa-f0-9]{32}:", "any",
        ("Administrator:500:aad3b435b51404eeaad3b435b51404ee:", "{h32}", ":::"),
        "Administrator:500:aad3b435b51404eeaad3b435b51404ee:00000000000000000000000000000000:::", value=r"[A-Fa-f0-9]",
        least=32, after=":::", edge=False),
    behind("configured-password",
        rf"chpasswd:[ \t]*{LINE}(?:[ \t]+[a-z_]+:[^\r\n\\]{{0,40}}{LINE}){{0,3}}?"
        r"[ \t]+(?:-[ \t]+)?[a-z_][a-z0-9_-]*:[ \t]*", "password", ("chpasswd:\n  list: |\n    ubuntu:", "{w14}", "\n"),
        "chpasswd:\n  expire: false\n  users:\n    - {name: eve, type: RANDOM}", edge=False),
)
# fmt: on


_INSIDE: Final = r"[^\"'`\\\n]"
"""Pattern for one character inside quotes."""

_STATEMENT: Final = r"(?i:create|alter|grant|replace)[ \t][^;]*$"
"""Pattern for the text before a password in an SQL statement about users."""


# fmt: off
CALLS: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("call-password",
        rf"(?:\.login|\bauth[ \t]*=[ \t]*|HTTPBasicAuth|\b[Bb]asic_?[Aa]uth|SetBasicAuth|PlainAuth"
        r"|NetworkCredential|(?:User[Nn]ame)?Password(?:Authentication|Credentials?)|BasicAWSCredentials|oci_connect"
        r"|AwsBasicCredentials\.create|NewStaticCredentials(?:Provider)?|WiFi\.begin)"
        rf"\((?:{QUOTES}{QUOTES}[ \t]*,[ \t]*)?"
        rf"{QUOTES}[^\s\"'`\\]{{1,64}}{QUOTES}[ \t]*,[ \t]*{QUOTES}[^\s\"'`\\]{{4}}",
        rf"[._A-Za-z]+[ \t]*=?[ \t]*\((?:{QUOTES}{QUOTES}[ \t]*,[ \t]*)?"
        rf"{QUOTES}[^\s\"'`\\]+{QUOTES}[ \t]*,[ \t]*{QUOTES}([^\"'`\\\n]{{4,}}){QUOTES}", "password",
        ('smtp.login("bob@x.test", "', "{W12}", '")'), 'requests.get(url, auth=("user", "password"))', edge=False),
    PlaceRule("jwt-secret",
        r"(?:jwt|jsonwebtoken|JWT)\.(?:sign|verify|encode|decode)\((?:[A-Za-z_.]{1,40}|\{[^{}\n]{0,80}\}),[ \t]*"
        rf"{QUOTES}[^\s\"'`\\]{{8}}",
        rf"[A-Za-z]+\.[a-z]+\((?:[A-Za-z_.]+|\{{[^{{}}\n]*\}}),[ \t]*{QUOTES}([^\s\"'`\\]{{8,}}){QUOTES}", "chosen",
        ("jwt.sign(payload, '", "{W32}", "')"), "jwt.sign(payload, 'my-test-secret')"),
    PlaceRule("api-key",
        rf"cohere\.(?:Async)?Client(?:V2)?\({QUOTES}[A-Za-z0-9]{{20}}|wandb login [0-9a-f]{{40}}"
        r"|sonar\.login=[0-9a-f]{40}"
        rf"|algoliasearch\({QUOTES}[A-Z0-9]{{10}}{QUOTES},[ \t]*{QUOTES}[0-9a-f]{{32}}"
        rf"|{QUOTES}(?:AC|SK)[0-9a-f]{{32}}{QUOTES},[ \t]*{QUOTES}[A-Za-z0-9]{{32}}",
        rf"(?:cohere\.[A-Za-z0-9]+\({QUOTES}|wandb login |sonar\.login="
        rf"|algoliasearch\({QUOTES}[A-Z0-9]+{QUOTES},[ \t]*{QUOTES}"
        rf"|{QUOTES}(?:AC|SK)[0-9a-f]+{QUOTES},[ \t]*{QUOTES})([A-Za-z0-9]{{20,}})", "drawn",
        ('cohere.Client("', "{w40}", '")'), 'cohere.Client("yourcohereapikeygoeshereplease")', edge=False),
    PlaceRule("signing-secret",
        r"(?:SECRET_KEY|AUTH_KEY|LOGGED_IN_KEY|NONCE_KEY|AUTH_SALT|LOGGED_IN_SALT|NONCE_SALT)"
        rf"{QUOTES}?[ \t]*[=,:][ \t]*{QUOTES}[!-~]{{12}}",
        rf"[A-Z_]+{QUOTES}?[ \t]*[=,:][ \t]*{QUOTES}([^'\"\n\\]{{40,90}})['\"]", "drawn",
        ("SECRET_KEY = '", "{W50}", "'"),
        "SECRET_KEY = 'please put a long and unique phrase of your own in this place'", edge=False),
    behind("call-password",
        r"(?:getConnection|new[ \t]+\\*(?:PDO|mysqli)|mysqli(?:_real)?_connect|DBI->connect|pg_connect|ftp_login"
        r"|ldap_bind|imap_open|odbc_connect|new[ \t]+Sequelize)"
        rf"\([^()\n,]+,[ \t]*{QUOTES}[^\s\"'`\\]*{QUOTES}[ \t]*,[ \t]*{QUOTES}", "password",
        ("new PDO('mysql:host=db;dbname=x', 'root', '", "{W12}", "')"), "new PDO($dsn, 'root', 'password')",
        value=_INSIDE),
    behind("call-password", rf"(?:\.|:|->)(?:auth|authenticate|unlock)\({QUOTES}", "chosen",
        ('red:auth("', "{W12}", '")'), "passport.authenticate('github-oauth-app')", value=_INSIDE, after=rf"{QUOTES}\)",
        edge=False),
    behind("call-password",
        r"\.(?:fill|type|send_?[kK]eys|set_?[vV]alue|press_?[sS]equentially|(?:enter|type|input)_?[tT]ext|val)"
        rf"\({QUOTES}", "chosen", ("page.getByLabel('Password').fill('", "{W12}", "')"),
        "page.getByLabel('Password').fill('password')", value=_INSIDE, edge=False,
        before=r"(?i:passwor[dt]|passwd|passcode|passphrase|pwd|secret|token)[^\n;]*$"),
    behind("database-password",
        r"(?i:identified)[ \t]+(?:(?i:with)[ \t]+[^\s]+[ \t]+)?(?i:by|as)[ \t]+(?:(?i:password)[ \t]+)?"
        r"(?:[NE]?\\*[\"'])", "password", ("CREATE USER 'app'@'%' IDENTIFIED BY '", "{W12}", "';"),
        "CREATE USER 'app'@'%' IDENTIFIED BY 'password';", value=_INSIDE, before=_STATEMENT),
    behind("database-password", r"IDENTIFIED[ \t]+BY[ \t]+", "chosen",
        ("ALTER USER hr IDENTIFIED BY ", "{w6}7{w6}", ";"), "ALTER USER hr IDENTIFIED BY VALUES", before=_STATEMENT,
        value=r"[^\s\"'`\\;]"),
    behind("call-password",
        rf"basic_auth(?:\(|[ \t]+){QUOTES}[^\s\"'`\\]{{1,64}}{QUOTES}[ \t]*,[ \t]*(?:Some\()?{QUOTES}", "chosen",
        ('.basic_auth("bob", Some("', "{w6}7{w6}", '"))'), '.basic_auth("bob", Some("password"))', value=_INSIDE,
        edge=False),
    behind("call-password", rf"mysql_real_connect\((?:[^,()\n]{{1,60}},[ \t]*){{3}}{QUOTES}", "password",
        ('mysql_real_connect(c, "db", "root", "', "{W12}", '", "app", 0, NULL, 0)'),
        'mysql_real_connect(c, "db", "root", "password", "app", 0, NULL, 0)', value=_INSIDE),
    behind("signing-secret",
        rf"(?:cookieParser\(|createHmac\({QUOTES}[A-Za-z0-9-]{{1,16}}{QUOTES},[ \t]*|hmac\.(?:new|HMAC|digest)\()"
        rf"b?{QUOTES}", "chosen", ("crypto.createHmac('sha256', '", "{w6}7{w6}", "')"),
        "crypto.createHmac('sha256', 'secret')", value=_INSIDE, least=6),
    behind("totp-secret", rf"(?:[TH]OTP|totp|authenticator\.(?:generate|check|keyuri))\({QUOTES}", "key",
        ("pyotp.TOTP('", "{t32}", "')"), "pyotp.TOTP('BASETHIRTYTWOSECRET')", value=r"[A-Z2-7]", least=16, edge=False),
    behind("signing-secret", r"django-insecure-", "any", ("SECRET_KEY = 'django-insecure-", "{w50}", "'"),
        "django-insecure-keys are made by startproject", least=32),
    behind("database-password", rf"crypt\({QUOTES}", "chosen", ("SELECT crypt('", "{w6}7{w6}", "', gen_salt('bf'))"),
        "SELECT crypt('password', gen_salt('bf'))", value=_INSIDE, after=rf"{QUOTES}[ \t]*,[ \t]*gen_salt"),
    behind("encryption-key", rf"(?i:pgp_sym_(?:en|de)crypt|aes_(?:en|de)crypt)(?:_bytea)?\([^()\n,]+,[ \t]*{QUOTES}",
        "chosen", ("SELECT pgp_sym_encrypt(name, '", "{W16}", "')"), "SELECT pgp_sym_encrypt(name, 'password')",
        value=_INSIDE),
    behind("private-key",
        rf"(?:accounts|privateKeys?|private_keys?|from_key|Wallet)[ \t]*[:=(][ \t\[(]*(?:\r?\n)?[ \t]*{QUOTES}?(?:0x)?",
        "any", ("accounts: ['0x", "{h64}", "']"),
        "accounts: ['0x0000000000000000000000000000000000000000000000000000000000000000']", value=r"[A-Fa-f0-9]",
        least=64),
    behind(
        "call-password",
        rf"(?i:auth|login|log_in|signin|sign_in|pw|pwd|password|credentials?)[A-Za-z_]{{0,16}}\({QUOTES}[^\s\"'`\\]{{1,64}}{QUOTES}"
        rf"[ \t]*,[ \t]*{QUOTES}",
        "strong",
        ("client.username_pw_set('sensor', '", "{w5}#{w5}7x", "')"),
        "authorize('update', 'posts2')",
        value=_INSIDE,
        edge=False,
    ),
    behind("database-password",
        rf"(?i:password[ \t]+from)[ \t]+{QUOTES}[^\"'`\\\n]{{0,80}}{QUOTES}[ \t]+(?i:to)[ \t]+{QUOTES}", "password",
        ("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO '", "{W14}", "';"),
        "ALTER CURRENT USER SET PASSWORD FROM $old TO $new", value=_INSIDE),
)
# fmt: on
