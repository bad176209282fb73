"""Which choice in force a new one stands against: both were put up as ways to do the same thing.

"Either stay on A, or change to B" names rivals, and so does a list that asks which it is to be. Whoever took the one
and now takes the other has left the first, without a word of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

import re2

from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust

from .finding import Finding, Move, Segment, SegmentKind
from .hit import anaphoric
from .ledger import Ledger
from .offers import Offers
from .pattern import PatternSet, compiled
from .phrases import asks, bounded, supposes, without_lead
from .prose import encodable, sentences
from .similar import content

Sides = tuple[tuple[frozenset[str], str], ...]
"""What was put up beside each other: the stems of each side and its words."""

CHOICES_MAX: Final = 12
"""Newest decisions that a new one may stand against."""
TEXT_MAX: Final = 6_000
"""Characters at the end of a message in which ways are looked for."""
SENTENCE_MAX: Final = 320
SENTENCES_MAX: Final = 40
GROUPS_MAX: Final = 24
SENTENCES_SPOKEN: Final = 4
SAID_WORDS: Final = 4
"""Most words of a sentence that takes the other side without a verb."""
LABEL_MAX: Final = 80
_CONFIDENCE: Final = 0.7
_STOPS: Final = re2.compile(r"[.!?;]+\s+")
_STOP_SIGNS: Final = frozenset(".!?;")
_PARTS: Final = re2.compile(r"[,;:(]\s|\s[–—-]\s|\.\s")
_TWICE: Final = 2
"""Times that a thing may be put up in one message: in a table, and with a few words on it."""
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
        if any(_apart(mine - other, other - mine, group) is not None for text in texts for group in put_up(text)):
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


def _apart(mine: frozenset[str], other: frozenset[str], group: Sides) -> int | None:
    """The side that a choice leans to where another leans elsewhere, ``None`` where they do not part."""
    one, two = _leaning(mine, group), _leaning(other, group)
    return one[0] if one and two and not set(one) & set(two) else None


def _leaning(words: frozenset[str], group: Sides) -> list[int]:
    """The side that has most of the words, or two that tell the same twice; [] where none or many have."""
    counts = [len(words & side) for side, _ in group]
    best = max(counts)
    if best == 0 or best < _LEANS * len(words) or counts.count(best) > _TWICE:
        return []
    return [at for at, count in enumerate(counts) if count == best]


def put_up(text: str) -> tuple[Sides, ...]:
    """What a message puts up beside each other, group by group."""
    return _put_up(text[-TEXT_MAX:])


@lru_cache(maxsize=32)
def _put_up(text: str) -> tuple[Sides, ...]:
    text = encodable(text)
    options = Offers(text).options
    listed = tuple((content(f"{option.head} {option.label}"), option.label) for option in options)
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
        yield (content(before), before), (content(sentence), sentence)
    elif (border := _OR.search(sentence)) is not None:
        left, right = sentence[: border.start()], sentence[border.end() :]
        yield (content(left), left), (content(right), right)


def switched(ledger: Ledger, segments: Sequence[Segment], found: Sequence[Finding]) -> list[Finding]:
    """The other side taken in a word or two, where no rule reads a choice: "ok, you win. slim"."""
    if ledger.role != "user" or any(finding.kind is DecisionKind.CHOICE for finding in found):
        return []
    known = list(in_force(ledger))
    if not known:
        return []
    spoken = [segment for segment in segments if segment.kind is SegmentKind.PROSE]
    short = [
        (segment, said)
        for segment in spoken[:SENTENCES_SPOKEN]
        for piece in _pieces(segment.text)
        if (said := _brief(piece))
    ]
    texts = [text for _, text in reversed(ledger.put_up())] if short else []
    for segment, said in short:
        words = content(said.replace("+", " "))
        for node in known:
            other = _named(node.label)
            for group in (group for text in texts for group in put_up(text)):
                side = _apart(words - other, other - words, group)
                if side is not None and words - other <= group[side][0]:
                    return [_taken(said, group[side][1], node, segment)]
    return []


def _pieces(text: str) -> list[str]:
    """The sentences of people who begin none with a capital."""
    line = bounded(text)
    if _STOP_SIGNS.isdisjoint(line):
        return [line]
    ends = [match.end() for match in _STOPS.finditer(line.encode())]
    raw = line.encode()
    return [raw[a:b].decode().strip() for a, b in pairwise([0, *ends[:SENTENCES_SPOKEN], len(raw)])]


def _brief(text: str) -> str:
    """A sentence of a few words that names something, "" for any other."""
    said = without_lead(bounded(text)).rstrip(" .!")
    asked = said.endswith("?")
    said = said.rstrip("? ").removesuffix(" then").rstrip(" ,")
    if not said or len(said.split()) > SAID_WORDS or (asked and not text.rstrip(" ?").endswith("then")):
        return ""
    return said if content(said) and not supposes(said) and not asks(said) and not anaphoric(said) else ""


def _taken(said: str, side: str, node: Node, segment: Segment) -> Finding:
    part = next((one.strip() for one in _PARTS.split(side) if content(said) <= content(one)), "")
    label = part if 0 < len(part) <= LABEL_MAX else said
    return Finding(
        NodeType.DECISION,
        label,
        Status.ACTIVE,
        Trust.ADOPTED,
        _CONFIDENCE,
        Move.REPLACE,
        target=node.label,
        kind=DecisionKind.CHOICE,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
