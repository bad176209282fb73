"""Redaction: secrets that are found, texts wrongly taken for secrets, characters removed beside secrets, and CPU.

A secret counts as caught if no run of its characters survives that is as long as 35 % of it (at least 8 and at most 20
characters). The part with which every such key begins does not count.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import tokenmizer_mw
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters

from .measure import at_least, at_most, cpu_seconds, percentile
from .redaction_corpus import Case, cases, negatives
from .sessions import long_session

KEY: Final = b"benchmark" * 4
MEGABYTE: Final = 1_000_000
SIZE: Final = 200_000
CALLS: Final = 50
RATIO_FROM: Final = 0.02
"""Least time, in seconds, for which a ratio of times is judged."""

HOSTILE: Final[dict[str, str]] = {
    "letter": "A",
    "dashes": "-",
    "base 64": "QUJD",
    "dotted labels": "a.",
    "digits": "1",
    "backslashes": "\\",
    "quotes": '"',
    "escaped quotes": '\\"',
    "new lines": "\n",
    "percent escapes": "%3D",
    "jwt head": "eyJ" + "a" * 8,
    "jwt dots": "eyJ" + "a" * 8 + ".",
    "key prefix": "sk-",
    "key prefixes": "AKIA",
    "github prefix": "ghp_",
    "empty assignments": "key=",
    "password words": "password ",
    "password for": "password for ",
    "assignments of words": "token: value ",
    "urls": "://a:",
    "userinfo": "://a:b@",
    "headers": "Authorization: Bearer ",
    "key blocks": "-" * 5 + "BEGIN PRIVATE KEY" + "-" * 5,
    "key ends": "-" * 5 + "END PRIVATE KEY" + "-" * 5,
    "manifests": "kind: Secret\ndata:\n a: b\n",
    "cookies": "Cookie: a=",
    "query": "&key=a1b2c3d4",
    "flags": " -u a:b ",
    "cjk": "密码：",
    "zero-width spaces": "a\u200b",
    "full-width letters": "ｓｋ－",
    "entities": "&#45;",
    "terminal codes": "\x1b[31m",
    "joined literals": "'a' + 'b'",
    "wrapped words": "abcdefgh\n",
    "hexadecimal": "736b2d61",
    "mail": "a@b.",
    "placeholders": "redacted:password:12345678 ",
    "keys of mixed case": "key=aBcDeFgHiJkL",
    "logins in code": ".login('a','aaaa",
    "pgpass": ":5432:a:b:cccc",
    "connections in code": "getConnection(a,'b','",
    "schemes": "Authorization: Bearer a",
    "shares": "net use /user:x y ",
    "pipes": "echo aaaa |",
    "pipes of log-ins": "echo aaaa | sudo -",
    "users in SQL": "IDENTIFIED BY ",
    "protocols": "334 UGFzc3dvcmQ6\\n",
    "configured": "password 3 ",
    "variables of Terraform": 'variable "token" {',
    "parameters": "token:\n A:\n",
    "web keys": "{'kty':'EC',",
    "web keys without end": "'kty':'EC'",
    "heads of tables": "|password|\n",
    "tables": "|password|b\n|a1b2c3|b\n",
    "inserted rows": "insert into a (password",
    "inserts": "insert into a (password) values ('a')",
    "made-up words": "login Ab3!cde4",
    "signs": "abc!de",
    "names about something": "password for a b c d ",
    "constructors": "token=String.from",
    "block scalars": "token: |\n ",
    "markup": "password</td><td>",
    "pairs of log-ins": "login a / ",
    "uses": "use abcdef1 as the ",
    "groups": "key: abcd efgh ijkl mnop ",
    "recovery codes": "recovery codes: a1b2c3d4",
    "numbered words": "seed words 1. abc 2. abc 3. abc ",
    "bytes": "[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,",
    "reset links": "/reset/a/",
    "snmp": "snmpwalk -c ",
    "made keys": "openssl rand -hex 32\n",
    "calls with two": "authorize('a','b",
    "changes in SQL": "password from 'a' to ",
    "first boots": "chpasswd:\n a:\n",
    "remarks": "token (a b) ",
    "first passwords": "my new token:\n",
    "here-strings": "sudo -S <<< ",
    "answers to prompts": "password\nsend 'a",
    "Wi-Fi codes": "WIFI:S:a;",
    "headers of columns in JSON": ",token,\\n",
    "words with numbers": "password is meadow-4821qk ",
    "numbered names": "password=Meadow_4821",
    "connection strings": ";pwd=a1&b2c",
    "shares with passwords": "net use \\\\a\\b ",
    "options of htpasswd": "htpasswd -b -c ",
    "options of openssl": "openssl passwd -salt a ",
    "options of oathtool": "oathtool -b ",
    "changes in Terraform": 'token = "a" ->',
    "elements with attributes": "<password a",
    "prompts": "password for a ",
    "labels above": "password\n",
    "basic in code": "basic_auth 'a', ",
    "signatures in code": "jwt.sign({a",
    "digests": 'nc=response="',
    "pgpass of any": "*:*:a:b:",
    "prompts with brackets": "token [a] ",
    "stated passwords": "the password is ",
    "stated by a short verb": "password's a",
    "stated and long": "the password is " + "a-" * 20 + "_",
    "words behind pass": "pass abcdefgh12 ",
    "words behind pass, glued": "pass a1",
    "cells of tables": "| sk-abcd",
    "keys on the next line": "secret key:\n",
    "keys of AWS in two lines": "secret_access_key=abcd\n",
    "keys abroad": "clé api est ",
}
"""Units that are repeated into inputs that make backtracking, rescanning or growing automata slow."""

KEYWORDS: Final = (
    "the api_key of service {n} is read from os.environ and the token expires after {n} minutes",
    "password reset flow {n}: a secret and a session key, see auth/token_{n}.py",
    "Authorization: Bearer header with the token of tenant {n}; rotate the client secret",
    "export API_KEY=$KEY_{n}; token = os.environ['TOKEN_{n}']",
    "auth.token = req.cookies['session_{n}'] // key rotation {n}",
    "client_secret: ${{SECRET_{n}}}",
    "if (!password || password.length < {n}) return credentials",
    "key: value_{n}, secret: none, token: null",
)


def run() -> dict[str, Any]:
    redactor = Redactor(key=KEY)
    positive, negative = cases(), negatives()
    caught = {place: _caught(redactor, case) for place, case in enumerate(positive)}
    wrong = [case for case in negative if redactor.find(case.text)]
    speeds = {name: _speed(redactor, text) for name, text in _texts().items()}
    hostile = {name: _hostile(redactor, unit) for name, unit in HOSTILE.items()}
    slowest = min(hostile, key=lambda name: float(hostile[name]["mb_per_s"]))
    steepest = max(hostile, key=lambda name: float(hostile[name]["ratio"]))
    collateral = percentile(
        [float(_collateral(redactor, case)) for place, case in enumerate(positive) if caught[place]], 0.95
    )
    return {
        "figures": {
            "cases": len(positive),
            "kinds": len({case.kind for case in positive}),
            "negatives": len(negative),
            "recall": _shares(positive, caught),
            "missed": sorted({case.kind for place, case in enumerate(positive) if not caught[place]}),
            "wrong": dict(Counter(case.kind for case in wrong)),
            "mb_per_s": speeds,
            "hostile": hostile,
            "body_us": _bodies(redactor),
        },
        "bars": [
            at_least("recall, all cases", sum(caught.values()) / len(positive), 0.98),
            at_least("recall, contexts held back", _held(positive, caught), 0.98),
            at_most("false positives", len(wrong) / len(negative), 0.01),
            at_most("false positives on hashes, UUIDs and code", sum(case.group == "strict" for case in wrong), 0),
            at_most("characters removed beyond the secret, p95", collateral, 12),
            at_least("throughput, ordinary session text", speeds["ordinary"], 50, "MB/s", 1),
            at_least("throughput, source code of this package", speeds["package"], 20, "MB/s", 1),
            at_least("throughput, base 64", speeds["base64"], 50, "MB/s", 1),
            at_least("throughput, keyword-dense prose", speeds["dense"], 20, "MB/s", 1),
            at_least("throughput, nothing but assignments that are no secrets", speeds["assignments"], 20, "MB/s", 1),
            at_least("throughput, nothing but secrets", speeds["secrets back to back"], 1, "MB/s", 2),
            at_least(f"worst pathological input, {slowest}", hostile[slowest]["mb_per_s"], 1, "MB/s", 2),
            at_most(f"worst time(2n)/time(n), {steepest}", hostile[steepest]["ratio"], 2.6),
        ],
        "page": [_counts(len(positive), sum(not one for one in caught.values()), len(negative), len(wrong))],
        "notes": "Development data: the rules were written on this corpus; `docs/safety.md` has first runs on lists of"
        " other authors. Every third context and every third kind of negative in the first half of the corpus was held"
        " out until the rules were finished. CPU time with warm caches; pathological inputs of 200 and 400 kB. A secret"
        " that is found costs 20 to 60 microseconds, so text of nothing but secrets is slower than any bar.",
    }


def _counts(planted: int, missed: int, ordinary: int, wrong: int) -> str:
    return (
        f"Planted secrets missed: {missed} of {planted:,}. Ordinary texts taken for a secret: {wrong} of {ordinary:,}."
    )


def _caught(redactor: Redactor, case: Case) -> bool:
    return is_hidden(case.secret, case.prefix, redactor.redact(case.text))


def is_hidden(secret: str, prefix: int, text: str) -> bool:
    """Return whether redaction of ``text`` has hidden a secret: the longest run of its characters left there is shorter
    than 35 % of it (at least 8, at most 20 characters; of a secret of up to 8 characters, 60 %, at least 3).
    ``prefix``: how many characters at its beginning are public and do not count."""
    body = secret[prefix:]
    limit = max(8.0, min(20.0, 0.35 * len(body))) if len(body) > 8 else max(3.0, 0.6 * len(body))
    return _survives(body, text) < limit


def _survives(body: str, text: str) -> int:
    longest = 0
    for start in range(len(body)):
        while start + longest < len(body) and body[start : start + longest + 1] in text:
            longest += 1
    return longest


def _collateral(redactor: Redactor, case: Case) -> int:
    """Number of removed characters that do not belong to the secret."""
    start = case.text.find(case.secret)
    inside = set(range(start, start + len(case.secret)))
    return sum(place not in inside for found in redactor.find(case.text) for place in range(found.start, found.end))


def _shares(positive: list[Case], caught: dict[int, bool]) -> dict[str, float]:
    groups: dict[str, list[bool]] = {}
    for place, case in enumerate(positive):
        for name in (case.group, f"{case.group}, held back" if case.held else f"{case.group}, seen"):
            groups.setdefault(name, []).append(caught[place])
    return {name: round(sum(found) / len(found), 4) for name, found in sorted(groups.items())}


def _held(positive: list[Case], caught: dict[int, bool]) -> float:
    held = [caught[place] for place, case in enumerate(positive) if case.held]
    return sum(held) / len(held)


def _texts() -> dict[str, str]:
    chance = random.Random(1)
    session = "\n".join(str(message.get("content") or "") for message in long_session(600).messages)
    lines = [chance.choice(KEYWORDS).format(n=chance.randrange(100, 999)) for _ in range(25_000)]
    noise = b"".join(hashlib.blake2b(str(n).encode()).digest() for n in range(24_000))
    prose = session.split("\n")
    mixed = "\n".join(line for pair in zip(prose, lines, strict=False) for line in pair)
    package = Path(tokenmizer_mw.__file__).parent
    return {
        "ordinary": session,
        "package": "".join(path.read_text("utf-8") for path in sorted(package.rglob("*.py"))),
        "dense": "\n".join(lines),
        "ordinary with every second line dense": mixed,
        "base64": base64.b64encode(noise).decode(),
        "assignments": "\n".join(case.text for case in negatives() if len(case.text) < 200) * 40,
        "secrets back to back": "".join(f"Bearer {draw_characters('w', 16, str(n))} " for n in range(4_000)),
        "full of secrets": "\n".join(case.text for case in cases()),
    }


def _speed(redactor: Redactor, text: str) -> float:
    redactor.redact(text)
    return len(text.encode()) / MEGABYTE / cpu_seconds(lambda: redactor.redact(text), repeat=3)


def _hostile(redactor: Redactor, unit: str) -> dict[str, float]:
    once, twice = (_times(redactor, (unit * (size // len(unit) + 1))[:size]) for size in (SIZE, 2 * SIZE))
    ratio = twice / once if twice > RATIO_FROM else 0.0
    return {"mb_per_s": round(2 * SIZE / MEGABYTE / max(twice, 1e-9), 2), "ratio": round(ratio, 2)}


def _times(redactor: Redactor, text: str) -> float:
    work: Callable[[], object] = lambda: redactor.redact(text)  # noqa: E731
    return cpu_seconds(work, repeat=3)


def _repeated(redactor: Redactor, body: str) -> Callable[[], object]:
    return lambda: [redactor.redact_body(body) for _ in range(CALLS)]


def _bodies(redactor: Redactor) -> dict[str, float]:
    """Microseconds to scan request bodies without secrets, by their size in characters."""
    found = {}
    for size in (3_000, 100_000):
        text = "We split the parser and the printer, then ran all tests again. " * 6
        message = {"role": "user", "content": text}
        body = json.dumps({"model": "m", "messages": [message] * (size // len(json.dumps(message)))})
        redactor.redact_body(body)
        found[str(len(body))] = round(cpu_seconds(_repeated(redactor, body), repeat=5) * 1e6 / CALLS, 1)
    return found
