"""One session: the block that would be injected right now, what is open, what was ruled out, what was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tokenmizer_mw.export.appearance import TYPES
from tokenmizer_mw.loss import LossReport, loss_report
from tokenmizer_mw.model.node import Node, NodeType, Status, Transition
from tokenmizer_mw.resume import LEVELS, Resume
from tokenmizer_mw.session import Edited, Marked, SessionState

from .asked import Asked, Page
from .by_hand import edits_list
from .frame import session_head
from .live import mark_of_session
from .markup import Markup, joined, tag
from .titles import title_of
from .words import card, counted, fact_link, icon, link, moment, nothing, status_of, to, told, type_of

SHOWN: Final = 8
"""Facts of a list on this page; behind it stands where the others are."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the page tells, taken out of the folded session."""

    title: str
    seq: int
    updated_at: float
    messages: int
    facts: int
    types: Mapping[NodeType, int]
    open: tuple[Node, ...]
    open_count: int
    warnings: tuple[tuple[Node, str], ...]
    warning_count: int
    flagged: int
    pinned: tuple[Node, ...]
    steps: tuple[tuple[Transition, Node | None, Node | None], ...]
    step_count: int
    marks: tuple[Marked, ...]
    mark_count: int
    lost: LossReport
    edits: tuple[Edited, ...]


def seen(state: SessionState) -> Seen:
    """What there is to tell of a session."""
    graph, nodes = state.graph, state.graph.nodes()
    open_ = graph.unfinished()
    wrong = [node for node in nodes if node.status is Status.INVALIDATED]
    steps = graph.transitions()
    return Seen(
        title_of(state),
        state.seq,
        state.recorded_at,
        len(state.transcript),
        len(nodes),
        Counter(node.type for node in nodes if node.current),
        tuple(sorted(islice(reversed(open_), SHOWN), key=_doing_first)),
        len(open_),
        tuple((node, graph.life(node.id).reason or node.detail) for node in wrong[-SHOWN:][::-1]),
        len(wrong),
        len(graph.flagged),
        tuple(node for node in nodes if node.pinned)[:SHOWN],
        tuple((step, graph.get(step.old), graph.get(step.new)) for step in steps[-5:][::-1]),
        len(steps),
        tuple(state.checkpoints[-5:][::-1]),
        len(state.checkpoints),
        loss_report(graph, state.cut),
        tuple(state.edits.values())[-5:][::-1],
    )


def _doing_first(node: Node) -> tuple[bool, int]:
    return node.status is not Status.IN_PROGRESS, node.source.turn


def page(asked: Asked) -> Page:
    """The overview of a session."""
    found = asked.memory.view(asked.id, seen, tenant=asked.tenant)
    blocks = asked.memory.resumes(asked.id, tenant=asked.tenant)
    level = asked.query.get("level", "standard")
    level = level if level in LEVELS else "standard"
    body = joined(
        session_head(asked, "session", found.title),
        tag("div", _figures(asked, found), id="figures", data_live=True),
        tag(
            "div",
            tag("div", _resume(asked, blocks, level), _open(asked, found), _warnings(asked, found), class_="main-side"),
            tag(
                "div",
                _facts(asked, found),
                _pinned(asked, found),
                _steps(asked, found),
                _lost(asked, found.lost),
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


def _figures(asked: Asked, found: Seen) -> Markup:
    told_ = (
        (f"{found.facts:,}", "fact" if found.facts == 1 else "facts"),
        (f"{found.messages:,}", "message" if found.messages == 1 else "messages"),
        (f"{found.open_count:,}", "open"),
        (f"{found.warning_count:,}", "ruled out"),
    )
    items = [tag("div", tag("dt", name), tag("dd", number)) for number, name in told_]
    items.append(tag("div", tag("dt", "last active"), tag("dd", moment(found.updated_at, asked.now))))
    return tag("dl", items, class_="figures")


def _resume(asked: Asked, blocks: Mapping[str, Resume], level: str) -> Markup:
    tabs = [
        tag(
            "li",
            link(
                f"{to('session', id=asked.id, level=name)}#resume",
                tag("span", name.capitalize()),
                tag("small", f"{block.tokens} of {block.budget} tokens"),
                aria_current="true" if name == level else None,
            ),
        )
        for name, block in blocks.items()
    ]
    block = blocks[level]
    text = tag("pre", block.text, class_="block", tabindex="0", aria_label="The block", dir="auto")
    exact = "as the model's own tokenizer counts" if block.exact else "counted so that it errs high"
    foot = tag(
        "p", f"{counted(block.tokens, 'token')}, {exact}; {counted(len(block.node_ids), 'fact')}.", class_="hint"
    )
    shown = joined(text, foot) if block.text else nothing("There is nothing to tell yet.")
    lead = tag("p", "As it would be injected right now.", class_="hint")
    return card("Resume block", lead, tag("ul", tabs, class_="levels"), shown, id="resume", live=True)


def _fact_row(asked: Asked, node: Node, *more: Markup | None) -> Markup:
    return tag("li", type_of(node), fact_link(asked.id, node), *more)


def _open(asked: Asked, found: Seen) -> Markup:
    rows = [_fact_row(asked, node, status_of(node.status)) for node in found.open]
    rest = _rest(found.open_count - len(rows), to("facts", id=asked.id, status="open"))
    shown = tag("ul", rows, class_="facts") if rows else nothing("Nothing is open.")
    return card("Open work", shown, rest, id="open", live=True)


def _warnings(asked: Asked, found: Seen) -> Markup:
    rows = [
        _fact_row(asked, node, tag("span", told(reason), class_="reason") if reason else None)
        for node, reason in found.warnings
    ]
    flagged = None
    if found.flagged:
        text = f"{counted(found.flagged, 'message')} read like an attempt to take over the model."
        flagged = tag("p", text, " Facts from there stay out of the smallest block.", class_="warning")
    shown = tag("ul", rows, class_="facts") if rows else nothing("Nothing was ruled out.")
    rest = _rest(found.warning_count - len(rows), to("facts", id=asked.id, status="invalidated"))
    return card("Warnings", flagged, shown, rest, id="warnings", live=True)


def _facts(asked: Asked, found: Seen) -> Markup:
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


def _pinned(asked: Asked, found: Seen) -> Markup | None:
    if not found.pinned:
        return None
    rows = [_fact_row(asked, node) for node in found.pinned]
    return card("Pinned", tag("ul", rows, class_="facts"), id="pinned", live=True)


def _steps(asked: Asked, found: Seen) -> Markup:
    rows = [step_row(asked, *one) for one in found.steps]
    shown = tag("ol", rows, class_="steps") if rows else nothing("No decision was replaced.")
    rest = _rest(found.step_count - len(rows), f"{to('history', id=asked.id)}#transitions")
    return card("Replaced lately", shown, rest, id="steps", live=True)


def step_row(asked: Asked, step: Transition, old: Node | None, new: Node | None) -> Markup:
    """One decision that took the place of another, with the reason."""
    was = fact_link(asked.id, old) if old is not None else tag("span", step.old)
    now = fact_link(asked.id, new) if new is not None else tag("span", step.new)
    reason = tag("p", told(step.reason), class_="reason") if step.reason else None
    quote = tag("q", told(step.evidence), class_="quote") if step.evidence else None
    gone = tag("span", was, class_="was")
    arrow = tag("span", tag("span", "replaced by", class_="visually-hidden"), class_="arrow")
    turn = tag("span", f"message {step.trigger}", class_="turn")
    return tag("li", tag("p", gone, " ", arrow, " ", now, " ", turn), reason, quote)


def _lost(asked: Asked, report: LossReport) -> Markup:
    if not report.checkpoint:
        lost = nothing("Nothing was cut: requests carry the whole transcript.")
        return card("Lost at the last cut", lost, id="lost", live=True)
    rows = [tag("li", type_of(node), fact_link(asked.id, node), _turn(node)) for node in report.items[-SHOWN:]]
    text = (
        f"At {report.checkpoint} the block took the place of {counted(report.dropped, 'message')} before message"
        f" {report.before_turn}; it leaves out {counted(len(report.items), 'fact')}."
    )
    if not report.dropped:
        text = (
            f"At {report.checkpoint} the client had compacted its history before message {report.before_turn}; the"
            f" block leaves out {counted(len(report.items), 'fact')}."
        )
    shown = tag("ul", rows, class_="facts") if rows else None
    more = counted(len(report.items) - len(rows), "more fact") if len(report.items) > len(rows) else ""
    return card(
        "Lost at the last cut",
        tag("p", text),
        shown,
        tag("p", more, class_="hint") if more else None,
        id="lost",
        live=True,
    )


def _turn(node: Node) -> Markup:
    return tag("span", f"message {node.source.turn}", class_="turn")


def _checkpoints(asked: Asked, found: Seen) -> Markup:
    rows = [
        tag("li", tag("span", mark.checkpoint.id), _cut(mark), moment(mark.recorded_at, asked.now))
        for mark in found.marks
    ]
    shown = tag("ul", rows, class_="marks") if rows else nothing("No checkpoints yet.")
    make = None
    if asked.caller.may("write"):
        make = asked.form_of("checkpoint", tag("button", "Make a checkpoint"), id=asked.id)
    rest = link(to("history", id=asked.id), "What changed between checkpoints") if found.mark_count else None
    return card("Checkpoints", shown, tag("div", make, rest, class_="actions"), id="checkpoints", live=True)


def _cut(mark: Marked) -> Markup | None:
    return tag("span", "cut", class_="badge") if mark.checkpoint.anchor else None


def _edits(asked: Asked, found: Seen) -> Markup | None:
    if not found.edits:
        return None
    return card("Changed by hand", edits_list(asked, found.edits), id="edits", live=True)


def _forget(asked: Asked) -> Markup | None:
    if not asked.caller.may("erase"):
        return None
    return tag("p", link(to("forget", id=asked.id), "Erase this session ...", class_="danger"), class_="end")


def _rest(count: int, address: str) -> Markup | None:
    return tag("p", link(address, f"{count:,} more"), class_="hint") if count > 0 else None
