"""The redactor: replaces secrets in texts and JSON, and explains its decisions.

A secret is replaced by a placeholder, ``redacted:<kind>:<tag>``, such as ``redacted:github-token:1f0c9a2b``. The tag is
a keyed digest of the secret: the same secret always has the same tag, and a guess cannot be verified without the key. A
placeholder consists of letters, digits, hyphens and colons only. It therefore needs no escaping in a JSON string, a
plain YAML or shell word, and every part of a URL after the port or before the ``@``, and no rule matches inside of it.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Final

from tokenmizer_mw.safety.redact.body import body_edits, member_findings
from tokenmizer_mw.safety.redact.disguise import (
    ANY_DISGUISE,
    find_disguised,
    find_spaced_windows,
    find_windows,
    widen_windows,
)
from tokenmizer_mw.safety.redact.findings import Allow, FindingRank, SecretSpan
from tokenmizer_mw.safety.redact.judge import forget
from tokenmizer_mw.safety.redact.pattern import compile_pattern
from tokenmizer_mw.safety.redact.scan import DEFAULT, Rules, merge_spans
from tokenmizer_mw.safety.redact.views import View, join_views, views
from tokenmizer_mw.wire.spans import splice

TAG_BYTES: Final = 4
PASSES_MAX: Final = 4
"""Most scans of one text. After each scan that found something, the text around what was found is scanned once more."""

REACH: Final = 20_480
"""Bytes before and behind a secret that are scanned again, because readers of tables and key blocks look that far."""

KEY_MIN: Final = 16
"""Fewest bytes of a redactor's key."""

_CONTINUATION: Final = bytes(range(0x80, 0xC0))
"""Bytes that continue a character in UTF-8, in lone surrogates too."""

_PREFIX: Final = b"redacted:"
_MASK: Final = b"\0"
_CONTEXT: Final = 24
"""Bytes before a value in which its name may be disguised."""
_PLACEHOLDER: Final = compile_pattern(rf"redacted:[a-z0-9-]+:[0-9a-f]{{{2 * TAG_BYTES}}}")
_SPELT: Final = compile_pattern(r"(?:\\/|\\u(?i:00[2-7c-f]|0[1-9a-f]|[13-9a-c]|d[0-7])[0-9a-fA-F]{1,3})+")


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """A secret in a text: its kind and position, in characters."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Explained:
    """One decision of the redactor about a span of a text; positions are in characters.

    ``outcome`` is "redacted", "allowed" (a user's exemption applies) or "let through" (judged to be no secret).
    ``why``: the reason in a few words, such as "a placeholder"; if allowed, it names the exemption.
    """

    kind: str
    start: int
    end: int
    outcome: str
    why: str


class Redactor:
    """Replaces secrets by placeholders (``redacted:<kind>:<tag>``).

    - ``rules``: the rules that find secrets; ``allow``: the user's exemptions.
    - ``pii``: whether to redact personal data (mail addresses, telephone numbers, bank accounts, payment cards), too.
    - ``key``: keys the tags of placeholders. Keep it secret, and do not change it as long as placeholders must stay the
      same.

    Raises ``ValueError`` for a key of fewer than ``KEY_MIN`` bytes.
    """

    def __init__(self, rules: Rules = DEFAULT, *, allow: Iterable[Allow] = (), pii: bool = False, key: bytes) -> None:
        if len(key) < KEY_MIN:
            raise ValueError(f"a redactor's key has at least {KEY_MIN} bytes")
        self._rules, self._allow, self._key = rules, tuple(allow), key
        self._scanner = rules.scanner(pii=pii)

    def redact(self, text: str) -> str:
        """Return ``text`` with placeholders for its secrets; the same object if it has none."""
        raw = _encode(text)
        found = self._find_secrets(raw)
        return self._replace_spans(raw, found).decode("utf-8", "surrogatepass") if found else text

    def find(self, text: str) -> list[SecretFinding]:
        """Return the secrets that ``redact`` would replace in ``text``, in order, without overlaps; ``[]`` for none."""
        raw = _encode(text)
        found = self._find_secrets(raw)
        places = _characters(raw, [place for one in found for place in (one.start, one.end)])
        return [SecretFinding(one.kind, places[one.start], places[one.end]) for one in found]

    def suspects(self, text: str) -> bool:
        """Return whether ``text`` may contain a secret. A fast check: true may be wrong, false never is."""
        return self.suspects_bytes(text.encode("utf-8", "surrogatepass"))

    def suspects_bytes(self, raw: bytes) -> bool:
        """Do what ``suspects`` does, for a text in UTF-8 (lone surrogates allowed)."""
        if self._rules.custom or self._scanner.touches(raw) or (b"\\" in raw and _spelt(raw)):
            return True
        if ANY_DISGUISE.find(raw, 0, len(raw))[0][0] < 0:  # nearly always
            return False
        return next(find_disguised(raw), None) is not None

    def explain(self, text: str) -> list[Explained]:
        """Return the redactor's decisions about ``text``, by position: one for each span that a rule took for a
        possible secret, whether it is redacted or not. ``[]`` for none. The texts of the spans are not in the
        result."""
        raw = _encode(text)
        secrets = self._find_secrets(raw)
        spans = {(one.start, one.end) for one in secrets}
        judged: list[tuple[str, int, int, str, str]] = [(o.kind, o.start, o.end, "redacted", o.why) for o in secrets]
        found, refused = self._scanner.scan(_mask_placeholders(raw))
        forget()
        for one in found:
            by = self._allowing_rule(one, raw)
            if by and (one.start, one.end) not in spans:
                judged.append((one.kind, one.start, one.end, "allowed", f"allowed by {by!r}"))
        judged += [(r.kind, r.start, r.end, "let through", r.why) for r in refused if r.start < r.end <= len(raw)]
        places = _characters(raw, [place for row in judged for place in row[1:3]])
        rows = {Explained(kind, places[a], places[b], outcome, why) for kind, a, b, outcome, why in judged}
        return sorted(rows, key=lambda row: (row.start, row.end, row.outcome, row.kind, row.why))

    def redact_json(self, value: Any) -> Any:
        """Return ``value``, parsed JSON, with placeholders in its strings and in the names of its members; the same
        object if nothing was found.

        The name of a member helps to judge its value. Members that an API needs unchanged (such as ids and signatures)
        are left alone.
        """
        text = json.dumps(value, ensure_ascii=False)
        redacted = self.redact_body(text)
        return value if redacted is text else json.loads(redacted)

    def redact_body(self, text: str) -> str:
        """Return JSON text with placeholders in place of the secrets in its strings; all other characters, escapes
        included, stay. The same object is returned if nothing was found.

        Names of members are used, and some members left alone, as in ``redact_json``. Text that is not JSON is redacted
        as plain text.
        """
        if not self.suspects(text):
            return text
        return self.redact_suspect_body(text)

    def redact_suspect_body(self, text: str) -> str:
        """Redact JSON text as ``redact_body`` does, without calling ``suspects`` first."""
        try:
            edits = body_edits(text, self._places(text, _encode(text)), self._in_member)
        except ValueError:
            return self.redact(text)
        return splice(text, edits) if edits else text

    def _places(self, text: str, raw: bytes) -> list[tuple[int, int]]:
        """The spans of a JSON text, in characters and in order, in which a secret may begin. If the user has rules, it
        is all of the text."""
        if self._rules.custom:
            return [(0, len(text))]
        spans = merge_spans([*self._scanner.spans(raw), *_spelt(raw), *find_disguised(raw)])
        if len(raw) == len(text):
            return spans
        places = _characters(raw, [place for span in spans for place in span])
        return [(places[start], places[end]) for start, end in spans]

    def _in_member(self, name: str, text: str) -> list[tuple[int, int, str]]:
        """The replacements in ``text``, the value of a member called ``name`` ("" for none), with their placeholders.
        Positions are in characters."""
        raw = _encode(text)
        found = self._find_secrets(raw, name)
        places = _characters(raw, [place for one in found for place in (one.start, one.end)])
        return [
            (places[one.start], places[one.end], self._placeholder(one.kind, raw[one.start : one.end])) for one in found
        ]

    def _find_secrets(self, raw: bytes, name: str = "") -> list[SecretSpan]:
        """The secrets in ``raw``, in order and without overlaps. ``name``: the JSON member whose value it is, "" for
        none.

        What was found is masked and the text around it is scanned again, until nothing more is found. So a text with
        placeholders is judged like the text before redaction.
        """
        plain = masked = _mask_placeholders(raw)
        secrets: list[SecretSpan] = []
        try:
            around = [(0, len(raw))]
            for _ in range(PASSES_MAX):
                found = self._settle_spans(raw, self._scan(masked, name, around), masked)
                if not found:
                    break
                secrets += found
                spans = [(one.start, one.end) for one in found]
                masked = _blank_spans(masked, spans)
                around = merge_spans([(max(0, start - REACH), end + REACH) for start, end in spans])
            secrets = self._find_disguised(raw, plain, secrets)
        finally:
            forget()
        return sorted(secrets, key=lambda one: one.start)

    def _find_disguised(self, raw: bytes, masked: bytes, secrets: list[SecretSpan]) -> list[SecretSpan]:
        """Return ``secrets`` and those that are disguised in ``raw``: with escapes, invisible characters, line breaks
        and the like.

        ``masked``: ``raw`` without placeholders.
        """
        known = merge_spans([(one.start, one.end) for one in secrets])
        windows = find_windows(masked)
        spaced = find_spaced_windows(masked, known)
        if not windows and not spaced:
            return secrets
        windows = widen_windows(raw, windows, known)
        longer: list[SecretSpan] = []
        for view in join_views(masked, merge_spans([*windows, *spaced]), known):
            longer += [one for one in self._scan_view(view) if _covers(one, known)]
        if longer:
            secrets = _merge_overlaps([*secrets, *self._settle_spans(raw, longer, masked)])
        masked = _blank_spans(masked, [(one.start, one.end) for one in secrets])
        for view in views(masked, windows):
            if found := self._settle_spans(raw, self._scan_view(view), masked):
                secrets = [*secrets, *found]
                masked = _blank_spans(masked, [(one.start, one.end) for one in found])
        return secrets

    def _scan_view(self, view: View) -> list[SecretSpan]:
        """The secrets that the rules find in the changed parts of ``view``, with their positions in the text."""
        mapped: list[SecretSpan] = []
        for one in self._scanner.scan(view.text)[0]:
            end = view.whole_end(one.start, one.end)
            known = one.rank >= FindingRank.SHAPED
            place = view.origin(one.start, end, 0 if known else _CONTEXT)
            if place and place[1] > place[0]:
                mapped.append(one._replace(start=place[0], end=place[1], why=f"{one.why}, in disguise"))
        return mapped

    def _scan(self, masked: bytes, name: str, around: list[tuple[int, int]]) -> list[SecretSpan]:
        """The secrets that the rules find and that begin in one of the stretches ``around``. Rules of the user search
        everywhere."""
        found = [one for first, last in around for one in self._scanner.scan(masked, first, last)[0]]
        for rule in self._rules.custom:
            found += rule.find(masked)
        if name:
            found += member_findings(name, masked, lambda text: self._scanner.scan(text)[0])
        return found

    def _settle_spans(self, raw: bytes, found: list[SecretSpan], masked: bytes) -> list[SecretSpan]:
        """Return the findings without those that are exempt, switched off or masked; overlapping ones are merged."""
        return _merge_overlaps(
            [
                one
                for one in found
                if one.kind not in self._rules.without
                and (_MASK not in masked[one.start : one.end] or masked is raw)
                and not self._allowing_rule(one, raw)
            ]
        )

    def _allowing_rule(self, found: SecretSpan, raw: bytes) -> str:
        """The name of the user's exemption that applies to ``found``, "" for none."""
        if not self._allow:
            return ""
        secret = raw[found.start : found.end]
        return next((rule.name for rule in self._allow if rule.admits(found, secret)), "")

    def _replace_spans(self, raw: bytes, found: list[SecretSpan]) -> bytes:
        pieces: list[bytes] = []
        done = 0
        for one in found:
            pieces += (raw[done : one.start], self._placeholder(one.kind, raw[one.start : one.end]).encode())
            done = one.end
        return b"".join((*pieces, raw[done:]))

    def _placeholder(self, kind: str, secret: bytes) -> str:
        tag = blake2b(b"".join(secret.split()), key=self._key[:64], digest_size=TAG_BYTES).hexdigest()
        return f"redacted:{kind}:{tag}"


def _merge_overlaps(found: list[SecretSpan]) -> list[SecretSpan]:
    """Merge overlapping findings. A merged one covers them all, and is named by the one with the highest rank, then the
    longest."""
    apart: list[SecretSpan] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        last = apart[-1] if apart else None
        if last is None or one.start >= last.end:
            apart.append(one)
            continue
        best = max(last, one, key=lambda each: (each.rank, each.end - each.start))
        apart[-1] = SecretSpan(
            best.kind, last.start, max(last.end, one.end), best.why, best.rank, best.name or last.name
        )
    return apart


def _covers(found: SecretSpan, known: list[tuple[int, int]]) -> bool:
    """Whether ``found`` contains every one of the ``known`` spans (in order and without overlaps) that it overlaps."""
    first = bisect_right(known, found.start, key=itemgetter(1))
    last = bisect_left(known, found.end, key=itemgetter(0))
    return first >= last or (found.start <= known[first][0] and known[last - 1][1] <= found.end)


def _spelt(raw: bytes) -> list[tuple[int, int]]:
    """Return the spans of JSON escapes that stand for characters which rules may look for: ASCII, and letters of other
    scripts."""
    if b"\\" not in raw or (b"\\u" not in raw and b"\\/" not in raw):  # one byte is looked for ten times as fast as two
        return []
    return [match.span() for match in _SPELT.finditer(raw)]


def _mask_placeholders(raw: bytes) -> bytes:
    """Return ``raw`` with zeros instead of placeholders, so that no rule finds anything in them; the same object if it
    has none."""
    if _PREFIX not in raw:
        return raw
    return _blank_spans(raw, [match.span() for match in _PLACEHOLDER.finditer(raw)])


def _blank_spans(raw: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return ``raw`` with these spans overwritten by zeros."""
    blanked = bytearray(raw)
    for start, end in spans:
        blanked[start:end] = _MASK * (end - start)
    return bytes(blanked)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _characters(raw: bytes, places: list[int]) -> dict[int, int]:
    """Return for each position in bytes the position in characters."""
    if raw.isascii():
        return {place: place for place in places}
    found, done, count = {}, 0, 0
    for place in sorted(set(places)):
        count += len(raw[done:place].translate(None, _CONTINUATION))
        found[place], done = count, place
    return found
