"""Old outputs of tools, told by what they named.

The newest results stay as they are; once enough old ones have gathered behind them, all old ones are pruned at one
step, and then nothing changes until the next step: between two steps a chat that grows is forwarded with the same
beginning. Where the steps lie follows from the chat alone, so that every process prunes the same.

What is left of a result is a line that says how much is gone, the lines that speak of failures, and the names in it
that stand nowhere before it: paths, identifiers, addresses. Who knows the name can look again. Nobody is told to: what
was run once may not be meant to be run twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from .names import KnownNames, names
from .passage import ChatPassage, OutputKind, PassageKind
from .shorten import CHARACTERS_A_TOKEN, FAILURE
from .sorts import stamped

PRUNED_MIN: Final = 400
"""Characters of a result that is worth it."""

LINES_KEPT: Final = 4
_LINE_MAX: Final = 160
_TELLING: Final = frozenset({OutputKind.LOG, OutputKind.PRINTED, OutputKind.TEXT})
NAMES_SHARE: Final = 0.15
LIST_SHARE: Final = 0.5
"""Share of a result's characters that its names may take; the rest of them is counted."""


def pruned_before(passages: Sequence[ChatPassage], *, keep: int, step: int, cut: int | None = None) -> int:
    """The place from which on results stay whole: those of passages before it are pruned.

    ``keep``: results that stay whole at the end, with all that came together with them: what the model has not seen
    yet is never pruned. ``step``: tokens of unpruned results behind them that make a step. ``cut``: the newest message
    when the chat was cut: all that was old then is pruned, since a provider's cache has to be written anew anyhow.
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


def pruned(passage: ChatPassage, sort: OutputKind, known: KnownNames) -> str:
    """What is left of a result. ``known`` is told before it; the same object when it is short, or
    when what would be left is no shorter."""
    text = passage.text
    if len(text) < PRUNED_MIN:
        return text
    kept = list(_telling(text)) if sort in _TELLING or stamped(text) else []
    said = set(names("\n".join([passage.title, *kept])))
    counted = names(text, known.read)
    new = [name for name in counted if name not in said and not known.told(name)]
    shown = _fitting(
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


def _fitting(found: Sequence[str], room: int) -> set[str]:
    shown: set[str] = set()
    for name in found:
        room -= len(name) + 1
        if room < 0:
            break
        shown.add(name)
    return shown
