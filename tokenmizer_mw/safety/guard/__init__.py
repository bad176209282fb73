"""The prompt-injection guard: scores phrases that try to take over a model. The score is a warning signal, not a
protection.

Phrases only find explicit attacks; instructions hidden in ordinary sentences look like ordinary sentences. The
protection against those is elsewhere: text from tools, files and quotations never becomes a decision, a rule or a goal,
and text that is sent to a model again is put between delimiters. System prompts belong to the application and are never
scored.

``phrases`` and ``signals`` list the phrases, each with a weight. The score of a text is the sum of the weights of the
phrases in it, each counted once. Phrases that appear only when a disguise is undone (such as spaced letters or base64)
count as well, and their presence adds a weight of its own. A disguise is undone only if that reveals a word of an
attack, or if the disguised run is long enough, so that ordinary text is read once. Each reading takes linear time;
there are at most eight.
"""

from __future__ import annotations

import base64
import binascii
import html
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import unquote

import re2

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.runtime.lazy import re2_options
from tokenmizer_mw.safety.guard.phrases import Signal, Voice
from tokenmizer_mw.safety.guard.signals import SIGNALS

__all__ = ["FLAGGED_AT", "NOTHING", "SCANNED_MAX", "SIGNALS", "Signal", "Suspicion", "Voice", "judge", "suspicion"]


_FORMAT: Final = frozenset({"Cf", "Mn", "Me", "Co"})
_KEYWORDS: Final = ("instruct", "prompt", "ignore", "disregard", "restriction")

_LOOK_ALIKES: Final = str.maketrans(
    "абвгԁеһіјкӏмнорѕстухсѵԛԝαβειјκνορτυχցոսօᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ’‘",
    "abbrdehijklmhopsctyxcvqwabeijkvoptuxgnuoabcdeghijklmnoprtuvwyz''",
)
_LEET: Final = str.maketrans("013457@$!|", "oieastasii")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_ROTATED: Final = str.maketrans(_ALPHABET, _ALPHABET[13:] + _ALPHABET[:13])
_QUOTES: Final = str.maketrans("’‘“”«»", '\'\'""""')
_SPACED = re2.compile(r"\b(?:\w[ ._*|/-]){2,}\w\b")
_BASE64 = re2.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re2.compile(r"(?:[0-9A-Fa-f]{2}[ :]?){20,}")
_ESCAPED = re2.compile(r"%[0-9A-Fa-f]{2}|&#")
_TO_STANDARD: Final = str.maketrans("-_", "+/")
_FLAG = re2.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f")
_TAGS = re2.compile("(?:[\U000e0020-\U000e007f][^\U000e0020-\U000e007f]*){4}")
_VARIATIONS = re2.compile("[\ufe00-\ufe0d\U000e0100-\U000e01ef]{4}")


class _Visible(dict[int, int | None]):
    """A table for ``str.translate`` that removes invisible characters; each character is looked up once."""

    def __missing__(self, code: int) -> int | None:
        visible = code if unicodedata.category(chr(code)) not in _FORMAT else None
        if len(self) < _CHARACTERS_MAX:
            self[code] = visible
        return visible


_CHARACTERS_MAX: Final = 20_000
_VISIBLE: Final = _Visible()


def plain(text: str) -> str:
    """Return ``text`` in the form that the phrases are written for: in compatibility form (NFKC) and lower case, with
    single blanks within lines, and without invisible characters. Line breaks stay, because some phrases must begin a
    line."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = text.translate(_VISIBLE).casefold()
        text = text.translate(_QUOTES)
    return "\n".join(" ".join(line.split()) for line in text.lower().split("\n"))


def iter_disguised_readings(text: str, read: str) -> Iterator[str]:
    """Yield what ``text`` reads as when a disguise is undone, in the form of ``plain``; one reading for each disguise
    that may be there, nothing for ordinary text. ``read``: the result of ``plain`` for ``text``.

    The disguises are look-alike letters, digits for letters, spaced letters, reversal, ROT13, URL and HTML escapes,
    base64 and hexadecimal.
    """
    if not read.isascii():
        yield read.translate(_LOOK_ALIKES)
    if _reveals_keyword(turned := read.translate(_LEET), read):
        yield turned
    if _SPACED.search(text) and _reveals_keyword(
        joined := plain(_SPACED.sub(lambda spaced: str(spaced[0][::2]), text)), read
    ):
        yield joined
    if any(word[::-1] in read for word in _KEYWORDS):
        yield read[::-1]
    if any(word.translate(_ROTATED) in read for word in _KEYWORDS):
        yield read.translate(_ROTATED)
    if _ESCAPED.search(text):
        yield plain(html.unescape(unquote(text)))
    if decoded := "\n".join(_decode_runs(text)):
        yield plain(decoded)


def hides(text: str) -> bool:
    """Return whether ``text`` contains text in invisible characters: four or more tag characters outside of flags, or
    four variation selectors in a row."""
    if text.isascii():
        return False
    text = _FLAG.sub("", text)
    return _TAGS.search(text) is not None or _VARIATIONS.search(text) is not None


def _reveals_keyword(turned: str, read: str) -> bool:
    return any(word in turned and word not in read for word in _KEYWORDS)


def _decode_runs(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        digits = match.group().rstrip("=").translate(_TO_STANDARD)
        yield from _legible(base64.b64decode, digits[: len(digits) - (len(digits) % 4 == 1)] + "==")
    for match in _HEX.finditer(text):
        yield from _legible(bytes.fromhex, match.group().replace(":", " "))


def _legible(decode: Callable[[str], bytes], digits: str) -> Iterator[str]:
    try:
        found = decode(digits).decode("utf-8")
    except (binascii.Error, ValueError):
        return
    if found.replace("\n", " ").replace("\t", " ").replace("\r", " ").isprintable():
        yield found


FLAGGED_AT: Final = 1.0
"""Least score at which a text counts as an attempt to take over the model."""

SCANNED_MAX: Final = 200_000
"""Characters at the start of a text that are scored; the rest is not read."""

_HIDDEN: Final = ("hidden_text", FLAGGED_AT)
_DISGUISED: Final = ("disguised", 0.5)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The result of the guard (the check for prompt injection) for one text.

    ``score``: sum of the weights of the signals (phrases and disguises) found in the text; 0 for none. ``signals``:
    their names; disguises come first, then phrases in the order of ``SIGNALS``.
    """

    score: float
    signals: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        """Whether the score reaches ``FLAGGED_AT``, so that the text counts as an attempt to take over the model."""
        return self.score >= FLAGGED_AT


NOTHING: Final = Suspicion(0.0, ())


def suspicion(text: str, voice: Voice = Voice.USER) -> Suspicion:
    """Score how much ``text`` looks like an attempt to take over the model. ``voice``: who wrote the text; most phrases
    weigh more in a tool's text.

    Only the first ``SCANNED_MAX`` characters are read, in linear time. Disguises are undone (full-width, look-alike and
    invisible letters, encodings).
    """
    text = text[:SCANNED_MAX]
    read = plain(text)
    open_ = _matches(read)
    beneath = frozenset[int]().union(*map(_matches, iter_disguised_readings(text, read))) - open_
    found = [_HIDDEN] if hides(text) else []
    found += [_DISGUISED] if beneath else []
    found += [(SIGNALS[number].name, getattr(SIGNALS[number], voice.value)) for number in sorted(open_ | beneath)]
    return Suspicion(round(sum(weight for _, weight in found), 3), tuple(name for name, _ in found))


def judge(message: Message) -> Suspicion:
    """Score the text of a user's message and each tool result in ``message`` on its own, and return the result with the
    highest score. Texts of the assistant and of the system are not scored; a message with nothing to score gives a
    score of 0."""
    texts = [(result.text, Voice.TOOL) for result in message.tool_results]
    if message.role is Role.USER:
        texts.append((message.text, Voice.USER))
    return max((suspicion(*text) for text in texts if text[0]), key=lambda found: found.score, default=NOTHING)


def _matches(read: str) -> frozenset[int]:
    return frozenset(_filter().Match(read.encode("utf-8", "replace")) or ())


@cache
def _filter() -> re2.Filter:
    """The phrases, of which only those are tried that have a word in the text: one automaton for all of them would
    reach a new state at almost every character of a new text."""
    found = re2.Filter()
    for signal in SIGNALS:
        found.Add(signal.pattern, re2_options())
    found.Compile()
    return found
