"""Stage "history": prunes old tool results to the names in them.

The newest results stay whole. When enough older ones have accumulated, all of them are pruned in one step, and nothing
changes until the next step; in between, a growing chat is sent with the same beginning. The steps depend only on the
chat, so that every process prunes the same results.

A pruned result consists of a line that says how much was removed, its lines about failures, and the names in it that
did not occur earlier (paths, identifiers, addresses), so that the model can look them up again. The note does not ask
for a rerun: some commands must not run twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from .chat import ChatPassage, OutputKind, PassageKind
from .names import KnownNames, names
from .shorten import CHARACTERS_A_TOKEN, FAILURE
from .sorts import is_stamped

PRUNED_MIN: Final = 400
"""Characters of a result that is worth it."""

LINES_KEPT: Final = 4
_LINE_MAX: Final = 160
_TELLING: Final = frozenset({OutputKind.LOG, OutputKind.PRINTED, OutputKind.TEXT})
NAMES_SHARE: Final = 0.15
LIST_SHARE: Final = 0.5
"""Share of a result's characters that its names may take; the rest of them is counted."""


def pruned_before(passages: Sequence[ChatPassage], *, keep: int, step: int, cut: int | None = None) -> int:
    """Return the index of the passage before which results are pruned.

    ``keep``: number of newest results that stay whole, with all that arrived together with them; results that the model
    has not seen yet are never pruned. ``step``: tokens of older unpruned results that trigger a step. ``cut``: index of
    the newest message when the chat was cut; everything old at that time is pruned, because the provider's cache is
    invalid anyway.
    """
    places: list[int] = []
    behind = added = waiting = 0
    is_before_cut = cut is not None
    for start, end in _batches(passages):
        if is_before_cut and cut is not None and passages[start].message > cut:
            behind, waiting, is_before_cut = added, 0, False
        places += range(start, end)
        old = min(len(places) - keep, len(places) - (end - start))
        while added < old:
            waiting += _size(passages[places[added]].text)
            added += 1
        if waiting >= step:
            behind, waiting = added, 0
    if is_before_cut:
        behind = added
    return places[behind - 1] + 1 if behind else 0


def _batches(passages: Sequence[ChatPassage]) -> Iterator[tuple[int, int]]:
    """Where results that came together start and end: between two of them the model has spoken."""
    start = 0
    for is_result, together in groupby(passages, lambda passage: passage.kind is PassageKind.RESULT):
        end = start + sum(1 for _ in together)
        if is_result:
            yield start, end
        start = end


def _size(text: str) -> int:
    return 0 if len(text) < PRUNED_MIN else len(text) // CHARACTERS_A_TOKEN


def prune_result(passage: ChatPassage, sort: OutputKind, known: KnownNames) -> str:
    """Return what remains of a result. ``known``: names that occurred before it.

    Returns the same object if the result is short or would not get shorter.
    """
    text = passage.text
    if len(text) < PRUNED_MIN:
        return text
    kept = list(_telling(text)) if sort in _TELLING or is_stamped(text) else []
    said = set(names("\n".join([passage.title, *kept])))
    counted = names(text, known.read)
    new = [name for name in counted if name not in said and not known.is_known(name)]
    shown = _select_fitting(
        sorted(new, key=lambda name: _rank(name, counted[name])),
        int(len(text) * (NAMES_SHARE if sort is OutputKind.FILE else LIST_SHARE)),
    )
    more = f" and {len(new) - len(shown)} more" if len(shown) < len(new) else ""
    named = f" Named: {' '.join(name for name in new if name in shown)}{more}" if shown else ""
    lines = text.count("\n") + 1
    left = "\n".join([f"[{lines} lines of this output are left out.{named}]", *kept])
    return left if len(left) < len(text) else text


def _rank(name: str, count: int) -> tuple[bool, int]:
    """Paths and addresses first, then what is named most often."""
    return ("/" not in name, -count)


def _telling(text: str) -> Iterator[str]:
    """The lines that speak of failures, and the last one: there a command says how it ended."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = [line for line in lines[:-1] if FAILURE.search(line[:_LINE_MAX])]
    for line in [*found[: LINES_KEPT - 1], *lines[-1:]]:
        yield line.strip()[:_LINE_MAX]


def _select_fitting(found: Sequence[str], room: int) -> set[str]:
    shown: set[str] = set()
    for name in found:
        room -= len(name) + 1
        if room < 0:
            break
        shown.add(name)
    return shown
