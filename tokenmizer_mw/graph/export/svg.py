"""Draw a graph as SVG: a card for each node, in a lane for its type, with the relations in the gaps between cards.

The drawing contains no script, URL or style attribute, so that it works under the strictest content security policy;
CSS classes (``style``) define its look, in light and dark. Type and status are shown by shape, line and word; colour
only repeats them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

from tokenmizer_mw.graph.export.appearance import EDGES, STATUSES, TYPES, name_relation, name_status
from tokenmizer_mw.graph.export.layout import Box, Lane, Layout, Route, arrange, path_of, place_word, route_edges
from tokenmizer_mw.graph.export.text import label_of, width_of, wrap_text
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import Edge, EdgeType, Node, NodeType, Status

MARGIN: Final = 10
"""Pixels around the drawing."""

WORDS_MAX: Final = 40
"""If there are more relations than this, only replacements have their kind written on their lines."""

_LINE: Final = 16.5
"""Pixels from one line of a label to the next."""

_FONT: Final = 13
_WORD_FONT: Final = 11
_Routed = tuple[Edge, Route]

_ICON: Final = 34
"""The width of a card that its icon takes."""


def draw(
    graph: SessionGraph,
    layout: Layout | None = None,
    *,
    title: str = "Session graph",
    link: Callable[[Node], str] | None = None,
    styled: bool = False,
    words: bool = False,
    prefix: str = "",
) -> str:
    """Return an ``<svg>`` element with the nodes of ``graph`` and the relations between them. An empty graph gives an
    empty drawing.

    - ``layout``: positions; nodes without one are left out. ``None``: all nodes are arranged.
    - ``title``: name of the drawing for screen readers.
    - ``link``: returns the URL that a card links to; ``None``: no links.
    - ``styled``: whether to include the CSS, for pages that do not have it (see ``style``).
    - ``words``: whether to write the kind of each relation on its line, except for the plain "related"; with more than
      ``WORDS_MAX`` relations it is written for replacements only.
    - ``prefix``: prefix of the element ids, for a second drawing on one page.
    """
    places = arrange(graph.nodes(), graph.transitions()) if layout is None else layout
    shown = {node.id: node for node in graph.nodes() if node.id in places.boxes}
    width, height = places.width + 2 * MARGIN, places.height + 2 * MARGIN
    drawn = [edge for edge in graph.edges() if edge.source in shown and edge.target in shown]
    drawn = [edge for edge in drawn if edge.source != edge.target]
    routed = list(zip(drawn, route_edges([(edge.source, edge.target) for edge in drawn], places), strict=True))
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tm-graph" viewBox="{-MARGIN} {-MARGIN} {width} {height}"'
        f' width="{width}" height="{height}" role="group" aria-label="{escape(title)}">',
        f"<style>{style()}</style>" if styled else "",
        "<defs>",
        *_symbols(shown, prefix),
        *_arrowheads(prefix),
        "</defs>",
        *(_lane(lane) for lane in places.lanes),
        '<g class="tm-edges">',
        *_edges(routed, shown, prefix),
        "</g>",
        *(_card(node, places.boxes[node.id], link, prefix) for node in map(shown.get, places.boxes) if node),
        *(_words(routed, shown, places) if words else ()),
        "</svg>",
    ]
    return "".join(body)


def style() -> str:
    """Return the CSS for everything that ``draw`` draws; all classes begin with "tm-"."""
    return "".join(
        (
            _STYLE,
            *(
                f".tm-type-{type_.value}{{color:{look.light};color:light-dark({look.light},{look.dark})}}"
                for type_, look in TYPES.items()
            ),
            *(
                f".tm-status-{status.value} .tm-frame{{stroke-dasharray:{look.dash}}}"
                for status, look in STATUSES.items()
                if look.dash
            ),
            *(f".tm-edge-{kind.value}{{stroke-dasharray:{look.dash}}}" for kind, look in EDGES.items() if look.dash),
        )
    )


_STYLE: Final = (
    ".tm-graph{color-scheme:light dark;max-width:100%;height:auto;font:13px/1.25 system-ui,'Segoe UI',sans-serif;"
    "background:#fff;background:light-dark(#fff,#16181d);border-radius:8px}"
    ".tm-lane{fill:#f4f5f7;fill:light-dark(#f4f5f7,#1d2026)}"
    ".tm-heading{font-weight:600;font-size:14px;fill:currentColor}"
    ".tm-frame{fill:#fff;fill:light-dark(#fff,#262a32);stroke:currentColor;stroke-width:1.5}"
    ".tm-icon{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}"
    ".tm-label{fill:#16181d;fill:light-dark(#16181d,#eceef2);unicode-bidi:plaintext}"
    ".tm-note{font-size:11px;fill:#51565f;fill:light-dark(#51565f,#b3b9c4)}"
    ".tm-status-in_progress .tm-frame{stroke-width:2.5}"
    ".tm-status-superseded .tm-label,.tm-status-invalidated .tm-label{text-decoration:line-through}"
    ".tm-edge{fill:none;stroke:#6f7682;stroke:light-dark(#6f7682,#8b93a1);stroke-width:1.2;opacity:.75}"
    ".tm-edge-supersedes{stroke:#6d28d9;stroke:light-dark(#6d28d9,#c4b5fd);stroke-width:2;opacity:1}"
    ".tm-head{fill:#6f7682;fill:light-dark(#6f7682,#8b93a1)}"
    ".tm-head-supersedes{fill:#6d28d9;fill:light-dark(#6d28d9,#c4b5fd)}"
    ".tm-word{font-size:11px;fill:#16181d;fill:light-dark(#16181d,#eceef2);stroke:#fff;stroke:light-dark(#fff,#16181d);"
    "stroke-width:4px;paint-order:stroke}"
    "a:hover .tm-frame,a:focus .tm-frame{stroke-width:3}"
)


def _symbols(shown: Mapping[str, Node], prefix: str) -> Iterator[str]:
    """Yield the icon of each type among the ``shown`` nodes once."""
    present = {(node.type, _is_ticked(node)) for node in shown.values()}
    for type_, look in TYPES.items():
        for done in (False, True):
            if (type_, done) in present:
                yield (
                    f'<symbol id="{prefix}{_symbol(type_, done)}" viewBox="0 0 20 20">'
                    f'<path class="tm-icon" d="{look.shape(done)}"/></symbol>'
                )


def _symbol(type_: NodeType, done: bool) -> str:
    return f"tm-{type_.value}-done" if done else f"tm-{type_.value}"


def _is_ticked(node: Node) -> bool:
    return node.status is Status.COMPLETED and bool(TYPES[node.type].tick)


def _arrowheads(prefix: str) -> Iterator[str]:
    for name, class_ in (("tm-arrow", "tm-head"), ("tm-arrow-supersedes", "tm-head tm-head-supersedes")):
        yield (
            f'<marker id="{prefix}{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
            f' markerUnits="userSpaceOnUse" orient="auto"><path class="{class_}" d="M0 0L8 4L0 8Z"/></marker>'
        )


def _lane(lane: Lane) -> str:
    box = lane.box
    return (
        f'<g class="tm-type-{lane.type.value}"><rect class="tm-lane" x="{box.x}" y="{box.y}" width="{box.width}"'
        f' height="{box.height}" rx="10"/><text class="tm-heading" x="{box.x + 16}" y="{box.y + 27}">'
        f"{TYPES[lane.type].title} ({lane.count})</text></g>"
    )


def _card(node: Node, box: Box, link: Callable[[Node], str] | None, prefix: str) -> str:
    """Return the card of a node. It is an ``<svg>`` of its own, so that it clips text that is too long."""
    lines = wrap_text(label_of(node), (box.width - _ICON - 10) / _FONT)
    first = 24 if len(lines) == 1 else 20
    spans = "".join(
        f'<text class="tm-label" x="{_ICON}" y="{first + index * _LINE:g}">{escape(line)}</text>'
        for index, line in enumerate(lines)
    )
    kind = f"{node.kind.value} \u00b7 " if node.kind is not None else ""
    note = f"{STATUSES[node.status].mark} {kind}{name_status(node)} \u00b7 {node.source.mark}"
    inner = (
        f'<rect class="tm-frame" x="1.5" y="1.5" width="{box.width - 3}" height="{box.height - 3}" rx="7"/>'
        f'<use href="#{prefix}{_symbol(node.type, _is_ticked(node))}" x="9" y="11" width="18" height="18"/>'
        f'{spans}<text class="tm-note" x="{_ICON}" y="{box.height - 10}">{escape(note)}</text>'
    )
    card = (
        f'<svg class="tm-node tm-type-{node.type.value} tm-status-{node.status.value}" x="{box.x}" y="{box.y}"'
        f' width="{box.width}" height="{box.height}" data-id="{escape(node.id)}">'
        f"<title>{escape(TYPES[node.type].word)}: {escape(label_of(node))}</title>{inner}</svg>"
    )
    return card if link is None else f'<a href="{escape(link(node))}">{card}</a>'


def _edges(routed: Sequence[_Routed], shown: Mapping[str, Node], prefix: str) -> Iterator[str]:
    labels = {id: escape(label_of(node)) for id, node in shown.items()}
    for edge, route in routed:
        arrow = "tm-arrow-supersedes" if edge.type is EdgeType.SUPERSEDES else "tm-arrow"
        head = "" if edge.type is EdgeType.RELATED_TO else f' marker-end="url(#{prefix}{arrow})"'
        title = f"{labels[edge.source]} {name_relation(edge, shown[edge.source])} {labels[edge.target]}"
        path = path_of(route)
        yield f'<path class="tm-edge tm-edge-{edge.type.value}" d="{path}"{head}><title>{title}</title></path>'


def _words(routed: Sequence[_Routed], shown: Mapping[str, Node], layout: Layout) -> Iterator[str]:
    """Yield the kind of each relation as a word in a free place on its line; lines without a free place have none."""
    named = [(edge, route) for edge, route in routed if edge.type is not EdgeType.RELATED_TO]
    if len(named) > WORDS_MAX:
        named = [(edge, route) for edge, route in named if edge.type is EdgeType.SUPERSEDES]
    taken = list(layout.boxes.values())
    for edge, route in named:
        word = name_relation(edge, shown[edge.source])
        place = place_word(route, layout, math.ceil(width_of(word) * _WORD_FONT), taken)
        if place is None:
            continue
        taken.append(place)
        yield (
            f'<text class="tm-word tm-word-{edge.type.value}" x="{place.x + place.width // 2}" y="{place.bottom - 3}"'
            f' text-anchor="middle" aria-hidden="true">{escape(word)}</text>'
        )
