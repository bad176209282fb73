"""Which choice in force a new one stands against: both were put up as ways to do the same thing.

"Either stay on A, or change to B" names rivals, and so does a list that asks which it is to be. Whoever took the one
and now takes the other has left the first, without a word of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust

from .finding import Finding, Move
from .ledger import Ledger
from .offers import Offers
from .pattern import PatternSet, compiled
from .prose import encodable, sentences
from .similar import content

Sides = tuple[frozenset[str], ...]
"""Stems of what was put up beside each other."""

CHOICES_MAX: Final = 12
"""Newest decisions that a new one may stand against."""
TEXT_MAX: Final = 6_000
"""Characters at the end of a message in which ways are looked for."""
SENTENCE_MAX: Final = 320
SENTENCES_MAX: Final = 40
GROUPS_MAX: Final = 24
_LEANS: Final = 0.4
"""Share of what only the one choice says that its side has to have."""

_OR: Final = compiled(r",? (?:or|oder|o bien|ou|или) |或者?|还是|または|あるいは|또는|아니면")
_ELSE: Final = PatternSet(r"(?:alternatively|or|otherwise|alternativ|oder|sinon|ou bien|en cambio|oppure)\b[,:]? ")
_MOVES: Final = frozenset({Move.NOTE, Move.ADOPT, Move.REPLACE, Move.SET})


def rival(ledger: Ledger, finding: Finding) -> Node | None:
    """The choice in force that was put up beside what the user chooses now, ``None`` when there is none."""
    chosen = finding.kind is DecisionKind.CHOICE and finding.status is Status.ACTIVE and finding.move in _MOVES
    if ledger.role != "user" or not chosen or finding.trust not in (Trust.STATED, Trust.ADOPTED):
        return None
    known = [node for node in in_force(ledger) if node.source.turn < ledger.turn]
    if not known:
        return None
    said = ledger.put_up()
    mine = _named(finding.label)
    for node in known:
        other = _named(node.label)
        texts = (text for turn, text in said if turn < ledger.turn)
        if any(_apart(mine - other, other - mine, group) for text in texts for group in put_up(text)):
            return node
    return None


def in_force(ledger: Ledger) -> Iterator[Node]:
    """The newest choices that hold."""
    graph = ledger.graph
    for number in islice(range(graph.added(NodeType.DECISION), 0, -1), CHOICES_MAX):
        node = graph.get(f"{NodeType.DECISION.value}-{number}")
        if node is not None and node.status is Status.ACTIVE and node.kind is DecisionKind.CHOICE:
            yield node


def _named(label: str) -> frozenset[str]:
    """The stems of a choice as it was said, without what was filled in behind it."""
    return content(label.partition(": ")[0]) or content(label)


def _apart(mine: frozenset[str], other: frozenset[str], group: Sides) -> bool:
    """Whether two choices lean to different sides."""
    one, two = _side(mine, group), _side(other, group)
    return one is not None and two is not None and one != two


def _side(words: frozenset[str], group: Sides) -> int | None:
    """The one side that has most of the words, ``None`` where none or several have."""
    if not words:
        return None
    counts = [len(words & side) for side in group]
    best = max(counts)
    if best == 0 or best < _LEANS * len(words) or counts.count(best) > 1:
        return None
    return counts.index(best)


@lru_cache(maxsize=32)
def put_up(text: str) -> tuple[Sides, ...]:
    """What a message puts up beside each other, group by group."""
    text = encodable(text[-TEXT_MAX:])
    listed = tuple(content(option.label) | content(option.head) for option in Offers(text).options)
    groups = [listed] if len(listed) > 1 else []
    before = ""
    for start, end in islice(sentences(text, 0, len(text)), SENTENCES_MAX):
        sentence = text[start:end].strip()
        if len(sentence) <= SENTENCE_MAX:
            groups += _sides(sentence, before)
        before = sentence[-SENTENCE_MAX:]
    return tuple(groups[:GROUPS_MAX])


def _sides(sentence: str, before: str) -> Iterator[Sides]:
    if before and _ELSE.any(sentence):
        yield content(before), content(sentence)
    elif (border := _OR.search(sentence)) is not None:
        yield content(sentence[: border.start()]), content(sentence[border.end() :])
