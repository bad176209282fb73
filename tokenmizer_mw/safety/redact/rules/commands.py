"""Secrets on command lines."""

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
        rf"\bmc[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+{QUOTES}?",
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
