"""Tokens in HTTP headers and other protocol messages."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.places import LINE, QUOTES, PlaceRule, behind

_TOKEN: Final = r"[A-Za-z0-9._~+/=:-]"

HEADERS: Final[tuple[PlaceRule, ...]] = (
    PlaceRule(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8}",
        r"(eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}){1,4}(?:\.[A-Za-z0-9_-]*)?)",
        "any",
        ("", "eyJ{W20}.eyJ{W40}.{W43}", ""),
        "pk.eyJ{W20}.{W43}",
        before=r"(?:^|[^.]|[^k]\.|(?:^|[^p])k\.)$",
        holds=b".",
        apart=True,
    ),
    PlaceRule(
        "bearer-token",
        rf"(?i:bearer|token|apikey|access_token|api-key|hmac|aws4-hmac-sha256)(?:[ \t]|%20)+{_TOKEN}{{16}}",
        rf"(?i:[a-z0-9_-]+)(?:[ \t]|%20)+({_TOKEN}{{16,}})",
        "drawn",
        ("Authorization: Bearer ", "{W40}", ""),
        "bearer authentication-middleware",
    ),
    PlaceRule(
        "basic-auth",
        r"(?i:basic)(?:[ \t]|%20)+[A-Za-z0-9+/]{8}",
        r"(?i:basic)(?:[ \t]|%20)+([A-Za-z0-9+/]{8,}={0,2})",
        "basic",
        ("Authorization: Basic ", "", ""),
        "basic authentication",
    ),
    PlaceRule(
        "basic-auth",
        rf"(?i:[\"_]auth|base64){QUOTES}?[ \t]*[:=][ \t]*{QUOTES}?[A-Za-z0-9+/]{{8}}",
        rf"(?i)[\"_a-z0-9]+{QUOTES}?[ \t]*[:=][ \t]*{QUOTES}?([A-Za-z0-9+/]{{8,}}={{0,2}})",
        "basic",
        ('"auth": "', "", '"'),
        '"auth": "none-at-all"',
        edge=False,
    ),
    behind(
        "authorization",
        rf"(?i:authorization){QUOTES}*[ \t]*[:=,][ \t]*(?:[bu]?{QUOTES})?"
        r"[A-Za-z][A-Za-z0-9_-]{2,30}(?:[ \t]+|=)(?:[A-Za-z0-9_@!.-]{1,40}=)?",
        "key",
        ("Authorization: GenieKey ", "{uuid}", ""),
        "Authorization: the-user-may-do-it checked-by-the-gateway-first",
        value=r"[A-Za-z0-9._~+/=-]",
        least=16,
    ),
    behind(
        "request-signature",
        r"SignedHeaders=[A-Za-z0-9;_-]+,[ \t]*Signature=",
        "any",
        ("Authorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host;x-amz-date, Signature=", "{h64}", ""),
        "SignedHeaders=host, Signature=<signature>",
        value=r"[A-Fa-f0-9]",
        least=40,
    ),
    behind(
        "request-signature",
        r"response=\\*\"",
        "any",
        ('Authorization: Digest username="bob", qop=auth, response="', "{h32}", '"'),
        'Digest qop=auth, response="00000000000000000000000000000000"',
        value=r"[A-Fa-f0-9]",
        least=32,
        before=r"(?:nonce|qop|uri|nc|realm)=[^\n]*$",
    ),
    behind(
        "protocol-password",
        r"PASS[ \t]+",
        "strong",
        ("331 Password required\r\nPASS ", "{w6}Q7{w6}", "\r\n"),
        "PASS src/Login2.test.ts (5 s)",
        value=r"[^\s\"'`\\/()]",
        after=r"(?:[\r\n]|\\+[rn]|$)",
        before=r"(?:^|[\r\n>:]|\\n)[ \t]*$",
    ),
    behind(
        "protocol-password",
        r"AUTH[ \t]+(?:[A-Za-z0-9_.@-]+[ \t]+)?",
        "short",
        ("AUTH PLAIN ", "{b32}", "\r\n"),
        "AUTH PLAIN LOGIN",
        before=r"(?:^|[\r\n>:]|\\n)[ \t]*$",
    ),
    behind(
        "protocol-password",
        rf"334[ \t]+UGFzc3dvcmQ6{LINE}(?:[A-Z]:[ \t]*|[<>-]+[ \t]*)?",
        "coded",
        ("334 UGFzc3dvcmQ6\r\n", "{b24}", "\r\n235 OK"),
        "334 UGFzc3dvcmQ6\r\n535 authentication failed",
        value=r"[A-Za-z0-9+/=]",
        least=8,
    ),
    behind(
        "protocol-password",
        rf"LOGIN[ \t]+{QUOTES}?[^\s\"'`\\]+{QUOTES}?[ \t]+{QUOTES}?",
        "strong",
        ("a1 LOGIN bob@x.test ", "{w6}Q7{w6}", "\r\n"),
        "a1 LOGIN bob@x.test $PASS",
        before=r"(?:^|[\r\n>:]|\\n)[ \t]*[A-Za-z]{0,4}[0-9]{1,6}[ \t]+$",
    ),
    behind(
        "protocol-password",
        r"(?i:acl[ \t]+setuser)[ \t][^\n\\>]{1,80}>",
        "password",
        ("ACL SETUSER app on >", "{W12}", " ~* +@all"),
        "ACL SETUSER app on >$PASS ~* +@all",
    ),
)
