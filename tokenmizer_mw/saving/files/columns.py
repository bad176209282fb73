"""Statistics of one column of a table: type, range, common values, outliers, share of empty values. One pass, bounded
memory."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

import re2

from .digest import share
from .reading import Mask, clip_text

DISTINCT_MAX: Final = 1_000
"""Number of different values of one column up to which each is counted."""

SAMPLE: Final = 2_000
"""Number of values in the random sample from which median and outliers are computed."""

FENCE: Final = 3.0
"""A number is an outlier if it lies more than this many interquartile ranges outside of the quartiles (Tukey's outer
fences)."""

_KEY_MAX: Final = 200
_SHOWN_MAX: Final = 60
_EXTREMES: Final = 3
_EXAMPLES: Final = 2
_NUMBER = re2.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_DATE = re2.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_NAMED: Final = {
    **dict.fromkeys(("", "na", "n/a", "nan", "null", "none", "-"), "empty"),
    **dict.fromkeys(("true", "false", "yes", "no"), "boolean"),
}
_NUMERIC: Final = frozenset("0123456789+-.")


@dataclass(slots=True)
class Column:
    """Running statistics of one column; values are passed as text.

    - ``rows``: number of values; ``empty``, ``numbers``, ``dates``, ``booleans``: how many of each; ``whole``:
      integers.
    - ``low``, ``high``, ``mean``: of the numbers; ``first``, ``last``: of the dates; ``longest``: characters of the
      longest text.
    - ``counts``: number of each value, until there are more than ``DISTINCT_MAX`` (``many``).
    - ``sample``: random numbers of the column; ``extremes``: its smallest and largest ones, with row and line.
    """

    name: str
    rows: int = 0
    empty: int = 0
    numbers: int = 0
    whole: int = 0
    dates: int = 0
    booleans: int = 0
    low: float = math.inf
    high: float = -math.inf
    mean: float = 0.0
    first: str = ""
    last: str = ""
    longest: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    many: bool = False
    sample: list[float] = field(default_factory=list)
    extremes: dict[float, tuple[int, int]] = field(default_factory=dict)
    _random: random.Random = field(default_factory=lambda: random.Random(0))

    def add(self, values: Sequence[str], lines: Sequence[int] = ()) -> None:
        """Add values, in order. A call with many values costs little more than one with a single value.

        ``lines``: number of the line on which each value's row begins; () if the file has no lines.
        """
        start = self.rows
        self.rows += len(values)
        try:
            numbers = list(map(float, values))
        except ValueError:
            numbers = [math.nan]
        if not all(map(math.isfinite, numbers)):
            self._add_mixed([value.strip() for value in values], start, lines)
            return
        if not self.many:
            self._count(Counter(value.strip() for value in values))
        whole = sum(map(_is_whole, values)) if self.whole == self.numbers else 0
        self._numbers(numbers, whole, range(start + 1, self.rows + 1), lines)

    def _add_mixed(self, values: list[str], start: int, lines: Sequence[int]) -> None:
        numbers: list[float] = []
        rows: list[int] = []
        whole = 0
        counted = Counter(values)
        kinds = {value: _kind(value) for value in counted}
        for row, value in enumerate(values, start + 1):
            if isinstance(number := kinds[value], float):
                numbers.append(number)
                rows.append(row)
                whole += _is_whole(value.replace(",", ""))
        for value, count in counted.items():
            self._add_value(value, kinds[value], count)
        if not self.many:
            self._count(Counter({value: count for value, count in counted.items() if kinds[value] != "empty"}))
        if numbers:
            self._numbers(numbers, whole, rows, [lines[row - start - 1] for row in rows] if lines else ())

    def _add_value(self, value: str, kind: float | str, count: int) -> None:
        if kind == "empty":
            self.empty += count
            return
        self.longest = max(self.longest, len(value))
        if len(self.examples) < _EXAMPLES and value not in self.examples:
            self.examples.append(value[:_KEY_MAX])
        if kind == "date":
            self.dates += count
            self.first = min(self.first or value, value)
            self.last = max(self.last, value)
        elif kind == "boolean":
            self.booleans += count

    def _count(self, counted: Counter[str]) -> None:
        for value, count in counted.items():
            self.counts[value[:_KEY_MAX]] += count
        if len(self.counts) > DISTINCT_MAX:
            self.many = True
            self.counts.clear()

    def _numbers(self, numbers: list[float], whole: int, rows: Sequence[int], lines: Sequence[int]) -> None:
        self.numbers += len(numbers)
        self.whole += whole
        self.mean += (math.fsum(numbers) - self.mean * len(numbers)) / self.numbers
        for number in {min(numbers), max(numbers)}:
            if number < self.low or number > self.high:
                place = numbers.index(number)
                self.extremes[number] = rows[place], lines[place] if lines else 0
        self.low, self.high = min(self.low, *numbers), max(self.high, *numbers)
        for spare in sorted(self.extremes)[_EXTREMES:-_EXTREMES]:
            del self.extremes[spare]
        self._keep(numbers)

    def _keep(self, numbers: list[float]) -> None:
        """Update the random sample, so that every number so far is in it with the same probability."""
        room = SAMPLE - len(self.sample)
        self.sample += numbers[:room]
        late = numbers[room:]
        if not late:
            return
        expected = SAMPLE * len(late) / self.numbers
        chosen = self._random.sample(late, min(len(late), int(expected + self._random.random())))
        for place, number in zip(self._random.sample(range(SAMPLE), len(chosen)), chosen, strict=True):
            self.sample[place] = number

    # -- what is said ----------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """The type of the values, empty ones left out: "integer", "number", "date" or "boolean" if all have it, "mixed"
        if more than nine tenths are numbers, dates or booleans, else "text"; "empty" if there are no values."""
        filled = self.rows - self.empty
        if not filled:
            return "empty"
        for name, count in (("number", self.numbers), ("date", self.dates), ("boolean", self.booleans)):
            if count == filled:
                return "integer" if name == "number" and self.whole == self.numbers else name
            if count * 10 > filled * 9:
                return "mixed"
        return "text"

    def outliers(self) -> list[tuple[float, int, int]]:
        """Return the smallest and largest numbers of the column that are outliers (more than ``FENCE`` interquartile
        ranges outside of the quartiles), each with its row and line (0 if unknown), the furthest first. ``[]`` for
        none, and for less than 20 numbers."""
        if len(self.sample) < 20:
            return []
        ranked = sorted(self.sample)
        low, high = ranked[len(ranked) // 4], ranked[(3 * len(ranked)) // 4]
        reach = FENCE * (high - low)
        if not reach:
            return []
        beyond = (
            (number, *place) for number, place in self.extremes.items() if not low - reach <= number <= high + reach
        )
        return sorted(beyond, key=lambda one: -abs(one[0] - (low + high) / 2))

    def line(self, mask: Mask) -> str:
        """Return the statistics of the column in one line: "- price: integer 1..90, mean 12, median 9". ``mask``
        redacts secrets in its values."""
        if len(self.counts) == 1 and not self.empty:
            value = self._show_value(next(iter(self.counts)), mask)
            return f"- {self.name}: {value}" if self.rows == 1 else f"- {self.name}: {self.kind}, always {value}"
        parts = [f"{self.kind}{self._range()}"]
        if self.empty:
            parts.append(f"{share(self.empty, self.rows)} empty")
        parts += self._distinct(mask)
        if self.numbers and (odd := self.outliers()):
            parts.append(
                "outliers " + ", ".join(f"{exact(number)} ({_spell_place(row, line)})" for number, row, line in odd[:2])
            )
        if self.kind == "mixed" or (self.kind == "text" and self.numbers):
            parts.append(f"{self.rows - self.empty - self.numbers - self.dates:,} values are no numbers or dates")
        return f"- {self.name}: {', '.join(parts)}"

    def _range(self) -> str:
        if self.kind in ("integer", "number") or (self.kind == "mixed" and self.numbers):
            about = "about " if self.numbers > len(self.sample) else ""
            median = f"{about}{plain(statistics.median(self.sample))}"
            return f" {exact(self.low)}..{exact(self.high)}, mean {plain(self.mean)}, median {median}"
        return f" {self.first}..{self.last}" if self.kind == "date" else ""

    def _distinct(self, mask: Mask) -> list[str]:
        filled = self.rows - self.empty
        if self.many:
            texts = f"over {DISTINCT_MAX:,} different values, up to {self.longest:,} characters{self._such(mask)}"
            return [texts] if self.kind == "text" else []
        if len(self.counts) == filled > 1:
            return ["all different" + (self._such(mask) if self.kind == "text" else "")]
        if self.kind not in ("text", "boolean", "integer") or (self.kind == "integer" and len(self.counts) > 6):
            return []
        common = ", ".join(
            f"{self._show_value(value, mask)} {share(count, filled)}" for value, count in self.counts.most_common(4)
        )
        more = f" and {len(self.counts) - 4:,} more" if len(self.counts) > 4 else ""
        return [f"{common}{more}"] if self.counts else []

    def _such(self, mask: Mask) -> str:
        shown = [self._show_value(value, mask) for value in self.examples]
        return f", such as {' and '.join(shown)}" if shown else ""

    def _show_value(self, value: str, mask: Mask) -> str:
        """Return a value as it may be shown. One that was cut when it was stored is cut at the end of a word."""
        whole = value if len(value) < _KEY_MAX else clip_text(value, _KEY_MAX - 1)
        return mask(self.name, whole)[:_SHOWN_MAX]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics of the column as a dict for JSON: name, type, numbers of rows, empty and distinct
        values (``None``: too many to count), outliers, and the range of its numbers or dates if it has any."""
        numbers = {"low": self.low, "high": self.high, "mean": self.mean} if self.numbers else {}
        dates = {"first": self.first, "last": self.last} if self.dates else {}
        return {
            "name": self.name,
            "type": self.kind,
            "rows": self.rows,
            "empty": self.empty,
            "distinct": None if self.many else len(self.counts),
            "outliers": [
                {"value": value, "row": row, **({"line": line} if line else {})}
                for value, row, line in (self.outliers() if self.numbers else ())
            ],
            **numbers,
            **dates,
        }


def _spell_place(row: int, line: int) -> str:
    return f"line {line:,}" if line else f"row {row:,}"


def plain(number: float) -> str:
    """Format a number for people: as an integer if it is whole or large, else with four significant digits."""
    spelled = f"{number:.4g}"
    if math.isfinite(number) and abs(number) < 1e15 and (number == int(number) or ("e" in spelled and abs(number) > 1)):
        return str(round(number))
    return spelled


def exact(number: float) -> str:
    """Format a number so that no digit is lost: "12" for 12.0, "0.1" for 0.1; without thousands separators."""
    whole = math.isfinite(number) and abs(number) < 1e15 and number == int(number)
    return str(int(number)) if whole else repr(number)


def looks_like_data(values: Iterable[str]) -> bool:
    """Return whether a row contains a number or a date, so that it is not a header."""
    return any(isinstance(kind := _kind(value.strip()), float) or kind == "date" for value in values)


def _kind(text: str) -> float | str:
    """Return the number that ``text`` is, or else its kind: "empty", "date", "boolean" or "text"."""
    if len(text) <= 5 and (folded := text.casefold()) in _NAMED:
        return _NAMED[folded]
    if text[:1] in _NUMERIC:
        number = _number(text)
        if number is not None:
            return number
        if _DATE.fullmatch(text) is not None and _is_date(text):
            return "date"
    return "text"


def _is_whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdigit()


def _number(text: str) -> float | None:
    if not (text[-1:].isdigit() or text[-1:] == ".") or _NUMBER.fullmatch(text) is None:
        return None
    number = float(text.replace(",", ""))
    return number if math.isfinite(number) else None


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
