"""Places in which chats hold secrets: command lines, code, settings files, protocols, columns, and people's words.

Rows of a group: a kind, the shape of its secret, and the text around it. The kinds come from lists of new authors whose
secrets the rules did not yet find; values and words are new.
"""

from __future__ import annotations

from typing import Final

CHOSEN: Final = "{U1}{L6}!{L6}{d2}"
"""Shape of a password as people make it up."""

DRAWN: Final = "{U1}{w11}7x{w2}"
"""Shape of a password as password managers generate it."""

KEY: Final = "{w32}"

JOINED: Final = "{L6}_{L7}_{d1}"
HYPHENED: Final = "{L6}-{d2}-{L5}"
CAPITALS: Final = "{U1}{L6}{U1}{L5}{d2}"
"""Shapes of passwords as people make them up: words with a sign, a number or a capital."""

CONTEXTS: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {
    "command": (
        ("sqlcmd", CHOSEN, "sqlcmd -S tcp:db -U sa -P '{s}' -Q 'select 1'"),
        ("osql-glued", DRAWN, "osql -S db -U sa -P{s} -i up.sql"),
        ("mosquitto", DRAWN, "mosquitto_sub -h broker -u sensor -P {s} -t '#'"),
        ("ldapmodify", DRAWN, "ldapmodify -x -D cn=root,dc=x -w {s} -f a.ldif"),
        ("openssl-passout", DRAWN, "openssl genrsa -aes256 -passout pass:{s} 4096"),
        ("keystore", DRAWN, "keytool -list -keystore app.jks -storepass {s}"),
        ("net-use", DRAWN, "net use X: \\\\nas\\media /user:HOME\\eve {s}"),
        ("net-user", DRAWN, "net user eve {s} /add"),
        ("freerdp", CHOSEN, "xfreerdp /u:eve /p:{s} /v:box"),
        ("pipe-sudo", DRAWN, "echo '{s}' | sudo -S systemctl restart app"),
        ("pipe-login", KEY, "echo {s} | docker login registry.test -u ci --password-stdin"),
        ("pipe-chpasswd", DRAWN, "echo 'eve:{s}' | sudo chpasswd"),
        ("here-string", CHOSEN, "kinit eve@X.TEST <<< '{s}'"),
        ("expect", DRAWN, 'expect "Password:"\nsend "{s}\\r"'),
        ("sqlplus", "{w12}", "sqlplus -L hr/{s}@//db/XE @a.sql"),
        ("rabbitmqctl", DRAWN, "rabbitmqctl change_password app {s}"),
        ("mc-alias", "{w20}", "mc alias set store https://s3.test admin {s}"),
        ("htpasswd", DRAWN, "htpasswd -bB /etc/web.users eve {s}"),
        ("composer", "{h40}", "composer config http-basic.repo.test token {s}"),
        ("ssh-keygen", CHOSEN, "ssh-keygen -t ed25519 -N '{s}' -f deploy"),
        ("snmpget", "{w12}", "snmpget -v2c -c {s} 10.0.0.1 sysName.0"),
        ("smbclient", DRAWN, "smbclient //nas/media -U 'eve%{s}'"),
        ("lftp", DRAWN, "lftp -u eve,{s} sftp://files.test"),
        ("wg-genpsk", "{b43}=", "$ wg genpsk\n{s}\n$"),
        ("openssl-rand", "{h64}", "$ openssl rand -hex 32\n{s}\n"),
        ("ssm-parameter", DRAWN, "aws ssm put-parameter --name /a/db/password --value {s} --type SecureString"),
    ),
    "code": (
        ("setter", DRAWN, 'factory.setPassword("{s}");'),
        ("builder", KEY, '.withApiKey("{s}")'),
        ("constructor", DRAWN, 'let password = SecretString::from("{s}");'),
        ("fallback", KEY, "secret: process.env.COOKIE_SECRET ?? '{s}',"),
        ("annotation", KEY, 'API_TOKEN: ClassVar[str] = "{s}"'),
        ("pdo", DRAWN, "new PDO($dsn, 'shop', '{s}');".replace("$dsn", "'mysql:host=db'")),
        ("drivermanager", DRAWN, 'DriverManager.getConnection(url, "app", "{s}");'),
        ("network-credential", DRAWN, 'new NetworkCredential("svc", "{s}")'),
        ("redis-auth", DRAWN, "await client.auth('{s}')"),
        ("fill", CHOSEN, "page.getByLabel('Password').fill('{s}')"),
        ("send-keys", CHOSEN, "driver.find_element(By.NAME, 'passwd').send_keys('{s}')"),
        ("curlopt", DRAWN, 'curl_setopt($ch, CURLOPT_USERPWD, "eve:{s}");'),
        ("hardhat", "{h64}", "accounts: ['0x{s}'],"),
        ("identified-by", DRAWN, "CREATE USER 'eve'@'%' IDENTIFIED BY '{s}';"),
        ("identified-with", DRAWN, "ALTER USER eve IDENTIFIED WITH caching_sha2_password BY '{s}';"),
        ("create-login", DRAWN, "CREATE LOGIN eve WITH PASSWORD = N'{s}';"),
        ("set-password", DRAWN, "SET PASSWORD FOR 'eve' = PASSWORD('{s}');"),
        ("insert", CHOSEN, "INSERT INTO accounts (id, login, password) VALUES (7, 'eve', '{s}');"),
        ("pgcrypto", DRAWN, "SELECT pgp_sym_decrypt(note, '{s}') FROM notes;"),
        ("jdbc-oracle", "{w12}", "jdbc:oracle:thin:hr/{s}@//db:1521/XE"),
        ("rpc-node", "{h32}", "https://sepolia.infura.io/v3/{s}"),
    ),
    "file": (
        ("requirepass", DRAWN, "port 6379\nrequirepass {s}\n"),
        ("redis-acl", DRAWN, "ACL SETUSER web on >{s} ~* +@read"),
        ("bindpw", DRAWN, "base dc=x\nbindpw {s}\n"),
        ("rwcommunity", "{w12}", "rwcommunity {s} 10.0.0.0/8"),
        ("cisco", DRAWN, "username eve privilege 15 secret 0 {s}"),
        ("terraform-variable", KEY, 'variable "db_password" {\n  sensitive = true\n  default = "{s}"\n}'),
        ("cloudformation", DRAWN, "  DbPassword:\n    Type: String\n    NoEcho: true\n    Default: {s}\n"),
        ("yaml-block", KEY, "api_token: |\n  {s}\nnext: 1"),
        ("plist", KEY, "<key>ClientSecret</key>\n  <string>{s}</string>"),
        ("maven-encrypted", "{b43}=", "<password>{{s}}</password>"),
        ("odbc-braces", DRAWN, "Driver={X};Server=db;Uid=eve;Pwd={{s}};"),
        ("wifi-code", DRAWN, "WIFI:S:Home;T:WPA;P:{s};;"),
        ("k8s-inline", "{b24}", '{"kind":"Secret","apiVersion":"v1","data":{"word":"{s}"}}'),
        ("web-key", "{W43}", '{"kty":"OKP","crv":"Ed25519","d":"{s}","x":"short"}'),
        ("openvpn", "{h32}", "-----BEGIN OpenVPN Static key V1-----\n{s}\n-----END OpenVPN Static key V1-----"),
        ("markdown-table", CHOSEN, "| host | user | password |\n|---|---|---|\n| a | root | {s} |"),
        ("litellm-table", "sk-litellm-{w11}", "| proxy | key |\n|---|---|\n| one | {s} |"),
        ("litellm-short", "sk-{d4}", "| proxy | key |\n|---|---|\n| one | {s} |"),
        ("aws-next-line", "{b40}", "AWS_SECRET_ACCESS_KEY=\n{s}\n"),
        ("aws-two-lines", "{b20}\n{b20}", "AWS_SECRET_ACCESS_KEY={s}\nAWS_REGION=eu-west-1"),
        ("aws-rest", "{b32}\n{b8}", "export AWS_SECRET_ACCESS_KEY={s}\n"),
        ("csv", "{b40}", "user,access key,secret access key\nci,none,{s}\n"),
    ),
    "protocol": (
        ("authorization-scheme", "{uuid}", "Authorization: GenieKey {s}"),
        ("authorization-equals", "{uuid}", "Authorization: PVEAPIToken=ci@pam!build={s}"),
        ("aws4-signature", "{h64}", "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature={s}"),
        ("smtp-auth", "{b32}", "C: AUTH PLAIN {s}\nS: 235 ok"),
        ("smtp-login", "{b24}", "S: 334 UGFzc3dvcmQ6\nC: {s}\n"),
        ("imap-login", DRAWN, "a7 LOGIN eve@x.test {s}"),
        ("redis-auth-line", DRAWN, "10.0.0.2:6379> AUTH web {s}\nOK"),
        ("verification", "{d6}", "{s} is your Acme verification code"),
    ),
    "told": (
        ("changed-to", CHOSEN, "we changed the admin password to {s} this morning"),
        ("was-set-to", CHOSEN, "The password was set to `{s}` by the installer."),
        ("for-something", CHOSEN, "The password for the printer on the third floor is {s}."),
        ("in-company", CHOSEN, "maybe {s}? that was the login once"),
        ("use-as", CHOSEN, "please use {s} as the temporary password"),
        ("pair", CHOSEN, "creds: admin / {s}"),
        ("u-and-p", CHOSEN, "U: eve P: {s} (staging)"),
        ("dash", CHOSEN, "root password – {s}"),
        ("first-password", "{h32}", "Please use the following password to proceed:\n\n{s}\n\nIt can be found on disk."),
        ("generated-for", DRAWN, "A temporary password is generated for root@localhost: {s}"),
        ("groups", "{l4} {l4} {l4} {l4} {l4} {l4}", "2FA secret: {s}"),
        ("recovery-codes", "{h5}-{d5}\n{h5}-{d5}\n{h5}-{d5}", "Recovery codes:\n{s}\n"),
        ("de", CHOSEN, "Das neue Kennwort lautet {s}, bitte ändern."),
        ("fr", CHOSEN, "Le mot de passe est {s}"),
        ("es", CHOSEN, "la contraseña del servidor es {s}"),
        ("pt", CHOSEN, "a senha é {s}"),
        ("it", CHOSEN, "la password è {s}, grazie"),
        ("nl", CHOSEN, "het wachtwoord is {s}"),
        ("pl", CHOSEN, "hasło: {s}"),
        ("tr", CHOSEN, "şifre: {s}"),
        ("ru", CHOSEN, "Пароль: {s}, логин admin"),
        ("zh", CHOSEN, "用户名admin，密码{s}"),
        ("ja", CHOSEN, "パスワードは{s}です"),
        ("ko", CHOSEN, "비밀번호는 {s} 입니다"),
        ("en-joined", JOINED, "the password is {s}"),
        ("en-hyphened", HYPHENED, "our password is {s}"),
        ("en-passphrase", HYPHENED, "the passphrase is {s} and the user is admin"),
        ("en-short-verb", CAPITALS, "the password's {s}"),
        ("en-was-changed", CAPITALS, "the password was changed to {s}"),
        ("en-behind", HYPHENED, "Deploy is at five. The password is {s} and the user is admin."),
        ("en-pass", "{L6}{d1}{L6}", "user bob, pass {s}"),
        ("de-hyphened", HYPHENED, "das Passwort lautet {s} und der Nutzer ist admin"),
        ("de-was-changed", CAPITALS, "das Passwort wurde auf {s} geändert"),
        ("fr-joined", JOINED, "le mot de passe du serveur est {s}"),
        ("fr-was-changed", CAPITALS, "le mot de passe a été changé en {s}"),
        ("es-joined", JOINED, "la contraseña es {s}"),
        ("es-was-changed", CAPITALS, "la contraseña fue cambiada a {s}"),
        ("it-hyphened", HYPHENED, "la password è {s}"),
        ("it-was-changed", CAPITALS, "la password è stata cambiata in {s}"),
        ("pt-joined", JOINED, "a senha é {s}"),
        ("nl-hyphened", HYPHENED, "het wachtwoord is {s}"),
    ),
}
"""By group: name of the kind, shape of the secret, and the text with {s} in its place."""
