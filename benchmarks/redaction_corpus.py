"""Secrets of many kinds in the contexts of chats, and texts that only look like secrets, generated from a seed.

The formats are public facts, written as shapes (``tokenmizer_mw.safety.redact.shape``) with the lengths that services
use, independently of the tables of rules. Every third context and every third kind of negative is held out: it was not
looked at while the rules were written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.safety.redact.shape import draw_characters, fakes

from .redaction_contexts import CONTEXTS
from .redaction_negatives import NEGATIVES


@dataclass(frozen=True)
class Case:
    """A text of a chat. ``secret``: what must be removed ("" for a negative); ``prefix``: how many characters at its
    beginning are public; ``held``: whether its context was held out."""

    kind: str
    context: str
    text: str
    secret: str
    prefix: int
    group: str
    held: bool


ANCHORED: Final = [
    "",
    "openai-legacy sk-{w20}T3BlbkFJ{w20}",
    "openai-project sk-proj-{W74}T3BlbkFJ{W74}",
    "openai-service sk-svcacct-{W74}T3BlbkFJ{W74}",
    "openai-admin sk-admin-{W58}T3BlbkFJ{W58}",
    "anthropic-api sk-ant-api03-{W93}AA",
    "anthropic-admin sk-ant-admin01-{W93}AA",
    "anthropic-oauth sk-ant-oat01-{W93}AA",
    "openrouter sk-or-v1-{h64}",
    "deepseek sk-{h32}",
    "google-api AIza{W35}",
    "google-ai-new AQ.{W50}",
    "google-oauth ya29.{W120}",
    "google-oauth-secret GOCSPX-{W28}",
    "groq gsk_{w52}",
    "xai xai-{w80}",
    "perplexity pplx-{w48}",
    "huggingface hf_{A34}",
    "replicate r8_{w37}",
    "fireworks fw_{w22}",
    "together tgp_v1_{W43}",
    "nvidia nvapi-{W64}",
    "cerebras csk-{l48}",
    "elevenlabs sk_{h48}",
    "voyage pa-{W43}",
    "jina jina_{w32}{W28}",
    "tavily tvly-dev-{w32}",
    "langsmith-pt lsv2_pt_{h32}_{h10}",
    "langsmith-sk lsv2_sk_{h32}_{h10}",
    "langfuse sk-lf-{uuid}",
    "pinecone pcsk_{w5}_{w60}",
    "zhipu {h32}.{w16}",
    "runpod rpa_{u40}",
    "cursor key_{h64}",
    "sourcegraph sgp_{h16}_{h40}",
    "firecrawl fc-{h32}",
    "apify apify_api_{w36}",
    "e2b e2b_{h40}",
    "bedrock ABSK{b132}",
    "databricks dapi{h32}",
    "aws-akia AKIA{t16}",
    "aws-asia ASIA{t16}",
    "aws-mws amzn.mws.{uuid}",
    "azure-client-secret {w3}8Q~{W34}",
    "azure-storage {b76}+AStT{b3}==",
    "azure-openai {w52}JQQJ99{w18}AAABACOG{w0}",
    "azure-search {w42}AzSe{w6}",
    "azure-functions {W44}AzFu{W4}==",
    "digitalocean-pat dop_v1_{h64}",
    "digitalocean-refresh dor_v1_{h64}",
    "alibaba LTAI{w20}",
    "tencent AKID{w32}",
    "yandex-cloud AQVN{W35}",
    "cloudflare-ca v1.0-{h24}-{h146}",
    "flyio fo1_{W43}",
    "heroku HRKU-AA{W58}",
    "render rnd_{w28}",
    "vercel vcp_{w56}",
    "netlify nfp_{w36}",
    "supabase-pat sbp_{h40}",
    "supabase-secret sb_secret_{w22}_{w8}",
    "neon napi_{l64}",
    "planetscale pscale_tkn_{W43}",
    "openshift sha256~{W43}",
    "portainer ptr_{b43}=",
    "tailscale tskey-auth-{w17}-{w33}",
    "netbird nbp_{w36}",
    "doppler dp.pt.{w43}",
    "doppler-service dp.st.dev.{w43}",
    "vault hvs.{W95}",
    "vault-batch hvb.{W140}",
    "terraform {w14}.atlasv1.{W67}",
    "pulumi pul-{h40}",
    "infisical st.{h24}.{h32}.{h32}",
    "onepassword ops_eyJ{w260}",
    "age AGE-SECRET-KEY-1{u58}",
    "infracost ico-{w32}",
    "github-pat ghp_{w36}",
    "github-oauth gho_{w36}",
    "github-app-user ghu_{w36}",
    "github-app-server ghs_{w36}",
    "github-refresh ghr_{w76}",
    "github-fine-grained github_pat_{w22}_{w59}",
    "gitlab-pat glpat-{W20}",
    "gitlab-routable glpat-{W27}.{d2}.{l9}",
    "gitlab-deploy gldt-{W20}",
    "gitlab-runner glrt-{W20}",
    "gitlab-trigger glptt-{h40}",
    "gitlab-ci-job glcbt-{h2}_{W20}",
    "gitlab-runner-old GR1348941{W20}",
    "bitbucket-app ATBB{w32}",
    "atlassian ATATT3xFfGF0{W176}={u8}",
    "circleci CCIPAT_{w22}_{h40}",
    "buildkite bkua_{h40}",
    "harness pat.{w22}.{h24}.{w20}",
    "octopus API-{u26}",
    "launchdarkly sdk-{uuid}",
    "npm npm_{w36}",
    "pypi pypi-AgEIcHlwaS5vcmc{W150}",
    "rubygems rubygems_{h48}",
    "cargo cio{w32}",
    "nuget oy2{l43}",
    "clojars CLOJARS_{l60}",
    "artifactory AKCp{w69}",
    "docker-pat dckr_pat_{W27}",
    "docker-oat dckr_oat_{W32}",
    "sonar-user squ_{h40}",
    "sonar-project sqp_{h40}",
    "postman PMAK-{h24}-{h34}",
    "readme rdme_{l70}",
    "figma figd_{W40}",
    "prefect pnu_{w36}",
    "stripe-live sk_live_{w24}",
    "stripe-long sk_live_51{w97}",
    "stripe-test sk_test_{w24}",
    "stripe-restricted rk_live_{w24}",
    "stripe-webhook whsec_{w32}",
    "svix-webhook whsec_{b32}",
    "square-access sq0atp-{W22}",
    "square-secret sq0csp-{W43}",
    "square-prod EAAA{w60}",
    "paypal-braintree access_token$production${l16}${h32}",
    "plaid access-sandbox-{uuid}",
    "razorpay rzp_live_{w14}",
    "flutterwave FLWSECK-{h32}-X",
    "mollie live_{w30}",
    "shopify-admin shpat_{h32}",
    "shopify-secret shpss_{h32}",
    "shopify-partner shppa_{h32}",
    "woocommerce cs_{h40}",
    "shippo shippo_live_{h40}",
    "easypost EZAK{w54}",
    "duffel duffel_test_{W43}",
    "lob live_{h35}",
    "slack-bot xoxb-{d12}-{d13}-{w24}",
    "slack-user xoxp-{d12}-{d12}-{d13}-{h32}",
    "slack-app xapp-1-A{u10}-{d13}-{h64}",
    "slack-config xoxe.xoxp-1-{W146}",
    "discord-bot M{w23}.{w6}.{W38}",
    "telegram {d10}:AA{W33}",
    "twilio-key SK{h32}",
    "sendgrid SG.{W22}.{W43}",
    "mailgun {h32}-{h8}-{h8}",
    "mailgun-old key-{h32}",
    "mailchimp {h32}-us{d2}",
    "brevo xkeysib-{h64}-{w16}",
    "resend re_{w8}_{w24}",
    "mailersend mlsn.{h64}",
    "intercom dG9rO{b54}=",
    "hubspot pat-na1-{uuid}",
    "salesforce 00D{w12}!{w96}",
    "airtable-pat pat{w14}.{h64}",
    "notion ntn_{w46}",
    "notion-old secret_{w43}",
    "linear lin_api_{w40}",
    "asana 1/{d16}:{h32}",
    "clickup pk_{d8}_{u32}",
    "trello ATTA{h64}",
    "dropbox sl.{W140}",
    "pagerduty u+{w18}",
    "contentful CFPAT-{W43}",
    "ghost {h24}:{h64}",
    "rapidapi {h10}msh{h15}p1{h6}jsn{h12}",
    "twitter-bearer AAAAAAAAAAAAAAAAAAAAA{w40}%3D{w40}",
    "facebook EAA{w180}",
    "instagram IGQV{w140}",
    "vk vk1.a.{W160}",
    "dynatrace dt0c01.{u24}.{u64}",
    "newrelic-user NRAK-{u27}",
    "newrelic-license {h36}NRAL",
    "sentry-user sntryu_{h64}",
    "grafana-service glsa_{w32}_{h8}",
    "grafana-cloud glc_eyJ{w120}",
    "honeycomb hcaik_{l58}",
    "axiom xaat-{uuid}",
    "posthog phx_{W43}",
    "dbt dbtu_{W40}",
    "elastic essu_{b80}==",
    "aiven AVNS_{w19}",
    "tinybird p.eyJ{w60}.{W43}",
    "mapbox sk.eyJ{w60}.{W22}",
    "okta 00{W40}",
    "maxmind {w6}_{w29}_mmk",
    "stytch secret-live-{W35}=",
    "adobe p8e-{W32}",
    "expo expo_{W40}",
    "onesignal os_v2_app_{l103}",
    "zoho 1000.{h32}.{h32}",
    "typeform tfp_{w44}_{w14}",
    "ably {w6}.{w6}:{W43}",
    "rancher token-{l5}:{l54}",
    "settlemint sm_pat_{w16}",
    "fal {uuid}:{h32}",
    "nightfall NF-{w32}",
    "google-storage-id GOOG1E{u55}",
    "cloudflare-tunnel eyJhIjoi{b150}",
    "telnyx KEY{u32}_{w22}",
    "trigger tr_prod_{w20}",
    "nostr nsec1{z58}",
    "",
]

ANCHORED_CONTEXTS: Final = (
    "my key is {s}.",
    "I set it to {s}, but it still fails",
    "export SERVICE_TOKEN={s}",
    'client = Client(api_key="{s}")',
    "这是我的密钥{s}，请帮我看看",
    "(the old one was {s})",
    '{"role": "user", "content": "use {s} please"}',
    "curl -H 'Authorization: Bearer {s}' https://api.internal.test/v1/things",
    "line one\\n{s}\\nline three",
    "https://api.internal.test/v1?key={s}&page=2",
    "2026-11-21T10:11:12Z ERROR auth failed for token={s} status=401",
    "| production | {s} |",
    "config:\n  auth:\n    value: {s}\n  retries: 3",
    "`{s}`",
    "Мой ключ: {s}; он не работает",
    '<add key="ServiceKey" value="{s}" />',
    "const KEY = '{s}';",
    "  - {s}\n  - other",
    "Is {s} still valid?",
    "key:{s}\tuser:bob",
    '"arguments": "{\\"token\\": \\"{s}\\", \\"n\\": 1}"',
    "[{s}](https://docs.internal.test)",
    "\x1b[32m{s}\x1b[0m",
    "+API_KEY={s}\n-API_KEY=",
    "set TOKEN={s}\r\nrun.bat",
    "{s}",
    "ValueError: bad credential '{s}' in settings.py line 12",
    "He wrote: “{s}”",
    "token%3D{s}%26x",
    "echo {s} | docker login --password-stdin",
)

KEYED_VALUES: Final = {
    "password-symbols": "{w5}!{w3}#{d2}",
    "password-plain": "{l4}{U2}{d3}{L3}",
    "hex32": "{h32}",
    "hex40": "{h40}",
    "hex64": "{h64}",
    "base62-40": "{w40}",
    "base64-40": "{b40}",
    "uuid": "{uuid}",
    "base64-88": "{b86}==",
    "url-safe-32": "{W32}",
    "word-number": "Qu{l5}_{d4}{L2}{A3}",
}

KEYED_CONTEXTS: Final = (
    ("hex32", "DD_API_KEY={s}"),
    ("hex40", "datadog_app_key: {s}"),
    ("base64-40", "AWS_SECRET_ACCESS_KEY={s}"),
    ("base64-40", '"SecretAccessKey": "{s}",'),
    ("base64-40", "aws_secret_access_key = {s}"),
    ("password-symbols", "DB_PASSWORD={s}"),
    ("password-symbols", 'password: "{s}"'),
    ("password-symbols", "'password' => '{s}',"),
    ("password-plain", "spring.datasource.password={s}"),
    ("password-plain", '{"username": "bob", "password": "{s}"}'),
    ("password-plain", "MYSQL_ROOT_PASSWORD: {s}"),
    ("password-symbols", "ALTER USER bob WITH PASSWORD '{s}';"),
    ("password-plain", "Server=db;Database=app;User Id=sa;Password={s};Encrypt=True"),
    ("base64-88", "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={s};EndpointSuffix=core.windows.net"),
    ("hex32", "MISTRAL_API_KEY='{s}'"),
    ("base62-40", 'co = cohere.Client(api_key="{s}")'),
    ("base62-40", "COHERE_API_KEY: {s}"),
    ("uuid", "HEROKU_API_KEY={s}"),
    ("uuid", 'api_key = "{s}"'),
    ("uuid", "POSTMARK_SERVER_TOKEN={s}"),
    ("hex32", "x-api-key: {s}"),
    ("hex64", "SECRET_KEY = '{s}'"),
    ("url-safe-32", 'SECRET_KEY="{s}"'),
    ("hex64", "TF_VAR_client_secret={s}"),
    ("base62-40", "client_secret: {s}"),
    ("url-safe-32", '"clientSecret":"{s}"'),
    ("hex32", "--api-key {s} --verbose"),
    ("url-safe-32", "--token={s}"),
    ("hex40", "auth_token: '{s}'"),
    ("hex32", "TWILIO_AUTH_TOKEN={s}"),
    ("hex40", "WANDB_API_KEY={s}"),
    ("hex64", "LINODE_TOKEN={s}"),
    ("base62-40", "CLOUDFLARE_API_TOKEN={s}"),
    ("hex64", "ENCRYPTION_KEY={s}"),
    ("url-safe-32", "JWT_SECRET={s}"),
    ("hex32", "ALGOLIA_ADMIN_KEY={s}"),
    ("password-plain", "//registry.internal.test/:_password={s}"),
    ("url-safe-32", "//registry.internal.test/:_authToken={s}"),
    ("password-symbols", "  - name: DB_PASSWORD\n    value: {s}"),
    ("password-plain", "$env:ADMIN_PASSWORD = '{s}'"),
    ("password-symbols", "<password>{s}</password>"),
    ("base62-40", "private_token = {s}"),
    ("url-safe-32", 'os.environ["SERVICE_TOKEN"] = "{s}"'),
    ("hex32", "ENV API_TOKEN {s}"),
    ("password-symbols", "password = {s}\nhost = db"),
    ("base62-40", "webhook_secret: {s}"),
    ("hex40", "access_token={s}"),
    ("hex64", '"private_key": "0x{s}"'),
    ("url-safe-32", "refresh_token: {s}"),
    ("password-symbols", "contraseña: {s}"),
    ("password-symbols", "Passwort: {s}"),
    ("password-symbols", "密码是{s}"),
    ("password-plain", "пароль: {s}"),
    ("word-number", "PGPASSWORD={s} psql -h db"),
    ("word-number", "dashboard_password = {s}"),
    ("word-number", 'command: ["cache-server", "--password", "{s}"]'),
    ("word-number", "Environment=SERVICE_TOKEN={s}"),
    ("word-number", "ENV SERVICE_TOKEN {s}"),
    ("word-number", "mot de passe : {s}"),
    ("word-number", "密码是{s}"),
    ("hex32", "unser API-Schlüssel ist {s}"),
    ("hex32", "la clé API : {s}"),
    ("base62-40", "AWS Secret Access Key [None]: {s}"),
    ("url-safe-32", '<meta name="csrf-token" content="{s}">'),
)

PROSE_CONTEXTS: Final = (
    ("password-symbols", "my password is {s}"),
    ("password-plain", "the root password for the staging box is {s}, don't share it"),
    ("password-symbols", "log in as admin with the password {s} and check"),
    ("hex32", "the api key is {s} if you need it"),
    ("base62-40", "here's the token: {s}"),
    ("url-safe-32", "our client secret is `{s}`"),
    ("password-symbols", "Password: {s}\nUser: bob"),
    ("hex40", "use this access token {s} for the calls"),
    ("password-plain", 'I changed the password to "{s}" yesterday'),
    ("base62-40", "**API key:** `{s}`"),
    ("word-number", "the password is {s}"),
    ("word-number", "pass is {s} btw"),
    ("word-number", "use {s} as the password"),
    ("word-number", "user is deploy, password is {s}, host is db2"),
    ("word-number", "la clave es {s}"),
    ("word-number", "Password set to {s}"),
)


def pem(kind: str, seed: str, lines: int = 12, *, join: str = "\n", indent: str = "") -> str:
    body = [draw_characters("b", 64, f"{seed}{line}") for line in range(lines)] + [
        draw_characters("b", 22, seed) + "=="
    ]
    edge = "-" * 5
    return (join + indent).join([f"{edge}BEGIN {kind}{edge}", *body, f"{edge}END {kind}{edge}"])


def jwt(seed: str) -> str:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
    body = (
        base64.urlsafe_b64encode(json.dumps({"sub": draw_characters("d", 10, seed), "iat": 1}).encode())
        .decode()
        .rstrip("=")
    )
    return f"{head}.{body}.{draw_characters('W', 43, seed)}"


def _structural(seed: str) -> Iterator[tuple[str, str, str]]:  # noqa: PLR0915
    """Kind, text with {s}, and secret, for secrets that are recognised by their structure."""
    key = pem("RSA PRIVATE KEY", seed)
    word = draw_characters("w", 14, seed)
    pair = base64.b64encode(f"bob:{word}".encode()).decode()
    yield "pem", "here it is:\n{s}\nwhat now?", key
    yield "pem-ec", "{s}", pem("EC PRIVATE KEY", seed, 3)
    yield "pem-pkcs8", "key: |\n  {s}\nother: 1", pem("PRIVATE KEY", seed, indent="  ")
    yield "pem-openssh", "cat id_ed25519\n{s}", pem("OPENSSH PRIVATE KEY", seed, 5)
    yield "pem-json", '{"private_key": "{s}\\n", "client_email": "a@b.test"}', pem("PRIVATE KEY", seed, join="\\n")
    yield "pem-json-twice", '"{\\"private_key\\": \\"{s}\\"}"', pem("PRIVATE KEY", seed, join="\\\\n")
    yield "pem-quoted", "> {s}\n\nIs it valid?", pem("RSA PRIVATE KEY", seed, indent="> ")
    yield "pem-code", 'KEY = "{s}"', pem("RSA PRIVATE KEY", seed, 4, join='\\n" +\n      "')
    yield "pem-truncated", "{s}\n... (cut)", key[: len(key) // 2]
    yield "pem-one-line", "PRIVATE_KEY='{s}'", pem("PRIVATE KEY", seed, join=" ")
    yield (
        "pem-numbered",
        "     1\t{s}",
        "\n".join(line if not place else f"{place + 1:6}\t{line}" for place, line in enumerate(key.split("\n"))),
    )
    yield "pgp", "{s}\nthanks", pem("PGP PRIVATE KEY BLOCK", seed).replace("\n", "\nVersion: GnuPG v2\n\n", 1)
    yield "pem-diff", "+{s}", pem("RSA PRIVATE KEY", seed, indent="+")
    yield "jwt", "token {s} expired", jwt(seed)
    yield "jwt-header", "Authorization: Bearer {s}", jwt(seed)
    yield "jwt-cookie", "Cookie: session={s}; theme=dark", jwt(seed)
    yield "jwt-json", '{"id_token":"{s}"}', jwt(seed)
    yield "postgres-url", "DATABASE_URL=postgres://app:{s}@db.internal:5432/app", word
    yield "mysql-url", "mysql+pymysql://root:{s}@127.0.0.1/app", word
    yield "mongodb-url", "mongodb+srv://app:{s}@cluster0.test.net/?retryWrites=true", word
    yield "redis-url", "redis://:{s}@cache:6379/0", word
    yield "amqp-url", 'BROKER="amqp://svc:{s}@mq//"', word
    yield "https-userinfo", "git clone https://bob:{s}@git.internal.test/x.git", word
    yield "ftp-url", "ftp://bob:{s}@files.internal.test", word
    yield "go-dsn", "app:{s}@tcp(db:3306)/app?parseTime=true", word
    yield "jdbc", "jdbc:postgresql://db/app?user=app&password={s}&ssl=true", word
    yield "git-token-url", "https://{s}@git.internal.test/x.git", draw_characters("h", 40, seed)
    yield "sentry-dsn", "https://{s}@o12345.ingest.sentry.io/6789", draw_characters("h", 32, seed)
    yield "basic-header", "Authorization: Basic {s}", pair
    yield "basic-curl", "curl -H 'Authorization: Basic {s}' https://x.test", pair
    yield "proxy-header", "Proxy-Authorization: Basic {s}", pair
    yield "bearer-opaque", "authorization: bearer {s}", draw_characters("w", 40, seed)
    yield "bearer-json", '{"headers": {"Authorization": "Bearer {s}"}}', draw_characters("W", 43, seed)
    yield "token-header", "Authorization: token {s}", draw_characters("h", 40, seed)
    yield "api-key-header", "X-Api-Key: {s}", draw_characters("w", 32, seed)
    yield "curl-user", "curl -u admin:{s} https://x.test/api", word
    yield "mysql-flag", "mysql -h db -u root -p{s} app", word
    yield "sshpass", "sshpass -p '{s}' ssh root@box", word
    yield "redis-cli", "redis-cli -h cache -a {s} ping", word
    yield "netrc", "machine git.internal.test\n  login bob\n  password {s}", word
    yield "docker-auth", '{"auths": {"registry.test": {"auth": "{s}"}}}', pair
    yield (
        "k8s-data",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  db-pass: {s}\n",
        base64.b64encode(word.encode()).decode(),
    )
    yield (
        "k8s-data-first",
        "apiVersion: v1\ndata:\n  value: {s}\nkind: Secret\n",
        base64.b64encode(word.encode()).decode(),
    )
    yield "k8s-string-data", 'kind: Secret\nstringData:\n  pw: "{s}"\ntype: Opaque', word
    yield "set-cookie", "Set-Cookie: sessionid={s}; Path=/; HttpOnly", draw_characters("l", 32, seed)
    yield "cookie", "Cookie: _ga=GA1.2.3; connect.sid={s}; lang=en", "s%3A" + draw_characters("W", 32, seed)
    yield "phpsessid", "PHPSESSID={s}", draw_characters("l", 26, seed)
    yield (
        "aws-presigned",
        "https://b.s3.test/k?X-Amz-Expires=300&X-Amz-Signature={s}&x=1",
        draw_characters("h", 64, seed),
    )
    yield (
        "azure-sas",
        "https://a.blob.test/c?sv=2024-01-01&sp=r&sig={s}&se=2026",
        draw_characters("w", 40, seed) + "%3D",
    )
    yield "reset-link", "https://app.test/reset-password?token={s}", draw_characters("w", 40, seed)
    yield "magic-link", "https://app.test/magic/{s}", draw_characters("W", 43, seed)
    yield "oauth-code", "http://localhost:8080/callback?code={s}&state=abc", draw_characters("W", 40, seed)
    yield (
        "slack-webhook",
        "https://hooks.slack.com/services/{s}",
        f"T{draw_characters('u', 8, seed)}/B{draw_characters('u', 10, seed)}/{draw_characters('w', 24, seed)}",
    )
    yield (
        "discord-webhook",
        f"https://discord.com/api/webhooks/{draw_characters('d', 18, seed)}/{{s}}",
        draw_characters("W", 68, seed),
    )
    yield (
        "telegram-url",
        "https://api.telegram.org/bot{s}/sendMessage",
        f"{draw_characters('d', 10, seed)}:AA{draw_characters('W', 33, seed)}",
    )
    yield (
        "putty",
        "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n{s}\nPrivate-MAC: 0",
        "\n".join(draw_characters("b", 64, f"{seed}{line}") for line in range(2)),
    )
    yield (
        "seed-phrase",
        "seed phrase: {s}",
        " ".join(draw_characters("L", 3 + len(str(n)), f"{seed}{n}") + "a" for n in range(12)),
    )
    yield "verification-code", "Your verification code is {s}", draw_characters("d", 6, seed)


def cases(seed: str = "1") -> list[Case]:
    """Return all cases with a secret. ``seed``: other seeds give other secrets."""
    return [*_anchored(seed), *_keyed(seed), *_placed(seed), *_around(seed)]


def negatives(seed: str = "1") -> list[Case]:
    """Return all cases without a secret; their context is their kind."""
    found = []
    for place, (kind, group, texts) in enumerate(NEGATIVES(seed)):
        found += [Case(kind, kind, text, "", 0, group, place % 3 == 2) for text in texts]
    return found


def _anchored(seed: str) -> Iterator[Case]:
    for number, row in enumerate(row for row in ANCHORED if row):
        kind, shape = row.split(" ")
        for turn in range(3):
            place = (number * 7 + turn * 10) % len(ANCHORED_CONTEXTS)
            secret = next(fakes(shape, f"{seed}{kind}{turn}"))
            prefix = len(shape.partition("{")[0])
            text = ANCHORED_CONTEXTS[place].replace("{s}", secret)
            yield Case(kind, f"anchored-{place}", text, secret, prefix, "anchored", place % 3 == 2)


def _keyed(seed: str) -> Iterator[Case]:
    for group, contexts in (("keyed", KEYED_CONTEXTS), ("prose", PROSE_CONTEXTS)):
        for place, (value, context) in enumerate(contexts):
            for turn in range(2):
                secret = next(fakes(KEYED_VALUES[value], f"{seed}{context}{turn}"))
                name = f"{group}-{place}"
                yield Case(name, name, context.replace("{s}", secret), secret, 0, group, place % 3 == 2)


def _around(seed: str) -> Iterator[Case]:
    for group, rows in CONTEXTS.items():
        for kind, shape, context in rows:
            for turn in range(2):
                secret = next(fakes(shape, f"{seed}{kind}{turn}"))
                prefix = len(shape.partition("{")[0])
                yield Case(kind, f"{group}-{kind}", context.replace("{s}", secret), secret, prefix, group, False)


def _placed(seed: str) -> Iterator[Case]:
    for turn in range(2):
        for place, (kind, context, secret) in enumerate(_structural(f"{seed}s{turn}")):
            prefix = 36 if kind.startswith(("pem", "pgp")) else 0
            yield Case(kind, kind, context.replace("{s}", secret), secret, prefix, "structural", place % 3 == 2)
