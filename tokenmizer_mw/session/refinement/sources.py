"""Find the source of a model's statements in the session, and turn them into findings (facts before they are merged).

A model is not trusted about sources. The speaker of the sentence that shares most words with a statement decides what
the statement may become; a statement that nobody made is dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, Final

from tokenmizer_mw.extract.candidates.finding_makers import read_slot_fields
from tokenmizer_mw.extract.compose.validate import format_quote, validate_findings
from tokenmizer_mw.extract.finding import Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.rule_hits import read_kind
from tokenmizer_mw.extract.read.layout import Span
from tokenmizer_mw.extract.read.other_speakers import find_foreign
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.text.names import as_path
from tokenmizer_mw.extract.text.similar import SIMILAR_MAX, content
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust
from tokenmizer_mw.session import Numbered
from tokenmizer_mw.session.refinement import SPOKEN_MAX, TOOL_MAX, select_shown_parts
from tokenmizer_mw.session.refinement.reply import BY_NAME, ReplyStatement
from tokenmizer_mw.settings import Settings

PIECE: Final = SIMILAR_MAX
"""Characters of a sentence or block that are compared at once. Longer ones are split into pieces of this length."""

PIECES_MAX: Final = 20_000
"""Most pieces of a session that are searched; the oldest ones are left out."""

FOREIGN_LEAST: Final = 24
"""Characters from which on a quotation in a sentence counts as somebody else's words. Shorter ones may be just a
name."""

_OTHERS: Final = frozenset({SegmentKind.QUOTE, SegmentKind.LOG, SegmentKind.CODE, SegmentKind.DIFF})
_EQUAL: Final = 0.8
"""Share of the best score that a place needs to count as equally good. Among such places the speaker and the age
decide."""


@dataclass(frozen=True, slots=True)
class StatementPlace:
    """The place in the session where a statement of the model was said: ``quote`` in message ``turn``.

    - ``speaker``: "user", "assistant" or "tool".
    - ``own``: true for the speaker's own prose; false for code, logs, quotations, and what a tool call writes to a
      file.
    - ``span``: the position in the message's text; ``None`` in tool calls and results.
    - ``score``: the share of the statement's words that occur at this place, 0 to 1; ``borrowed``: the share that only
      tools, quotations or code in the session contain.
    """

    turn: int
    speaker: str
    quote: str
    span: tuple[int, int] | None
    own: bool
    score: float = 0.0
    borrowed: float = 0.0


class Places:
    """Search index over passages of messages, to find the source of a statement. ``flagged``: numbers of messages that
    read like an attempt to take over a model; none of their text counts as the speaker's own."""

    def __init__(self, messages: Sequence[Numbered], *, flagged: Iterable[int] = ()) -> None:
        distrusted = frozenset(flagged)
        found = [one for numbered in messages for one in _places(numbered, numbered[0] not in distrusted)]
        self._places = [place for place, _ in found[-PIECES_MAX:]]
        self._by_word: dict[str, list[int]] = {}
        self._spoken: set[str] = set()
        for index, (_, sentence) in enumerate(found[-PIECES_MAX:]):
            terms = _terms(sentence)
            for word in terms:
                self._by_word.setdefault(word, []).append(index)
            if self._places[index].own:
                self._spoken |= terms

    def find(self, text: str, first: str = "user") -> StatementPlace | None:
        """Return the passage that ``text`` most likely comes from; ``None`` when no passage shares a word with it.

        Rare words weigh more. Among about equally good passages, the speakers' own words come before text they paste
        and tool output, those of the speaker ``first`` before others, and the newest before older ones.
        """
        weights = {word: self._weight(word) for word in _terms(text)}
        whole = sum(weights.values())
        scores: dict[int, float] = defaultdict(float)
        for word, weight in weights.items():
            for index in self._by_word.get(word, ()):
                scores[index] += weight / whole
        if not scores:
            return None
        best = max(scores.values())
        good = [index for index, score in scores.items() if score >= _EQUAL * best]
        index = max(good, key=lambda index: (self._places[index].own, self._places[index].speaker == first, index))
        others = sum(weight for word, weight in weights.items() if word in self._by_word and word not in self._spoken)
        return replace(self._places[index], score=min(1.0, scores[index]), borrowed=others / whole)

    def _weight(self, word: str) -> float:
        return log(1 + (1 + len(self._places)) / (1 + len(self._by_word.get(word, ()))))


def _terms(text: str) -> frozenset[str]:
    """Return the terms by which a text is found: the stems of its words, and the names in it that contain a dot or a
    slash."""
    return content(text) | {word for word in words(text) if "." in word or "/" in word}


def _places(numbered: Numbered, trusted: bool) -> Iterator[tuple[StatementPlace, str]]:
    """Yield the places of a message, as far as a model is shown it, each with the text by which it is found."""
    number, message = numbered
    if message.role is Role.SYSTEM:
        return
    speaker = message.role.value
    for offset, text in select_shown_parts(message.text, SPOKEN_MAX):
        yield from _spoken_places(number, speaker, offset, text, trusted and speaker != "tool")
    for call in message.tool_calls:
        for _, text in select_shown_parts(f"{call.name} {call.arguments}", TOOL_MAX):
            yield from ((StatementPlace(number, speaker, one, None, False), one) for one in _cut(text))
    for result in message.tool_results:
        for _, text in select_shown_parts(result.text, TOOL_MAX):
            yield from ((StatementPlace(number, "tool", one, None, False), one) for one in _cut(text))


def _spoken_places(
    number: int, speaker: str, offset: int, text: str, trusted: bool
) -> Iterator[tuple[StatementPlace, str]]:
    """Yield the places of a message's text. ``offset``: where ``text`` begins in the message."""
    others = [span for span in find_foreign(text) if span[1] - span[0] >= FOREIGN_LEAST]
    for part in segment(_blank_spans(text, others)):
        own = trusted and part.kind not in _OTHERS
        for start, piece in _pieces(part):
            end = min(start + len(piece), part.end)
            quote = text[start:end] if others else piece
            yield StatementPlace(number, speaker, quote, (offset + start, offset + end), own), piece
    for start, end in others:
        yield from ((StatementPlace(number, speaker, one, None, False), one) for one in _cut(text[start:end]))


def _blank_spans(text: str, spans: Iterable[Span]) -> str:
    """Return ``text`` with spaces in place of the quotations at ``spans``."""
    kept: list[str] = []
    done = 0
    for start, end in spans:
        kept += (text[done:start], " " * (end - start))
        done = end
    return "".join((*kept, text[done:]))


def _pieces(part: Segment) -> Iterator[tuple[int, str]]:
    for at in range(0, max(1, len(part.text)), PIECE):
        yield min(part.start + at, part.end), part.text[at : at + PIECE]


def _cut(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


PLACED: Final = 0.3
"""Smallest share of a statement's words that its place must contain to count as the speaker's statement."""

BORROWED: Final = 0.4
"""Largest share of a statement's words that may occur only in tool output, files and quotations if it is to count as a
speaker's statement. These are mostly names of files."""

_CONFIDENCE: Final = {Trust.STATED: 0.85, Trust.CLAIMED: 0.7, Trust.PROPOSED: 0.6, Trust.QUOTED: 0.55}
_STANDING: Final = frozenset({DecisionKind.RULE, DecisionKind.PREFERENCE})
_SPEAKERS: Final = {"tasks_done": "assistant"}
"""The speaker who is preferred if several say the same. For categories that are not listed it is the user."""


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding and the place in the session that it comes from. ``before``: the place of the statement that it
    replaces, ``None`` if it replaces none."""

    finding: Finding
    place: StatementPlace
    before: StatementPlace | None = None


def place_finding(stated: ReplyStatement, places: Places, settings: Settings) -> PlacedFinding | None:
    """Return the finding for a statement of the refining model, with the passage of the session it comes from. ``None``
    if it is not valid, no passage shares a word with it, or what the passage is does not allow it (see below).

    A decision or goal must be in the user's or the assistant's own words, not in quoted text or tool output; so must a
    statement that replaces another, and the one that it replaces, if a passage is found for that. Tool output never
    becomes a task. The assistant's rules, preferences and goals become proposals.
    """
    place = places.find(stated.text, _SPEAKERS.get(stated.category, "user"))
    if place is None:
        return None
    trust = trust_of(place)
    category = BY_NAME[stated.category]
    if trust is Trust.QUOTED and (stated.old or (category.status is Status.PENDING and place.speaker == "tool")):
        return None
    finding = Finding(
        type=category.type,
        label=stated.text,
        status=Status.COMPLETED if stated.resolved else category.status,
        trust=trust,
        confidence=_CONFIDENCE[trust],
        reason=stated.reason if _is_stated(stated.reason, places) else "",
        detail=_explanation(stated.detail, places),
        quote=place.quote,
        span=place.span,
        **_read_more(stated, category.type),
    )
    valid = validate_findings([_as_proposal(finding)], settings)
    if not valid or (valid[0].type is NodeType.FILE and not as_path(valid[0].label)):
        return None
    before = places.find(stated.old) if stated.old else None
    if before is not None and trust_of(before) is Trust.QUOTED:
        return None  # what nobody chose cannot have been given up
    return PlacedFinding(valid[0], place, before)


def trust_of(place: StatementPlace) -> Trust:
    """Return how much a statement is trusted that was found at ``place`` in the session.

    ``QUOTED`` if the passage is quoted text or tool output, has too few of the statement's words, or if too many of
    these occur only in such text; else ``STATED`` for a passage of the user and ``CLAIMED`` for others."""
    if not place.own or place.score < PLACED or place.borrowed > BORROWED:
        return Trust.QUOTED
    return Trust.STATED if place.speaker == "user" else Trust.CLAIMED


def _is_stated(text: str, places: Places) -> bool:
    """Whether the user or the assistant states ``text`` in a message in their own words, not in quoted text."""
    place = places.find(text)
    return place is not None and trust_of(place) is not Trust.QUOTED


def _explanation(text: str, places: Places) -> str:
    """Return ``text``, a model's explanation of an error, shortened to a detail of the fact; "" if no passage of the
    session, tool output and quotations included, contains enough of its words."""
    place = places.find(text) if text else None
    return format_quote(text) if place is not None and place.score >= PLACED else ""


def _read_more(stated: ReplyStatement, type_: NodeType) -> dict[str, Any]:
    """Return the further fields of a finding that is a goal or a decision; ``{}`` for other types."""
    if type_ is NodeType.GOAL:
        return {"slot": "goal", "value": stated.text}
    if type_ is not NodeType.DECISION:
        return {}
    if BY_NAME[stated.category].status is Status.INVALIDATED:
        return {"move": Move.REJECT, "kind": DecisionKind.OPTION}
    kind = DecisionKind.RULE if stated.category == "rules" else read_kind(stated.text)
    fields = {"kind": kind, **read_slot_fields(stated.text)}
    return fields | ({"move": Move.REPLACE, "target": stated.old} if stated.old else {})


def _as_proposal(finding: Finding) -> Finding:
    lasting = finding.type is NodeType.GOAL or finding.kind in _STANDING
    if not lasting or finding.trust is not Trust.CLAIMED:
        return finding
    return replace(
        finding, status=Status.PENDING, trust=Trust.PROPOSED, confidence=_CONFIDENCE[Trust.PROPOSED], move=Move.NOTE
    )
