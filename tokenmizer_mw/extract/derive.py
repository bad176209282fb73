"""Derives events from new messages and the graph so far.

``derive`` reads each message once, matches its findings against the graph, and records the changes as events. Fold only
applies events, so that what is decided here is final. Nothing here scans the graph: nodes are found by key, by slot, by
shared words among few candidates, or among the newest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Derived, Event
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status, Trust
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.host_texts import ends_examples, without_host_texts

from . import CONTEXT_MESSAGES
from .acts import read_acts
from .classifier import Model
from .classifier_findings import change_log_odds, model_of
from .documents import blank_out, find_documents
from .fact_changes import apply_change, apply_changes_after_rules, read_claims, withdraw_duplicates
from .facts import archive_mentioned_files
from .finding import SPOKEN, Finding, Move, Segment
from .frames import may_carry
from .goal import GOAL_ASKED
from .layout import Span
from .ledger import Ledger
from .links import link_all
from .moves import place_finding
from .note_findings import find_notes
from .other_speakers import find_foreign, is_in_spans, is_introducing_quotation
from .rejection_pairs import join_refusals_and_choices
from .repetitions import drop_repeated
from .reports import says_could_not
from .segment import segment
from .situation import Numbered, read_situation
from .structure import open_calls, read_structure
from .structure.client import is_interruption
from .structure.results import read_output
from .structure.speech_calls import add_voiced_text
from .structure.speech_calls import is_speech as only_speaks
from .validate import validate_findings
from .work_status import (
    archive_announced_step,
    archive_announced_tasks,
    close_tasks_left_by_user,
    close_tool_misuse,
    complete_begun_steps,
    merge_into_report,
)

Placed = tuple[Finding, Node | None]
"""A finding, and the node that it is about."""

LABEL_START: Final = 24
"""Characters of a label by which its place in the message is found."""

ANSWERED_MIN: Final = 200
"""Characters of an answer that does what was asked for by itself, where no tool is at work."""
TAKEN_UP_MIN: Final = 40
"""Characters of an answer that takes up what was asked for: nobody looks for it later, though it may not be done."""

_SPEAKERS_WORD: Final = frozenset({NodeType.DECISION, NodeType.GOAL})
"""Types that only a speaker's own words create: never a tool, a file or a quotation."""

_SAID: Final = _SPEAKERS_WORD | {NodeType.TASK}
"""Types that no quotation creates within what somebody says."""


def derive(
    graph: SessionGraph,
    messages: Sequence[Numbered],
    context: Sequence[Numbered],
    settings: Settings,
    flagged: Mapping[int, tuple[str, ...]] | None = None,
) -> list[Event]:
    """Return the events that ``messages`` (with their numbers, oldest first) add to a session with the graph ``graph``.

    - ``context``: the last messages before them, oldest first; ``CONTEXT_MESSAGES`` are enough.
    - ``flagged``: names of what is suspicious about messages, by number. It is recorded; if ``settings.guard`` fences,
      the prose of these messages counts as quoted.

    Messages that the graph already covers are skipped. The last event is ``Derived``; [] if there is no new message.
    Pure: ``graph`` is not changed.
    """
    ledger = Ledger(graph.fork())
    suspicious = flagged or {}
    examples = max((number for number, message in messages if ends_examples(message)), default=0)
    before = [(number, _own_words(message)) for number, message in list(context)[-CONTEXT_MESSAGES:]]
    for number, message in messages:
        numbered = (number, _own_words(message))
        if numbered[0] > max(graph.derived, examples):
            fenced = settings.guard in ("fence", "block") and numbered[0] in suspicious
            _derive_message(ledger, numbered, before, settings, fenced=fenced)
        before = [*before[1 - CONTEXT_MESSAGES :], numbered]
    last = messages[-1][0] if messages else 0
    if last > graph.derived:
        news = {turn: names for turn, names in suspicious.items() if graph.derived < turn <= last}
        ledger.emit(Derived(last, news))
    return ledger.events


def _derive_message(
    ledger: Ledger, numbered: Numbered, before: Sequence[Numbered], settings: Settings, *, fenced: bool = False
) -> None:
    """Derive the events of one message into the ledger. ``before``: the messages before it; ``fenced``: read no
    prose."""
    turn, message = numbered
    if message.role is Role.SYSTEM or is_interruption(message.text) or _is_empty(message):
        return
    goal = ledger.graph.in_slot("goal")
    situation = read_situation(
        numbered,
        before,
        has_goal=ledger.graph.count_added(NodeType.GOAL) > 0,
        goal_asked=goal is not None and goal.confidence <= GOAL_ASKED,
    )
    asked = situation.asked[0] if situation.asked is not None else ledger.graph.stated
    told = max((number for number, said in before if said.role is Role.ASSISTANT), default=0)
    ledger.begin_message(
        turn, message.role.value, asked, told, lambda: situation.asked_words, lambda: _assistant_texts(before)
    )
    speaks = message.role is not Role.TOOL and bool(message.text)
    segments = _own_segments(message, settings) if speaks else []
    stages = settings.stages_named
    findings: list[Finding] = []
    elsewhere: list[Span] = []
    model: Model | None = None
    if "structure" in stages:
        pending = open_calls(said for _, said in before) if message.tool_results else {}
        structure = read_structure(turn, message, pending, segments=segments)
        findings = [finding for finding in structure if _may_state(finding)]
    if speaks and not fenced and "rules" in stages:
        elsewhere = find_foreign(message.text[: settings.message_max], handed=message.role is Role.USER)
        model = model_of(settings) if "model" in stages else None
        read = read_acts(segments, situation, replies="dialogue" in stages, model=model)
        acts = [act for act in read if not _is_in_foreign_words(act, message.text, elsewhere) and may_carry(act)]
        if message.role is Role.ASSISTANT:
            acts = drop_repeated(acts, message.text, before)
        findings += map(_as_proposal, acts) if message.role is Role.ASSISTANT else acts
    valid = validate_findings(findings, settings)
    states = message.role is Role.USER and speaks and not fenced and "rules" in stages
    meaning = partial(change_log_odds, situation=situation, model=model) if model is not None else None
    claims = list(read_claims(turn, segments, elsewhere, meaning)) if states else []
    if message.role is Role.USER:
        valid = join_refusals_and_choices(ledger, valid)
        archive_announced_tasks(ledger)
        archive_mentioned_files(ledger)
        if (left := status_when_user_moves_on(before, asked)) is not None:
            close_tasks_left_by_user(ledger, valid, left, message.text)
        valid = apply_change(ledger, claims, valid)
    placed = [(finding, place_finding(ledger, finding)) for finding in valid]
    if states:
        proposed = situation.told[1].text if situation.told is not None else ""
        withdrawn = [(finding, node) for finding, node in placed if node and _is_withdrawal(finding, node, turn)]
        withdraw_duplicates(ledger, withdrawn)
        done = {finding.span for finding, _ in withdrawn}
        apply_changes_after_rules(
            ledger, [one for one in claims if (one[0].start, one[0].end) not in done], segments, proposed
        )
        _add_notes(ledger, segments, elsewhere, placed, settings)
    if message.role is Role.ASSISTANT and all(map(only_speaks, message.tool_calls)):
        _close_work(ledger, valid, [node for _, node in placed], speaks=speaks)
    link_all(ledger, [(finding, node) for finding, node in placed if node is not None])
    ledger.prune(settings.nodes_max)


def _is_withdrawal(finding: Finding, node: Node, turn: int) -> bool:
    """Whether a finding invalidated a decision or note from before the message ``turn``."""
    settled = node.type in (NodeType.DECISION, NodeType.CONCEPT) and node.source.turn < turn
    return finding.move is Move.REJECT and node.status is Status.INVALIDATED and settled


def _add_notes(
    ledger: Ledger, segments: Sequence[Segment], elsewhere: list[Span], placed: Sequence[Placed], settings: Settings
) -> None:
    """Add notes for what a user's message states and no fact of the message covers."""
    told = [(finding, node) for finding, node in placed if node is not None and node.type is not NodeType.GOAL]
    known = [
        (text, finding.span)
        for finding, node in told
        for text in (node.label, finding.label, finding.reason, finding.why)
        if text
    ]
    for step in ledger.find_replacements():
        node = ledger.graph.get(step.new)
        known += [(text, None) for text in (step.reason, node.label if node is not None else "") if text]
    own = [segment for segment in segments if not is_in_spans(elsewhere, segment.start)]
    goals = {finding.span for finding, _ in placed if finding.type is NodeType.GOAL}
    goal = ledger.graph.in_slot("goal")
    again = goal.label.casefold() if goal is not None and goal.source.turn < ledger.turn else ""
    for note in validate_findings(find_notes(own, known, goals), settings):
        if note.label.casefold() != again:
            place_finding(ledger, note)


def _close_work(ledger: Ledger, valid: Sequence[Finding], placed: Sequence[Node | None], *, speaks: bool) -> None:
    """Close the assistant's work at the end of its exchange: archive announced steps, merge claims into the report."""
    if speaks and not _has_announcement(valid):
        archive_announced_step(ledger)
    merge_into_report(ledger, placed)
    if speaks and not _has_announcement(valid):
        complete_begun_steps(ledger, valid)
        close_tool_misuse(ledger)
    archive_mentioned_files(ledger)


def _own_segments(message: Message, settings: Settings) -> list[Segment]:
    """The segments of a message. Of documents that the user pastes, only code, logs and tables are read."""
    segments = segment(message.text, chars_max=settings.message_max)
    documents = find_documents(message.text) if message.role is Role.USER else []
    if not documents:
        return segments
    blocks = [one for one in segments if one.kind not in SPOKEN and is_in_spans(documents, one.start)]
    own = segment(blank_out(message.text, documents), chars_max=settings.message_max)
    return sorted([*own, *blocks], key=lambda one: one.start)


@lru_cache(maxsize=2 * CONTEXT_MESSAGES)
def _own_words(message: Message) -> Message:
    """``message`` without what a host put into it, with what tools say to the user."""
    return add_voiced_text(without_host_texts(message))


def _is_empty(message: Message) -> bool:
    """Whether nobody says anything in ``message``, because a host wrote all of it."""
    return message.role is Role.USER and not (message.text.strip() or message.tool_results or message.attachments)


def _assistant_texts(before: Sequence[Numbered]) -> list[tuple[int, str]]:
    return [(number, said.text) for number, said in before if said.role is Role.ASSISTANT and said.text]


def _as_proposal(finding: Finding) -> Finding:
    """The finding as a proposal, if an assistant states a rule or a goal: these hold only once the user adopts them."""
    theirs = finding.kind is DecisionKind.RULE or finding.type is NodeType.GOAL
    if not theirs or finding.status is not Status.ACTIVE or finding.trust in (Trust.ADOPTED, Trust.STATED):
        return finding
    return replace(finding, status=Status.PENDING, trust=Trust.PROPOSED)


def _is_in_foreign_words(finding: Finding, text: str, elsewhere: list[Span]) -> bool:
    """Whether a finding that only the speaker may state stands in words that are not the speaker's, or mostly does."""
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


def status_when_user_moves_on(before: Sequence[Numbered], asked: int) -> Status | None:
    """The status of the orders of the user's last message when the user writes about something else.

    - ``COMPLETED``: the assistant used a tool, gave code, or answered at some length.
    - ``ARCHIVED``: it answered briefly.
    - ``None`` (unchanged): it hardly answered, asked back, or said that it could not do it and no tool call succeeded
      last.
    """
    since = [message for number, message in before if number > asked and message.role is not Role.USER]
    told = [message.text.rstrip() for message in since if message.text.strip()]
    if told and says_could_not(told[-1]) and not _has_last_result_succeeded(since):
        return None
    if any(message.tool_calls or message.tool_results or "```" in message.text for message in since):
        return Status.COMPLETED
    if not told or len(told[-1]) < TAKEN_UP_MIN or told[-1].endswith(("?", "\uff1f")):
        return None
    return Status.COMPLETED if len(told[-1]) >= ANSWERED_MIN else Status.ARCHIVED


def _has_last_result_succeeded(since: Sequence[Message]) -> bool:
    """Whether the last tool results are no failures."""
    last = next((message.tool_results for message in reversed(since) if message.tool_results), ())
    return bool(last) and not any(read_output(result).failed for result in last)


def _has_announcement(findings: Sequence[Finding]) -> bool:
    """Whether the assistant announces a task."""
    return any(finding.type is NodeType.TASK and finding.trust is Trust.PROPOSED for finding in findings)


def _may_state(finding: Finding) -> bool:
    """Whether the trust of a finding allows its type: decisions and goals need somebody's words."""
    return finding.type not in _SPEAKERS_WORD or finding.trust in (Trust.STATED, Trust.ADOPTED, Trust.PROPOSED)


__all__ = ["CONTEXT_MESSAGES", "derive"]
