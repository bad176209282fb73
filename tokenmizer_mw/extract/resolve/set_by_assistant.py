"""What the assistant's last messages say that it did or set. It becomes a fact only when the user changes it.

"I've set the link to expire after 15 minutes" holds as long as nobody objects. If a later message of the user replaces
such a clause, it is added as a fact, so that the graph shows what was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from tokenmizer_mw.extract.candidates.note_findings import iterate_clauses
from tokenmizer_mw.extract.compose.validate import clean_label, format_quote
from tokenmizer_mw.extract.finding import SegmentKind
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.match.stated_values import StatedValues, read_stated
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question
from tokenmizer_mw.model.node import NOTE_CONFIDENCE, Node, NodeType, Source, Status, Trust

MESSAGES_MAX: Final = 8
"""How many of the assistant's newest messages are read."""
CLAUSES_MAX: Final = 60
"""How many clauses of one message are used, from its beginning."""
CHARS_MAX: Final = 6_000
"""How many characters of a message are read."""
SENTENCE_LONG: Final = 240


def find_set_by_assistant(
    texts: Sequence[tuple[int, str]], keys: frozenset[str], is_news: Callable[[StatedValues], bool]
) -> list[Node]:
    """Return what the assistant's newest messages state and ``keys`` may concern, as nodes that are in no graph yet.
    Only clauses with a value are returned, and none of questions and proposals.

    - ``texts``: texts of the assistant's messages with their numbers, oldest first; only the last ``MESSAGES_MAX`` are
      read.
    - ``keys``: keys of the words and values of the user's sentences (see ``StatedValues.keys``); a clause without any
      of them is left out.
    - ``is_news``: whether a clause with these values says something that no fact does; others are left out.
    """
    return [
        _node_of(turn, number, clause, quote)
        for turn, text in texts[-MESSAGES_MAX:]
        for number, (clause, quote) in enumerate(_find_set(text), 1)
        if not keys.isdisjoint((said := read_stated(clause)).keys) and is_news(said)
    ]


def _node_of(turn: int, number: int, clause: str, quote: str) -> Node:
    """The ``number``-th clause of message ``turn``, found in the sentence ``quote``, as a node."""
    return Node(
        id=f"set-{turn}-{number}",
        type=NodeType.CONCEPT,
        label=clause,
        status=Status.ACTIVE,
        source=Source(turn, "assistant", format_quote(quote), Trust.CLAIMED),
        confidence=NOTE_CONFIDENCE,
    )


@lru_cache(maxsize=2 * MESSAGES_MAX)
def _find_set(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(islice(_split_clauses(text), CLAUSES_MAX))


def _split_clauses(text: str) -> Iterator[tuple[str, str]]:
    """Iterate over the clauses of a text that state a value, each with its sentence."""
    for one in segment(text[:CHARS_MAX]):
        spoken = one.kind in (SegmentKind.PROSE, SegmentKind.LIST_ITEM) and len(one.text) <= SENTENCE_LONG
        valued = (
            list(iterate_clauses(one.text, valued=True)) if spoken and not is_question(bound_sentence(one.text)) else []
        )
        if valued and not (_is_proposal(one.text) or _SETS_NOTHING.any(one.text)):
            yield from ((label, one.text) for part in valued if (label := clean_label(part)))


_SETS_NOTHING: Final = PatternSet(
    r".*\s--[a-z]",
    r"(?:(?:a few|some|one|two|three|four|five|\d) (?:\w+ )?(?:changes?|questions?|things?|points?|ways|options"
    r"|reasons?|steps"
    r"|ideas|cases|notes?|problems|parts|remarks?)|(?:noch )?(?:ein|eine|zwei|drei|vier|\d) (?:Fragen?|Dinge|Punkte?"
    r"|Gründe"
    r"|Möglichkeiten|Schritte))\b",
)
"""Matches sentences that set nothing: a command with an option ("run make_slots --weeks 8"), or a count of what follows
("two questions first")."""


def _is_proposal(text: str) -> bool:
    return any(hit.rule.act is Act.PROPOSAL for hit in read_hits(text, Speaker.ASSISTANT))
