"""Secrets in addresses (passwords, tokens in paths and queries, webhooks, signed and one-time links), in HTTP headers
and in other protocol messages.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import LINE, QUOTES, PlaceRule, behind

_URL_CHAR: Final = r"[^\s/\"'`<>@\\]"

# fmt: off
ADDRESSES: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("url-password", rf":(?:\\*/){{2}}[^\s/:\"'`<>@\\]*:{_URL_CHAR}{{2,}}@",
        r":(?:\\*/){2}[^\s/:\"'`<>@\\]*:([^\s/\"'`<>\\]{2,})@", "password",
        ("postgres://app:", "{W12}", "@db.internal:5432/app"), "postgres://user:password@localhost/app", edge=False),
    PlaceRule("url-password",
        r"(?i:(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?)://)[^\s/:\"'`<>@\\]*:[^\s\"'`<>\\@]{2,40}/",
        r"(?i:[a-z+]+://)[^\s/:\"'`<>@\\]*:([^\s\"'`<>\\@]{2,200})@[A-Za-z0-9]", "password",
        ("postgres://app:{W6}/", "{W6}", "@db.internal/app"), "postgres://localhost:5432/app"),
    PlaceRule("url-token", r"://[A-Za-z0-9_.=%-]{20,}(?::x-oauth-basic|:)?@",
        r"://([A-Za-z0-9_.=%-]{20,})(?::x-oauth-basic|:)?@", "userinfo",
        ("https://", "{h32}", "@o{d6}.ingest.sentry.io/{d6}"), "https://some.long.user.name.here@mail.test",
        edge=False),
    PlaceRule("database-password", r":[^\s:@/\"'`\\]+@(?:tcp|unix)\(", r":([^\s:@/\"'`\\]{3,64})@", "password",
        ("app:", "{W12}", "@tcp(db:3306)/app"), "user:password@tcp(db:3306)/app", edge=False),
    PlaceRule("database-password", r":(?:5432|5433|6432):[^\s:]{1,64}:[^\s:]{1,64}:[^\s:\"'`\\]{4}",
        r":[0-9]{4}:[^\s:]+:[^\s:]+:([^\s:\"'`\\]{4,})", "password", ("db.x.test:5432:app:bob:", "{W12}", ""),
        "localhost:5432:app:bob:password", edge=False),
    behind("database-password", r"\*:\*:[^\s:]{1,64}:[^\s:]{1,64}:", "chosen", ("*:*:*:bob:", "{w6}7{w6}", "\n"),
        "*:*:*:bob:$PASS", value=r"[^\s:\"'`\\]", edge=False),
    PlaceRule("database-password",
        r";[ \t]*(?i:pwd|password)[ \t]*=[ \t]*[^\s;&\"'`\\{}]{1,64}&[^\s;\"'`\\{}=]{2,64}(?:;|\\*[\"'])",
        r";[A-Za-z \t]+=[ \t]*([^\s;\"'`\\{}]{4,130})", "chosen", ("Server=db;Uid=bob;Pwd=", "{w5}&7{w6}", ";"),
        "a;password=none&b=1;", edge=False),
    behind("webhook", r"/IncomingWebhook/", "any",
        ("https://x.webhook.office.test/webhookb2/a@b/IncomingWebhook/", "{h32}/{uuid}", ""),
        "https://x.webhook.office.test/webhookb2/a@b/IncomingWebhook/how-to", value=r"[a-f0-9/-]", least=32,
        edge=False),
    PlaceRule("slack-webhook", r"hooks\.slack\.com(?:\\*/)(?:services|workflows|triggers)(?:\\*/)[A-Za-z0-9_/\\-]{8}",
        r"hooks\.slack\.com(?:\\*/)[a-z]+(?:\\*/)([A-Za-z0-9_/\\-]{20,})", "any",
        ("https://hooks.slack.com/services/", "T{u8}/B{u8}/{w24}", ""),
        "https://hooks.slack.com/services/your/path/here", edge=False),
    PlaceRule("discord-webhook", r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15}",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{30,})", "drawn",
        ("https://discord.com/api/webhooks/{d18}/", "{W68}", ""), "https://discord.com/api/webhooks/{d18}", edge=False),
    PlaceRule("webhook",
        r"(?:webhook\.office\.com/webhook|logic\.azure\.com|hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/trigger/"
        r"|webhooks\.mongodb-|hook\.[a-z0-9]+\.make\.com/|hooks\.airtable\.com/|pipedream\.net|webhook\.site/"
        r"|open\.feishu\.cn/open-apis/bot/v2/hook/|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)[^\s\"'`<>\\)]{8}",
        r"[a-z0-9.-]+[^\s\"'`<>\\)]*?[/=]([A-Za-z0-9][A-Za-z0-9_@-]{5,}/?[A-Za-z0-9_@/-]{6,})", "drawn",
        ("https://hooks.zapier.com/hooks/catch/{d7}/", "{l20}", "/"), "https://webhook.site/docs/getting-started",
        edge=False),
    PlaceRule("telegram-bot-token", r"api\.telegram\.org/(?:file/)?bot[0-9]{8,10}:",
        r"api\.telegram\.org/(?:file/)?bot([0-9]{8,10}:[A-Za-z0-9_-]{30,})", "any",
        ("https://api.telegram.org/bot", "{d9}:A{W34}", "/getMe"), "https://api.telegram.org/bot123456789:token/getMe",
        edge=False),
    PlaceRule("url-signature",
        r"[?&;](?i:x-(?:amz|goog|oss|cos|ms)-(?:signature|security-token|credential)|signature|sig|x-signature|s|h|hash"
        r"|hmac|sign|se?cret|[a-z_]*token|code|key|auth|otp|ticket|sid|session|t|k|state|jwt|invite|confirmation"
        r"|api_?key|app_?id|access_?key|magic|reset|login_?key|st|nonce|awsaccesskeyid)=[A-Za-z0-9%_.~+/-]{8}",
        r"[?&;][A-Za-z0-9_-]+=([A-Za-z0-9%_.~+/-]{8,}={0,2})", "drawn", ("https://x.test/file?sig=", "{W40}", "&a=1"),
        "https://x.test/file?code=not-found-page&a=1", edge=False),
    PlaceRule(
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
    behind("database-password", r"(?:jdbc:oracle:(?:thin|oci):|(?i:connect?)[ \t]+)[A-Za-z0-9_$#]+/", "password",
        ("jdbc:oracle:thin:scott/", "{w12}", "@//db:1521/XE"), "jdbc:oracle:thin:scott/${PASS}@//db:1521/XE",
        value=r"[^\s\"'`\\@/]", after="@"),
    behind(
        "api-key",
        r"(?:alchemy(?:api)?\.(?:com|io)|infura\.io|chainstack\.com|getblock\.io|ankr\.com|blastapi\.io|drpc\.org|quiknode\.pro"
        r"|blockpi\.network|moralis-nodes\.com|allthatnode\.com)/(?:[a-z0-9_-]{1,24}/){0,3}",
        "key",
        ("https://mainnet.x.infura.io/v3/", "{h32}", ""),
        "https://docs.infura.io/networks/ethereum/json-rpc-methods-overview",
        value=r"[A-Za-z0-9_-]",
        least=28,
        edge=False,
    ),
    behind(
        "one-time-link",
        r"/(?:private-|feeds?/|ical/|calendar/(?:ical/)?|webcal/|(?:reset|activate|confirm|verify|invite|join|unsubscribe|recover)"
        r"/[A-Za-z0-9_=-]{1,24}/(?:[a-z0-9]{4,8}-)?)",
        "key",
        ("https://x.test/accounts/reset/MQ/c3x7k1-", "{h32}", "/"),
        "https://x.test/calendar/how-to-share-a-private-calendar",
        value=r"[A-Za-z0-9_-]",
        least=24,
        edge=False,
    ),
)
# fmt: on


_TOKEN: Final = r"[A-Za-z0-9._~+/=:-]"

# fmt: off
HEADERS: Final[tuple[PlaceRule, ...]] = (
    PlaceRule("jwt", r"eyJ[A-Za-z0-9_-]{8}", r"(eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}){1,4}(?:\.[A-Za-z0-9_-]*)?)",
        "any", ("", "eyJ{W20}.eyJ{W40}.{W43}", ""), "pk.eyJ{W20}.{W43}", before=r"(?:^|[^.]|[^k]\.|(?:^|[^p])k\.)$",
        holds=b".", apart=True),
    PlaceRule("bearer-token",
        rf"(?i:bearer|token|apikey|access_token|api-key|hmac|aws4-hmac-sha256)(?:[ \t]|%20)+{_TOKEN}{{16}}",
        rf"(?i:[a-z0-9_-]+)(?:[ \t]|%20)+({_TOKEN}{{16,}})", "drawn", ("Authorization: Bearer ", "{W40}", ""),
        "bearer authentication-middleware"),
    PlaceRule("basic-auth", r"(?i:basic)(?:[ \t]|%20)+[A-Za-z0-9+/]{8}",
        r"(?i:basic)(?:[ \t]|%20)+([A-Za-z0-9+/]{8,}={0,2})", "basic", ("Authorization: Basic ", "", ""),
        "basic authentication"),
    PlaceRule("basic-auth", rf"(?i:[\"_]auth|base64){QUOTES}?[ \t]*[:=][ \t]*{QUOTES}?[A-Za-z0-9+/]{{8}}",
        rf"(?i)[\"_a-z0-9]+{QUOTES}?[ \t]*[:=][ \t]*{QUOTES}?([A-Za-z0-9+/]{{8,}}={{0,2}})", "basic",
        ('"auth": "', "", '"'), '"auth": "none-at-all"', edge=False),
    behind("authorization",
        rf"(?i:authorization){QUOTES}*[ \t]*[:=,][ \t]*(?:[bu]?{QUOTES})?"
        r"[A-Za-z][A-Za-z0-9_-]{2,30}(?:[ \t]+|=)(?:[A-Za-z0-9_@!.-]{1,40}=)?", "key",
        ("Authorization: GenieKey ", "{uuid}", ""), "Authorization: the-user-may-do-it checked-by-the-gateway-first",
        value=r"[A-Za-z0-9._~+/=-]", least=16),
    behind("request-signature", r"SignedHeaders=[A-Za-z0-9;_-]+,[ \t]*Signature=", "any",
        ("Authorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host;x-amz-date, Signature=", "{h64}", ""),
        "SignedHeaders=host, Signature=<signature>", value=r"[A-Fa-f0-9]", least=40),
    behind("request-signature", r"response=\\*\"", "any",
        ('Authorization: Digest username="bob", qop=auth, response="', "{h32}", '"'),
        'Digest qop=auth, response="00000000000000000000000000000000"', value=r"[A-Fa-f0-9]", least=32,
        before=r"(?:nonce|qop|uri|nc|realm)=[^\n]*$"),
    behind("protocol-password", r"PASS[ \t]+", "strong", ("331 Password required\r\nPASS ", "{w6}Q7{w6}", "\r\n"),
        "PASS src/Login2.test.ts (5 s)", value=r"[^\s\"'`\\/()]", after=r"(?:[\r\n]|\\+[rn]|$)",
        before=r"(?:^|[\r\n>:]|\\n)[ \t]*$"),
    behind("protocol-password", r"AUTH[ \t]+(?:[A-Za-z0-9_.@-]+[ \t]+)?", "short", ("AUTH PLAIN ", "{b32}", "\r\n"),
        "AUTH PLAIN LOGIN", before=r"(?:^|[\r\n>:]|\\n)[ \t]*$"),
    behind("protocol-password", rf"334[ \t]+UGFzc3dvcmQ6{LINE}(?:[A-Z]:[ \t]*|[<>-]+[ \t]*)?", "coded",
        ("334 UGFzc3dvcmQ6\r\n", "{b24}", "\r\n235 OK"), "334 UGFzc3dvcmQ6\r\n535 authentication failed",
        value=r"[A-Za-z0-9+/=]", least=8),
    behind("protocol-password", rf"LOGIN[ \t]+{QUOTES}?[^\s\"'`\\]+{QUOTES}?[ \t]+{QUOTES}?", "strong",
        ("a1 LOGIN bob@x.test ", "{w6}Q7{w6}", "\r\n"), "a1 LOGIN bob@x.test $PASS",
        before=r"(?:^|[\r\n>:]|\\n)[ \t]*[A-Za-z]{0,4}[0-9]{1,6}[ \t]+$"),
    behind("protocol-password", r"(?i:acl[ \t]+setuser)[ \t][^\n\\>]{1,80}>", "password",
        ("ACL SETUSER app on >", "{W12}", " ~* +@all"), "ACL SETUSER app on >$PASS ~* +@all"),
)
# fmt: on
