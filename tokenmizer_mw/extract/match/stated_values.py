"""The values that a text states, by kind, and its other words; and whether two texts state different values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.rules.number_words import DAYS, NUMBERS
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.graph.values import Value, values_in
from tokenmizer_mw.model.category import MEMBERS

_WIDE: Final = "\u2e80"
_NAMES: Final = frozenset({"name", "tool", "code", "term"})
_MEASURED: Final = frozenset({"date", "time", "day", "money", "share", "duration", "size"})
_DATED: Final = frozenset({"date", "day"})
_NONE: Final = frozenset[str]()
_NUMBERED: Final = frozenset(
    ("part", "step", "option", "point", "line", "chapter", "phase", "stage", "issue", "page", "question", "task")
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SIGNS: Final = ".,;:!?()\"'«»“”„。，、！"


@dataclass(frozen=True)
class StatedValues:
    """The values in a text, and its other words.

    - ``measured``: dates, times, prices and the like, as pairs of kind and value; ``counted``: numbers, as pairs of
      what is counted ("" if unknown) and number.
    - ``members``: known products and the like of categories with one value at a time, as pairs of category and
      canonical spelling; ``names``: other names.
    - ``words``: keys (``key_of``) of the stems of its other words.
    """

    measured: frozenset[tuple[str, str]]
    counted: frozenset[tuple[str, str]]
    members: frozenset[tuple[str, str]]
    names: frozenset[str]
    words: frozenset[str]
    sorts: frozenset[str] = field(init=False, compare=False)
    """The first parts of its pairs: kinds ("date"), categories ("database"), and what is counted."""
    values: frozenset[str] = field(init=False, compare=False)
    """The second parts of its pairs: all values except names, without their kinds."""
    numbers: frozenset[str] = field(init=False, compare=False)
    """The values in ``measured`` and ``counted``, without their kinds."""
    terms: frozenset[str] = field(init=False, compare=False)
    """All its words, names and values."""
    dated: frozenset[str] = field(init=False, compare=False)
    """Which kinds of dates it has: "date" ("3 May"), "day" ("Friday")."""
    keys: frozenset[str] = field(init=False, compare=False)
    """The keys of its words and values, by which facts that cannot match are skipped: unless two texts share a key,
    nothing but names can connect them."""

    def __post_init__(self) -> None:
        counts = self.measured | self.counted
        pairs = counts | self.members
        sorts, values = (frozenset(part) for part in zip(*pairs, strict=True)) if pairs else (_NONE, _NONE)
        numbers = frozenset([said for _, said in counts]) if counts else _NONE
        terms = self.words.union(self.names, values)
        dated = _DATED.intersection([kind for kind, _ in self.measured]) if self.measured else _NONE
        kinds = [f" {sort}" for sort in sorts] + [" dated"] * bool(dated) + [" number"] * bool(numbers)
        keys = terms.union(kinds) if kinds else terms
        vars(self).update(sorts=sorts, values=values, numbers=numbers, terms=terms, dated=dated, keys=keys)


@lru_cache(maxsize=2048)
def read_stated(text: str) -> StatedValues:
    """Return the values and the other words of a text."""
    plain = _with_digits(text)
    measured, counted, names = set(), set(), set()
    rest = plain
    for value in values_in(plain):
        said = normalise_value(value)
        if _is_ordinal(value, plain):
            rest = rest.replace(f"{plain[: value.start].split()[-1]} {value.text}", " ")
        elif value.kind in _MEASURED:
            measured.add((value.kind, said if value.kind in _DATED else said.rstrip(_LETTERS)))
        elif value.kind in ("number", "version", "amount") or not any(map(str.isalpha, said)):
            counted.add((_unit(value, plain), said.rstrip(_LETTERS)))
        else:
            if value.kind in _NAMES and (value.start > 0 or value.kind != "name"):
                names.add(said)
            continue
        rest = rest.replace(value.text, " ")
    members = {member for word in plain.split() if (member := _find_single(word)) is not None}
    words = frozenset([key_of(stem) for stem in content(rest) if not stem.isdigit()])
    return StatedValues(frozenset(measured), frozenset(counted), frozenset(members), frozenset(names), words)


@lru_cache(maxsize=8192)
def _find_single(word: str) -> tuple[str, str] | None:
    """The category and the canonical spelling of a known product whose category has one value at a time; ``None`` for
    other words."""
    known = MEMBERS.get(word.strip(_SIGNS).casefold())
    return (known[0].name, known[1]) if known is not None and known[0].single else None


def merge_stated(parts: Iterable[StatedValues]) -> StatedValues:
    """Return the values and words of several texts together."""
    each = [(one.measured, one.counted, one.members, one.names, one.words) for one in parts]
    return StatedValues(*(frozenset().union(*some) for some in zip(*each, strict=True)))


def normalise_value(value: Value) -> str:
    """Return a value as ``StatedValues`` has it: in lower case, only letters, digits, dots and colons; days of the week
    in the singular."""
    kept = "".join(char for char in value.text.casefold() if char.isalnum() or char in ".:")
    return kept.strip(".:").removesuffix("s") if value.kind == "day" else kept.strip(".:")


def _is_ordinal(value: Value, text: str) -> bool:
    """Whether a number only numbers a thing: "part 1"."""
    return value.kind == "number" and (text[: value.start].split() or [""])[-1].casefold() in _NUMBERED


def _unit(value: Value, text: str) -> str:
    """The first letters of the word for what is counted; "" for none."""
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
    """Return the first four to six letters of a stem, so that inflected forms of a word in any language have one key.
    Stems of less than five letters and of wide scripts, such as Chinese, stay whole."""
    least = 5
    return stem if len(stem) < least or stem[0] >= _WIDE else stem[: min(6, max(4, len(stem) - 2))]


def _with_digits(text: str) -> str:
    """A text with digits for its number words and English names for its days of the week."""
    return " ".join(map(_normalise_word, text.split(" ")))


@lru_cache(maxsize=8192)
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
    """The character at index ``at``; a Chinese number before a measure word becomes a digit."""
    measures = "个天晚人次周月年小元块分点号名桌位张本杯只把节集层种组轮件份日時時間回人名枚本"
    sign = word[at]
    return NUMBERS[sign] if sign in NUMBERS and word[at + 1 : at + 2] and word[at + 1] in measures else sign


def differ_measured(old: StatedValues, new: StatedValues) -> bool:
    """Whether both texts give values of one measure (date, price, ...), and ``new`` has another one without having all
    of ``old``. A date and a day of the week differ as well."""
    return _differ(old.measured, new.measured) or _dates_differ(old, new)


def _dates_differ(old: StatedValues, new: StatedValues) -> bool:
    return bool(old.dated and new.dated) and old.dated.isdisjoint(new.dated)


def _differ(old: frozenset[tuple[str, str]], new: frozenset[tuple[str, str]]) -> bool:
    if not old or not new or old <= new:
        return False
    sorts = {sort for sort, _ in new - old}
    return any(sort in sorts for sort, _ in old if sort)


def differ_counted(old: StatedValues, new: StatedValues) -> bool:
    """Whether both texts give numbers of the same things, and ``new`` has another one without having all of ``old``."""
    return _differ(old.counted, new.counted)


def differ_members(old: StatedValues, new: StatedValues) -> bool:
    """Whether both texts name known values of one category (databases, ...), and ``new`` has another one without having
    all of ``old``."""
    return _differ(old.members, new.members)


def differ_names(old: StatedValues, new: StatedValues) -> bool:
    """Whether each text names something that the other does not."""
    return bool(old.names - new.names) and bool(new.names - old.names)


def drop_shared_values(new: StatedValues, old: StatedValues) -> StatedValues:
    """Return ``new`` without the values and names that ``old`` has, too: of "Mondays instead of Thursdays", "Mondays"
    is left if ``old`` has Thursdays. ``words`` stay."""
    return replace(
        new,
        measured=new.measured - old.measured,
        counted=new.counted - old.counted,
        members=new.members - old.members,
        names=new.names - old.names,
    )
