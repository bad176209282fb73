"""Secrets passed as arguments of function calls in code."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import QUOTES, PlaceRule, behind

_INSIDE: Final = r"[^\"'`\\\n]"
"""One character inside quotes."""

_STATEMENT: Final = r"(?i:create|alter|grant|replace)[ \t][^;]*$"
"""A statement about users goes on."""

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
        r"\b(?:jwt|jsonwebtoken|JWT)\.(?:sign|verify|encode|decode)\((?:[A-Za-z_.]{1,40}|\{[^{}\n]{0,80}\}),[ \t]*"
        rf"{QUOTES}[^\s\"'`\\]{{8}}",
        rf"[A-Za-z]+\.[a-z]+\((?:[A-Za-z_.]+|\{{[^{{}}\n]*\}}),[ \t]*{QUOTES}([^\s\"'`\\]{{8,}}){QUOTES}", "chosen",
        ("jwt.sign(payload, '", "{W32}", "')"), "jwt.sign(payload, 'my-test-secret')", edge=False),
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
    behind("database-password", rf"\bcrypt\({QUOTES}", "chosen", ("SELECT crypt('", "{w6}7{w6}", "', gen_salt('bf'))"),
        "SELECT crypt('password', gen_salt('bf'))", value=_INSIDE, after=rf"{QUOTES}[ \t]*,[ \t]*gen_salt", edge=False),
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
