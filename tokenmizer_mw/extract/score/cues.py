"""Features ("cues") of the sentence classifier: words, beginnings, endings, characters, position, speaker, hits of
rules.

A feature is a short string such as "w:let's" or "user:ends:?". Training and extraction use this same code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import SPOKEN, Segment, SegmentKind
from tokenmizer_mw.extract.match.hit import Hit
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.rules import Speaker
from tokenmizer_mw.extract.text.phrases import bound_sentence, has_digit, is_question, is_supposition

from .kinds import kind_of

WORDS_MAX: Final = 32
"""Number of words at the beginning of a sentence that become features."""

LETTERED_MAX: Final = 16
"""Number of words at the beginning of a sentence whose characters become features."""

LETTERS: Final = 4
"""Number of consecutive characters that form one feature. A word counts with a space at each of its ends."""

SCRIPT_MAX: Final = 80
"""Number of characters of a word, and of a sentence in another script than Latin, that become features."""

_EDGES: Final = ".,;:!?\"'()[]{}<>*`…–—“”„«»"
_SIGNS: Final = (
    "`",
    "/",
    "->",
    "→",
    "✅",
    "✓",
    "❌",
    "%",
    "=",
    "(",
    '"',
    "“",
    "**",
    "–",
    "—",
    ";",
    ":",
    "!",
    "...",
    "…",
)
_SHORT, _LONG = 3, 12


def cues_of_sentence(segment: Segment, read: Sequence[Hit], speaker: Speaker) -> list[str]:
    """Return the features of a sentence by itself, without its place in the message. ``read``: the hits of rules in it;
    ``speaker``: whose sentence it is."""
    text = bound_sentence(segment.text)
    who = speaker.value
    lower = text.casefold()
    words = [word for raw in lower.split()[:WORDS_MAX] if (word := raw.strip(_EDGES) or raw)]
    found = [f"{who}:bias", f"{who}:ends:{text[-1:] if not text[-1:].isalnum() else ''}", f"{who}:{segment.kind}"]
    found += [f"w:{word}" for word in words]
    found += [f"b:{one} {other}" for one, other in pairwise(words)]
    found += [f"e:{word[-3:]}" for word in words[:_SHORT] if len(word) > 4]
    found += _letters(words)
    found += _opening(words, who)
    found += _build(words, who)
    found += [f"{who}:has:{sign}" for sign in _SIGNS if sign in text]
    found += _script(lower) if not lower.isascii() else ()
    found += _shape(text, words, who)
    found += _cues_of_hits(text, read, who)
    if segment.heading:
        found += _cues_of_heading(segment)
    return found


def _letters(words: Sequence[str]) -> list[str]:
    """n-grams of letters, of which the inflected forms of a word share most in any language."""
    return list(set().union(*map(_letters_of, words[:LETTERED_MAX])))


@lru_cache(maxsize=4096)
def _letters_of(word: str) -> tuple[str, ...]:
    padded = f" {word[:SCRIPT_MAX]} "
    return tuple(f"n:{padded[at : at + LETTERS]}" for at in range(len(padded) - LETTERS + 1))


def _opening(words: Sequence[str], who: str) -> list[str]:
    found = [f"{who}:first:{' '.join(words[:count])}" for count in (1, 2, 3) if len(words) >= count]
    found += [f"{who}:last:{word}" for word in words[-1:]]
    found += [f"{who}:last:{' '.join(words[-2:])}"] if len(words) > 1 else []
    return found


def _build(words: Sequence[str], who: str) -> list[str]:
    """Features of word classes (``kinds``): 1- to 3-grams, and the first five."""
    kinds = ["^", *map(kind_of, words), "$"]
    found = [f"{who}:k:{kind}" for kind in set(kinds) if kind[0] == "<"]
    found += [f"k:{one} {other}" for one, other in pairwise(kinds)]
    found += [f"k:{one} {other} {third}" for one, other, third in zip(kinds, kinds[1:], kinds[2:], strict=False)]
    found.append(f"{who}:k:{' '.join(kinds[:5])}")
    return found


def _shape(text: str, words: Sequence[str], who: str) -> list[str]:
    count = len(words)
    size = "one" if count < 2 else "short" if count <= _SHORT else "long" if count > _LONG else "middle"
    first = text[:1]
    start = "capital" if first.isupper() else "small" if first.islower() else "sign"
    found = [f"{who}:size:{size}", f"{who}:starts:{start}"]
    if has_digit(text):
        found.append(f"{who}:number")
    return found


def _cues_of_hits(text: str, read: Sequence[Hit], who: str) -> list[str]:
    found = [f"{who}:rule:{hit.rule.act}" for hit in read] or [f"{who}:rule:"]
    if is_question(text):
        found.append(f"{who}:asks")
    if is_supposition(text):
        found.append(f"{who}:supposes")
    return found


def _cues_of_heading(segment: Segment) -> list[str]:
    kind = "item" if segment.kind is SegmentKind.LIST_ITEM else "prose"
    words = segment.heading.casefold().split()[:6]
    return [f"{kind}:under:", *(f"{kind}:under:{word.strip(_EDGES)}" for word in words)]


def _script(lower: str) -> list[str]:
    """Pairs of adjacent characters of other scripts than Latin."""
    dense = [char for char in lower[:SCRIPT_MAX] if char > "\u02ff"]
    return [f"c:{one}{other}" for one, other in pairwise(dense)]


def cues_of_place(index: int, count: int, situation: Situation) -> list[str]:
    """Return the features of where a sentence stands: its ``index`` among the ``count`` sentences of its message, and
    what the message answers."""
    who = situation.speaker.value
    where = "only" if count == 1 else "first" if index == 0 else "last" if index == count - 1 else "inside"
    found = [f"{who}:place:{where}", f"{who}:near:{min(index, 4)}"]
    size = "few" if count <= 4 else "some" if count <= 12 else "many"
    found.append(f"{who}:of:{size}")
    if situation.speaker is Speaker.USER:
        found += _behind(situation, where)
    else:
        found.append(f"assistant:{'ordered' if situation.ordered else 'asked'}")
    return found


def _behind(situation: Situation, where: str) -> list[str]:
    if situation.told is None:
        return ["user:opens", f"user:opens:{where}"]
    last = situation.told[1].text.rstrip()[-1:]
    found = [f"user:behind:{'?' if last in '?？' else '.'}:{where}"]
    if situation.offers.options:
        found.append(f"user:behind:options:{where}")
    return found


def cues_of_neighbours(before: Sequence[Hit], behind: Sequence[Hit], situation: Situation) -> list[str]:
    """Return the features of the sentence's neighbourhood: the hits of rules in the sentences before (``before``) and
    after it (``behind``), and whether tools are in use."""
    who = situation.speaker.value
    found = [f"{who}:rule-before:{hit.rule.act}" for hit in before] or [f"{who}:rule-before:"]
    found += [f"{who}:rule-behind:{hit.rule.act}" for hit in behind] or [f"{who}:rule-behind:"]
    found.append(f"{who}:{'tools' if situation.tooled else 'talk'}")
    return found


_OF_RULES: Final = tuple(f"{speaker.value}:rule" for speaker in Speaker)


def is_of_rules(cue: str) -> bool:
    """Whether a feature comes from the hits of rules."""
    return cue.startswith(_OF_RULES)


HEARD_MAX: Final = 2_000
"""Number of characters at the end of the other speaker's last message that are searched for its last sentence."""


def last_heard_sentence(situation: Situation) -> str:
    """Return the last sentence of the other speaker's last message before the one that ``situation`` describes; "" if
    there is none among the messages looked at."""
    heard = situation.told if situation.speaker is Speaker.USER else situation.asked
    if heard is None:
        return ""
    return _last_sentence(heard[1].text[-HEARD_MAX:])


@lru_cache(maxsize=8)
def _last_sentence(text: str) -> str:
    return next((bound_sentence(piece.text) for piece in reversed(segment(text)) if piece.kind in SPOKEN), "")
