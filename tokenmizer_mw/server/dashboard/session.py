"""The overview page of one session: current facts and their sources, open work, the resume block, and the loss
report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tokenmizer_mw.context.loss_report import LossReport, loss_report
from tokenmizer_mw.context.resume.sections import Section
from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.model.event import Reminded
from tokenmizer_mw.model.node import Node, NodeType, Transition
from tokenmizer_mw.session import Edited, Marked, SessionState

from .asked import Page, PageRequest
from .block import block_card
from .by_hand import edits_list
from .frame import session_head
from .live import mark_of_session
from .markup import Markup, join_markup, tag
from .overview import OPEN_WORK, SHOWN, Overview, cards, overview
from .titles import title_of
from .words import card, fact_link, format_count, icon, link, message_link, moment, nothing, quote_line, to, type_of


@dataclass(frozen=True, slots=True)
class SessionView:
    """What the page shows of the session."""

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
    marks: tuple[Marked, ...]
    mark_count: int
    lost: LossReport
    reminders: tuple[Reminded, ...]
    reminder_count: int
    edits: tuple[Edited, ...]


def view_session(state: SessionState) -> SessionView:
    """Return what the page shows of a session."""
    graph, nodes = state.graph, state.graph.nodes()
    steps = graph.transitions()
    return SessionView(
        title_of(state),
        state.seq,
        state.recorded_at,
        len(state.transcript),
        len(nodes),
        Counter(node.type for node in nodes if node.current),
        overview(state),
        len(graph.flagged),
        tuple((step, graph.get(step.old), graph.get(step.new)) for step in steps[-5:][::-1]),
        len(steps),
        tuple(state.checkpoints[-5:][::-1]),
        len(state.checkpoints),
        loss_report(graph, state.cut, state.recent_reminders),
        tuple(state.recent_reminders[-5:][::-1]),
        state.reminders,
        tuple(state.edits.values())[-5:][::-1],
    )


def page(asked: PageRequest) -> Page:
    """Return the overview of a session."""
    found = asked.memory.view(asked.id, view_session, tenant=asked.tenant)
    body = join_markup(
        session_head(asked, "session", found.title),
        tag("div", _figures(asked, found), id="figures", data_live=True),
        tag(
            "div",
            tag("div", cards(asked, found.overview, found.flagged), block_card(asked), class_="main-side"),
            tag(
                "div",
                _facts(asked, found),
                _steps(asked, found),
                _render_loss(asked, found.lost),
                _reminders(asked, found),
                _checkpoints(asked, found),
                _edits(asked, found),
                _forget(asked),
                class_="other-side",
            ),
            class_="sides",
        ),
    )
    live = to("events", id=asked.id, since=mark_of_session(found.seq))
    return Page(found.title or asked.id, body, "", asked.id, live)


def _figures(asked: PageRequest, found: SessionView) -> Markup:
    told_ = (
        (f"{found.messages:,}", "message" if found.messages == 1 else "messages"),
        (f"{found.facts:,}", "fact" if found.facts == 1 else "facts"),
        (f"{found.overview.count(Section.DECISIONS.name):,}", "in force"),
        (f"{found.overview.count(OPEN_WORK):,}", "open"),
        (f"{found.overview.count(Section.ERRORS.name):,}", "to be fixed"),
        (f"{found.overview.count(Section.WARNINGS.name):,}", "rejected"),
    )
    items = [tag("div", tag("dt", name), tag("dd", number)) for number, name in told_]
    items.append(tag("div", tag("dt", "last active"), tag("dd", moment(found.updated_at, asked.now))))
    return tag("dl", items, class_="figures")


def _facts(asked: PageRequest, found: SessionView) -> Markup:
    rows = [
        tag(
            "li",
            link(
                to("facts", id=asked.id, type=type_.value),
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


def _steps(asked: PageRequest, found: SessionView) -> Markup:
    rows = [step_row(asked, *one) for one in found.steps]
    shown = tag("ol", rows, class_="steps") if rows else nothing("No decision was replaced.")
    rest = _rest(found.step_count - len(rows), f"{to('history', id=asked.id)}#transitions")
    return card("Replaced lately", shown, rest, id="steps", live=True)


def step_row(asked: PageRequest, step: Transition, old: Node | None, new: Node | None) -> Markup:
    """Return the row of one replaced decision, with the reason."""
    was = fact_link(asked.id, old) if old is not None else tag("span", step.old)
    now = fact_link(asked.id, new) if new is not None else tag("span", step.new)
    reason = tag("p", quote_line(step.reason), class_="reason") if step.reason else None
    quote = tag("q", quote_line(step.evidence), class_="quote") if step.evidence else None
    gone = tag("span", was, class_="was")
    arrow = tag("span", tag("span", "replaced by", class_="visually-hidden"), class_="arrow")
    turn = message_link(asked.id, step.trigger)
    return tag("li", tag("p", gone, " ", arrow, " ", now, " ", turn), reason, quote)


def _render_loss(asked: PageRequest, report: LossReport) -> Markup:
    if not report.checkpoint:
        lost = nothing("Nothing was cut: requests carry the whole transcript.")
        return card("Lost at the last cut", lost, id="lost", live=True)
    returned = tag("span", "told by a reminder", class_="badge")
    rows = [
        tag(
            "li",
            type_of(node),
            fact_link(asked.id, node),
            message_link(asked.id, node.source.turn),
            returned if node.id in report.returned else None,
        )
        for node in report.items[-SHOWN:]
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


def _reminders(asked: PageRequest, found: SessionView) -> Markup | None:
    """What requests carried of what a cut had removed, the newest first."""
    if not found.reminders:
        return None
    rows = [
        tag("li", tag("p", _describe_reminder(one)), message_link(asked.id, one.turn), _request_link(asked, one))
        for one in found.reminders
    ]
    lead = tag("p", "Put behind the newest message, for the request that each message answers.", class_="hint")
    more = found.reminder_count - len(rows)
    rest = tag("p", f"{more:,} earlier", class_="hint") if more > 0 else None
    return card("Reminders", lead, tag("ol", rows, class_="marks"), rest, id="reminders", live=True)


def _request_link(asked: PageRequest, reminder: Reminded) -> Markup:
    return link(to("request", id=asked.id, cut=reminder.cut, turn=reminder.turn), "the request")


def _describe_reminder(reminder: Reminded) -> str:
    """Which messages a reminder quoted, and how much else."""
    numbers = ", ".join(map(str, reminder.messages))
    quoted = f"message{'' if len(reminder.messages) == 1 else 's'} {numbers}" if numbers else "no message"
    facts = format_count(len(reminder.nodes), "fact")
    return f"Quoted {quoted}; told {facts}; {format_count(reminder.tokens, 'token')}"


def _checkpoints(asked: PageRequest, found: SessionView) -> Markup:
    rows = [
        tag("li", tag("span", mark.checkpoint.id), _cut(asked, mark), moment(mark.recorded_at, asked.now))
        for mark in found.marks
    ]
    shown = tag("ul", rows, class_="marks") if rows else nothing("No checkpoints yet.")
    make = None
    if asked.caller.may("write"):
        make = asked.form_of("checkpoint", tag("button", "Make a checkpoint"), id=asked.id)
    rest = link(to("history", id=asked.id), "What changed between checkpoints") if found.mark_count else None
    return card("Checkpoints", shown, tag("div", make, rest, class_="actions"), id="checkpoints", live=True)


def _cut(asked: PageRequest, mark: Marked) -> Markup | None:
    address = to("request", id=asked.id, cut=mark.checkpoint.id)
    return link(address, "cut", class_="badge") if mark.checkpoint.anchor else None


def _edits(asked: PageRequest, found: SessionView) -> Markup | None:
    if not found.edits:
        return None
    return card("Changed by hand", edits_list(asked, found.edits), id="edits", live=True)


def _forget(asked: PageRequest) -> Markup | None:
    if not asked.caller.may("erase"):
        return None
    return tag("p", link(to("forget", id=asked.id), "Erase this session ...", class_="danger"), class_="end")


def _rest(count: int, address: str) -> Markup | None:
    return tag("p", link(address, f"{count:,} more"), class_="hint") if count > 0 else None
