"""Reads secrets that are known by the place they stand in: key blocks, JWTs, URLs, headers, cookies, commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .found import Found, Rank, Reading, begins_word, refusal
from .judge import basic_pair, entropy, opaque, placeholder, stands_in
from .pattern import compiled

WINDOW: Final = 4096
"""Bytes that a reader looks at before it has accepted anything."""

_BEFORE: Final = 120
_REFERENCE: Final = compiled(r"^(?:\$|\{|<|%[({A-Z]|\*+$|x+$|\.+$|redacted:|\[)|^:?[A-Za-z_]*PASS(?:WORD)?$")


@dataclass(frozen=True, slots=True)
class Place:
    """A row: ``gate`` is where it begins (RE2), ``pattern`` the whole, with one group around the secret.

    ``judge`` names how the secret is judged, one of ``JUDGES``. ``edge`` rows do not begin in the middle of a word.
    ``before`` is RE2 that must be found in the text before, up to where it ends ("" for anything).
    """

    kind: str
    gate: str
    pattern: str
    judge: str
    example: tuple[str, str, str]
    counter: str
    edge: bool = True
    before: str = ""

    def read(self, text: bytes, start: int) -> Reading:
        """What stands at ``start``."""
        onward = start + 3
        if self.edge and not begins_word(text, start):
            return refusal(self.kind, start, onward, "in the middle of a word", onward)
        if self.before and not compiled(self.before).search(text[max(0, start - _BEFORE) : start]):
            return refusal(self.kind, start, onward, "not behind such a command", onward)
        match = compiled(self.pattern).match(text, start, min(len(text), start + WINDOW))
        if match is None:
            return refusal(self.kind, start, onward, "not the whole of it", onward)
        first, last = match.span(1)
        last -= len(text[first:last]) - len(text[first:last].rstrip(b".,;:"))
        why = JUDGES[self.judge](text[first:last].decode("latin-1"))
        if why:
            return refusal(self.kind, first, last, why, max(onward, first))
        if last == start + WINDOW:
            last = compiled(self.pattern).match(text, start).end(1)
        return Reading(last, (Found(self.kind, first, last, "by its place", Rank.PLACED),))


def _drawn(said: str) -> str:
    return "" if opaque(said, 16) else "reads like a name, or is too plain"


def _short(said: str) -> str:
    return "" if opaque(said, 8) else "reads like a name, or is too plain"


def _password(said: str) -> str:
    if _REFERENCE.search(said.encode("latin-1", "replace")) or placeholder(said) or stands_in(said) or len(said) < 3:
        return "a placeholder"
    return ""


def _basic(said: str) -> str:
    return "" if basic_pair(said) and entropy(said) > 2.5 else "no name and password"


def _any(said: str) -> str:
    return "a placeholder" if placeholder(said) else ""


def _userinfo(said: str) -> str:
    return "" if opaque(said, 20) and not said.startswith("git") else "a name"


JUDGES: Final = {
    "drawn": _drawn,
    "short": _short,
    "password": _password,
    "basic": _basic,
    "any": _any,
    "userinfo": _userinfo,
}
"""Judges of what stands in a place: the reason why it is no secret, "" when it is one."""

_QUOTES: Final = r"(?:\\*[\"'`])"
_TOKEN: Final = r"[A-Za-z0-9._~+/=-]"
_URL_CHAR: Final = r"[^\s/\"'`<>@\\]"
_WRAPPED_PEM: Final = (
    "LS0tLS1CRUdJTiB(?:QUklWQVRFIEtFWS|SU0EgUFJJVkFURSBL|FQyBQUklWQVRFIEtF|PUEVOU1NIIFBSSVZB|FTkNSWVBURUQgUFJJ|QR1AgUFJJVkFU"
    "|EU0EgUFJJVkFU)"
)
"""How the first lines of private keys read in base 64, as kubeconfig files and CI variables hold them."""

PLACES: Final[tuple[Place, ...]] = (
    Place(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8}",
        r"(eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}){1,4}(?:\.[A-Za-z0-9_-]*)?)",
        "any",
        ("", "eyJ{W20}.eyJ{W40}.{W43}", ""),
        "eyJ{W20}",
    ),
    Place(
        "url-password",
        rf":(?:\\*/){{2}}[^\s/:\"'`<>@\\]*:{_URL_CHAR}{{2,}}@",
        r":(?:\\*/){2}[^\s/:\"'`<>@\\]*:([^\s/\"'`<>\\]{2,})@",
        "password",
        ("postgres://app:", "{W12}", "@db.internal:5432/app"),
        "postgres://user:password@localhost/app",
        edge=False,
    ),
    Place(
        "url-password",
        r"(?i:(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?)://)[^\s/:\"'`<>@\\]*:[^\s\"'`<>\\@]{2,40}/",
        r"(?i:[a-z+]+://)[^\s/:\"'`<>@\\]*:([^\s\"'`<>\\@]{2,200})@[A-Za-z0-9]",
        "password",
        ("postgres://app:{W6}/", "{W6}", "@db.internal/app"),
        "postgres://localhost:5432/app",
    ),
    Place(
        "url-token",
        r"://[A-Za-z0-9_.=%-]{20,}(?::x-oauth-basic|:)?@",
        r"://([A-Za-z0-9_.=%-]{20,})(?::x-oauth-basic|:)?@",
        "userinfo",
        ("https://", "{h32}", "@o{d6}.ingest.sentry.io/{d6}"),
        "https://some.long.user.name.here@mail.test",
        edge=False,
    ),
    Place(
        "database-password",
        r":[^\s:@/\"'`\\]+@(?:tcp|unix)\(",
        r":([^\s:@/\"'`\\]{3,64})@",
        "password",
        ("app:", "{W12}", "@tcp(db:3306)/app"),
        "user:password@tcp(db:3306)/app",
        edge=False,
    ),
    Place(
        "bearer-token",
        rf"(?i:bearer|token|apikey|access_token|api-key|hmac|aws4-hmac-sha256)(?:[ \t]|%20)+{_TOKEN}{{16}}",
        rf"(?i:[a-z0-9_-]+)(?:[ \t]|%20)+({_TOKEN}{{16,}})",
        "drawn",
        ("Authorization: Bearer ", "{W40}", ""),
        "bearer authentication-middleware",
    ),
    Place(
        "basic-auth",
        r"(?i:basic)(?:[ \t]|%20)+[A-Za-z0-9+/]{8}",
        r"(?i:basic)(?:[ \t]|%20)+([A-Za-z0-9+/]{8,}={0,2})",
        "basic",
        ("Authorization: Basic ", "", ""),
        "basic authentication",
    ),
    Place(
        "basic-auth",
        rf"(?i:[\"_]auth|base64){_QUOTES}?[ \t]*[:=][ \t]*{_QUOTES}?[A-Za-z0-9+/]{{8}}",
        rf"(?i)[\"_a-z0-9]+{_QUOTES}?[ \t]*[:=][ \t]*{_QUOTES}?([A-Za-z0-9+/]{{8,}}={{0,2}})",
        "basic",
        ('"auth": "', "", '"'),
        '"auth": "none-at-all"',
        edge=False,
    ),
    Place(
        "command-password",
        rf"(?:-u|--user|--proxy-user|-U)(?:[ \t]+|=){_QUOTES}?[^\s:\"'`/\\-][^\s:\"'`/\\]*:[^\s\"'`\\]{{3}}",
        rf"(?:-u|--user|--proxy-user|-U)(?:[ \t]+|=){_QUOTES}?[^\s:\"'`/\\]+:([^\s\"'`\\]{{3,}})",
        "password",
        ("curl -u admin:", "{W12}", " https://x.test"),
        "docker run -u user:${GROUP} x",
    ),
    Place(
        "command-password",
        r"[ \t]-p[^\s\"'`\\=:/-][^\s\"'`\\]{3}",
        r"[ \t]-p([^\s\"'`\\-][^\s\"'`\\]{3,})",
        "password",
        ("mysql -u root -p", "{W12}", " app"),
        "mysql -u root -port 3306",
        edge=False,
        before=r"(?:mysql(?:dump|admin|import)?|mariadb(?:-dump)?)[ \t][^\n|;]*$",
    ),
    Place(
        "command-password",
        rf"[ \t]-[pPwaU][ \t]+{_QUOTES}?[^\s\"'`\\$<-][^\s\"'`\\]{{3}}",
        rf"[ \t]-[pPwaU][ \t]+{_QUOTES}?([^\s\"'`\\$<-][^\s\"'`\\]{{3,}})",
        "short",
        ("sshpass -p '", "{W12}", "' ssh host"),
        "sshpass -p $PASS ssh host",
        edge=False,
        before=r"(?:sshpass|redis-cli|login|mongo(?:sh|dump|restore)?|sqlcmd|ldapsearch|smbclient|7z[a-z]?|zip|unzip)"
        r"(?:[ \t][^\n|;]*)?$",
    ),
    Place(
        "netrc-password",
        r"machine[ \t]+[^\s]+\s+login[ \t]+[^\s]+\s+password[ \t]+[^\s\"'`\\]{4}",
        r"machine[ \t]+[^\s]+\s+login[ \t]+[^\s]+\s+password[ \t]+([^\s\"'`\\]{4,})",
        "password",
        ("machine x.test login bob password ", "{W12}", ""),
        "machine x.test login bob password $PASS",
    ),
    Place(
        "command-password",
        rf"(?i:convertto-securestring)[ \t]+(?:-[sS]tring[ \t]+)?{_QUOTES}[^\s\"'`\\$]",
        rf"(?i:convertto-securestring)[ \t]+(?:-[sS]tring[ \t]+)?{_QUOTES}([^\"'`\\\n]{{4,}})",
        "password",
        ('ConvertTo-SecureString "', "{W12}", '" -AsPlainText -Force'),
        'ConvertTo-SecureString "password" -AsPlainText',
    ),
    Place(
        "call-password",
        rf"(?:\.login|\bauth[ \t]*=[ \t]*|HTTPBasicAuth|\bBasicAuth|SetBasicAuth|PlainAuth)"
        rf"\((?:{_QUOTES}{_QUOTES}[ \t]*,[ \t]*)?"
        rf"{_QUOTES}[^\s\"'`\\]{{1,64}}{_QUOTES}[ \t]*,[ \t]*{_QUOTES}[^\s\"'`\\]{{4}}",
        rf"[.A-Za-z]+[ \t]*=?[ \t]*\((?:{_QUOTES}{_QUOTES}[ \t]*,[ \t]*)?"
        rf"{_QUOTES}[^\s\"'`\\]+{_QUOTES}[ \t]*,[ \t]*{_QUOTES}([^\"'`\\\n]{{4,}}){_QUOTES}",
        "password",
        ('smtp.login("bob@x.test", "', "{W12}", '")'),
        'requests.get(url, auth=("user", "password"))',
        edge=False,
    ),
    Place(
        "jwt-secret",
        r"\b(?:jwt|jsonwebtoken|JWT)\.(?:sign|verify|encode|decode)\([A-Za-z_.]{1,40},[ \t]*"
        rf"{_QUOTES}[^\s\"'`\\]{{8}}",
        rf"[A-Za-z]+\.[a-z]+\([A-Za-z_.]+,[ \t]*{_QUOTES}([^\s\"'`\\]{{8,}}){_QUOTES}",
        "short",
        ("jwt.sign(payload, '", "{W32}", "')"),
        "jwt.sign(payload, 'my-test-secret')",
        edge=False,
    ),
    Place(
        "api-key",
        rf"cohere\.(?:Async)?Client(?:V2)?\({_QUOTES}[A-Za-z0-9]{{20}}|wandb login [0-9a-f]{{40}}"
        r"|sonar\.login=[0-9a-f]{40}"
        rf"|algoliasearch\({_QUOTES}[A-Z0-9]{{10}}{_QUOTES},[ \t]*{_QUOTES}[0-9a-f]{{32}}"
        rf"|{_QUOTES}AC[0-9a-f]{{32}}{_QUOTES},[ \t]*{_QUOTES}[0-9a-f]{{32}}",
        rf"(?:cohere\.[A-Za-z0-9]+\({_QUOTES}|wandb login |sonar\.login="
        rf"|algoliasearch\({_QUOTES}[A-Z0-9]+{_QUOTES},[ \t]*{_QUOTES}"
        rf"|{_QUOTES}AC[0-9a-f]+{_QUOTES},[ \t]*{_QUOTES})([A-Za-z0-9]{{20,}})",
        "drawn",
        ('cohere.Client("', "{w40}", '")'),
        'cohere.Client("yourcohereapikeygoeshereplease")',
        edge=False,
    ),
    Place(
        "ci-secret",
        rf"gh secret set [A-Za-z0-9_]{{1,80}} (?:--body|-b)[ =]{_QUOTES}?[^\s\"'`\\$<]{{8}}",
        rf"gh secret set [A-Za-z0-9_]+ (?:--body|-b)[ =]{_QUOTES}?([^\s\"'`\\$<]{{8,}})",
        "short",
        ('gh secret set DEPLOY --body "', "{W32}", '"'),
        "gh secret set DEPLOY --body the-value-of-it",
    ),
    Place(
        "signing-secret",
        r"(?:SECRET_KEY|AUTH_KEY|LOGGED_IN_KEY|NONCE_KEY|AUTH_SALT|LOGGED_IN_SALT|NONCE_SALT)"
        rf"{_QUOTES}?[ \t]*[=,:][ \t]*{_QUOTES}[!-~]{{12}}",
        rf"[A-Z_]+{_QUOTES}?[ \t]*[=,:][ \t]*{_QUOTES}([^'\"\n\\]{{40,90}})['\"]",
        "drawn",
        ("SECRET_KEY = '", "{W50}", "'"),
        "SECRET_KEY = 'please put a long and unique phrase of your own in this place'",
        edge=False,
    ),
    Place(
        "database-password",
        r":(?:5432|5433|6432):[^\s:]{1,64}:[^\s:]{1,64}:[^\s:\"'`\\]{4}",
        r":[0-9]{4}:[^\s:]+:[^\s:]+:([^\s:\"'`\\]{4,})",
        "password",
        ("db.x.test:5432:app:bob:", "{W12}", ""),
        "localhost:5432:app:bob:password",
        edge=False,
    ),
    Place(
        "private-key",
        rf"(?:{_WRAPPED_PEM})[A-Za-z0-9+/]{{40}}",
        rf"((?:{_WRAPPED_PEM})[A-Za-z0-9+/]{{40,}}={{0,2}})",
        "any",
        ("client-key-data: ", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt{b80}", ""),
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t{b80}",
    ),
    Place(
        "slack-webhook",
        r"hooks\.slack\.com(?:\\*/)(?:services|workflows|triggers)(?:\\*/)[A-Za-z0-9_/\\-]{8}",
        r"hooks\.slack\.com(?:\\*/)[a-z]+(?:\\*/)([A-Za-z0-9_/\\-]{20,})",
        "any",
        ("https://hooks.slack.com/services/", "T{u8}/B{u8}/{w24}", ""),
        "https://hooks.slack.com/services/your/path/here",
        edge=False,
    ),
    Place(
        "discord-webhook",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15}",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{30,})",
        "drawn",
        ("https://discord.com/api/webhooks/{d18}/", "{W68}", ""),
        "https://discord.com/api/webhooks/{d18}",
        edge=False,
    ),
    Place(
        "webhook",
        r"(?:webhook\.office\.com/webhook|logic\.azure\.com|hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/trigger/"
        r"|webhooks\.mongodb-|hook\.[a-z0-9]+\.make\.com/|hooks\.airtable\.com/|pipedream\.net|webhook\.site/"
        r"|open\.feishu\.cn/open-apis/bot/v2/hook/|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)[^\s\"'`<>\\)]{8}",
        r"[a-z0-9.-]+[^\s\"'`<>\\)]*?[/=]([A-Za-z0-9][A-Za-z0-9_@-]{5,}/?[A-Za-z0-9_@/-]{6,})",
        "drawn",
        ("https://hooks.zapier.com/hooks/catch/{d7}/", "{l20}", "/"),
        "https://webhook.site/docs/getting-started",
        edge=False,
    ),
    Place(
        "telegram-bot-token",
        r"api\.telegram\.org/(?:file/)?bot[0-9]{8,10}:",
        r"api\.telegram\.org/(?:file/)?bot([0-9]{8,10}:[A-Za-z0-9_-]{30,})",
        "any",
        ("https://api.telegram.org/bot", "{d9}:A{W34}", "/getMe"),
        "https://api.telegram.org/bot123456789:token/getMe",
        edge=False,
    ),
    Place(
        "url-signature",
        r"[?&;](?i:x-(?:amz|goog|oss|cos|ms)-(?:signature|security-token|credential)|signature|sig|x-signature|s|h|hash"
        r"|hmac|sign|se?cret|[a-z_]*token|code|key|auth|otp|ticket|sid|session|t|k|state|jwt|invite|confirmation"
        r"|api_?key|access_?key|magic|reset|login_?key|st|nonce|awsaccesskeyid)=[A-Za-z0-9%_.~+/-]{8}",
        r"[?&;][A-Za-z0-9_-]+=([A-Za-z0-9%_.~+/-]{8,}={0,2})",
        "drawn",
        ("https://x.test/file?sig=", "{W40}", "&a=1"),
        "https://x.test/file?code=not-found-page&a=1",
        edge=False,
    ),
    Place(
        "one-time-link",
        r"/(?i:reset(?:[_-]?password)?|password[_-]?resets?|verify(?:[_-]?email)?|confirm(?:ation)?|activate|activation"
        r"|invite|invitations?|magic(?:[_-]?(?:link|login))?|login|unsubscribe|accept|share|s|auth|token|otp|recover|onetime)"
        r"/[A-Za-z0-9_=-]{16}",
        r"/[A-Za-z_-]+/([A-Za-z0-9_=.-]{16,})",
        "drawn",
        ("https://x.test/reset-password/", "{w40}", ""),
        "https://x.test/share/how-to-write-good-tests",
        edge=False,
    ),
    Place(
        "seed-phrase",
        r"(?i:mnemonic|seed|seed[ _-]?phrase|recovery[ _-]?(?:phrase|words))"
        r"(?:\\*[\"'`*])*(?:[ \t]*[:=][ \t]*|[ \t]+is[ \t:]+)"
        r"(?:\\*[\"'`])?[a-z]{3,8} [a-z]{3,8} [a-z]{3,8} [a-z]{3,8} ",
        r"(?i:[a-z _-]+?)(?:\\*[\"'`*])*(?:[ \t]*[:=][ \t]*|[ \t]+is[ \t:]+)(?:\\*[\"'`])?"
        r"((?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){12})?[a-z]{3,8})",
        "any",
        ("seed phrase: ", "{L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5} {L5}", ""),
        "seed: one two three four five",
    ),
)
"""Secrets that one pattern finds by the place they stand in. The three parts of an example are joined; the middle one
is the secret. Rows of which the secret has a checksum or an inner form leave it empty."""
