"""Search the messages that a cut removed for what a question asks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.session.transcript_edits import HistoryMessages

from .relevance import RelevantContent, relevant

if TYPE_CHECKING:
    from tokenmizer_mw.context.recall.vectors import Matrix

READ_MAX: Final = 200_000
"""Characters of messages that a request waits for being indexed, some 30 ms of CPU time; where more are new, that is
done in the background."""


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """What to search for: a question (text), or a list of names.

    ``asks``: it asks something, or refers to what was said before. ``sent``: numbers of messages that the request
    contains and that are not searched.
    """

    asked: str | Sequence[str]
    asks: bool = True
    sent: Collection[int] = ()


def search(
    told: HistoryMessages,
    *,
    wanted: SearchTarget,
    index_of: Callable[[HistoryMessages], PassageIndex],
    before: int,
    elsewhere: Collection[int],
    meaning: Matrix | None = None,
) -> RelevantContent | None:
    """Search the messages with numbers below ``before``, except those in ``elsewhere``, for ``wanted``.

    ``meaning``: the vector of the question; ``None``: search by words alone. Returns ``None`` when more than
    ``READ_MAX`` characters would have to be indexed first.
    """
    if told.unindexed > READ_MAX:
        return None
    index, asked, out = index_of(told), wanted.asked, frozenset(elsewhere).union(wanted.sent)
    if isinstance(asked, str):
        return relevant(asked, index.rank(asked, upto=before - 1, exclude=out, meaning=meaning), asks=wanted.asks)
    names = " ".join(asked)
    hits = index.rank(names, upto=before - 1, exclude=out)
    named = [hit for hit in hits if any(name in hit.text for name in asked)]
    return relevant(names, named, asks=True)
