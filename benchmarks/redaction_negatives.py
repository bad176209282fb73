"""Texts that look like secrets and are none, by kind, generated from a seed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator

from tokenmizer_mw.safety.redact.shape import draw_characters

Kind = tuple[str, str, list[str]]


def NEGATIVES(seed: str) -> Iterator[Kind]:
    """Iterate over kind, group and texts. In the group "strict", no text may be taken for a secret."""
    yield from _strict(seed)
    yield from _ordinary(seed)


def _each(templates: Iterable[str], fill: str, seed: str) -> list[str]:
    """Every template with {x} replaced by random characters. ``fill``: their alphabet and number, such as "h32" for 32
    hexadecimal digits."""
    return [
        template.replace("{x}", draw_characters(fill[0], int(fill[1:]), f"{seed}{fill}{n}"))
        for n, template in enumerate(templates)
    ]


def _uuid(seed: str) -> str:
    text = draw_characters("h", 32, seed)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


_HASHES = (
    "md5: {x}",
    "commit {x}",
    "sha256:{x}",
    '"etag": "{x}"',
    "checksum={x} ok",
    "The digest is {x}.",
    "git checkout {x}",
    "{x}  dist.tar.gz",
    "cache_key = {x}",
    '"integrity": "{x}"',
)


def _strict(seed: str) -> Iterator[Kind]:
    yield "md5", "strict", _each(_HASHES, "h32", seed)
    yield "sha1", "strict", _each(_HASHES, "h40", seed)
    yield "sha256", "strict", _each(_HASHES, "h64", seed)
    yield "sha512", "strict", _each(_HASHES, "h128", seed)
    yield (
        "uuid",
        "strict",
        [
            template.replace("{x}", _uuid(f"{seed}{n}"))
            for n, template in enumerate(
                (
                    "id: {x}",
                    "request_id={x}",
                    '"trace": "{x}"',
                    "user {x} not found",
                    "GET /v1/items/{x}",
                    "session {x} closed",
                    "idempotency-key: {x}",
                    "partition_key = {x}",
                    "correlationId={x}",
                    "{x}",
                )
            )
        ],
    )
    yield (
        "git-log",
        "strict",
        [f"{draw_characters('h', 7, seed + str(n))} Fix token refresh in auth/key_store.py" for n in range(6)],
    )
    yield (
        "reads-environment",
        "strict",
        [
            'api_key = os.environ["OPENAI_API_KEY"]',
            "const token = process.env.GITHUB_TOKEN_2;",
            'password = os.getenv("DB_PASSWORD_1", "")',
            'key := os.Getenv("AWS_SECRET_ACCESS_KEY")',
            "secret = ENV.fetch('STRIPE_SECRET_KEY')",
            'let k = env::var("API_KEY_V2").unwrap();',
            "password: ${DB_PASSWORD}",
            "token: ${{ secrets.DEPLOY_TOKEN_2 }}",
            "API_KEY=$OPENAI_API_KEY ./run.sh",
            "export TOKEN=$(cat /run/secrets/token1)",
            "password = config['database']['password1']",
            "client = OpenAI(api_key=settings.openai_api_key_v2)",
            'System.getenv("JWT_SECRET_256")',
            "apiKey: import.meta.env.VITE_API_KEY2",
            "secret_key = var.secret_key_2",
            "auth_token: <%= ENV['AUTH_TOKEN_1'] %>",
        ],
    )
    yield (
        "code",
        "strict",
        [
            "def check_password(password: str, hashed: bytes) -> bool:",
            "token = tokens[0]",
            "for key, value in items: cache[key] = value2",
            "const token = await getAccessTokenSilently({ audience: api2 });",
            "if (password.length < 8) throw new Error('password too short');",
            "self.secret_key = secret_key or generate_secret_key(32)",
            "key = (tenant_id, session_id, 128)",
            "let key1 = hash_password(password, salt, 100_000)",
            "password_field = forms.CharField(max_length=128)",
            "assert token == expected_token_1",
            "keys = sorted(d, key=lambda x: x[1])",
            "case TokenType.STRING2: return parseString2();",
            "token_count = len(enc.encode(text)) + 3",
            "max_tokens: 4096, temperature: 0.7",
            "pad_token='<|pad|>', eos_token='</s>'",
            "PRIMARY KEY (id), FOREIGN KEY (user_id) REFERENCES users(id2)",
            "CREATE TABLE tokens (token varchar(255) NOT NULL, secret bytea)",
            "jwt.decode(token, key=PUBLIC_KEY_V1, algorithms=['RS256'])",
            "passwordInput.value = form2.password.value",
            "bearer = request.headers['Authorization'].split(' ')[1]",
            "return f'Bearer {token2}'",
            "password=make_password('x'), is_active=True)",
            "API_KEY_HEADER = APIKeyHeader(name='X-API-Key2')",
            "type Token = { kind: TokenKind; start: number; end: number }",
            "secret = secrets.token_urlsafe(32)",
            "KeyError: 'api_key_2'",
            "test_token_is_refreshed_after_3600_seconds PASSED",
            "tests/test_auth.py::test_password_reset_v2 PASSED",
            "token = lexer.next_token2()",
            "private_key = ec.generate_private_key(ec.SECP256R1())",
            "const sessionKey = `session:${userId}:v2`;",
            "redis.set(f'cache:{key1}', value, ex=3600)",
            "hash_key = 'PK#USER#123456'",
            "user.setPassword(encoder.encode(request.getPassword()));",
            "passphrase = passphrase.encode('latin1')",
            "validate_passwords('new_password1', 'new_password2')",
            "passport.authenticate('jwt', { session: false })",
            "await page.fill('input[name=password]', credentials.password2)",
            "new PDO($dsn, $user, $pass, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);",
            "Token2 = tokens.registry.Sha256PrivateKey",
            "INSERT INTO users (name, password) VALUES (?, ?), ($1, $2);",
            "INSERT INTO tokens (id, token, kind) VALUES (1, 'if', 'keyword'), (2, 'else2', 'keyword');",
            "def auth_password_validators_changed2(*, setting, **kwargs):",
            "from ..engine.interfaces import DBAPIModule",
            "#define OBJ_userPassword   OBJ_X509,35L",
        ],
    )


def _ordinary(seed: str) -> Iterator[Kind]:
    yield (
        "placeholders",
        "ordinary",
        [
            "OPENAI_API_KEY=<your-api-key>",
            "OPENAI_API_KEY=sk-...",
            "api_key: your_api_key_here",
            "password: changeme",
            'password = "changeme123"',
            "SECRET=xxxxxxxxxxxxxxxxxxxx",
            "token: ****************",
            'API_KEY="YOUR_API_KEY_1"',
            "AWS_ACCESS_KEY_ID=AKIA" + "X" * 16,
            "sk-" + "x" * 48,
            "ghp_" + "x" * 36,
            "sk-ant-api03-your-key-goes-here-0000",
            "password=<password>",
            "postgres://user:password@localhost:5432/db",
            "postgresql://postgres:postgres@localhost/test1",
            "mysql://root:root@127.0.0.1/app",
            "redis://:password@localhost:6379",
            "Authorization: Bearer <token>",
            "Authorization: Bearer YOUR_ACCESS_TOKEN_HERE",
            "curl -u user:pass https://x.test",
            "curl -u $USER:$PASS https://x.test",
            "https://user:pass@host.test/",
            "secret: REPLACE_ME_123",
            "token=abc123",
            "api_key = 'test-key-1234'",
            "password: 'example-password-1'",
            "SECRET_KEY=insecure-dummy-key-for-tests-1",
            "key: {{ .Values.apiKey1 }}",
            "xoxb-your-slack-token-here",
            "glpat-XXXXXXXXXXXXXXXXXXXX",
            "-" * 5 + "BEGIN PRIVATE KEY" + "-" * 5 + "\n...\n" + "-" * 5 + "END PRIVATE KEY" + "-" * 5,
            "export GITHUB_TOKEN=ghp_...",
            "STRIPE_KEY=sk_test_...",
        ],
    )
    yield (
        "prose",
        "ordinary",
        [
            "The password is required and must be 8 characters long.",
            "My password is not working since 2 days",
            "Where do I find the API key for version 2?",
            "The token is expired after 3600 seconds.",
            "Please reset the password to something with 12 characters.",
            "A secret is stored in vault at secret/data/app1",
            "The key is to iterate over 10 items first",
            "Tokens cost 15 dollars per 1000000.",
            "I forgot my password 3 times, token 2 was revoked.",
            "basic authentication vs. bearer authentication: which one?",
            "The session key is derived with HKDF-SHA256 over X25519.",
            "Use a password manager; pass phrases of 6 words are fine.",
            "the cookie is set by /login2 and the token is in localStorage",
            "All 512 tests pass: 12 skipped",
            "the pin is broken, gpio 17",
            "set the token to None in step 2",
            "The access key is rotated every 90 days (policy v2).",
            "Password reset e-mails are sent within 5min.",
            "the secret is 32 bytes of os.urandom",
            "key takeaways: 3 of 5 teams use api keys",
            "The password is wrong!",
            "the object identified by `config2` is a checkpoint",
            "login / signup / logout pages share layout2",
            "fix(auth): login redirect loop (Repo#1234)",
            "Use a passphrase of 4 words as the password.",
            "I use Argon2id as the password hash",
            "shifted function key 2\t\t*<S-F2>*",
            "das Passwort ist seit Version 3.2 optional",
            "пароль хранится в переменной DB_PASS",
            "密码长度至少为12位",
            "パスワードは8文字以上で入力してください",
        ],
    )
    yield (
        "base64-image",
        "ordinary",
        [f"![logo](data:image/png;base64,iVBORw0KGgo{draw_characters('b', 600, seed + str(n))})" for n in range(8)],
    )
    yield "base64-raw", "ordinary", [draw_characters("b", 2000 + n, seed + str(n)) for n in range(8)]
    yield (
        "image-json",
        "ordinary",
        [
            json.dumps(
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64," + draw_characters("b", 900, seed + str(n))},
                }
            )
            for n in range(4)
        ],
    )
    yield (
        "lock-file",
        "ordinary",
        [
            f'"node_modules/jwt-token-{n}": {{"version": "9.0.{n}", "resolved": "https://registry.test/jwt-{n}.tgz",'
            f' "integrity": "sha512-{base64.b64encode(hashlib.sha512((seed + str(n)).encode()).digest()).decode()}"}}'
            for n in range(10)
        ]
        + [f'checksum = "{draw_characters("h", 64, seed + str(n))}"' for n in range(6)],
    )
    yield (
        "minified",
        "ordinary",
        [
            "!function(e,t){var n=e.key,r=t.token;for(var i=0;i<n.length;i++)s.createElementNSWithOptions1(n[i])}(a1);",
            'e.exports={password:"Password",token:"Token",key2:t.key2,secret:n(42)}',
            "a.token=b2(c);d.key=e7[f];g.secret=h.i9?1:0;",
            'var k={Enter:13,key:"Escape27",code:"KeyA",password:!0}',
            't.apiKey=r.apiKey||o.apiKey1,e.auth=u({type:"Bearer",token:n2})',
        ],
    )
    yield (
        "identifiers",
        "ordinary",
        [
            "key: user_profile_settings_v2",
            "secretName: my-app-tls-secret-2",
            "token_type: access_token_v1",
            "api_key_id: key-2024-01",
            "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-1",
            "projects/acme-1/secrets/db-password/versions/3",
            "s3 key: backups/2024/01/02/dump.sql.gz",
            "model: claude-3-5-sonnet-20241022",
            "key=pages.settings.billing.title2",
            "sort_key: created_at_2",
            "public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + draw_characters("b", 43, seed),
            "credential_helper: osxkeychain2",
            "password_policy: min_length_12",
            "auth: oauth2",
            "authentication: basic-auth-v2",
            "session: claude-code-session-2026-11-21",
            "data-testid=password-input-1",
            "keyspace: prod_events_2024",
            "kubectl get secret db-credentials-v2 -o yaml",
            "image: registry.test/token-service:1.4.2",
        ],
    )
    yield (
        "public-keys",
        "ordinary",
        [
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC" + draw_characters("b", 360, seed + str(n)) + " bob@box"
            for n in range(3)
        ]
        + [
            "-" * 5
            + f"BEGIN {what}"
            + "-" * 5
            + "\n"
            + draw_characters("b", 64, seed)
            + "\n"
            + "-" * 5
            + f"END {what}"
            + "-" * 5
            for what in ("PUBLIC KEY", "CERTIFICATE", "CERTIFICATE REQUEST", "RSA PUBLIC KEY")
        ]
        + [
            "pk_live_" + draw_characters("w", 24, seed),
            "stripe publishable: pk_test_" + draw_characters("w", 24, seed),
        ],
    )
    yield (
        "urls",
        "ordinary",
        [
            "https://docs.test/api?key=getting-started&section=auth-tokens",
            "https://x.test/search?q=how+to+rotate+api+keys&page=2",
            "https://github.test/acme/repo/blob/main/src/token.py#L120",
            "https://x.test/login?next=/dashboard&session=expired",
            "https://app.test/reset-password/how-it-works-in-detail",
            "http://localhost:8080/callback?code=404&state=ok",
            "https://www.youtube.test/watch?v=dQw4w9WgXcQ",
            "ssh://git@github.test:22/acme/repo.git",
            "https://registry.test/@scope/pkg/-/pkg-1.2.3.tgz",
            "https://fonts.test/css2?family=Inter:wght@400;700&display=swap",
            "postgres://localhost:5432/app",
            "npm config set registry http://registry.test:4873/",
        ],
    )
    yield (
        "logs",
        "ordinary",
        [
            "2026-11-21 10:00:00 INFO token refreshed for user 42 in 13ms",
            "WARN password attempt 3 of 5 failed for bob",
            'level=info msg="session closed" session=42 duration=1.2s',
            "key=orders:2024 hits=120 misses=4",
            "DEBUG auth: bearer token present, length 43",
            "[auth] token: valid, exp: 1732180000",
            'ERROR: secret "db-creds-1" not found in namespace "prod-2"',
            "usage: {prompt_tokens: 1200, completion_tokens: 300}",
            "npm ERR! code E401 token: missing",
            "Received key event: code=KeyA key=a keyCode=65",
            "cookie: disabled2, consent=true",
            "docker run -u 1000:1000 --rm web",
            "socat -u TCP4-LISTEN:3334,reuseaddr,fork -",
            "perldoc -u Some::Module2",
            "net user eve /domain",
            "echo hello2 | sudo tee /etc/motd",
            "smbclient -L //nas2 -N",
            "AUTH PLAIN LOGIN CRAM-MD5",
            "auth=ok sid=12 code=200",
        ],
    )
    yield (
        "api-ids",
        "ordinary",
        [
            f"call_{draw_characters('w', 24, seed)}",
            f"chatcmpl-{draw_characters('w', 29, seed)}",
            f"toolu_01{draw_characters('w', 22, seed)}",
            f"msg_01{draw_characters('w', 22, seed)}",
            f"resp_{draw_characters('h', 48, seed)}",
            f"req_011C{draw_characters('w', 20, seed)}",
            f"fp_{draw_characters('h', 10, seed)}",
            f"file-{draw_characters('w', 24, seed)}",
            f"asst_{draw_characters('w', 24, seed)}",
            f"acct_{draw_characters('w', 16, seed)}",
            f"cus_{draw_characters('w', 14, seed)}",
            f"pi_{draw_characters('w', 24, seed)}",
        ],
    )
    yield (
        "css-html",
        "ordinary",
        [
            '<input type="password" name="password1" autocomplete="new-password">',
            '<label for="token2">Token</label>',
            ".task-list-item-checkbox-label-container { margin: 0 4px; }",
            "a.risk-assessment-dashboard-overview-2024",
            '<meta name="csrf-param" content="authenticity_token">',
            "--color-key-1: #a1b2c3;",
            'class="sk-circle-fade-dot sk-folding-cube"',
            '<div id="desk-organizer-with-12-compartments">',
        ],
    )
    yield (
        "numbers",
        "ordinary",
        [
            "key: 1234567890",
            "token ids: [15496, 995, 50256, 11, 314, 716]",
            "pass: 12, fail: 3",
            "secret santa 2024: 25 people",
            "pi = 3.14159265358979323846",
            "0xdeadbeefcafebabe1234",
            "phone 0800 123456",
            "rgb(12, 34, 56) / key 3",
            "epoch 1732180000123",
        ],
    )
    yield (
        "types-docs",
        "ordinary",
        [
            "- `api_key` (str): The key. Defaults to `None`.",
            "| password | string | yes | at least 8 characters |",
            "token: Optional[str] = None",
            '"password": {"type": "string", "minLength": 12}',
            "password (string, required): 8-64 characters",
            "--token TOKEN1  access token",
            "secret: base64-encoded 256-bit value",
            "key: string, max 64 chars",
            "private_key: path/to/key1.pem",
            "credentials: /home/me/.aws/credentials2",
            "Bearer authentication-scheme-description",
            "auth_token: see section 4.2",
            "password: must-contain-1-digit",
            "api-key: header-name-x1",
            "| field | type | password |\n|---|---|---|\n| login | string2 | required2 |",
            "user,password,role\nalice,,admin\nbob,,user2",
            "the password is Base_64 encoded",
            "token: release-2024.11",
            "password = Config.Port8080",
            "Password\nForgot it?\n",
            "PASS tests/Login2.spec.js",
            "the password policy is set to NIST_800",
            "la clave primaria es usuario_id2",
            "The 2FA code is six digits long.",
        ],
    )
    yield (
        "transcripts",
        "ordinary",
        [f"Edited src/auth/token_{n}.py: +12 -3, key handling moved to keys_v{n}.py" for n in range(6)],
    )
    yield (
        "diffs",
        "ordinary",
        [
            f"index {draw_characters('h', 7, seed + str(n))}..{draw_characters('h', 7, seed + 'b' + str(n))} 100644"
            for n in range(5)
        ],
    )
    yield (
        "english-hyphens",
        "ordinary",
        [
            "a task-oriented-dialogue-system-for-customers",
            "the sk-learn-compatible-estimator-interface",
            "xai-explainability-methods-for-deep-learning-overview",
            "pa-rt-of-a-long-hyphenated-word-list-that-goes-on-and-on",
            "app-configuration-settings",
            "glpat-and-other-prefixes-are-known",
            "key-value-store-with-replication",
        ],
    )
