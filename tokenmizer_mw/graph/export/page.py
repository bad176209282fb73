"""A graph as one self-contained HTML page: it needs no server, no network and no library.

Without scripts the page shows lists by type; its script adds a map, search, filters, a time slider and details. Its
content security policy allows only that script and style, by their hashes. The data is JSON that cannot close its
element.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib import resources
from typing import Any, Final

from tokenmizer_mw.graph.explanation import qualify_replacement
from tokenmizer_mw.graph.export.appearance import EDGES, STATUSES, TYPES, name_status
from tokenmizer_mw.graph.export.layout import Layout, arrange
from tokenmizer_mw.graph.export.selection import NODES_MAX, Selection, chain_replacements, select_facts
from tokenmizer_mw.graph.export.text import label_of, speaker_of, step_place, words_of
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.node import WITHDRAWN, Node, NodeType, Status, Transition, is_current

_LINES_MAX: Final = 300
"""With more relations than this, the map shows at first only those of the selected fact."""

_STATUSES: Final = tuple(STATUSES)
_WITHDRAWN: Final = len(STATUSES)
"""Index, among the statuses of the page's data, of that of a fact that never was true."""

_EDGES: Final = tuple(EDGES)
_ESCAPED: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def html_page(graph: SessionGraph, title: str = "", *, most: int = NODES_MAX) -> str:
    """Return an HTML page of ``graph``, with at most ``most`` facts, the most important ones. ``title``: the name of
    the session; "" gives the heading "Session"."""
    chosen = select_facts(graph, most, undone=True)  # its slider shows earlier times
    layout = arrange(chosen.nodes, chosen.steps)
    style, script = _style(), _asset("page.js")
    name = words_of(title) or "Session"
    return "".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">',
            f"<title>{escape(name)}: session graph</title><style>{style}</style></head>\n<body>",
            *_symbols(),
            _header(name, chosen),
            "<main>",
            *_tools(chosen),
            '<div class="stage"><div class="map" id="map" role="group" aria-label="Facts by type">',
            '<div class="sheet"><svg class="edges" aria-hidden="true"></svg>',
            *_lanes(chosen),
            "</div></div>",
            '<aside class="details scripted" id="details" aria-labelledby="details-title">',
            '<h2 id="details-title">Details</h2><div id="about"></div>',
            '<button type="button" id="close">Close</button></aside></div>',
            *_story(chosen),
            "</main>\n",
            f'<script type="application/json" id="data">{_json(_data(graph, chosen, layout))}</script>\n',
            f"<script>{script}</script></body></html>\n",
        )
    )


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none';"
        " form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    colours = "".join(
        f".t-{type_.value}{{--type:light-dark({look.light},{look.dark})}}" for type_, look in TYPES.items()
    )
    plain = "".join(f".t-{type_.value}{{--type:{look.light}}}" for type_, look in TYPES.items())
    return f"{_asset('page.css')}{plain}@supports (color:light-dark(red,red)){{{colours}}}"


def _json(value: Any) -> str:
    """Return ``value`` as JSON that cannot end the HTML element that contains it, nor a line of a script."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)


def _symbols() -> Iterator[str]:
    yield '<svg class="symbols" aria-hidden="true">'
    for type_, look in TYPES.items():
        yield f'<symbol id="i-{type_.value}" viewBox="0 0 20 20"><path d="{look.icon}"/></symbol>'
    for name in ("arrow", "arrow-near"):
        yield (
            f'<marker id="{name}" class="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10"'
            ' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker>'
        )
    yield "</svg>"


def _icon(type_: NodeType) -> str:
    return f'<svg class="icon" aria-hidden="true"><use href="#i-{type_.value}"/></svg>'


def _header(name: str, chosen: Selection) -> str:
    counts = [_format_count(len(chosen.nodes), "fact"), _format_count(len(chosen.edges), "relation")]
    counts.append(_format_count(len(chosen.steps), "replaced decision"))
    if chosen.left_out:
        counts.append(f"{chosen.left_out:,} less important facts left out")
    theme = '<button type="button" id="theme" class="scripted">Change theme</button>'
    return f'<header><div><h1 dir="auto">{escape(name)}</h1><p>{", ".join(counts)}</p></div>{theme}</header>'


def _format_count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _tools(chosen: Selection) -> Iterator[str]:
    """Yield the controls for search, filters, time and view, all of which need the script."""
    yield '<form class="tools scripted" id="tools" role="search" aria-label="Facts">'
    yield '<div class="row"><label class="search">Search <input type="search" id="query" autocomplete="off"></label>'
    yield '<fieldset class="choice"><legend>View</legend>'
    yield '<label><input type="radio" name="view" value="map" checked>Map</label>'
    yield '<label><input type="radio" name="view" value="list">List</label></fieldset>'
    yield '<div class="zoom" role="group" aria-label="Size of the map">'
    for name, sign, description in (
        ("out", "\u2212", "Smaller"),
        ("fit", "Fit", "Fit the whole map"),
        ("in", "+", "Larger"),
    ):
        yield f'<button type="button" id="zoom-{name}" aria-label="{description}">{sign}</button>'
    lines = " checked" if len(chosen.edges) <= _LINES_MAX else ""
    yield f'</div><label><input type="checkbox" id="lines"{lines}>All relations</label>'
    yield '<p id="found" role="status"></p></div>'
    yield '<details id="filters" open><summary>Filters</summary><fieldset class="chips"><legend>Types</legend>'
    for type_, lane in chosen.by_type().items():
        look = TYPES[type_]
        yield (
            f'<label class="t-{type_.value}"><input type="checkbox" name="type" value="{type_.value}" checked>'
            f"{_icon(type_)}{look.title} <span>{len(lane)}</span></label>"
        )
    yield '</fieldset><fieldset class="chips"><legend>Statuses</legend>'
    for status in _STATUSES:
        look_ = STATUSES[status]
        yield (
            f'<label><input type="checkbox" name="status" value="{status.value}" checked>'
            f'<span aria-hidden="true">{look_.mark}</span> {look_.word}</label>'
        )
    yield '</fieldset></details><div class="row time" id="time"><fieldset class="choice"><legend>Time</legend>'
    yield '<label><input type="radio" name="clock" value="recorded" checked>as recorded</label>'
    yield '<label><input type="radio" name="clock" value="valid">as valid</label></fieldset>'
    yield '<label class="slider">At <input type="range" id="at" min="0" max="0" value="0"></label>'
    yield '<output id="when" for="at"></output></div></form>'


def _lanes(chosen: Selection) -> Iterator[str]:
    if not chosen.nodes:
        yield '<p class="nothing">Nothing is known of this session yet: facts come with its messages.</p>'
    for type_, lane in chosen.by_type().items():
        look = TYPES[type_]
        yield (
            f'<section class="lane t-{type_.value}" data-type="{type_.value}" data-word="{look.word}"'
            f' aria-labelledby="l-{type_.value}">'
        )
        yield f'<h2 id="l-{type_.value}">{_icon(type_)}{look.title} <span>({len(lane)})</span></h2><ul>'
        for node in lane:
            status = f"{STATUSES[node.status].mark} {name_status(node)}"
            yield (
                f'<li id="n-{escape(node.id)}" class="s-{node.status.value}"><button type="button">'
                f'<b dir="auto">{escape(label_of(node))}</b>'
                f"<small>{status} \u00b7 {node.source.place}</small></button></li>"
            )
        yield "</ul></section>"


def _story(chosen: Selection) -> Iterator[str]:
    """Yield the section that tells what replaced what and why, chain by chain."""
    nodes = {node.id: node for node in chosen.nodes}
    yield '<section class="story" aria-labelledby="story"><h2 id="story">How decisions changed</h2>'
    chains = chain_replacements(chosen.steps)
    if not chains:
        yield "<p>Nothing was replaced in this session.</p>"
    for chain in chains:
        yield f'<h3 dir="auto">{escape(label_of(nodes[chain[-1].new]))}</h3><ol>'
        for step in chain:
            yield _step(step, nodes)
        yield "</ol>"
    yield "</section>"


def _step(step: Transition, nodes: Mapping[str, Node]) -> str:
    """Return the list item for one replacement. The script shows a copy of it among the details of a fact."""
    because = f'<p dir="auto">{escape(words_of(step.reason))}</p>' if step.reason else ""
    quote = f'<blockquote dir="auto">{escape(words_of(step.evidence))}</blockquote>' if step.evidence else ""
    old, new = nodes[step.old], nodes[step.new]
    arrow = '<span aria-label="was replaced by">\u2192</span>'
    if new.replaces_perhaps:
        arrow = f'{qualify_replacement(new, "replaced by")} <span aria-hidden="true">\u2192</span>'
    return (
        f'<li><p><span class="turn">{step_place(step, new)}</span> {_link(old)}'
        f" {arrow} {_link(new)}</p>{because}{quote}</li>"
    )


def _link(node: Node) -> str:
    return f'<a href="#n-{escape(node.id)}"><bdi>{escape(label_of(node))}</bdi></a>'


def _data(graph: SessionGraph, chosen: Selection, layout: Layout) -> dict[str, Any]:
    """Return the data that the script needs beyond the page's own text. Edges and steps refer to nodes by their index
    in ``nodes``; times are seconds after ``start``."""
    start = min((graph.life(node.id).added for node in chosen.nodes), default=0.0)
    statuses = [[status.value, STATUSES[status].mark, STATUSES[status].word] for status in _STATUSES]
    withdrawn = [Status.INVALIDATED.value, STATUSES[Status.INVALIDATED].mark, WITHDRAWN]
    places = {node.id: place for place, node in enumerate(chosen.nodes)}
    return {
        "start": start,
        "statuses": [*statuses, withdrawn],
        "over": [*(place for place, status in enumerate(_STATUSES) if not is_current(status)), _WITHDRAWN],
        "relations": [[kind.value, EDGES[kind].word, EDGES[kind].dash] for kind in _EDGES],
        "size": [layout.width, layout.height],
        "lanes": [[lane.box.x, lane.box.y, lane.box.width, lane.box.height] for lane in layout.lanes],
        "nodes": [_node(graph, node, layout, start) for node in chosen.nodes],
        "edges": [[places[edge.source], places[edge.target], _EDGES.index(edge.type)] for edge in chosen.edges],
        "steps": [[places[step.old], places[step.new]] for chain in chain_replacements(chosen.steps) for step in chain],
    }


def _node(graph: SessionGraph, node: Node, layout: Layout, start: float) -> dict[str, Any]:
    """Return the data of one node. ``at``: position of its card; ``moves``: pairs of time and index of the status since
    then; ``by``: who said it; ``said``: with which words; ``why``: why its status changed last; ``sure``: its
    confidence in percent."""
    box, life = layout.boxes[node.id], graph.life(node.id)
    quote = words_of(node.source.quote)
    moves = [[round(at - start, 3), _STATUSES.index(status)] for at, status in life.moves]
    if node.is_withdrawn:
        moves[-1][1] = _WITHDRAWN
    members: dict[str, Any] = {
        "at": [box.x, box.y],
        "moves": moves,
        "by": speaker_of(node.source),
        "said": quote if quote != label_of(node) else "",
        "detail": words_of(node.detail) if node.detail != node.label else "",
        "kind": node.kind.value if node.kind is not None else "",
        "why": words_of(life.reason),
        "sure": "" if node.confidence >= 1 else f"{node.confidence:.0%}",
        "from": _seconds_after(node.valid_from, start),
        "until": _seconds_after(node.valid_until, start),
    }
    return {name: value for name, value in members.items() if value not in ("", None)}


def _seconds_after(time: float | None, start: float) -> float | None:
    return None if time is None else round(time - start, 3)
