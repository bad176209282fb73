"""Applies the findings of one message to the graph.

For a user's message: close the tasks that the user leaves behind, apply changes of earlier facts, apply the findings,
reject what the user rejects, add notes. For an assistant's message: apply the findings, then close the work that it
reports as done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.extract.candidates.note_findings import find_notes
from tokenmizer_mw.extract.candidates.reports import says_could_not
from tokenmizer_mw.extract.compose.validate import validate_findings
from tokenmizer_mw.extract.dialogue.situation import Numbered
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.read.other_speakers import is_in_spans
from tokenmizer_mw.extract.reading import MessageReading
from tokenmizer_mw.extract.resolve.fact_changes import (
    apply_change,
    apply_changes_after_rules,
    withdraw_duplicates,
)
from tokenmizer_mw.extract.resolve.facts import archive_mentioned_files
from tokenmizer_mw.extract.resolve.ledger import Ledger
from tokenmizer_mw.extract.resolve.left_errors import close_errors_left_behind, reopen_mentioned_errors
from tokenmizer_mw.extract.resolve.links import link_all
from tokenmizer_mw.extract.resolve.moves import place_finding
from tokenmizer_mw.extract.resolve.rejection_pairs import join_refusals_and_choices
from tokenmizer_mw.extract.resolve.session_course import (
    archive_announced_step,
    archive_announced_tasks,
    close_tasks_left_by_user,
    close_tool_misuse,
    complete_begun_steps,
    merge_into_report,
)
from tokenmizer_mw.extract.structure.results import read_output
from tokenmizer_mw.extract.structure.speech_calls import is_speech as only_speaks
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.model.node import Node, NodeType, Status, Trust
from tokenmizer_mw.settings import Settings

Placed = tuple[Finding, Node | None]
"""A finding, and the node that states it now, or whose status it changed; ``None`` for none."""

ANSWERED_MIN: Final = 200
"""Fewest characters of an answer that completes the user's order, if no tool was used."""
TAKEN_UP_MIN: Final = 40
"""Fewest characters of an answer after which the user's order is archived, if the answer is too short to complete it
(see ``ANSWERED_MIN``). Nobody comes back to such an order."""


def resolve_message(ledger: Ledger, read: MessageReading, settings: Settings) -> None:
    """Apply the findings of one message to ``ledger.graph``, and add the events to ``ledger.events``. Finally old nodes
    are removed if the graph has more than ``settings.nodes_max``."""
    asked = read.situation.asked[0] if read.situation.asked is not None else ledger.graph.stated
    ledger.begin_message(
        read.turn,
        read.message.role.value,
        asked,
        max((number for number, said in read.before if said.role is Role.ASSISTANT), default=0),
        lambda: read.situation.asked_words,
        lambda: _assistant_texts(read.before),
    )
    findings = read.findings
    if read.message.role is Role.USER:
        findings = join_refusals_and_choices(ledger, findings)
        _leave_work(ledger, read, findings, asked)
        findings = apply_change(ledger, read.claims, findings)
    placed = [(finding, place_finding(ledger, finding)) for finding in findings]
    if read.may_change:
        _withdraw(ledger, read, placed)
        _add_notes(ledger, read, placed, settings)
    if read.message.role is Role.USER:
        close_errors_left_behind(ledger, read.message, read.before)
    if read.message.role is Role.ASSISTANT and all(map(only_speaks, read.message.tool_calls)):
        _close_work(ledger, findings, [node for _, node in placed], speaks=bool(read.message.text))
    link_all(ledger, [(finding, node) for finding, node in placed if node is not None])
    ledger.prune(settings.nodes_max)


def _leave_work(ledger: Ledger, read: MessageReading, findings: Sequence[Finding], asked: int) -> None:
    """Archive tasks and files that were only announced or mentioned, and close the tasks of the user's last message
    that this message leaves behind. ``asked``: number of the user's last message."""
    archive_announced_tasks(ledger)
    archive_mentioned_files(ledger)
    reopen_mentioned_errors(ledger, read.message.text)
    if (left := status_when_user_moves_on(read.before, asked)) is not None:
        close_tasks_left_by_user(ledger, findings, left, read.message.text)


def _withdraw(ledger: Ledger, read: MessageReading, placed: Sequence[Placed]) -> None:
    """Mark as invalidated the other facts that state what the user rejects. Then apply changes of earlier facts that no
    finding expresses."""
    withdrawn = [(finding, node) for finding, node in placed if node and _is_withdrawal(finding, node, read.turn)]
    withdraw_duplicates(ledger, withdrawn)
    done = {finding.span for finding, _ in withdrawn}
    left = [one for one in read.claims if (one[0].start, one[0].end) not in done]
    told = read.situation.told[1].text if read.situation.told is not None else ""
    asked = read.situation.asked[1].text if read.situation.asked is not None else ""
    apply_changes_after_rules(ledger, left, read.findings, read.segments, told, asked)


def _is_withdrawal(finding: Finding, node: Node, turn: int) -> bool:
    """Whether a finding has invalidated a decision or a concept that an earlier message than ``turn`` stated."""
    settled = node.type in (NodeType.DECISION, NodeType.CONCEPT) and node.source.turn < turn
    return finding.move is Move.REJECT and node.status is Status.INVALIDATED and settled


def _add_notes(ledger: Ledger, read: MessageReading, placed: Sequence[Placed], settings: Settings) -> None:
    """Add a note for each statement of a user's message that none of its facts covers."""
    told = [(finding, node) for finding, node in placed if node is not None and node.type is not NodeType.GOAL]
    known = [
        (text, finding.span)
        for finding, node in told
        for text in (node.label, finding.label, finding.reason, finding.why if finding.why in finding.quote else "")
        if text
    ]
    for step in ledger.find_replacements():
        node = ledger.graph.get(step.new)
        known += [(text, None) for text in (step.reason, node.label if node is not None else "") if text]
    own = [segment for segment in read.segments if not is_in_spans(read.foreign, segment.start)]
    goals = {finding.span for finding, _ in placed if finding.type is NodeType.GOAL}
    goal = ledger.graph.in_slot("goal")
    again = goal.label.casefold() if goal is not None and goal.source.turn < ledger.turn else ""
    for note in validate_findings(find_notes(own, known, goals), settings):
        if note.label.casefold() != again:
            place_finding(ledger, note)


def _close_work(ledger: Ledger, valid: Sequence[Finding], placed: Sequence[Node | None], *, speaks: bool) -> None:
    """Close the assistant's tasks at the end of its message: archive the step that it announced before, archive earlier
    claims that its report covers, and complete the steps it began.

    ``placed``: the nodes of the findings; ``speaks``: whether the message has text. If it announces further work,
    announced and begun steps stay open.
    """
    if speaks and not _has_announcement(valid):
        archive_announced_step(ledger)
    merge_into_report(ledger, placed)
    if speaks and not _has_announcement(valid):
        complete_begun_steps(ledger, valid)
        close_tool_misuse(ledger)
    archive_mentioned_files(ledger)


def status_when_user_moves_on(before: Sequence[Numbered], asked: int) -> Status | None:
    """Return the new status of the tasks that the user's last message ordered, now that the user has written another
    message.

    - ``COMPLETED``: since then, the assistant used a tool, showed code, or answered with at least ``ANSWERED_MIN``
      characters.
    - ``ARCHIVED``: the assistant answered with at least ``TAKEN_UP_MIN`` characters.
    - ``None`` (the status stays): the answer is shorter, is missing, or ends with a question mark without a tool or
      code; or the assistant said that it could not do it, and its last tool call did not succeed.

    ``asked``: number of the user's last message; ``before``: the messages before the new one, with their numbers.
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
    """Whether the last message with tool results has no failure among them."""
    last = next((message.tool_results for message in reversed(since) if message.tool_results), ())
    return bool(last) and not any(read_output(result).failed for result in last)


def _has_announcement(findings: Sequence[Finding]) -> bool:
    """Whether the assistant announces work that it will do."""
    return any(finding.type is NodeType.TASK and finding.trust is Trust.PROPOSED for finding in findings)


def _assistant_texts(before: Sequence[Numbered]) -> list[tuple[int, str]]:
    return [(number, said.text) for number, said in before if said.role is Role.ASSISTANT and said.text]
