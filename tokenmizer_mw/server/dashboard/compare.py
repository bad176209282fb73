"""Page that compares two points of a session: the facts at each, and the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.graph.views import diff
from tokenmizer_mw.model.node import Node, NodeType
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.session import Marked, SessionState

from .asked import Page, PageRequest
from .frame import session_head
from .markup import Markup, join_markup, tag
from .titles import title_of
from .words import card, exactly, fact_link, format_count, link, message_link, nothing, quote_line, status_of, to

START: Final = "start"
NOW: Final = "now"
CHOICES: Final = 100
"""Checkpoints to choose from: the newest ones."""

ROWS: Final = 60
"""Facts of a type that are listed: the newest ones."""


def page(asked: PageRequest) -> Page:
    """Return the comparison of ``from`` and ``to``: ids of checkpoints, "start" or "now"."""

    def look(state: SessionState) -> tuple[str, int, list[Marked]]:
        return title_of(state), state.seq, list(state.checkpoints[-CHOICES:])

    title, seq, marks = asked.memory.view(asked.id, look, tenant=asked.tenant)
    named = {START: 0, **{mark.checkpoint.id: mark.seq for mark in marks}, NOW: seq}
    first = _chosen_option(asked, "from", named, START)
    second = _chosen_option(asked, "to", named, NOW)
    key, pasts = SessionKey(asked.tenant, asked.id), asked.kept.pasts
    before, after = (pasts.upto(asked.memory, key, named[name]) for name in (first, second))
    only = asked.query.get("only") == "changed"
    body = join_markup(
        session_head(asked, "history", title),
        _form(asked, tuple(named), first, second, only),
        _sides(asked, before, after, {mark.checkpoint.id: mark for mark in marks}, (first, second), only),
    )
    return Page(f"Compare - {title or asked.id}", body, "", asked.id)


def _chosen_option(asked: PageRequest, field: str, named: Mapping[str, int], default: str) -> str:
    name = asked.query.get(field, default)
    return name if name in named else default


def _form(asked: PageRequest, names: Sequence[str], first: str, second: str, only: bool) -> Markup:
    def choice(name: str, title: str, value: str) -> Markup:
        options = [tag("option", one, value=one, selected=one == value) for one in names]
        return tag("label", tag("span", title), tag("select", options, name=name), class_="field")

    box = tag("input", type="checkbox", name="only", value="changed", checked=only)
    return tag(
        "form",
        tag("input", type="hidden", name="id", value=asked.id),
        choice("from", "Left", first),
        choice("to", "Right", second),
        tag("label", box, " only what differs", class_="radio"),
        tag("button", "Compare"),
        link(f"{to('history', id=asked.id, from_=first, to=second)}#checkpoints", "As a list of changes"),
        method="get",
        action="compare",
        class_="filters",
    )


def _sides(
    asked: PageRequest,
    before: SessionGraph,
    after: SessionGraph,
    marks: Mapping[str, Marked],
    names: tuple[str, str],
    only: bool,
) -> Markup:
    found = diff(before, after)
    changed = {node.id for _, node in found.changed}
    signs = {node.id: "gone" for node in found.removed} | {node.id: "new" for node in found.added}
    signs |= dict.fromkeys(changed, "changed")
    sides = [
        _side(asked, graph, name, marks.get(name), signs, only)
        for graph, name in zip((before, after), names, strict=True)
    ]
    text = f"{format_count(len(found.added), 'fact')} added, {len(changed):,} changed, {len(found.removed):,} gone."
    return join_markup(tag("p", text, class_="hint", id="differences"), tag("div", sides, class_="beside"))


def _side(
    asked: PageRequest, graph: SessionGraph, name: str, mark: Marked | None, signs: Mapping[str, str], only: bool
) -> Markup:
    when = None
    if mark is not None:
        when = tag("p", f"message {mark.checkpoint.turn}, {exactly(mark.recorded_at)}", class_="hint")
    parts = [_type(asked, graph, type_, signs, only) for type_ in TYPES]
    shown = [part for part in parts if part is not None]
    return card(name.capitalize(), when, *(shown or [nothing("Nothing differs." if only else "No facts yet.")]))


def _type(
    asked: PageRequest, graph: SessionGraph, type_: NodeType, signs: Mapping[str, str], only: bool
) -> Markup | None:
    nodes = [node for node in graph.nodes(type_) if (node.id in signs if only else node.current or node.id in signs)]
    if not nodes:
        return None
    rows = [_row(asked, node, signs.get(node.id, "")) for node in nodes[-ROWS:]]
    more = tag("p", f"{len(nodes) - ROWS:,} earlier", class_="hint") if len(nodes) > ROWS else None
    return join_markup(tag("h3", f"{TYPES[type_].title} ({len(nodes):,})"), more, tag("ul", rows, class_="facts"))


def _row(asked: PageRequest, node: Node, sign: str) -> Markup:
    return tag(
        "li",
        status_of(node.status),
        fact_link(asked.id, node),
        tag("span", sign, class_=f"badge is-{sign}") if sign else None,
        message_link(asked.id, node.source.turn),
        tag("span", "because ", quote_line(node.detail), class_="reason") if node.detail and sign else None,
    )
