"""Types for the results of a scan: secrets that were found, texts that looked like secrets and are none, and the user's
exemptions. Positions are in bytes of the UTF-8 text, ends are exclusive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

ALNUM: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")
_ESCAPED: Final = frozenset(b"nrtbfv")
_COLOUR_MAX: Final = 8


class FindingRank(IntEnum):
    """How specific a finding is, from least to most. If findings overlap, they become one, with the kind of the one
    with the highest rank.

    - ``PERSONAL``: personal data.
    - ``NAMED``: a secret because of the name of its value ("password").
    - ``PLACED``: because of its position, such as in a URL or a command.
    - ``SHAPED``: because of its own shape, as vendors give it to their keys.
    - ``OWN``: found by a rule of the user, or as a whole block (a private key).
    """

    PERSONAL = 0
    NAMED = 1
    PLACED = 2
    SHAPED = 3
    OWN = 4


class SecretSpan(NamedTuple):
    """A secret in a text.

    - ``kind``: as in the placeholder ("github-token"). ``start``, ``end``: byte positions.
    - ``why``: in a few words, how it was recognised.
    - ``rank``: how specific the finding is; decides which kind counts where findings overlap.
    - ``name``: the name of the value ("DB_PASSWORD"), "" if it was recognised without one.
    """

    kind: str
    start: int
    end: int
    why: str
    rank: FindingRank = FindingRank.SHAPED
    name: str = ""

    def shift(self, by: int) -> SecretSpan:
        """Return the same span ``by`` bytes later."""
        return self._replace(start=self.start + by, end=self.end + by)


class LetThrough(NamedTuple):
    """A text that looked like a secret of ``kind`` and was judged to be none. ``start``, ``end``: byte positions;
    ``why``: the reason, in a few words."""

    kind: str
    start: int
    end: int
    why: str


class PlaceReading(NamedTuple):
    """The result of a reader (see ``Reader``) for one position of a text.

    - ``resume``: where the scan continues; 0 if no reader applied to the position.
    - ``found``: the secrets.
    - ``refused``: what looked like a secret and was judged to be none, with reasons.
    """

    resume: int
    found: tuple[SecretSpan, ...] = ()
    refused: tuple[LetThrough, ...] = ()


Reader = Callable[[bytes, int], PlaceReading]
"""Function that judges the text at a position: gets the text and the position, at which a possible secret begins, and
returns the secrets there, the texts that only looked like one, and where the scan continues."""


def refusal(kind: str, start: int, end: int, why: str, resume: int) -> PlaceReading:
    """Return the result of a reader that found no secret: ``[start, end)`` looked like one of ``kind``, ``why`` says
    why it is none, and the scan continues at ``resume``."""
    return PlaceReading(resume, (), (LetThrough(kind, start, end, why),))


def begins_word(text: bytes, start: int) -> bool:
    """Return whether a word may begin at ``start``: no ASCII letter or digit precedes it, except as the end of an
    escape.

    Escapes are those of JSON and programming languages, of URLs, and of terminal colours.
    """
    if not start or text[start - 1] not in ALNUM:
        return True
    before = text[max(0, start - _COLOUR_MAX) : start]
    if len(before) >= 2 and before[-2] == 0x5C and before[-1] in _ESCAPED:
        return True
    if before[-3:-2] == b"%" or before[-4:-2] == b"\\x" or before[-6:-4] == b"\\u":
        return before[-1] in _HEX and before[-2] in _HEX
    return before[-1:] == b"m" and b"[" in before and before.rpartition(b"[")[2][:-1].replace(b";", b"").isdigit()


@dataclass(frozen=True)
class Allow:
    """A user's exemption: findings to which it applies are not redacted. A finding must meet every condition that is
    set.

    - ``name``: what the user calls the exemption.
    - ``exact``: the secret is one of these texts. ``pattern``: compiled RE2 that matches anywhere in the secret;
      ``None`` for any secret.
    - ``names``: the name of the value, in lower case. ``kinds``: the kind of the finding.

    An empty set is no condition.
    """

    name: str
    exact: frozenset[str] = frozenset()
    pattern: Any = None
    names: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def admits(self, found: SecretSpan, secret: bytes) -> bool:
        """Return whether this exemption applies to ``found``, whose text is ``secret``."""
        return (
            (not self.exact or secret.decode("utf-8", "replace") in self.exact)
            and (self.pattern is None or self.pattern.search(secret) is not None)
            and (not self.names or found.name.lower() in self.names)
            and (not self.kinds or found.kind in self.kinds)
        )
