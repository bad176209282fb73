"""Judge the name of a value: whether it promises a password, a key or another secret ("API_KEY"), or only sounds like
it ("primary_key")."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Final

from tokenmizer_mw.safety.redact.judge import words
from tokenmizer_mw.safety.redact.pattern import compile_pattern

NAME_MAX: Final = 80
"""Characters at the end of a name that are read; what is before them is ignored."""


class NameKind(Enum):
    """The kind of secret that the name of a value promises. The value of the member is used in the placeholder's kind.

    - ``PASSWORD``, ``TOKEN`` (also keys) and ``CODE`` (one-time codes) are clear.
    - ``BARE`` ("key" alone) and ``WEAK`` ("session", "hash") are ambiguous, so their values are judged more strictly.
    """

    PASSWORD = "password"
    TOKEN = "secret"
    BARE = "key"
    WEAK = "value"
    CODE = "one-time-code"


_PASSWORDS: Final = words(
    "password passwd passphrase passcode passwort kennwort losungswort senha contrasena contraseña motdepasse haslo"
    " hasło heslo parola parolă jelszo jelszó lozinka wachtwoord losenord lösenord passord adgangskode kodeord salasana"
    " sifre şifre пароль 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호 סיסמה पासवर्ड รหัสผ่าน"
    " clave pwd passwrd userpass dbpass mysqlpass"
)
_PASSWORD_ENDS: Final = tuple(_PASSWORDS)
_PASSWORD_WORDS: Final = words(
    "pass pw pswd psw psk mdp passe storepass keypass srcstorepass deststorepass requirepass masterauth bindpw rootpw"
    " sandi khẩu المرور السر"
)
_TOKENS: Final = words(
    "token secret apikey authkey accesskey secretkey privatekey signingkey masterkey credential credentials jwt bearer"
    " clientsecret authtoken accesstoken 令牌 密钥 токен ключ"
    " secrets sharedkey encryptionkey apitoken schlüssel schluessel sleutel キー トークン 密鑰 秘钥 토큰"
)
_TOKEN_ENDS: Final = tuple(_TOKENS)
_WEAK: Final = words(
    "auth authorization cookie session sessionid sid sig signature code hash ticket nonce salt hmac state assertion"
    " sess sessid csrf xsrf otp magic invite identity"
)
_CODES: Final = words("otp pin totp mfa 2fa tan")
_CODE_QUALIFIERS: Final = words(
    "verification security login time mfa fa sms otp totp confirmation authentication authenticator"
)
_KEYS_ABROAD: Final = words("clé cle clave chave chiave ключ klucz")
"""Words for "key" in other languages, which stand before "api"."""

_KEY_QUALIFIERS: Final = words(
    "api app application access account admin auth bot client consumer crypt cron decrypt decryption deploy deployment"
    " developer encrypt encryption function functions hmac host ingest ingestion instrumentation integration internal"
    " jwt kms license licence master merchant mgmt passphrase priv private prod production project read readonly rest"
    " root sas secret secure server service session shared sharedaccess sign signing site ssh ssl storage subscription"
    " tls user vault webhook write aes rsa des hash hashing token cookie accountkey primary1 functionskey x rw"
    " unseal recovery setup totp authenticator preshared wireguard community"
)
_KEY_NOT: Final = words(
    "public pub publishable primary foreign cache sort partition row object idempotency query dict map translation"
    " lookup index unique composite natural message routing group json react item list config setting feature flag"
    " event metric property field column registry localstorage lookup shortcut hot tab arrow enter press data trans"
    " locale i18n host-key fingerprint hashed order dedup dedupe shard range bucket file path image issue jira hash"
    " store websocket socket s3 blob label resource template"
)
_VENDORS: Final = words(
    "openai anthropic claude gemini google mistral cohere groq xai deepseek openrouter together perplexity fireworks"
    " replicate huggingface hf azure aws gcp cloudflare datadog dd newrelic sentry algolia mailgun sendgrid mailchimp"
    " postmark twilio stripe paypal square heroku vercel netlify supabase firebase airtable notion linear jira github"
    " gitlab bitbucket circleci snyk sonar pinecone weaviate qdrant elastic elasticsearch opsgenie pagerduty grafana"
    " splunk rollbar bugsnag mapbox here tomtom openweather weather maps shodan virustotal abuseipdb censys assemblyai"
    " deepgram elevenlabs stability ai21 voyage jina tavily exa serpapi serper brave wandb comet langsmith langfuse"
    " alchemy infura moralis etherscan coinbase binance kraken bitfinex kucoin okx bybit coingecko polygon finnhub"
    " alphavantage tiingo quandl plaid shopify hubspot intercom zendesk freshdesk salesforce segment mixpanel"
    " amplitude posthog launchdarkly contentful sanity cloudinary imgix uploadcare pusher ably onesignal expo vonage"
    " messagebird plivo telnyx nexmo clicksend brevo sendinblue klaviyo mandrill sparkpost digitalocean linode vultr"
    " hetzner scaleway ovh ibm oracle alibaba aliyun tencent baidu qwen dashscope moonshot zhipu minimax yandex vk"
    " discord slack telegram twitter facebook instagram linkedin tiktok reddit spotify twitch youtube dropbox box zoom"
    " docker npm pypi rubygems nuget artifactory jfrog confluent kafka redis upstash mongodb mongo atlas neon fauna"
    " planetscale tmdb omdb newsapi nasa giphy unsplash pexels ipinfo ipstack rapidapi clearbit hunter typeform"
    " calendly asana trello clickup monday figma miro canva webflow ghost wordpress wp woocommerce mollie adyen"
    " razorpay braintree lob easypost shippo taxjar doppler vault okta auth0 clerk stytch workos recaptcha hcaptcha"
    " turnstile captcha sumologic loggly logdna honeycomb dynatrace appdynamics ngrok tailscale zerotier"
)
"""Names of services; before "key" they show that the key opens something."""

_TOKEN_NOT: Final = words(
    "page next continuation pagination prev previous pad eos bos unk sep cls mask special max min num total prompt"
    " completion start end stop lex first last image per design count cancellation cancel syntax sync word sub"
    " delta placeholder device"
)
_PASSWORD_NOT: Final = words(
    "forgot reset hash hashed min max length policy strength prompt hint has is no without show hide toggle change by"
    " com test tests"
)
_ASKS: Final = words(
    "get check verify validate valid invalid is has hash compare encrypt decrypt find read load fetch prompt ask"
    " generate create make random parse reset forgot test require need missing wrong match matches to from remove"
    " delete clear show hide mask describe lookup find by contains includes expect assert count next peek consume"
)
"""Words in names of functions that do not get a secret as an argument: "get_password"."""

_SUFFIXES: Final = words(
    "prod production dev development staging stage stg test testing live sandbox old new primary secondary main backup"
    " value val v plain plaintext text raw string str base64 b64 for default current id_value local eu us master env"
    " secure encoded base"
)
_WORDS: Final = compile_pattern(r"[A-Z]?[a-z\x80-\xff]+|[A-Z]+|[0-9]+")


@lru_cache(maxsize=4096)
def sort(name: str) -> NameKind | None:
    """Return the kind of secret that the name of a value promises (``TOKEN`` for "OPENAI_API_KEY"); ``None`` if it
    promises none ("primary_key")."""
    words = _words(name)
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _SUFFIXES):
        words = words[:-1]
    if not words:
        return None
    last, before = words[-1], words[:-1]
    if last == "api" and _KEYS_ABROAD.intersection(before):
        return NameKind.TOKEN
    if last == "id" and before[-1:] == ["secret"]:
        return NameKind.TOKEN
    if last.endswith("key") or last == "keys":
        return _key(last, before)
    return _password(last, before) or _token(last, before) or _weak(last, before)


@lru_cache(maxsize=4096)
def vendor(name: str) -> str:
    """Return the first service that a name mentions ("openai" for "OPENAI_API_KEY"); "" if it mentions none that is
    known."""
    return next((word for word in _words(name) if word in _VENDORS), "")


@lru_cache(maxsize=4096)
def asks(name: str) -> bool:
    """Return whether a function of this name does something else with a secret than getting one as its argument: it
    asks for one, checks, makes or compares it ("get_password")."""
    return bool(_ASKS.intersection(_words(name)[:-1]))


def _password(last: str, before: list[str]) -> NameKind | None:
    named = last.endswith(_PASSWORD_ENDS) or last in _PASSWORD_WORDS
    return NameKind.PASSWORD if named and not _PASSWORD_NOT.intersection(before) else None


def _token(last: str, before: list[str]) -> NameKind | None:
    if not last.endswith(_TOKEN_ENDS) or (last.endswith(("token", "tokens")) and _TOKEN_NOT.intersection(before)):
        return None
    return None if last.removesuffix("token") in _TOKEN_NOT else NameKind.TOKEN


def _key(last: str, before: list[str]) -> NameKind | None:
    glued = last.removesuffix("s").removesuffix("key")
    words = {*before, glued}
    if words & _KEY_NOT and not words & {"secret", "private", "api", "access"}:
        return None
    if glued in _KEY_QUALIFIERS or words & _KEY_QUALIFIERS or words & _VENDORS:
        return NameKind.TOKEN
    return NameKind.BARE if not glued else None


def _weak(last: str, before: list[str]) -> NameKind | None:
    if last in _CODES or (last == "code" and _CODE_QUALIFIERS & set(before)):
        return NameKind.CODE
    if last == "string" and before[-1:] == ["connection"]:
        return NameKind.TOKEN
    session = last.endswith(("sessionid", "sessid")) or (last == "id" and before[-1:] in (["session"], ["sess"]))
    return NameKind.WEAK if session or last in _WEAK else None


def _words(name: str) -> list[str]:
    """The words of a name in lower case: split at hyphens, underscores, dots, blanks and changes of case."""
    raw = name[-NAME_MAX:].encode("utf-8", "surrogatepass")
    return [word.decode("utf-8", "replace").lower() for word in _split(raw)]


def _split(raw: bytes) -> list[bytes]:
    """Split a name into words. A capital before small letters begins a word: "HTTPServer" and "APIKey" are two words
    each."""
    found: list[bytes] = []
    for part in _WORDS.findall(raw):
        before = found[-1] if found else b""
        if part.islower() and len(before) > 1 and before.isupper() and before + part in raw:
            found[-1:] = [before[:-1], before[-1:] + part]
        else:
            found.append(part)
    return found
