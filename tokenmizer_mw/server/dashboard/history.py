"""The history page of a session (checkpoints, what changed between two points, replaced decisions, manual edits), and
the page that shows the facts at two points side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import Diff, diff
from tokenmizer_mw.model.node import Node, NodeType, Transition, spell_slot
from tokenmizer_mw.session import CheckpointMark, RecordedEdit, SessionState

from .actions import edits_card, facts_of_edits
from .caches import title_of
from .markup import (
    Child,
    Markup,
    card,
    fact_link,
    filter_form,
    format_count,
    format_exact_time,
    join_markup,
    link,
    moment,
    nothing,
    origin_link,
    quote_line,
    select_field,
    status_of,
    tag,
    to,
    type_of,
)
from .page import Page, PageRequest, session_page
from .session import step_row

START: Final = "start"
NOW: Final = "now"
STEPS: Final = 40
MARKS: Final = 10

CHOICES: Final = 100
"""Maximum number of checkpoints that a form offers; the newest ones are offered."""

SHOWN: Final = 30
"""Maximum number of facts that a comparison lists for each kind of change (added, changed, gone)."""

WHOLE: Final = 2_000
"""Maximum number of rows of a list if the query asks for all rows."""

T = TypeVar("T")
_Step = tuple[Transition, Node | None, Node | None]


@dataclass(frozen=True, slots=True)
class _HistoryView:
    """What the history page shows.

    - ``title``, ``seq``: goal of the session, and number of its newest event.
    - ``marks``: all checkpoints, oldest first.
    - ``steps``, ``edits``: the newest replacements and manual edits, newest first. ``step_count``, ``edit_count``: how
      many there are in all.
    - ``edited``: id -> fact that one of ``edits`` changed.
    """

    title: str
    seq: int
    marks: Sequence[CheckpointMark]
    steps: Sequence[_Step]
    step_count: int
    edits: Sequence[RecordedEdit]
    edited: Mapping[str, Node]
    edit_count: int


def show_history(request: PageRequest) -> Page:
    """Return the history page of the session that the query names: checkpoints and what changed between two of them,
    replaced decisions, and manual edits."""
    most = _count_rows(request, STEPS)

    def look(state: SessionState) -> _HistoryView:
        graph, steps, edits = state.graph, state.graph.transitions(), list(state.edits.values())
        rows = [(step, graph.get(step.old), graph.get(step.new)) for step in steps[-most:][::-1]]
        listed = edits[-most:][::-1]
        return _HistoryView(
            title_of(state),
            state.seq,
            list(state.checkpoints),
            rows,
            len(steps),
            listed,
            facts_of_edits(graph, listed),
            len(edits),
        )

    found = request.memory.view(request.id, look, tenant=request.tenant)
    rest = _link_rest(request, found.edit_count - len(found.edits), "edits", "older")
    return session_page(
        request,
        "history",
        found.title,
        _render_comparison_form(request, found.marks, found.seq),
        _transitions(request, found.steps, found.step_count),
        edits_card(request, found.edits, found.edited, rest=rest),
        name="History",
        seq=found.seq,
    )


def _render_comparison_form(request: PageRequest, marks: Sequence[CheckpointMark], seq: int) -> Markup:
    named = _points(marks, seq)
    before, after = _compared_points(request, named, marks[-1].checkpoint.id if marks else START)
    options = [(mark.checkpoint.id, mark.checkpoint.id) for mark in marks[-CHOICES:]]
    form = filter_form(
        "history",
        {"id": request.id},
        select_field("from", "From", [(START, START), *options], before),
        select_field("to", "To", [*options, (NOW, NOW)], after),
        tag("button", "Compare"),
    )
    beside = link(to("compare", id=request.id, from_=before, to=after), "Show the two side by side")
    changes = join_markup(tag("p", beside, class_="hint"), _compare_marks(request, named[before], named[after]))
    return card("Checkpoints", _marks(request, marks), form, changes, id="checkpoints")


def _points(marks: Sequence[CheckpointMark], seq: int) -> dict[str, int]:
    """Return the points that can be compared: "start", each checkpoint's id, "now" -> number of the newest event at
    that point."""
    return {START: 0, **{mark.checkpoint.id: mark.seq for mark in marks}, NOW: seq}


def _marks(request: PageRequest, marks: Sequence[CheckpointMark]) -> Markup:
    if not marks:
        return nothing("No checkpoints yet: the comparison begins with the start of the session.")
    rows = []
    for mark in marks[-_count_rows(request, MARKS) :][::-1]:
        point = mark.checkpoint
        cut = f"cut: the block took the place of {format_count(point.dropped, 'message')}" if point.anchor else ""
        if point.anchor and not point.dropped:
            cut = "handed back: the block stands in front of a history that the client has compacted"
        about = f"message {point.turn}, block of {format_count(point.tokens, 'token')}"
        look = link(to("graph", id=request.id, at=repr(mark.recorded_at)), "graph at this point")
        rows.append(
            tag(
                "li",
                tag("strong", point.id),
                tag("span", about),
                link(to("request", id=request.id, cut=point.id), cut, class_="badge") if cut else None,
                moment(mark.recorded_at, request.now),
                look,
            )
        )
    return join_markup(
        tag("ul", rows, class_="marks"), _link_rest(request, len(marks) - len(rows), "checkpoints", "older")
    )


def _compare_marks(request: PageRequest, before: int, after: int) -> Markup:
    first, last = sorted((before, after))
    found = diff(_facts_upto(request, first), _facts_upto(request, last))
    text = "The second moment is the earlier one: changes are listed from the earlier to the later."
    note = tag("p", text, class_="hint") if before > after else None
    return tag("div", note, _diff(request, found), class_="diff")


def _facts_upto(request: PageRequest, seq: int) -> SessionGraph:
    return request.caches.pasts.facts_upto(request.memory, request.key, seq)


def _diff(request: PageRequest, found: Diff) -> Markup:
    if not found:
        return nothing("Nothing changed between the two.")
    return join_markup(
        _part(request, "Added", found.added, partial(_list_node, request)),
        _part(request, "Changed", found.changed, lambda pair: _list_node(request, pair[1], *_difference(*pair))),
        _part(request, "Gone", found.removed, partial(_list_node, request)),
    )


def _part(request: PageRequest, title: str, changes: Sequence[T], list_change: Callable[[T], Markup]) -> Markup | None:
    if not changes:
        return None
    rows = [list_change(change) for change in changes[-_count_rows(request, SHOWN) :]]
    left = _link_rest(request, len(changes) - len(rows), "checkpoints")
    shown = tag("ul", rows, class_=f"facts {title.lower()}")
    return join_markup(tag("h3", f"{title} ({len(changes):,})"), shown, left)


def _list_node(request: PageRequest, node: Node, *about: Child) -> Markup:
    """Return the list item of a fact. ``about``: what to show after the fact; by default its status."""
    return tag("li", type_of(node), fact_link(request.id, node), *(about or (status_of(node),)))


_FIELDS: Final[tuple[tuple[str, Callable[[Node], str]], ...]] = (
    ("said", lambda node: node.label),
    ("because", lambda node: node.detail),
    ("kind", lambda node: node.kind.value if node.kind is not None else ""),
    ("about", lambda node: spell_slot(node.slot, node.label)),
    ("value", lambda node: node.value),
    ("place in the plan", lambda node: "" if node.order is None else str(node.order)),
    ("true from", lambda node: "" if node.valid_from is None else format_exact_time(node.valid_from)),
    ("true until", lambda node: "" if node.valid_until is None else format_exact_time(node.valid_until)),
    ("pinned", lambda node: "yes" if node.pinned else "no"),
    ("confidence", lambda node: f"{node.confidence:.0%}"),
    ("said in message", lambda node: str(node.source.turn)),
    ("words", lambda node: node.source.quote),
)
"""What a comparison shows of a fact in addition to its status: pairs of a name for people and the function that returns
the value."""


def _difference(old: Node, new: Node) -> list[Markup | str]:
    """Return everything that differs between two versions of a fact: the status on the fact's own line, and each other
    field on a line below."""
    found: list[Markup | str] = []
    if old.status is not new.status:
        found += [status_of(old), tag("span", "to", class_="visually-hidden"), "\u2192", status_of(new)]
    for name, value in _FIELDS:
        before, now = value(old), value(new)
        if before != now:
            was, is_ = tag("del", quote_line(before or "nothing")), tag("ins", quote_line(now or "nothing"))
            found.append(tag("span", f"{name}: ", was, " ", is_, class_="reason"))
    return found or [tag("span", "where it was said is recorded otherwise", class_="reason")]


def _count_rows(request: PageRequest, few: int) -> int:
    """Return the maximum number of rows of a list: ``few``, or ``WHOLE`` if the query asks for all rows."""
    return WHOLE if request.query.get("all") else few


def _link_rest(request: PageRequest, count: int, part: str, what: str = "more") -> Markup | None:
    """Return a link to the rows that a list leaves out, such as "12 more". If the list has been asked for as a whole
    already, return only the text. ``None`` if ``count``, the number of rows left out, is 0 or less.

    ``part``: HTML id of the list on the page. ``what``: the word after the number.
    """
    if count <= 0:
        return None
    text = f"{count:,} {what}"
    if request.query.get("all"):
        return tag("p", text, class_="hint")
    compared = {"from_": request.query.get("from"), "to": request.query.get("to")}
    return tag("p", link(f"{to('history', id=request.id, **compared, all=1)}#{part}", text), class_="hint")


def _transitions(request: PageRequest, steps: Sequence[_Step], count: int) -> Markup:
    rows = [step_row(request, *step) for step in steps]
    shown = tag("ol", rows, class_="steps story") if rows else nothing("No decision was replaced.")
    older = _link_rest(request, count - len(rows), "transitions", "older")
    return card("Replacements, the newest first", shown, older, id="transitions", live=True)


COMPARED_ROWS: Final = 60
"""Maximum number of facts of each type that a side of the comparison lists; the newest ones are listed."""


def show_comparison(request: PageRequest) -> Page:
    """Return the page that shows a session's facts at two points side by side: those that differ and, with ``same`` in
    the query, also the facts in force that do not differ.

    The parameters ``from`` and ``to`` of the query name the points. Each is "start", "now" or the id of one of the
    newest ``CHOICES`` checkpoints; anything else is treated as missing.

    - Without ``to``, it is "now".
    - Without ``from``, it is the newest checkpoint after which something was recorded. It is "start" if there is no
      such checkpoint, or if nothing differs between that checkpoint and ``to``.
    """

    def look(state: SessionState) -> tuple[str, int, list[CheckpointMark]]:
        return title_of(state), state.seq, list(state.checkpoints[-CHOICES:])

    title, seq, marks = request.memory.view(request.id, look, tenant=request.tenant)
    named = _points(marks, seq)
    earlier = next((mark.checkpoint.id for mark in reversed(marks) if mark.seq < seq), START)
    first, second = _compared_points(request, named, earlier)
    before, after = (_facts_upto(request, named[name]) for name in (first, second))
    only = not request.query.get("same")
    form = _compare_form(request, tuple(named), first, second, only)
    points = {mark.checkpoint.id: mark for mark in marks}
    sides = _compare_sides(request, before, after, points, (first, second), only)
    return session_page(request, "history", title, form, sides, name="Compare")


def _compared_points(request: PageRequest, named: Mapping[str, int], newest: str) -> tuple[str, str]:
    """Return the names of the two points to compare, which the query selects. Without ``from`` in the query, the first
    one is the checkpoint ``newest``, or "start" if nothing differs between that checkpoint and the second point.
    Without ``to``, the second one is "now". ``named``: the points that can be compared."""
    after = _chosen_option(request, "to", named, NOW)
    before = _chosen_option(request, "from", named, "")
    if before:
        return before, after
    first, last = sorted((named[newest], named[after]))
    return (newest if diff(_facts_upto(request, first), _facts_upto(request, last)) else START), after


def _chosen_option(request: PageRequest, field: str, named: Mapping[str, int], default: str) -> str:
    name = request.query.get(field, default)
    return name if name in named else default


def _compare_form(request: PageRequest, names: Sequence[str], first: str, second: str, only: bool) -> Markup:
    options = [(name, name) for name in names]
    box = tag("input", type="checkbox", name="same", value="1", checked=not only)
    return filter_form(
        "compare",
        {"id": request.id},
        select_field("from", "Left", options, first),
        select_field("to", "Right", options, second),
        tag("label", box, " also what is the same", class_="radio"),
        tag("button", "Compare"),
        link(f"{to('history', id=request.id, from_=first, to=second)}#checkpoints", "As a list of changes"),
    )


def _compare_sides(
    request: PageRequest,
    before: SessionGraph,
    after: SessionGraph,
    marks: Mapping[str, CheckpointMark],
    names: tuple[str, str],
    only: bool,
) -> Markup:
    found = diff(before, after)
    changed = {node.id for _, node in found.changed}
    signs = {node.id: "gone" for node in found.removed} | {node.id: "new" for node in found.added}
    signs |= dict.fromkeys(changed, "changed")
    sides = [
        _compared_side(request, graph, name, marks.get(name), signs, only)
        for graph, name in zip((before, after), names, strict=True)
    ]
    text = f"{format_count(len(found.added), 'fact')} added, {len(changed):,} changed, {len(found.removed):,} gone."
    return join_markup(tag("p", text, class_="hint", id="differences"), tag("div", sides, class_="beside"))


def _compared_side(
    request: PageRequest,
    graph: SessionGraph,
    name: str,
    mark: CheckpointMark | None,
    signs: Mapping[str, str],
    only: bool,
) -> Markup:
    when = None
    if mark is not None:
        when = tag("p", f"message {mark.checkpoint.turn}, {format_exact_time(mark.recorded_at)}", class_="hint")
    empty = "No facts yet." if not only else "None of these facts." if signs else "Nothing differs."
    parts = [_compared_type(request, graph, type_, signs, only) for type_ in TYPES]
    shown = [part for part in parts if part is not None]
    return card(name.capitalize(), when, *(shown or [nothing(empty)]))


def _compared_type(
    request: PageRequest, graph: SessionGraph, type_: NodeType, signs: Mapping[str, str], only: bool
) -> Markup | None:
    nodes = [node for node in graph.nodes(type_) if (node.id in signs if only else node.current or node.id in signs)]
    if not nodes:
        return None
    rows = [_compared_row(request, node, signs.get(node.id, "")) for node in nodes[-COMPARED_ROWS:]]
    more = tag("p", f"{len(nodes) - COMPARED_ROWS:,} earlier", class_="hint") if len(nodes) > COMPARED_ROWS else None
    return join_markup(tag("h3", f"{TYPES[type_].title} ({len(nodes):,})"), more, tag("ul", rows, class_="facts"))


def _compared_row(request: PageRequest, node: Node, sign: str) -> Markup:
    return tag(
        "li",
        status_of(node),
        fact_link(request.id, node),
        tag("span", sign, class_=f"badge is-{sign}") if sign else None,
        origin_link(request.id, node),
        tag("span", "because ", quote_line(node.detail), class_="reason") if node.detail and sign else None,
    )
