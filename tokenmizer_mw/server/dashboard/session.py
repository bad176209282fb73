"""The overview page of one session: current facts and where they come from, open work, the resume block (the short text
that replaces old messages), and the facts that the last cut left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tokenmizer_mw.context.loss_report import LossReport, loss_report
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.graph.explanation import qualify_replacement
from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.node import Node, NodeType, Status, Transition
from tokenmizer_mw.session import CheckpointMark, RecordedEdit, SessionState
from tokenmizer_mw.session.outdated_block import find_renewed_blocks

from .actions import edits_card, facts_of_edits
from .caches import title_of
from .markup import (
    Markup,
    card,
    fact_link,
    figure_list,
    format_count,
    icon,
    is_repeated,
    join_markup,
    link,
    message_link,
    moment,
    nothing,
    origin_link,
    quote_line,
    rest_link,
    tag,
    to,
    type_of,
)
from .overview import OPEN_WORK, SHOWN, Overview, block_card, cards, overview
from .page import Page, PageRequest, session_page
from .request import MessagesOnly, explain_no_requests, messages_only


@dataclass(frozen=True, slots=True)
class SessionView:
    """What the overview page shows of a session. Of long lists, it has only the newest entries, newest first.

    - ``title``: the goal, "" if there is none. ``seq``: number of the newest event. ``updated_at``: its time, in
      seconds since the epoch.
    - ``messages``, ``facts``: how many there are. ``types``: type -> number of facts.
    - ``overview``: current facts, by section of the resume block (the short text that replaces old messages in a cut).
    - ``flagged``: number of messages that read like an attempt to take control of the model.
    - ``steps``: replacements of one fact by another, each with the old and the new fact (``None`` if that was removed).
      ``step_count``: number of all.
    - ``marks``: checkpoints. ``mark_count``: number of all. ``renewed``: ids of checkpoints that are no new cut, but
      only have a new block for the cut before.
    - ``lost``: the facts that the last cut left out. ``unseen``: set if the session has messages but no requests.
    - ``reminders``: those of the last requests (texts appended to the newest message). ``reminder_count``: number of
      all.
    - ``edits``: manual edits. ``edited``: id -> fact that one of them changed.
    """

    title: str
    seq: int
    updated_at: float
    messages: int
    facts: int
    types: Mapping[NodeType, int]
    overview: Overview
    flagged: int
    steps: tuple[tuple[Transition, Node | None, Node | None], ...]
    step_count: int
    marks: tuple[CheckpointMark, ...]
    mark_count: int
    renewed: frozenset[str]
    lost: LossReport
    unseen: MessagesOnly | None
    reminders: tuple[Reminded, ...]
    reminder_count: int
    edits: tuple[RecordedEdit, ...]
    edited: Mapping[str, Node]


def view_session(state: SessionState) -> SessionView:
    """Return what the overview page shows of the session with this ``state``."""
    graph, nodes = state.graph, state.graph.nodes()
    steps = graph.standing_transitions()
    edits = tuple(state.edits.values())[-5:][::-1]
    return SessionView(
        title_of(state),
        state.seq,
        state.recorded_at,
        len(state.transcript),
        len(nodes),
        Counter(node.type for node in nodes),
        overview(state),
        len(graph.flagged),
        tuple((step, graph.get(step.old), graph.get(step.new)) for step in steps[-5:][::-1]),
        len(steps),
        tuple(state.checkpoints[-5:][::-1]),
        len(state.checkpoints),
        find_renewed_blocks(mark.checkpoint for mark in state.checkpoints),
        loss_report(graph, state.cut, state.recent_reminders),
        messages_only(state),
        tuple(state.recent_reminders[-5:][::-1]),
        state.reminders,
        edits,
        facts_of_edits(graph, edits),
    )


def show_session(request: PageRequest) -> Page:
    """Return the overview page of the session that the query names: its current facts, its open work, its resume block
    (the short text that replaces old messages) and more. Raises ``UnknownSession`` if there is no such session."""
    found = request.memory.view(request.id, view_session, tenant=request.tenant)
    return session_page(
        request,
        "session",
        found.title,
        tag("div", _figures(request, found), id="figures", data_live=True),
        tag(
            "div",
            tag("div", cards(request, found.overview, found.flagged), block_card(request), class_="main-side"),
            tag(
                "div",
                _facts(request, found),
                _steps(request, found),
                _render_loss(request, found.lost, found.unseen),
                _reminders(request, found),
                _checkpoints(request, found),
                edits_card(request, found.edits, found.edited),
                _forget(request),
                class_="other-side",
            ),
            class_="sides",
        ),
        seq=found.seq,
    )


def _figures(request: PageRequest, found: SessionView) -> Markup:
    counts = found.overview.counts
    rows: list[tuple[Markup | str, str]] = [
        (f"{found.messages:,}", "message" if found.messages == 1 else "messages"),
        (f"{found.facts:,}", "fact" if found.facts == 1 else "facts"),
        (f"{counts[Section.DECISIONS.name]:,}", "decisions in force"),
        (f"{counts[OPEN_WORK]:,}", "open tasks"),
        (f"{counts[Section.ERRORS.name]:,}", "open errors"),
        (f"{counts[Section.WARNINGS.name]:,}", "rejected"),
        (moment(found.updated_at, request.now), "last active"),
    ]
    return figure_list(rows)


def _facts(request: PageRequest, found: SessionView) -> Markup:
    rows = [
        tag(
            "li",
            link(
                to("facts", id=request.id, type=type_.value),
                icon(type_),
                tag("span", TYPES[type_].title),
                tag("b", count),
            ),
        )
        for type_ in TYPES
        if (count := found.types.get(type_, 0))
    ]
    shown = tag("ul", rows, class_="types") if rows else nothing("No facts yet.")
    return card("What it holds", shown, id="facts", live=True)


def _steps(request: PageRequest, found: SessionView) -> Markup:
    rows = [step_row(request, *one) for one in found.steps]
    shown = tag("ol", rows, class_="steps") if rows else nothing("No decision was replaced.")
    rest = rest_link(found.step_count - len(rows), f"{to('history', id=request.id)}#transitions")
    return card("Replaced lately", shown, rest, id="steps", live=True)


def step_row(request: PageRequest, step: Transition, old: Node | None, new: Node | None) -> Markup:
    """Return the list item about one replacement of a fact (``step``): the ``old`` and the ``new`` fact (``None`` if it
    was removed), the message that caused it, the reason, and the quoted words."""
    was = fact_link(request.id, old) if old is not None else tag("span", step.old)
    now = fact_link(request.id, new) if new is not None else tag("span", step.new)
    label = new.label if new is not None else ""
    why = "" if is_repeated(step.reason, label) else step.reason
    evidence = "" if is_repeated(step.evidence, label) or is_repeated(step.evidence, why) else step.evidence
    reason = tag("p", quote_line(why), class_="reason") if why else None
    quote = tag("q", quote_line(evidence), class_="quote") if evidence else None
    gone = tag("span", was, class_="was")
    words = qualify_replacement(new, "replaced by")
    if new is not None and new.replaces_perhaps:
        arrow = join_markup(f"{words} ", tag("span", class_="arrow"))
    else:
        arrow = tag("span", tag("span", words, class_="visually-hidden"), class_="arrow")
    message = message_link(request.id, step.trigger)
    return tag("li", tag("p", gone, " ", arrow, " ", now, " ", message), reason, quote)


def _rank_loss(node: Node) -> tuple[bool, int]:
    """Return the sort key of a fact that a cut left out (a replacement of old messages by a resume block). Decisions
    and goals in force, open work and open errors come first. Within them, and within the others, newer facts come
    first."""
    is_in_force = node.current and node.type in (NodeType.DECISION, NodeType.GOAL)
    is_open = node.open or (node.type is NodeType.ERROR and node.status is Status.ACTIVE)
    return not (is_in_force or is_open), -node.source.turn


def _render_loss(request: PageRequest, report: LossReport, unseen: MessagesOnly | None) -> Markup:
    if unseen is not None:
        return card("Lost at the last cut", explain_no_requests(request, unseen), id="lost", live=True)
    if not report.checkpoint:
        lost = nothing("Nothing was cut: requests carry the whole transcript.")
        off = tag("p", link(to("request", id=request.id), "How far off a cut is"), class_="hint")
        return card("Lost at the last cut", lost, off, id="lost", live=True)
    returned = tag("span", "brought back by a reminder", class_="badge")
    rows = [
        tag(
            "li",
            type_of(node),
            fact_link(request.id, node),
            origin_link(request.id, node),
            returned if node.id in report.returned else None,
        )
        for node in sorted(report.items, key=_rank_loss)[:SHOWN]
    ]
    text = (
        f"At {report.checkpoint} the block took the place of {format_count(report.dropped, 'message')} before message"
        f" {report.before_turn}; it leaves out {format_count(len(report.items), 'fact')}."
    )
    if not report.dropped:
        text = (
            f"At {report.checkpoint} the client had compacted its history before message {report.before_turn}; the"
            f" block leaves out {format_count(len(report.items), 'fact')}."
        )
    shown = tag("ul", rows, class_="facts") if rows else None
    more = format_count(len(report.items) - len(rows), "more fact") if len(report.items) > len(rows) else ""
    return card(
        "Lost at the last cut",
        tag("p", text),
        shown,
        tag("p", more, class_="hint") if more else None,
        id="lost",
        live=True,
    )


def _reminders(request: PageRequest, found: SessionView) -> Markup | None:
    """Return the card with the newest reminders, newest first; ``None`` if there are none. A reminder is text that the
    middleware appends to the newest message: facts and quotations that a cut had removed."""
    if not found.reminders:
        return None
    rows = [
        tag(
            "li",
            tag("p", _describe_reminder(one)),
            message_link(request.id, one.turn),
            link(to("request", id=request.id, cut=one.cut, turn=one.turn), "the request"),
        )
        for one in found.reminders
    ]
    lead = tag("p", "Put behind the newest message, for the request that each message answers.", class_="hint")
    more = found.reminder_count - len(rows)
    rest = tag("p", f"{more:,} earlier", class_="hint") if more > 0 else None
    return card("Reminders", lead, tag("ol", rows, class_="marks"), rest, id="reminders", live=True)


def _describe_reminder(reminder: Reminded) -> str:
    """Return what a reminder (text that was appended to the newest message) contained, such as
    "Quoted messages 3, 8; 2 facts; 120 tokens"."""
    numbers = ", ".join(map(str, reminder.messages))
    quoted = f"message{'' if len(reminder.messages) == 1 else 's'} {numbers}" if numbers else "no message"
    facts = f"; {format_count(len(reminder.nodes), 'fact')}" if reminder.nodes else ""
    return f"Quoted {quoted}{facts}; {format_count(reminder.tokens, 'token')}"


def _checkpoints(request: PageRequest, found: SessionView) -> Markup:
    rows = [
        tag(
            "li",
            tag("span", mark.checkpoint.id),
            _cut(request, mark, found.renewed),
            moment(mark.recorded_at, request.now),
        )
        for mark in found.marks
    ]
    shown = tag("ul", rows, class_="marks") if rows else nothing("No checkpoints yet.")
    make = None
    if request.caller.may("write"):
        make = request.form_of("checkpoint", tag("button", "Make a checkpoint"), id=request.id)
    rest = link(to("history", id=request.id), "What changed between checkpoints") if found.mark_count else None
    return card("Checkpoints", shown, tag("div", make, rest, class_="actions"), id="checkpoints", live=True)


def _cut(request: PageRequest, mark: CheckpointMark, renewed: frozenset[str]) -> Markup | None:
    """Return the link from a checkpoint to the request with its cut (old messages replaced by a resume block); ``None``
    for a checkpoint that was not made by a cut. ``renewed``: ids of checkpoints that are no new cut: they have a new
    block for the cut before, made after a manual edit."""
    if not mark.checkpoint.anchor:
        return None
    name = "block made anew" if mark.checkpoint.id in renewed else "cut"
    return link(to("request", id=request.id, cut=mark.checkpoint.id), name, class_="badge")


def _forget(request: PageRequest) -> Markup | None:
    if not request.caller.may("erase"):
        return None
    return tag("p", link(to("forget", id=request.id), "Erase this session ...", class_="danger"), class_="end")
