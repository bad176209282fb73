"""How a sentence stands to a fact in force: another value for the same thing, the thing named, its old value named."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from tokenmizer_mw.graph.values import Value, values_in
from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType

from .pattern import PatternSet
from .rules.changing import CHANGES, EXPLICIT
from .rules.counting import DAYS, NUMBERS
from .similar import content, opening

_WIDE: Final = "\u2e80"
_NAMES: Final = frozenset({"name", "tool", "code", "term"})
_MEASURED: Final = frozenset({"date", "time", "day", "money", "share", "duration", "size"})
_DATED: Final = frozenset({"date", "day"})
_NUMBERED: Final = frozenset(
    ("part", "step", "option", "point", "line", "chapter", "phase", "stage", "issue", "page", "question", "task")
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SIGNS: Final = ".,;:!?()\"'«»“”„。，、！"


@dataclass(frozen=True)
class Stated:
    """The values that a text states, by their sorts, and the stems of its other words."""

    measured: frozenset[tuple[str, str]]
    counted: frozenset[tuple[str, str]]
    members: frozenset[tuple[str, str]]
    names: frozenset[str]
    words: frozenset[str]

    @cached_property
    def sorts(self) -> frozenset[str]:
        """The sorts of its values."""
        return frozenset(sort for sort, _ in self.measured | self.counted | self.members)

    @cached_property
    def values(self) -> frozenset[str]:
        """Its values but for names."""
        return frozenset(said for _, said in self.measured | self.counted | self.members)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """What it counts and measures."""
        return frozenset(said for _, said in self.measured | self.counted)

    @cached_property
    def bare(self) -> bool:
        """Whether it has a number without a unit."""
        return any(unit == "" for unit, _ in self.counted)


@lru_cache(maxsize=2048)
def stated_in(text: str) -> Stated:
    """What a text states."""
    plain = _with_digits(text)
    measured, counted, members, names = set(), set(), set(), set()
    rest = plain
    for value in values_in(plain):
        said = _normalise_value(value)
        if _tells_apart(value, plain):
            rest = rest.replace(f"{plain[: value.start].split()[-1]} {value.text}", " ")
        elif value.kind in _MEASURED:
            measured.add((value.kind, said if value.kind in _DATED else said.rstrip(_LETTERS)))
        elif value.kind in ("number", "version", "amount") or not any(map(str.isalpha, said)):
            counted.add((_unit(value, plain), said.rstrip(_LETTERS)))
        elif value.kind in _NAMES and (value.start > 0 or value.kind != "name"):
            names.add(said)
        else:
            continue
        rest = rest.replace(value.text, " ")
    for word in plain.split():
        known = MEMBERS.get(word.strip(_SIGNS).casefold())
        if known is not None and known[0].single:
            members.add((known[0].name, known[1]))
    words = frozenset(key_of(stem) for stem in content(rest) if not stem.isdigit())
    return Stated(frozenset(measured), frozenset(counted), frozenset(members), frozenset(names), words)


def _normalise_value(value: Value) -> str:
    kept = "".join(char for char in value.text.casefold() if char.isalnum() or char in ".:")
    return kept.strip(".:").removesuffix("s") if value.kind == "day" else kept.strip(".:")


def _tells_apart(value: Value, text: str) -> bool:
    """Whether a number only tells things of one kind apart: "part 1"."""
    before = (text[: value.start].split() or [""])[-1].casefold()
    return value.kind == "number" and before in _NUMBERED


def _unit(value: Value, text: str) -> str:
    """What is counted, by its first letters, "" when nothing is."""
    if value.unit:
        return key_of(value.unit)[:4]
    behind = text[value.end :].lstrip(" -")
    word = behind.split()[0] if behind[:1].isalpha() else ""
    if word[:1] >= _WIDE:
        return word[0]
    stems = content(word)
    return key_of(next(iter(stems)))[:4] if len(stems) == 1 else ""


@lru_cache(maxsize=8192)
def key_of(stem: str) -> str:
    """A stem without what may be an ending in some language."""
    least = 5
    return stem if len(stem) < least or stem[0] >= _WIDE else stem[: min(6, max(4, len(stem) - 2))]


def _with_digits(text: str) -> str:
    """A text with its numbers as digits and its days of the week in English."""
    return "".join(_normalise_word(piece) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for index, word in enumerate(text.split(" ")):
        if index:
            pieces.append(" ")
        pieces.append(word)
    return pieces


def _normalise_word(word: str) -> str:
    bare = word.strip(_SIGNS)
    low = bare.casefold()
    found = NUMBERS.get(low) or DAYS.get(low) or DAYS.get(low.removesuffix("s"))
    if found is not None or bare in ("AM", "PM"):
        return word.replace(bare, found or low)
    if any(char >= _WIDE for char in word):
        for day, english in DAYS.items():
            if day[0] >= _WIDE:
                word = word.replace(day, f" {english} ")
        return "".join(_digit(word, at) for at in range(len(word)))
    return word


def _digit(word: str, at: int) -> str:
    """A sign of a text, a digit for the sign of a number that stands before what it counts."""
    measures = "个天晚人次周月年小元块分点号名桌位张本杯只把节集层种组轮件份日時時間回人名枚本"
    sign = word[at]
    return NUMBERS[sign] if sign in NUMBERS and word[at + 1 : at + 2] and word[at + 1] in measures else sign


def differ_measured(old: Stated, new: Stated) -> bool:
    """Whether both measure the same and give it different values."""
    return _differ(old.measured, new.measured) or _dates_differ(old, new)


def _dates_differ(old: Stated, new: Stated) -> bool:
    one = {kind for kind, _ in old.measured} & _DATED
    two = {kind for kind, _ in new.measured} & _DATED
    return bool(one and two and not one & two)


def _differ(old: frozenset[tuple[str, str]], new: frozenset[tuple[str, str]]) -> bool:
    return any(a[0] == b[0] and a[0] != "" for a in old for b in new - old) and not old <= new


def differ_counted(old: Stated, new: Stated) -> bool:
    """Whether both count the same things, and differently."""
    return _differ(old.counted, new.counted)


def differ_bare(old: Stated, new: Stated) -> bool:
    """Whether a number without a unit stands against a number or a measured value."""
    return (old.bare or new.bare) and bool(old.numbers - new.numbers) and bool(new.numbers - old.numbers)


def differ_members(old: Stated, new: Stated) -> bool:
    """Whether both name known things of one category, and different ones."""
    return _differ(old.members, new.members)


def differ_names(old: Stated, new: Stated) -> bool:
    """Whether each names something that the other does not."""
    return bool(old.names - new.names) and bool(new.names - old.names)


def without(new: Stated, old: Stated) -> Stated:
    """What a text states but for the values that another one does: "Mondays instead of Thursdays"."""
    return replace(
        new,
        measured=new.measured - old.measured,
        counted=new.counted - old.counted,
        members=new.members - old.members,
        names=new.names - old.names,
    )


def repeats(old: Stated, new: Stated) -> bool:
    """Whether a text states a value that the fact states as well."""
    return not old.values.isdisjoint(new.values)


@dataclass(frozen=True)
class Claim:
    """A sentence that may change something. ``parts``: its clauses; ``beside``: it with its neighbours; ``judge``: says
    how likely it settles something, which takes longer than all else; ``last``: whether it ends its message."""

    line: str
    parts: tuple[str, ...]
    beside: str
    judge: Callable[[], float]
    last: bool

    @cached_property
    def chance(self) -> float:
        """How likely it settles something, 0..1."""
        return self.judge()

    @cached_property
    def stated(self) -> Stated:
        """What its line states."""
        return stated_in(self.line)

    @cached_property
    def around(self) -> Stated:
        """What it and its neighbours state."""
        return stated_in(self.beside)

    @cached_property
    def weighed(self) -> dict[str, tuple[Node, float]]:
        """Facts that it was held against, by their ids, and how likely it changes each."""
        return {}


_CHANGES: Final = PatternSet(*(f"(?s:.*?)(?:{row})" for row in CHANGES))
_EXPLICIT: Final = PatternSet(*(f"(?s:.*?)(?:{row})" for row in EXPLICIT))
_BESIDE: Final = PatternSet(
    r".*(?:\b(?:also|as well|additionally|in addition|besides|both|too|auch|aussi|también|anche|também)\b|также"
    r"|тоже|也|都)"
)
_OBSERVES: Final = PatternSet(
    r".*?\b(?:(?:is|are|was|were|'s) (?:way |far |just |a bit )?too \w+"
    r"|(?:doesn't|don't|isn't|can't|won't) \w+)[^,;:]*$",
)
_OURS: Final = PatternSet(
    r".*\b(?:we|let's|we're|we'll|we've|i'm|i'll|i'd|our|wir|ich|nous|je|vamos|nosotros)\b|.*(?:^| )(?:мы|я|on) |.*我们"
)
_SO: Final = PatternSet(
    r".*\b(?:so|then|hence|therefore|dann|donc|así que|pues|quindi|então)\b|.*(?:поэтому|значит|那就|所以)"
)
_THEIRS: Final = PatternSet(
    r"(?:they|he|she|his|her|their|my|the|at|in|a|an|some|most|somebody|die|der|das|la|le|el|mi|ma|mon|il|mia|minha)"
    r" (?:\pL+ ){0,3}(?:pays?|did|does|has|had|have|uses?|used|sells?|got|went|was|were|costs?|hat|hatte|nimmt|vende"
    r"|fa)\b"
)
_FORMER: Final = PatternSet(
    r".*\b(?:old|former|previous|last|buddy|friend|boss|sister|brother|competitors?|neighbou?rs?|alten|früher\pL*|letzt\pL+"
    r"|vecchi[oa]|scors[oa]|antigu[oa]|anterior|pasad[oa]|ancien(?:ne)?|dernier|minha irmã|antig[oa]|passad[oa])\b",
    r".*(?:прошл|стар(?:ый|ом|ая|ой)|以前|之前|上次|去年|前の)",
)
_HALF: Final = 0.5
_BARE_WORDS: Final = 7
_SHORT_WORDS: Final = 4
_SHORT_SIGNS: Final = 8
_LONG: Final = 110


WEIGHTS: Final = {
    "measured": 1.25,
    "counted": 2.09,
    "members": 1.27,
    "bare number": -1.34,
    "names": 0.14,
    "typed, shared": 0.44,
    "names, shared": 0.83,
    "noun": 0.35,
    "shared": 0.03,
    "much shared": 1.30,
    "share of old": 0.54,
    "share of new": 1.40,
    "named again": 0.69,
    "explicit, shared": 0.70,
    "change, half": -0.65,
    "settles, half": 0.45,
    "named again, change": 0.29,
    "settles": -0.13,
    "may settle": -0.06,
    "note": -0.28,
    "rule": -0.31,
    "task": 0.08,
    "repeats": -0.68,
    "last": 1.52,
    "change": 0.78,
    "explicit": 0.46,
    "observes": 0.20,
    "so": 1.25,
    "theirs": 0.23,
    "former": -0.86,
    "beside": -1.23,
    "long": 0.46,
    "change in the part": 0.26,
    "brief": 1.07,
    "short": 0.42,
    "ours": 0.51,
    "valued": -0.15,
}
BIAS: Final = -4.94
"""What each piece of evidence weighs: a logistic regression over pairs of a sentence and a fact, which
``benchmarks/contrast_fit.py`` fits. On authors that it is not fitted on it finds 148 of 312 changes, 25 times in an
ordinary sentence."""

_MAY_SETTLE: Final = 0.08


def says_change(line: str) -> bool:
    """Whether words of a sentence say that something changes, or follows from something."""
    traits = _traits(line)
    return traits["change"] or traits["explicit"] or traits["so"]


def likelihood(node: Node, claim: Claim) -> float:
    """How likely a claim changes what a fact states, 0..1."""
    known = claim.weighed.get(node.id)
    if known is None or known[0] is not node:
        known = claim.weighed[node.id] = (node, _weigh(node, claim))
    return known[1]


def _weigh(node: Node, claim: Claim) -> float:
    found = evidence(node, claim)
    if not found:
        return 0.0
    return 1 / (1 + math.exp(-BIAS - sum(WEIGHTS[name] * value for name, value in found.items())))


@lru_cache(maxsize=64)
def _traits(line: str) -> dict[str, bool]:
    """What a sentence has by itself, whatever it may change."""
    return {
        "change": _CHANGES.any(line),
        "explicit": _EXPLICIT.any(line),
        "observes": _OBSERVES.any(line),
        "so": _SO.any(line),
        "theirs": _THEIRS.any(line),
        "former": _FORMER.any(line),
        "beside": _BESIDE.any(line),
        "long": len(line) > _LONG,
    }


@lru_cache(maxsize=256)
def _part_traits(part: str) -> dict[str, bool]:
    """The same of a clause."""
    new = stated_in(part)
    words = len(part.split()) if " " in part or part.isascii() else _BARE_WORDS * (len(part) > _SHORT_SIGNS)
    valued = bool(new.measured or new.counted or new.members or new.names)
    return {
        "change in the part": _CHANGES.any(part),
        "brief": words <= _BARE_WORDS and valued,
        "short": words <= _SHORT_WORDS,
        "ours": _OURS.any(part),
        "valued": valued,
    }


def _may_concern(old: Stated, claim: Claim) -> bool:
    """Whether a claim has a word or a sort of value of a fact: most have neither."""
    line, around = claim.stated, claim.around
    return (
        not old.words.isdisjoint(around.words)
        or not old.names.isdisjoint(around.names)
        or not old.sorts.isdisjoint(line.sorts)
        or bool(old.numbers and line.numbers)
    )


def evidence(node: Node, claim: Claim) -> dict[str, float]:
    """What speaks for it, and against it, that a claim changes what a fact states; {} where the two have nothing to do
    with each other."""
    old = stated_in(node.label)
    if not _may_concern(old, claim):
        return {}
    best = _nearest(claim.parts, old, node.label)
    traits = _traits(claim.line)
    change, explicit = traits["change"], traits["explicit"]
    new = without(stated_in(best), old) if _EXPLICIT.any(best) else stated_in(best)
    shared = len(old.words & new.words)
    typed = [differ_measured(old, new), differ_counted(old, new), differ_members(old, new)]
    bare = not any(typed) and differ_bare(old, new)
    names = not (any(typed) or bare) and differ_names(old, new)
    again = _is_named(old, claim.around)
    noun = same_noun(node.label, best)
    if not (any(typed) or bare or names or noun or again or (shared and (change or explicit))):
        return {}
    if node.is_note and not (any(typed) or shared or _is_named(old, claim.stated)):
        return {}
    if again and not (any(typed) or shared) and old.values and old.values.isdisjoint(claim.around.values):
        return {}
    if any(typed[:2]) and not (shared or again or change) and old.words and new.words:
        return {}
    if not change and (shared or typed[2]) and _of_other_things(old, new, opening(node.label), opening(best)):
        return {}
    half = shared >= _HALF * len(old.words) and shared > 0
    settling = claim.chance >= _MAY_SETTLE
    return {
        "measured": typed[0],
        "counted": typed[1],
        "members": typed[2],
        "bare number": bare,
        "names": names,
        "typed, shared": any(typed) and shared > 0,
        "names, shared": names and shared > 0,
        "noun": noun,
        "shared": shared > 0,
        "much shared": shared > 1,
        "share of old": shared / len(old.words) if old.words else 0.0,
        "share of new": shared / len(new.words) if new.words else 0.0,
        "named again": again,
        "explicit, shared": explicit and shared > 0,
        "change, half": change and half,
        "settles, half": settling and half,
        "named again, change": again and change,
        "settles": claim.chance,
        "may settle": settling,
        "note": node.is_note,
        "rule": node.kind is DecisionKind.RULE,
        "task": node.type is NodeType.TASK,
        "repeats": not explicit and repeats(old, claim.stated),
        "last": claim.last,
        **traits,
        **_part_traits(best),
    }


def _nearest(parts: Sequence[str], old: Stated, label: str) -> str:
    """The clause that is about a fact."""
    return parts[0] if len(parts) == 1 else max(parts, key=lambda part: closeness(old, stated_in(part), label, part))


def _is_named(old: Stated, around: Stated) -> bool:
    """Whether a text names the value of a fact; all its words, where it has no value."""
    mine = old.names | old.values
    return bool(mine & (around.names | around.values)) or (not mine and bool(old.words) and old.words <= around.words)


def _of_other_things(old: Stated, new: Stated, fact: str, clause: str) -> bool:
    """Whether a fact and a clause say things alike of two things: "juniors on Mondays" and "seniors on Fridays",
    "Postgres for the ledger" and "DuckDB for the reports"."""
    mine, other = old.words - new.words, new.words - old.words
    if not old.words & new.words:
        return bool(mine and other)
    return key_of(fact) in mine and key_of(clause) in other


def closeness(old: Stated, new: Stated, label: str, part: str) -> float:
    """How near a clause is to a fact: which of several is about it."""
    typed = differ_measured(old, new) or differ_counted(old, new) or differ_members(old, new)
    loose = differ_bare(old, new) or differ_names(old, new)
    shared = len(old.words & new.words)
    return 2 * typed + 1.2 * loose + shared / (len(old.words) or 1) + 0.5 * (shared > 0) + 0.5 * same_noun(label, part)


def same_noun(old: str, new: str) -> bool:
    """Whether both speak of one thing with another word beside it: "five lives" and "three lives", "gas hob" and
    "induction hob", "un thème clair" and "un thème sombre"."""
    mine, other = _neighbours(old), _neighbours(new)
    return any(
        (one[1] == two[1] and one[0] != two[0]) or (one[0] == two[0] and one[1] != two[1])
        for one in mine
        for two in other
    )


@lru_cache(maxsize=2048)
def _neighbours(text: str) -> tuple[tuple[str, str], ...]:
    """The stems of words that stand beside each other."""
    found = [content(word) for word in text.casefold().split()]
    stems = [next(iter(stem)) if len(stem) == 1 and not any(map(str.isdigit, stem)) else "" for stem in found]
    return tuple((one, two) for one, two in pairwise(stems) if one and two)
