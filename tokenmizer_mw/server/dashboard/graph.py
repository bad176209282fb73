"""The graph page: a picture of a session's facts and their relations, as they are now or were at an earlier time. Also
the graph as a file."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Final, Literal

from starlette.responses import Response

from tokenmizer_mw.graph.export.formats import FORMATS, format_named
from tokenmizer_mw.graph.export.layout import Layout, arrange
from tokenmizer_mw.graph.export.svg import draw
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import importances, status_at
from tokenmizer_mw.model.event import EdgeAdded, NodeAdded
from tokenmizer_mw.model.node import Node, Transition
from tokenmizer_mw.session import SessionState

from .caches import COLUMNS, hold_layout, title_of
from .facts import choose_nodes, filters, name_of_filter
from .markup import Markup, format_count, format_exact_time, hidden_fields, join_markup, link, nothing, tag, to
from .page import Page, PageRequest, download, session_page

DRAWN_MAX: Final = 60
"""Maximum number of facts in a picture. If there are more, the most important ones are shown."""

REPLACED_MAX: Final = 24
"""If a picture cannot show all facts, at most this many of those it shows are chosen because the newest replacements
concern them (as replaced or new fact)."""

ROUNDING: Final = 0.001
"""A time in an address that is at most this many seconds before a change is treated as the time of that change."""

LABELLED_MAX: Final = 2_000
"""With more changes than this, the slider shows only the number of a change while it is moved, not also its message and
time."""

As = Literal["recorded", "valid"]


@dataclass(frozen=True, slots=True)
class PointInTime:
    """The time for which the graph of a session is shown.

    - ``at``: seconds since the epoch; ``None`` for now.
    - ``by``: "recorded" for what was recorded by then; "valid" for what was true then, according to what is known now.
    - ``moments``: the times of all changes (facts added, changed or edited by hand), in order.
    - ``place``: how many changes happened up to ``at``.
    - ``before``, ``after``: the times of the last change before ``at`` and of the first one after it; ``None`` if there
      is none.
    """

    at: float | None
    by: As
    moments: Sequence[float]
    place: int
    before: float | None
    after: float | None

    @property
    def count(self) -> int:
        """Number of all changes of the session."""
        return len(self.moments)


def show_graph(request: PageRequest) -> Page:
    """Return the page with the picture of the graph, a time slider and filters. The query selects time, type and
    status."""
    type_, status = request.query.get("type", ""), request.query.get("status", "")
    by: As = "valid" if request.query.get("as") == "valid" else "recorded"
    wanted = _time(request.query.get("at", ""))

    step = _step(request.query.get("step", ""))

    def look(state: SessionState) -> tuple[str, int, PointInTime]:
        moments = _moments(state)
        at = moments[min(step, len(moments)) - 1] if step and moments else wanted
        return title_of(state), state.seq, _point_in_time(moments, at, by)

    title, seq, then = request.memory.view(request.id, look, tenant=request.tenant)
    graph = _graph(request, then)
    nodes = _nodes(graph, then)
    fitting = choose_nodes(nodes, type_, status)
    shown = _important(graph, fitting)
    return session_page(
        request,
        "graph",
        title,
        tag("div", _slider(request, then, type_, status), _options(request, then, type_, status), class_="controls"),
        tag("div", _picture(request, graph, then, shown, len(fitting)), id="picture", data_live=then.at is None),
        name="Graph",
        seq=seq if then.at is None else None,
    )


def _time(given: str) -> float | None:
    try:
        seconds = float(given)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds < 253_402_300_799 else None


def _step(given: str) -> int:
    """Parse the number of a change, counted from 1. 0 for any other text."""
    return int(given) if given.isdecimal() and len(given) < 10 else 0


def _moments(state: SessionState) -> list[float]:
    """Return the times at which facts were added, changed or edited by hand, in order."""
    graph = state.graph
    moves = {time for node in graph.nodes() for time, _ in graph.life(node.id).moves}
    return sorted(moves | {one.recorded_at for one in state.edits.values()})


def _point_in_time(moments: Sequence[float], wanted: float | None, by: As) -> PointInTime:
    count = len(moments)
    if wanted is None or not moments:
        return PointInTime(None, by, moments, count, moments[-2] if count > 1 else None, None)
    following = bisect_left(moments, wanted)
    if following < count and moments[following] - wanted <= ROUNDING:
        wanted = moments[following]
    place = bisect_right(moments, wanted)
    below = bisect_left(moments, wanted)
    before = moments[below - 1] if below else None
    after = moments[place] if place < count else None
    return PointInTime(wanted, by, moments, place, before, after)


def _graph(request: PageRequest, then: PointInTime) -> SessionGraph:
    if then.at is None or then.by == "valid":
        return request.memory.graph(request.id, tenant=request.tenant)
    return request.caches.pasts.at(request.memory, request.key, then.at)


def _nodes(graph: SessionGraph, then: PointInTime) -> list[Node]:
    if then.at is None or then.by == "recorded":
        return graph.nodes()
    then_held = ((node, status_at(graph.life(node.id), node, then.at)) for node in graph.nodes())
    return [replace(node, status=status) for node, status in then_held if status is not None]


def _important(graph: SessionGraph, nodes: Sequence[Node]) -> list[Node]:
    if len(nodes) <= DRAWN_MAX:
        return list(nodes)
    weight = importances(graph)
    old = _find_replaced(graph, {node.id: node for node in nodes})
    others = (node for node in nodes if node.id not in old)
    best = nsmallest(
        DRAWN_MAX - len(old), others, key=lambda node: (not node.pinned, not node.current, -weight[node.id], node.id)
    )
    return [*best, *old.values()]


def _find_replaced(graph: SessionGraph, nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Return those of ``nodes`` that the newest replacements concern, as replaced or new fact: id -> fact. At most
    ``REPLACED_MAX``."""
    found: dict[str, Node] = {}
    for step in reversed(graph.transitions()):
        pair = [id for id in (step.old, step.new) if id in nodes]
        if len(found) + len(pair) > REPLACED_MAX:
            break
        found |= {id: nodes[id] for id in pair}
    return found


def _picture(request: PageRequest, graph: SessionGraph, then: PointInTime, shown: Sequence[Node], count: int) -> Markup:
    if not shown:
        return tag("section", nothing("No fact matches at this time."), class_="card")
    part = SessionGraph()
    for node in sorted(shown, key=lambda node: _since(graph, node)):
        part.apply(NodeAdded(node))
    for edge in graph.edges():
        if part.get(edge.source) is not None and part.get(edge.target) is not None:
            part.apply(EdgeAdded(edge))
    steps, present = graph.transitions(), _find_present(request, then)

    def picture(columns: int, prefix: str) -> Markup:
        svg = draw(
            part,
            _places(part, steps, present, columns),
            title="The facts and how they relate",
            link=lambda node: to("fact", id=request.id, node=node.id),
            words=True,
            prefix=prefix,
        )
        class_ = "drawing is-narrow" if prefix else "drawing"
        return tag("div", Markup(svg), class_=class_, tabindex="0", role="region", aria_label="Graph")

    left_out = f"The {len(shown)} most important of {count:,} facts: choose a type or a status to see others."
    note = left_out if count > len(shown) else f"{format_count(count, 'fact')}."
    when = f"As {'recorded' if then.by == 'recorded' else 'valid'} at {format_exact_time(then.at)}. " if then.at else ""
    zoom = [tag("button", word, type="button", data_zoom=step) for step, word in _ZOOM]
    return tag(
        "section",
        tag("div", zoom, class_="zoom", hidden=True),
        picture(COLUMNS, ""),
        picture(1, "narrow-"),
        tag("p", when, note, " ", link(to("facts", id=request.id), "All facts as a list"), class_="hint"),
        format_links(request),
        class_="picture",
    )


_ZOOM: Final = (("out", "Smaller"), ("whole", "Whole width"), ("in", "Larger"))
"""Buttons that change the size of the picture. They are hidden unless the browser runs the page's script."""


_Present = tuple[list[Node], list[Transition]]
"""The facts in the picture of the current graph, in their order there, and all replacements of the graph."""


def _find_present(request: PageRequest, then: PointInTime) -> _Present | None:
    """Return what the picture of the current graph shows, so that the picture of an earlier time can place each fact
    where it is now. ``None`` if the current graph is shown, and if the query selects a status, because facts had other
    statuses at that time."""
    if then.at is None or request.query.get("status"):
        return None
    now = request.memory.graph(request.id, tenant=request.tenant)
    shown = _important(now, choose_nodes(now.nodes(), request.query.get("type", ""), ""))
    return sorted(shown, key=lambda node: _since(now, node)), now.transitions()


def _places(part: SessionGraph, steps: Iterable[Transition], present: _Present | None, columns: int) -> Layout:
    """Return the positions of the facts of ``part`` in the picture. With ``present``, facts are placed where they are
    in the picture of the current graph; with ``None``, they are arranged anew. ``columns``: number of facts in a
    row."""
    if present is None:
        return arrange(part.nodes(), steps, columns=columns)
    return hold_layout(*present, part.nodes(), columns)


def _since(graph: SessionGraph, node: Node) -> tuple[float, int, str]:
    return graph.life(node.id).added, node.source.turn, node.id


def _slider(request: PageRequest, then: PointInTime, type_: str, status: str) -> Markup | None:
    if then.count < 2:
        return None

    def at(time: float | None, text: str, rel: str | None = None) -> Markup:
        when = {"at": repr(time), "as": then.by if then.by == "valid" else None} if time is not None else {}
        return link(to("graph", id=request.id, type=type_, status=status, **when), text, class_="button", rel=rel)

    numbers = request.caches.pasts.count_messages(request.memory, request.key, then.moments)
    label = _when(then, numbers)
    labels = [f"{number} {round(time, 3)}" for number, time in zip(numbers, then.moments, strict=True)]
    steps = tag(
        "div",
        at(then.before, join_markup("\u2190", tag("span", " Earlier")), "prev") if then.before is not None else None,
        at(then.after, join_markup(tag("span", "Later "), "\u2192"), "next") if then.after is not None else None,
        at(None, "Now") if then.at is not None else None,
        class_="steps-of-time",
    )
    time = tag(
        "label",
        tag("span", tag("span", "Time: ", class_="what"), tag("output", label, id="when")),
        tag(
            "input",
            type="range",
            name="step",
            id="at",
            min=1,
            max=then.count,
            value=max(then.place, 1),
            autofocus=then.at is not None and "as" in request.query,
            aria_valuetext=label,
            data_moments=",".join(labels) if then.count <= LABELLED_MAX else None,
        ),
        class_="time",
    )
    hidden = hidden_fields({"id": request.id, "type": type_, "status": status})
    show = tag("button", "Show", id="show")
    form = tag("form", hidden, time, show, method="get", action="graph", class_="slider", id="slider", novalidate=True)
    return join_markup(form, steps)


def _options(request: PageRequest, then: PointInTime, type_: str, status: str) -> Markup:
    """Return the options, hidden until they are unfolded: which facts are drawn, and what a time means. Their heading
    names what is selected."""
    at = "" if then.at is None else repr(then.at)
    what = tag(
        "fieldset",
        tag("legend", "At an earlier time, show what was"),
        _radio("recorded", "recorded then", then.by),
        _radio("valid", "valid then, by what is known now", then.by),
    )
    chosen = [name_of_filter(type_, status)] if type_ or status else []
    chosen += ["valid then"] if then.at is not None and then.by == "valid" else []
    return tag(
        "details",
        tag("summary", f"Options: {', '.join(chosen)}" if chosen else "Options"),
        filters(request, "graph", type_, status, at=at, **{"as": then.by if then.at else ""}),
        what if then.count > 1 else None,
        class_="options",
    )


def _when(then: PointInTime, numbers: Sequence[int]) -> str:
    """Return the label of the slider: the number of the change that is shown, the newest message at that time, and the
    time. ``numbers``: for each change, the number of the newest message at its time."""
    if then.at is None:
        return f"now, after {format_count(then.count, 'change')}"
    number = numbers[then.place - 1] if then.place else 0
    message = f"message {number:,}" if number else "no message"
    return f"change {then.place:,} of {then.count:,}: {message}, {format_exact_time(then.at)}"


def _radio(value: str, text: str, chosen_: str) -> Markup:
    given = tag("input", type="radio", name="as", value=value, checked=value == chosen_, form="slider")
    return tag("label", given, f" {text}", class_="radio")


def download_graph(request: PageRequest) -> Response:
    """Return the current graph as a file, in the format that ``format`` of the query names; by default "html", a single
    page that needs no other files."""
    name = request.query.get("format", "html")
    format_ = format_named(name)
    text = request.memory.export(request.id, name, tenant=request.tenant)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", request.id)[:80].strip("-.") or "session"
    return download(f"{stem}{format_.suffix}", format_.media_type, text)


_LABELS: Final = {"html": "HTML", "markdown": "Markdown", "d3": "D3 JSON", "canvas": "Canvas", "mermaid": "Mermaid"}


def format_links(request: PageRequest) -> Markup:
    """Return a paragraph with links that save the graph, one for each file format."""
    links = [
        link(to("export", id=request.id, format=name), _LABELS.get(name, name), title=one.about)
        for name, one in FORMATS.items()
    ]
    return tag("p", "Save the graph as ", *[part for one in links for part in (one, " ")], class_="hint")
