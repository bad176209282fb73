"""How found labels are compared with labels that a person gave.

There are two matchings. Lenient: a given label is found if any found label covers it, and a found label is right if it
covers any given one. Strict: each label is used once (a maximum matching), and at least half of a found label's words
must be words of the given label or its quote.

There are two definitions of "covers". ``FREE`` works in any script and also compares with the quote of a label.
``RESEARCH`` is the published matcher of the TokenMizer research corpus, whose sessions have no quotes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

CATEGORIES: Final = (
    "goal",
    "tasks_done",
    "tasks_pending",
    "decisions",
    "superseded",
    "rejected",
    "files",
    "errors",
    "environment",
    "dependencies",
    "endpoints",
)
JUDGED: Final = ("goal", "tasks_done", "tasks_pending", "decisions", "superseded", "files", "errors")
"""Categories that count for the macro F1."""

SAMPLES: Final = 1000
SEED: Final = 1729
_TOKENS_KEPT: Final = 1 << 16

Gold = tuple[str, str]
"""A label that a person gave, and its quote ("" if there is none)."""

_STATE: Final = re.compile(r"^\[(open|resolved)\]\s*")
_RESEARCH_WORD: Final = re.compile(r"[a-z0-9][a-z0-9._/-]*")
_FREE_WORD: Final = re.compile(r"[a-z0-9_./#@-]+|[\u0400-\u04ff]+|\w+")
_CJK: Final = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
_CJK_RUN: Final = re.compile(f"[{_CJK}]+")
# fmt: off
_RESEARCH_STOP: Final = frozenset((
    "the", "a", "an", "and", "or", "but", "in", "on", "at", "to", "for", "of", "with", "is", "are", "was", "were",
    "be", "been", "it", "this", "that", "we", "our", "i", "you", "they", "from", "by", "as",
))
_FREE_STOP: Final = frozenset((
    "the", "a", "an", "of", "to", "in", "for", "on", "with", "and", "or", "is", "are", "be", "was", "were", "by",
    "at", "as", "it", "its", "this", "that", "from", "into", "i", "you", "we", "user", "my", "our", "your", "not",
    "no",
))
# fmt: on


@lru_cache(maxsize=_TOKENS_KEPT)
def free_tokens(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without common words; of Chinese, Japanese and Korean, pairs of
    characters."""
    low = text.lower()
    found = {word.strip("./-") for word in _FREE_WORD.findall(low)}
    found = {word for word in found if word and word not in _FREE_STOP and not _CJK_RUN.search(word)}
    for run in _CJK_RUN.findall(low):
        found |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    return frozenset(found)


@lru_cache(maxsize=_TOKENS_KEPT)
def research_tokens(text: str) -> frozenset[str]:
    """Return the words of a text as the research corpus' scorer splits it, and the parts of paths."""
    found: set[str] = set()
    for word in _RESEARCH_WORD.findall(text.lower()):
        if len(word) > 1 and word not in _RESEARCH_STOP:
            found |= {word, *(part for part in re.split(r"[/.]", word) if len(part) > 1)} - _RESEARCH_STOP
    return frozenset(found)


def _share(wanted: frozenset[str], had: frozenset[str]) -> float:
    return len(wanted & had) / len(wanted) if wanted else 0.0


def free_covers(label: str, gold: str, quote: str = "") -> bool:
    """Whether a label contains at least half of the words of the given label, or of its quote."""
    had, wanted = free_tokens(label), free_tokens(gold)
    return bool(had and wanted) and (_share(wanted, had) >= 0.5 or _share(free_tokens(quote), had) >= 0.5)


def research_covers(label: str, gold: str, quote: str = "") -> bool:
    """Whether a label contains at least three fifths of the words of the given label, or its whole text (of six
    characters and more)."""
    had, wanted = research_tokens(label), research_tokens(gold)
    if not had or not wanted:
        return False
    return (len(gold) >= 6 and gold.lower().strip() in label.lower()) or _share(wanted, had) >= 0.6


def same_file(label: str, gold: str, quote: str = "") -> bool:
    """Whether two paths are equal, or one is the end of the other. ``quote`` is not used."""
    one, other = (text.strip("./` ").lower().replace("\\", "/") for text in (label, gold))
    return bool(one and other) and (one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}"))


Covers = Callable[[str, str, str], bool]


@dataclass(frozen=True, slots=True)
class Matcher:
    """A definition of "covers": ``covers`` for labels in general, ``paths`` for files, ``tokens`` for splitting a text
    into words."""

    name: str
    covers: Covers
    paths: Covers
    tokens: Callable[[str], frozenset[str]]

    def relation(self, category: str, *, strict: bool) -> Covers:
        """Return the function that decides whether a label of a category covers a given one. ``strict``: also, at least
        half of the label's words must be those of the given label or its quote; this does not apply to paths."""
        if category == "files" and self.paths is not self.covers:
            return self.paths
        return self._concise if strict else self.covers

    def _concise(self, label: str, gold: str, quote: str) -> bool:
        asked = self.tokens(gold) | self.tokens(quote)
        return self.covers(label, gold, quote) and _share(self.tokens(label), asked) >= 0.5


FREE: Final = Matcher("free", free_covers, same_file, free_tokens)
RESEARCH: Final = Matcher("research", research_covers, research_covers, research_tokens)


@dataclass(frozen=True, slots=True)
class Tally:
    """One category of one session: how many labels a person gave (``want``) and were found by the program (``got``),
    how many of the given ones are ``found`` and of the program's are ``right``, and the texts of those that are not."""

    want: int
    got: int
    found: int
    right: int
    missed: tuple[str, ...] = ()
    spurious: tuple[str, ...] = ()

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F1; all 1 if nothing was given and nothing was found."""
        recall = self.found / self.want if self.want else float(not self.got)
        precision = self.right / self.got if self.got else float(not self.want)
        both = precision + recall
        return precision, recall, 2 * precision * recall / both if both else 0.0


def _matched_once(labels: Sequence[str], gold: Sequence[Gold], covers: Covers) -> tuple[set[int], set[int]]:
    """The indices of the given and of the found labels of a maximum matching, by augmenting paths."""
    fits = [[at for at, label in enumerate(labels) if covers(label, *wanted)] for wanted in gold]
    taken: dict[int, int] = {}

    def place(wanted: int, tried: set[int]) -> bool:
        for at in fits[wanted]:
            if at not in tried:
                tried.add(at)
                if at not in taken or place(taken[at], tried):
                    taken[at] = wanted
                    return True
        return False

    for wanted in range(len(gold)):
        place(wanted, set())
    return set(taken.values()), set(taken)


def _matched_freely(labels: Sequence[str], gold: Sequence[Gold], covers: Covers) -> tuple[set[int], set[int]]:
    found = {at for at, wanted in enumerate(gold) if any(covers(label, *wanted) for label in labels)}
    right = {at for at, label in enumerate(labels) if any(covers(label, *wanted) for wanted in gold)}
    return found, right


def tally(labels: Iterable[str], gold: Sequence[Gold], covers: Covers, *, strict: bool) -> Tally:
    """Compare the found labels of one category with the given ones."""
    said = [label for label in labels if label.strip()]
    found, right = (_matched_once if strict else _matched_freely)(said, gold, covers)
    missed = tuple(text for at, (text, _) in enumerate(gold) if at not in found)
    spurious = tuple(text for at, text in enumerate(said) if at not in right)
    return Tally(len(gold), len(said), len(found), len(right), missed, spurious)


Row = Mapping[str, Tally]
"""One session's tallies by category. Categories without any label on either side are left out."""


def without_state(label: str) -> str:
    """Return an error's label without the tag "[open]" or "[resolved]"."""
    return _STATE.sub("", label)


def score(
    labels: Mapping[str, Iterable[str]], gold: Mapping[str, Sequence[Gold]], matcher: Matcher, *, strict: bool
) -> Row:
    """Compare one session's found labels with the given ones, for the categories in ``JUDGED``."""
    row = {}
    for category in JUDGED:
        said = [without_state(label) for label in labels.get(category, ())]
        wanted = gold.get(category, ())
        if said or wanted:
            row[category] = tally(said, wanted, matcher.relation(category, strict=strict), strict=strict)
    return row


def states(errors: Iterable[str], flags: Mapping[str, bool]) -> tuple[int, int]:
    """Return how many found errors that match a given one have the right tag ("[open]", "[resolved]"), and how many the
    wrong one. ``flags``: by given label, whether the error is open."""
    right = wrong = 0
    for label in errors:
        tag = _STATE.match(label)
        hit = next((given for given in flags if free_covers(without_state(label), given)), None)
        if tag and hit is not None:
            agrees = flags[hit] == (tag[1] == "open")
            right, wrong = right + agrees, wrong + (not agrees)
    return right, wrong


def count_open(
    errors: Iterable[str], gold: Sequence[Gold], flags: Mapping[str, bool], covers: Covers
) -> tuple[int, int]:
    """Return how many of the found errors that begin with "[open]" match a given one that is open at the end, and how
    many begin so. ``flags``: by label of a given error, whether it is open."""
    told = [without_state(label) for label in errors if label.startswith("[open]")]
    still = [one for one in gold if flags.get(one[0])]
    return sum(any(covers(label, *one) for one in still) for label in told), len(told)


def pooled(rows: Iterable[Row]) -> dict[str, Tally]:
    """Return the sums of many sessions' tallies by category. Categories without any given label are left out."""
    sums = {category: [0, 0, 0, 0] for category in JUDGED}
    for row in rows:
        for category, part in row.items():
            for at, count in enumerate((part.want, part.got, part.found, part.right)):
                sums[category][at] += count
    return {category: Tally(total[0], total[1], total[2], total[3]) for category, total in sums.items() if total[0]}


def macro(rows: Iterable[Row]) -> float:
    """Return the mean F1 of the categories, each over all sessions; 0 if there is none."""
    parts = pooled(rows)
    return sum(part.scores[2] for part in parts.values()) / len(parts) if parts else 0.0


def by_session(rows: Sequence[Row]) -> float:
    """Return the mean over sessions of the mean F1 of their categories, as published for the research corpus.
    Categories that no session labels are left out."""
    judged = pooled(rows)
    means = []
    for row in rows:
        values = [part.scores[2] for category, part in row.items() if category in judged]
        means.append(sum(values) / len(values) if values else 0.0)
    return sum(means) / len(means) if means else 0.0


def interval(rows: Sequence[Row], *, samples: int = SAMPLES) -> list[float] | None:
    """Return the 95 % bootstrap interval of the macro F1 (lower and upper bound), with sessions drawn with replacement;
    ``None`` for fewer than two sessions or no samples."""
    if len(rows) < 2 or not samples:
        return None
    rng = random.Random(SEED)
    drawn = sorted(macro([rows[rng.randrange(len(rows))] for _ in rows]) for _ in range(samples))
    return [drawn[int(0.025 * samples)], drawn[int(0.975 * samples)]]


def summary(rows: Sequence[Row], *, samples: int = SAMPLES) -> dict[str, Any]:
    """Return JSON-ready figures of many sessions: macro F1 with its interval, and each category."""
    found = {}
    for category, part in pooled(rows).items():
        precision, recall, f1 = (round(value, 4) for value in part.scores)
        counts = {"want": part.want, "got": part.got, "found": part.found, "right": part.right}
        found[category] = {"precision": precision, "recall": recall, "f1": f1, **counts}
    bounds = interval(rows, samples=samples)
    return {
        "sessions": len(rows),
        "macro_f1": round(macro(rows), 4),
        "by_session": round(by_session(rows), 4),
        "interval": bounds and [round(value, 4) for value in bounds],
        "categories": found,
    }
