"""Read the values that a user's sentence assigns: "the port is 8081", "move the deadline to Friday", "call it Atlas".

``assignment_patterns`` lists the patterns. Most of them need a value of a recognised kind (a number, a date, a price, a
name); a plain word counts only if the pattern is unambiguous. A pattern that is not ``alone`` counts only if a known
value is replaced. The words around the match give the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.text.pattern import Match, Pattern, PatternSet, PatternTable, compile_lazily
from tokenmizer_mw.extract.text.phrases import (
    SENTENCES_KEPT,
    bound_sentence,
    is_question,
    is_report,
    is_supposition,
    read_order,
    strip_lead,
    strip_reason_words,
)
from tokenmizer_mw.extract.text.similar import content, split_words
from tokenmizer_mw.graph.values import Value, alike, equal, value_at_start, values_in

from .assignment_patterns import ATTRIBUTE, WAYS, ValueWay
from .slots import find_versions

VALUE_WORDS: Final = 5
"""Most words of a plain value; a text with more words is a sentence."""
PARTS_MAX: Final = 6


@dataclass(frozen=True, slots=True)
class Assignment:
    """A value that a sentence assigns.

    - ``value``: as written, without words such as "the" around it; ``about``: what it is a value of, "" if the sentence
      does not say it.
    - ``label``: the part of the sentence that assigns it; ``target``: the earlier value, ``reason``: why; "" if not
      stated.
    - ``changes``: whether it replaces an earlier value; ``alone``: whether it counts even if no earlier value is known.
    - ``single``: whether what it is a value of has one value at a time.
    """

    value: str
    about: str
    label: str
    target: str = ""
    reason: str = ""
    changes: bool = False
    alone: bool = True
    single: bool = False


_NOT_ABOUT: Final = split_words("it that this them they there he she what which who everything one these those you")


class _Ways:
    """Some of the patterns of assignments, compiled."""

    def __init__(self, ways: Iterable[ValueWay]) -> None:
        self._ways = tuple(ways)
        self._patterns = PatternTable(f"(?:{way.pattern})$" for way in self._ways)

    def read(self, text: str) -> Assignment | None:
        """Return the assignment that the first matching pattern reads in ``text``; ``None`` for none."""
        made = (_read_assignment(self._ways[row], self._patterns[row], text) for row in self._patterns.matching(text))
        return next((one for one in made if one is not None), None)


_WHOLE: Final = _Ways(way for way in WAYS if way.name in ("not_that", "should_be_not", "from_to"))
"""Patterns that are tried on the whole sentence; the others are tried on its parts."""
_WITH_ARROWS: Final = _Ways(WAYS)
_WITHOUT_ARROWS: Final = _Ways(way for way in WAYS if way.name != "arrow")
"""The pattern of the arrow ("12k -> 15k") is slow, and is only tried on texts with an arrow."""
_ARROWS: Final = ("->", "→", "=>")
_PARTS: Final = compile_lazily(
    r"(?P<cut>,? (?:because(?: of)?|since|so that|due to|as (?:it|the|they|we|that)|but) |,? (?:and )?so (?:from"
    r" now on )?"
    r"|[,;] | (?:-|--|–|—) |: (?:the|it|our) | and (?:we |use |set |keep |[\w.-]+ for the ))"
)
_OPENING: Final = compile_lazily(
    r"(?:(?:correction|update|edit|decision|decided|another \w+|change of plans?)[:,] |(?:from now on|from here on"
    r"|never mind|honestly|keep all that"
    r" but),? )+"
)
_REASON_FIRST: Final = compile_lazily(
    r"(?:because of|due to|since|because) (?P<why>.{3,60}?),? (?P<rest>(?:the|our|my) [\w ]{2,30} (?:is|are|will be"
    r"|moves?) .+)"
)
_MEASURES: Final = PatternSet(
    r"(?:todo|fixme|error|noted|fixed|done|rejected|next|note)\b|.*(?:\bn't\b|n't |\bnot \w+ed\b|[=(){}]|\bno"
    r" longer\b|\bused to\b|\bsuspect\b|\bguess\b|\bdecide\b|\bmaybe\b)"
)
"""Matches sentences that assign no value: they deny or guess something, or are code."""
_IMAGINED: Final = PatternSet(
    r"(?:if|when(?:ever)?|unless|what if|suppose|supposing|imagine|assuming|in case|maybe|perhaps)\b"
)
_SETTLES: Final = compile_lazily(
    rf".*\b(?:{ATTRIBUTE}|port|limit|budget|deadline|due|target|price|date|launch|release|meeting|timeout|interval"
    rf"|ttl|quota"
    r"|retention|threshold|size|count|fee|rent|grant|salary|should|must|will|has to|shall|stays?|remains?|becomes?"
    r"|moves?|moved)\b.*"
)
AGAINST: Final = PatternSet(
    r".*\b(?:not|no|nobody|none|never|can't|cannot|don't|doesn't|didn't|won't|isn't|aren't|too|overkill|expensive"
    r"|slow|weak|forever"
    r"|dead|broke|broken|breaks?|fails?|failed|crash\w*|lost|loses|taken|collides?|conflicts?|nightmare|pointless|weak"
    r"|short|long|sick|cancell?ed|scares?|out|silly|ugly|bad|worse|wrong|instead|problem\w*|trouble|hard|hate\w*|sounds"
    r"|old|expired?|gone|full|limit\w*|leaks?|eats|heavy|hangs?|frozen|deprecated|unmaintained|abandoned)\b"
)
"""Matches sentences with words that speak against what they name."""

_WHEN: Final = frozenset({"date", "time", "day", "money"})


def find_assignments(sentence: str) -> tuple[Assignment, ...]:
    """Return the values that a user's sentence assigns, in order; () for questions, suppositions and reports."""
    return _read_assignments(bound_sentence(sentence))


@lru_cache(maxsize=SENTENCES_KEPT)
def _read_assignments(line: str) -> tuple[Assignment, ...]:
    text, why = _strip_opening(line)
    order = read_order(text)
    text = order or text
    if not text or (is_question(text) and not order) or _IMAGINED.any(text):
        return ()
    whole = _WHOLE.read(text) if not is_supposition(text) else None
    found = [whole] if whole is not None else _split_parts(text)
    return tuple(replace(made, reason=made.reason or why) if why else made for made in found)


def _strip_opening(line: str) -> tuple[str, str]:
    """A sentence without introductory words, and the reason that these give ("because of the noise, the ..."); "" for
    none."""
    text = strip_lead(line).rstrip(" .!…").removesuffix(" please")
    while (match := _OPENING.match(text)) is not None and match.end() > 0:
        text = strip_lead(text[match.end() :])
    first = _REASON_FIRST.fullmatch(text)
    return (first.group("rest"), first.group("why")) if first is not None else (text, "")


def strip_first_part(sentence: str) -> str:
    """Return the second of the parts of a sentence that are separated by commas, dashes and words such as "because",
    without such words; "" if there is none, or if it has fewer than two content stems."""
    parts = _split_at(_strip_opening(bound_sentence(sentence))[0])
    return strip_reason_words(parts[1]) if len(parts) > 1 and len(content(parts[1])) > 1 else ""


def _split_parts(text: str) -> list[Assignment]:
    found: list[tuple[int, Assignment]] = []
    parts = _split_at(text)
    for index, part in enumerate(parts):
        ways = _WITH_ARROWS if any(arrow in part for arrow in _ARROWS) else _WITHOUT_ARROWS
        made = ways.read(part)
        if made is not None and not is_supposition(part) and (not is_report(part) or " want" in part):
            found.append((index, made))
    used = {index for index, _ in found}
    return [replace(made, reason=_reason(parts, index, used)) for index, made in found]


def _split_at(text: str) -> list[str]:
    parts: list[str] = []
    rest = text
    while len(parts) < PARTS_MAX and (match := _PARTS.search(rest)) is not None:
        if match.start() > 0:
            parts.append(rest[: match.start()])
        sign = match.group().strip(" ,").partition(" ")
        kept = f"{sign[2]} " if sign[2] and sign[0] in ("as", "and", ":") else ""
        rest = kept + rest[match.end() :]
    return [said for part in (*parts, rest) if (said := strip_lead(part.strip(" ,;:")).strip())]


def _reason(parts: list[str], index: int, used: set[int]) -> str:
    """The reason for the assignment at ``index``: the part after it, else the one before; "" for none. ``used``:
    indexes of parts that assign a value themselves."""
    for near in (index + 1, index - 1):
        if 0 <= near < len(parts) and near not in used and len(content(parts[near])) > 1:
            return strip_reason_words(parts[near])
    return ""


def _read_assignment(way: ValueWay, pattern: Pattern, text: str) -> Assignment | None:
    match = pattern.match(text)
    if match is None or _MEASURES.any(text):
        return None
    groups = pattern.groups
    said, target = _group(match, groups, "value"), _group(match, groups, "target")
    value, behind = _leading_value(said), ""
    if value is None and way.name == "does":
        value, behind = _value_after_preposition(said)
    if value is not None and way.plain and value.kind == "name" and _is_term(said):
        value = None
    if value is None and not (way.plain and _is_term(said)):
        return None
    about = f"{_read_about(match, groups)} {behind}".strip()
    if ("about" in groups and _group(match, groups, "about") and not about) or not _is_assigned(
        way, about, value, said, text, target
    ):
        return None
    shown = value.text if value is not None else _strip_function_words(said)
    alone = way.alone or (way.name == "first" and value is not None)
    return Assignment(shown, about, text, target, "", way.changes, alone, way.changes or way.name not in _MANY)


def _is_assigned(way: ValueWay, about: str, value: Value | None, said: str, text: str, target: str) -> bool:
    """Whether a matched value is decided in the sentence rather than measured or reported there."""
    before = _leading_value(target) if target else None
    if way.name == "arrow" and ":" not in text and (value is None or before is None or not alike(before, value)):
        return False
    if target and (value or before) and not (value and before and alike(before, value)):
        return bool(value is None or value.kind in _NAMES) and bool(before is None or before.kind in _NAMES)
    if way.name in ("bare", "use_for"):
        full = value is not None and equal(value.text, _strip_function_words(said))
        full = full or (value is not None and value.kind == "code" and len(said.split()) <= 2 and way.name == "bare")
        return full and value is not None and (value.kind in _TECHNICAL or (way.name == "bare" and " " in value.text))
    if way.name == "is" and value is not None and value.kind in ("size", "share"):
        return False
    if way.name == "is":
        return value is not None and (value.kind in _WHEN or _SETTLES.match(text) is not None or _is_place(text, value))
    if way.name == "pair":
        return _SETTLES.match(about) is not None
    if way.name == "short":
        return len(content(about)) > 1 or (value is not None and value.kind not in _COUNTED)
    return not (way.changes and not about and value is not None and value.kind == "tool" and find_versions(said))


_MANY: Final = frozenset({"does", "does_it", "use_for", "in_use", "take", "first", "pick"})
"""Names of the ways to say that something is used somewhere, beside which something else may be used as well."""


def _is_place(text: str, value: Value) -> bool:
    return value.kind == "name" and f" in {value.text}" in text


_TECHNICAL: Final = frozenset({"tool", "code"})
_NAMES: Final = frozenset({"name", "tool", "code"})
_COUNTED: Final = frozenset({"number", "amount"})


def _read_about(match: Match, groups: frozenset[str]) -> str:
    about = _group(match, groups, "about")
    if about.casefold().partition(" ")[0] in _NOT_ABOUT:
        return ""
    return f"{about} {_group(match, groups, 'what')}".strip()


def _group(match: Match, groups: frozenset[str], name: str) -> str:
    return match.group(name).strip() if name in groups else ""


_BEFORE: Final = split_words(
    "the a an our my to at on in for of only just about exactly port by from with now is back be"
)
_BEHIND: Final = split_words("now then please again instead first too yet though")


def _strip_function_words(text: str) -> str:
    words = text.split()
    while len(words) > 1 and words[0].casefold() in _BEFORE:
        del words[0]
    while len(words) > 1 and words[-1].casefold() in _BEHIND:
        del words[-1]
    return " ".join(words).strip(" .,;:!?\"'`")


def _leading_value(text: str) -> Value | None:
    """The value of a recognised kind that a text begins with; ``None`` for none."""
    return value_at_start(_strip_function_words(text))


def _value_after_preposition(text: str) -> tuple[Value | None, str]:
    """The first value of a recognised kind after a preposition, and the words before that; (``None``, "") for none."""
    for value in values_in(text):
        before = text[: value.start].split()
        while before and before[-1].casefold() in ("the", "a", "an", "our", "port"):
            del before[-1]
        if before and before[-1].casefold() in _PREPOSITIONS:
            return value, " ".join(before[:-1])
    return None, ""


_PREPOSITIONS: Final = split_words("on in at from with via by to of for after")
_NO_TERM: Final = split_words(
    "it that this them what which who how why when where me us you him her not no yes more less all nothing something"
    " anything everything one two look note care long time place place over off down up away ok okay go do be have see"
)


def _is_term(text: str) -> bool:
    """Whether a text of a few words may name what is chosen."""
    words = _strip_function_words(text).casefold().split()
    return 0 < len(words) <= VALUE_WORDS and words[0] not in _NO_TERM and bool(content(text))
