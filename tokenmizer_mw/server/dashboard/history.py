"""The history page: checkpoints, the difference between two of them, replaced decisions, and manual edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tokenmizer_mw.graph.views import Diff, diff
from tokenmizer_mw.model.node import Node, Transition
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import Edited, Marked, SessionState

from .asked import Page, PageRequest
from .by_hand import edits_list
from .frame import session_head
from .live import mark_of_session
from .markup import Markup, join_markup, tag
from .session import step_row
from .titles import title_of
from .words import card, exactly, fact_link, format_count, link, moment, nothing, quote_line, status_of, to, type_of

STEPS: Final = 40
MARKS: Final = 10
CHOICES: Final = 100
"""Checkpoints to choose from."""

SHOWN: Final = 30
"""Facts of one kind of change that a diff lists."""

WHOLE: Final = 2_000
"""Rows of a list that somebody asked to see all of."""

_START, _NOW = "start", "now"

_Step = tuple[Transition, Node | None, Node | None]


def page(asked: PageRequest) -> Page:
    """Return the history of a session."""
    most = _most(asked, STEPS)

    def look(state: SessionState) -> tuple[str, int, list[Marked], list[_Step], int, list[Edited]]:
        graph, steps = state.graph, state.graph.transitions()
        rows = [(step, graph.get(step.old), graph.get(step.new)) for step in steps[-most:][::-1]]
        return title_of(state), state.seq, list(state.checkpoints), rows, len(steps), list(state.edits.values())[::-1]

    title, seq, marks, steps, count, edits = asked.memory.view(asked.id, look, tenant=asked.tenant)
    body = join_markup(
        session_head(asked, "history", title),
        _comparing(asked, marks, seq),
        _transitions(asked, steps, count),
        _edits(asked, edits) if edits else None,
    )
    live = to("events", id=asked.id, since=mark_of_session(seq))
    return Page(f"History - {title or asked.id}", body, "", asked.id, live)


def _comparing(asked: PageRequest, marks: Sequence[Marked], seq: int) -> Markup:
    named = {_START: 0, **{mark.checkpoint.id: mark.seq for mark in marks}, _NOW: seq}
    default = marks[-1].checkpoint.id if marks else _START
    before, after = asked.query.get("from", default), asked.query.get("to", _NOW)
    before, after = before if before in named else default, after if after in named else _NOW
    form = tag(
        "form",
        tag("input", type="hidden", name="id", value=asked.id),
        _choice("from", "From", [_START, *(mark.checkpoint.id for mark in marks[-CHOICES:])], before),
        _choice("to", "To", [*(mark.checkpoint.id for mark in marks[-CHOICES:]), _NOW], after),
        tag("button", "Compare"),
        method="get",
        action="history",
        class_="filters",
    )
    beside = link(to("compare", id=asked.id, from_=before, to=after), "Show the two side by side")
    changes = join_markup(tag("p", beside, class_="hint"), _changes(asked, named[before], named[after]))
    return card("Checkpoints", _marks(asked, marks), form, changes, id="checkpoints")


def _choice(name: str, title: str, options: Sequence[str], value: str) -> Markup:
    given = [tag("option", option, value=option, selected=option == value) for option in options]
    return tag("label", tag("span", title), tag("select", given, name=name), class_="field")


def _marks(asked: PageRequest, marks: Sequence[Marked]) -> Markup:
    if not marks:
        return nothing("No checkpoints yet: the comparison begins with the start of the session.")
    rows = []
    for mark in marks[-_most(asked, MARKS) :][::-1]:
        point = mark.checkpoint
        cut = f"cut: the block took the place of {format_count(point.dropped, 'message')}" if point.anchor else ""
        if point.anchor and not point.dropped:
            cut = "handed back: the block stands in front of a history that the client has compacted"
        about = f"message {point.turn}, block of {format_count(point.tokens, 'token')}"
        look = link(to("graph", id=asked.id, at=repr(mark.recorded_at)), "graph then")
        rows.append(
            tag(
                "li",
                tag("strong", point.id),
                tag("span", about),
                link(to("request", id=asked.id, cut=point.id), cut, class_="badge") if cut else None,
                moment(mark.recorded_at, asked.now),
                look,
            )
        )
    return join_markup(
        tag("ul", rows, class_="marks"), _link_rest(asked, len(marks) - len(rows), "checkpoints", "older")
    )


def _changes(asked: PageRequest, before: int, after: int) -> Markup:
    key, pasts = SessionKey(asked.tenant, asked.id), asked.kept.pasts
    backwards = before > after
    first, last = sorted((before, after))
    found = diff(pasts.upto(asked.memory, key, first), pasts.upto(asked.memory, key, last))
    note = tag("p", "The second was before the first: told in the order of time.", class_="hint") if backwards else None
    return tag("div", note, _diff(asked, found), class_="diff")


def _diff(asked: PageRequest, found: Diff) -> Markup:
    if not found:
        return nothing("Nothing changed between the two.")
    return join_markup(
        _part(asked, "Added", "added", found.added),
        _render_changed(asked, found.changed),
        _part(asked, "Gone", "gone", found.removed),
    )


def _part(asked: PageRequest, title: str, class_: str, nodes: Sequence[Node]) -> Markup | None:
    if not nodes:
        return None
    listed = nodes[-_most(asked, SHOWN) :]
    rows = [tag("li", type_of(node), fact_link(asked.id, node), status_of(node.status)) for node in listed]
    left = _link_rest(asked, len(nodes) - len(rows), "checkpoints")
    return join_markup(tag("h3", f"{title} ({len(nodes):,})"), tag("ul", rows, class_=f"facts {class_}"), left)


def _render_changed(asked: PageRequest, pairs: Sequence[tuple[Node, Node]]) -> Markup | None:
    if not pairs:
        return None
    listed = pairs[-_most(asked, SHOWN) :]
    rows = [tag("li", type_of(new), fact_link(asked.id, new), *_difference(old, new)) for old, new in listed]
    left = _link_rest(asked, len(pairs) - len(rows), "checkpoints")
    return join_markup(tag("h3", f"Changed ({len(pairs):,})"), tag("ul", rows, class_="facts changed"), left)


_FIELDS: Final[tuple[tuple[str, Callable[[Node], str]], ...]] = (
    ("said", lambda node: node.label),
    ("because", lambda node: node.detail),
    ("kind", lambda node: node.kind.value if node.kind is not None else ""),
    ("about", lambda node: node.slot),
    ("value", lambda node: node.value),
    ("place in the plan", lambda node: "" if node.order is None else str(node.order)),
    ("true from", lambda node: "" if node.valid_from is None else exactly(node.valid_from)),
    ("true until", lambda node: "" if node.valid_until is None else exactly(node.valid_until)),
    ("pinned", lambda node: "yes" if node.pinned else "no"),
    ("confidence", lambda node: f"{node.confidence:.0%}"),
    ("said in message", lambda node: str(node.source.turn)),
    ("words", lambda node: node.source.quote),
)
"""What a fact says besides its status, by the name that people read."""


def _difference(old: Node, new: Node) -> list[Markup | str]:
    """All that is otherwise: the status beside the fact, a line below for each other field."""
    found: list[Markup | str] = []
    if old.status is not new.status:
        found += [status_of(old.status), tag("span", "to", class_="visually-hidden"), "\u2192", status_of(new.status)]
    for name, value in _FIELDS:
        before, now = value(old), value(new)
        if before != now:
            was, is_ = tag("del", quote_line(before or "nothing")), tag("ins", quote_line(now or "nothing"))
            found.append(tag("span", f"{name}: ", was, " ", is_, class_="reason"))
    return found or [tag("span", "where it was said is recorded otherwise", class_="reason")]


def _most(asked: PageRequest, few: int) -> int:
    """How many rows a list has."""
    return WHOLE if asked.query.get("all") else few


def _link_rest(asked: PageRequest, count: int, part: str, what: str = "more") -> Markup | None:
    """A link to the rows that a list leaves out; where even the whole list is cut, how many."""
    if count <= 0:
        return None
    text = f"{count:,} {what}"
    if asked.query.get("all"):
        return tag("p", text, class_="hint")
    compared = {"from_": asked.query.get("from"), "to": asked.query.get("to")}
    return tag("p", link(f"{to('history', id=asked.id, **compared, all=1)}#{part}", text), class_="hint")


def _edits(asked: PageRequest, edits: Sequence[Edited]) -> Markup:
    shown = edits[: _most(asked, STEPS)]
    left = _link_rest(asked, len(edits) - len(shown), "edits", "older")
    return card("Changed by hand", edits_list(asked, shown), left, id="edits", live=True)


def _transitions(asked: PageRequest, steps: Sequence[_Step], count: int) -> Markup:
    rows = [step_row(asked, *step) for step in steps]
    shown = tag("ol", rows, class_="steps story") if rows else nothing("No decision was replaced.")
    older = _link_rest(asked, count - len(rows), "transitions", "older")
    return card("Transitions, the newest first", shown, older, id="transitions", live=True)
