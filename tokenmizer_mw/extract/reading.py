"""Reads one message: splits it into segments, and finds facts in what its speaker says and what its tools print.

The findings are validated, but not yet compared with the graph: ``resolve`` does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tokenmizer_mw.extract.candidates.acts import read_acts
from tokenmizer_mw.extract.candidates.claims import ReadClaim, read_claims
from tokenmizer_mw.extract.candidates.pasted_task import find_task_title
from tokenmizer_mw.extract.candidates.repetitions import drop_repeated
from tokenmizer_mw.extract.compose.validate import validate_findings
from tokenmizer_mw.extract.dialogue.situation import Numbered, Situation
from tokenmizer_mw.extract.finding import SPOKEN, Finding, Segment
from tokenmizer_mw.extract.match.frames import may_carry
from tokenmizer_mw.extract.read.documents import blank_out, find_documents
from tokenmizer_mw.extract.read.layout import Span
from tokenmizer_mw.extract.read.other_speakers import find_foreign, is_in_spans, is_introducing_quotation
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.score.classifier_findings import change_log_odds, model_of, settling_chance
from tokenmizer_mw.extract.structure import open_calls, read_structure
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust
from tokenmizer_mw.settings import Settings

LABEL_START: Final = 24
"""Number of characters at the start of a finding's label that are searched for in the message, to find where its words
are."""

_SPEAKERS_WORD: Final = frozenset({NodeType.DECISION, NodeType.GOAL})
"""Types of facts that only a speaker's own words create: never a tool, a file or a quotation."""

_SAID: Final = _SPEAKERS_WORD | {NodeType.TASK}
"""Types of facts that words within a message create only if they are the speaker's own, not a quotation."""


@dataclass(frozen=True, slots=True)
class MessageReading:
    """What was read in one message.

    - ``turn``: the number of the message; ``message``, ``situation``, ``before``: the message, the situation it was
      read in, and the messages before it, oldest first.
    - ``findings``: validated, in the order of the text.
    - ``segments``: the pieces of the speaker's own text; [] for a tool's message. ``foreign``: spans of words that are
      not the speaker's, such as a pasted mail.
    - ``may_change``: whether the message may change facts in force: only a user's message whose sentences are read.
    - ``claims``: its sentences that may change a fact, such as "the port is now 8080"; [] if there are none.
    """

    turn: int
    message: Message
    situation: Situation
    before: Sequence[Numbered]
    findings: Sequence[Finding]
    segments: Sequence[Segment]
    foreign: list[Span]
    may_change: bool
    claims: Sequence[ReadClaim]


def read_message(
    numbered: Numbered, before: Sequence[Numbered], situation: Situation, settings: Settings, *, fenced: bool
) -> MessageReading:
    """Read one message and return what it states.

    - ``numbered``: the message with its number; ``before``: the messages before it, oldest first; ``situation``: what
      is known of the session at that point.
    - ``settings``: says which stages of extraction run.
    - ``fenced``: whether the message looks like prompt injection. If true, only its structure is read (tool calls,
      results, blocks), and no sentences.
    """
    turn, message = numbered
    stages = settings.stages_named
    speaks = message.role is not Role.TOOL and bool(message.text)
    segments = _own_segments(message, settings) if speaks else []
    states = speaks and not fenced and "rules" in stages
    model = model_of(settings) if states and "model" in stages else None
    findings: list[Finding] = []
    if "structure" in stages:
        findings += _read_tools(numbered, before, segments)
    foreign: list[Span] = []
    if states:
        foreign = find_foreign(message.text[: settings.message_max], handed=message.role is Role.USER)
        if (title := _find_title(message, situation)) is not None:
            segments = [title, *(one for one in segments if one.start != title.start)]
            foreign = [part for span in foreign for part in _cut_out(span, (title.start, title.end))]
        acts = read_acts(segments, situation, replies="dialogue" in stages, model=model)
        findings += _own_acts(acts, message, foreign, before)
    may_change = states and message.role is Role.USER
    claims: list[ReadClaim] = []
    if may_change:
        meaning = partial(change_log_odds, situation=situation, model=model) if model is not None else None
        settling = partial(settling_chance, situation=situation, model=model) if model is not None else None
        told = situation.told[1].text if situation.told is not None else ""
        claims = list(read_claims(turn, segments, foreign, meaning, told, settling))
    valid = validate_findings(findings, settings)
    return MessageReading(turn, message, situation, before, valid, segments, foreign, may_change, claims)


def _read_tools(numbered: Numbered, before: Sequence[Numbered], segments: Sequence[Segment]) -> list[Finding]:
    """Findings of the structure of a message: its tool calls, their results, and blocks of code and logs."""
    turn, message = numbered
    pending = open_calls(said for _, said in before) if message.tool_results else {}
    structure = read_structure(turn, message, pending, segments=segments)
    return [finding for finding in structure if _may_state(finding)]


def _own_acts(
    acts: Sequence[Finding], message: Message, foreign: list[Span], before: Sequence[Numbered]
) -> Sequence[Finding]:
    """The findings of ``acts`` that the speaker asserts in own words. Of an assistant, rules and goals become
    proposals, because only a user may state them."""
    own = [act for act in acts if not _is_in_foreign_words(act, message.text, foreign) and may_carry(act)]
    if message.role is not Role.ASSISTANT:
        return own
    return [_as_proposal(act) for act in drop_repeated(own, message.text, before)]


def _own_segments(message: Message, settings: Settings) -> list[Segment]:
    """The segments of a message. Of documents that the user pastes, only blocks are read (code, logs and tables)."""
    segments = segment(message.text, chars_max=settings.message_max)
    documents = find_documents(message.text) if message.role is Role.USER else []
    if not documents:
        return segments
    blocks = [one for one in segments if one.kind not in SPOKEN and is_in_spans(documents, one.start)]
    own = segment(blank_out(message.text, documents), chars_max=settings.message_max)
    return sorted([*own, *blocks], key=lambda one: one.start)


def _find_title(message: Message, situation: Situation) -> Segment | None:
    """The title of the task that the user hands over in a message that may state the session's goal; else ``None``."""
    may_state_goal = message.role is Role.USER and (not situation.has_goal or situation.goal_asked)
    return find_task_title(message.text) if may_state_goal else None


def _cut_out(span: Span, part: Span) -> list[Span]:
    """What is left of a span of text without a part of it."""
    (start, end), (first, last) = span, part
    if last <= start or end <= first:
        return [span]
    return [(one, other) for one, other in ((start, first), (last, end)) if one < other]


def _as_proposal(finding: Finding) -> Finding:
    """The finding as a proposal, if an assistant states a rule or a goal: these hold only once the user adopts them."""
    theirs = finding.kind is DecisionKind.RULE or finding.type is NodeType.GOAL
    if not theirs or finding.status is not Status.ACTIVE or finding.trust in (Trust.ADOPTED, Trust.STATED):
        return finding
    return replace(finding, status=Status.PENDING, trust=Trust.PROPOSED)


def _is_in_foreign_words(finding: Finding, text: str, elsewhere: list[Span]) -> bool:
    """Whether a finding that needs the speaker's own words (``_SAID``) stands, at its start or for the most part, in
    somebody else's. ``elsewhere``: the spans of words that are not the speaker's."""
    if not elsewhere or finding.type not in _SAID or finding.span is None:
        return False
    start, end = finding.span
    place = text.find(finding.label[:LABEL_START], start, end)
    if place >= 0 and is_introducing_quotation(text, place + len(finding.label)):
        return True
    if place < 0:
        return is_in_spans(elsewhere, start)
    behind = place + len(finding.label)
    quoted = sum(max(0, min(behind, last) - max(place, first)) for first, last in elsewhere)
    return is_in_spans(elsewhere, place) or quoted * 2 > len(finding.label)


def _may_state(finding: Finding) -> bool:
    """Whether the trust of a finding allows its type: decisions and goals need somebody's words."""
    return finding.type not in _SPEAKERS_WORD or finding.trust in (Trust.STATED, Trust.ADOPTED, Trust.PROPOSED)
