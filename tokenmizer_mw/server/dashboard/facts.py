"""The page that lists the facts of a session, filtered by type and status and sorted; the same list as a file; and the
page that searches facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.graph.export.appearance import STATUSES, TYPES
from tokenmizer_mw.graph.search import SearchHit, former_nodes, search
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.manual_edits import edits_in_force

from .caches import title_of
from .markup import (
    Markup,
    card,
    fact_link,
    filter_form,
    format_count,
    hidden_fields,
    is_repeated,
    join_markup,
    link,
    nothing,
    origin_link,
    page_links,
    pinned_badge,
    quote_line,
    select_field,
    status_of,
    tag,
    to,
    type_of,
)
from .page import Page, PageRequest, file_links, heading, session_page

PER_PAGE: Final = 50

OPEN: Final = "open"
"""Status filter that selects unfinished work and errors that are not fixed. The other filters are "current" and the
values of ``Status``."""

_CURRENT: Final = "current"


def choose_nodes(nodes: Sequence[Node], type_: str, status: str) -> list[Node]:
    """Return those of ``nodes`` (oldest first) that match a type and a status, newest first.

    - ``type_``: a type, such as "task", or a kind of decision, such as "rule"; "" for any.
    - ``status``: a value of ``Status``; "open" for unfinished work and errors that are not fixed; "current" for facts
      that still hold; "" for any.
    """
    return [node for node in reversed(nodes) if _fits(node, type_, status)]


def _fits(node: Node, type_: str, status: str) -> bool:
    if type_ and type_ not in (node.type.value, node.kind):
        return False
    if status == OPEN:
        return node.open or (node.type is NodeType.ERROR and node.status is Status.ACTIVE)
    if status == _CURRENT:
        return node.current
    return not status or node.status.value == status


def filters(request: PageRequest, page_name: str, type_: str, status: str, **kept: str) -> Markup:
    """Return the form with which people select facts by type and status on the page ``page_name``. ``type_``,
    ``status``: the current selection, as in ``choose_nodes``. ``kept``: further query parameters to keep."""
    return filter_form(
        page_name,
        {"id": request.id, **kept},
        select_field("type", "Type", [("", "All types"), *_type_options()], type_),
        select_field("status", "Status", [("", "Any status"), *_status_options()], status),
        tag("button", "Show"),
    )


def name_of_filter(type_: str, status: str) -> str:
    """Return the selected type and status in the words that people see, such as "Decisions, current"; "" if neither is
    selected or known."""
    options = (dict(_type_options()).get(type_), dict(_status_options()).get(status))
    return ", ".join(word for word in options if word)


def _status_options() -> Iterator[tuple[str, str]]:
    yield from ((_CURRENT, "current"), (OPEN, "open"))
    yield from ((one.value, look.word) for one, look in STATUSES.items())


def _type_options() -> Iterator[tuple[str, str]]:
    for type_, look in TYPES.items():
        yield type_.value, look.title
        if type_ is NodeType.DECISION:
            yield from ((kind.value, f"{look.title}: {kind.value}s") for kind in DecisionKind)


SORTS: Final[Mapping[str, Callable[[Node], object]]] = {
    "fact": lambda node: node.label.casefold(),
    "type": lambda node: list(TYPES).index(node.type),
    "status": lambda node: list(STATUSES).index(node.status),
    "message": lambda node: node.source.turn,
}
"""Name of a column of the table -> function that returns the sort key of a fact for this column."""


def order_nodes(nodes: list[Node], sort: str) -> list[Node]:
    """Return ``nodes`` sorted by ``sort``, a key of ``SORTS`` such as "status", or "-status" for the reverse order. Any
    other text returns them unchanged."""
    key = SORTS.get(sort.removeprefix("-"))
    return nodes if key is None else sorted(nodes, key=key, reverse=sort.startswith("-"))  # type: ignore[arg-type]


def fact_records(request: PageRequest) -> list[dict[str, object]]:
    """Return the facts that the query selects, in the order that it asks for, as dictionaries for a file."""
    query = request.query
    nodes = request.memory.graph(request.id, tenant=request.tenant).nodes()
    fitting = order_nodes(choose_nodes(nodes, query.get("type", ""), query.get("status", "")), query.get("sort", ""))
    return [_record(node) for node in fitting]


def _record(node: Node) -> dict[str, object]:
    return {
        "id": node.id,
        "type": node.type.value,
        "kind": node.kind.value if node.kind is not None else "",
        "status": node.status.value,
        "fact": node.label,
        "because": node.detail,
        "value": node.value,
        "message": node.source.turn,
        "said_by": node.source.role,
        "words": node.source.quote,
        "confidence": round(node.confidence, 3),
        "pinned": node.pinned,
    }


def show_facts(request: PageRequest) -> Page:
    """Return the page with the list of facts that the query selects. The parameter ``page`` of the query is the number
    of the page of the list."""
    type_, status = request.query.get("type", ""), request.query.get("status", "")
    sort = request.query.get("sort", "")
    at = request.query.get("page", "1")
    number = max(1, min(int(at), 100_000)) if at.isdecimal() and len(at) < 7 else 1

    def look(state: SessionState) -> tuple[str, int, list[Node], int]:
        nodes = order_nodes(choose_nodes(state.graph.nodes(), type_, status), sort)
        return title_of(state), state.seq, nodes[(number - 1) * PER_PAGE : number * PER_PAGE], len(nodes)

    title, seq, shown, count = request.memory.view(request.id, look, tenant=request.tenant)
    query = {"id": request.id, "type": type_, "status": status, "sort": sort}
    return session_page(
        request,
        "facts",
        title,
        tag("div", filters(request, "facts", type_, status), search_form(request, ""), class_="tools"),
        tag(
            "div",
            tag("p", f"{format_count(count, 'fact')}{'' if sort else ', the newest first'}.", class_="hint"),
            table(request, shown) if shown else nothing("No fact matches."),
            id="list",
            data_live=True,
        ),
        page_links(number, max(1, -(-count // PER_PAGE)), "Pages of facts", ("Newer", "Older"), "facts", **query),
        file_links("facts", **query),
        name="Facts",
        seq=seq if number == 1 else None,
    )


def _head(request: PageRequest, name: str) -> Markup:
    """Return the heading of the column ``name``: a link that sorts the table by this column, or in the reverse order if
    the table is sorted by it already."""
    sort = request.query.get("sort", "")
    chosen = {key: request.query.get(key) for key in ("type", "status")}
    address = to("facts", id=request.id, **chosen, sort=f"-{name}" if sort == name else name)
    order = {name: "ascending", f"-{name}": "descending"}.get(sort)
    return tag("th", link(address, name.capitalize()), scope="col", aria_sort=order)


def table(request: PageRequest, nodes: Sequence[Node]) -> Markup:
    """Return an HTML table of ``nodes`` in the given order, one fact per row. Its headings are links that sort it."""
    head = tag("tr", [_head(request, name) for name in SORTS])
    rows = [
        tag(
            "tr",
            tag("td", fact_link(request.id, node), pinned_badge(node), class_="first"),
            tag("td", type_of(node), data_label="Type"),
            tag("td", status_of(node), data_label="Status"),
            tag("td", origin_link(request.id, node), class_="number"),
        )
        for node in nodes
    ]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="list")


TEXT_MAX: Final = 200
HITS_MAX: Final = 20
PER_SESSION: Final = 5

SEARCHED_EVENTS_MAX: Final = 1_500
"""A search of all sessions reads sessions with at most this many events in total. The most recently active ones are
read first; a session that does not fit is skipped."""

SEARCHED_SESSIONS_MAX: Final = 20


def search_facts(request: PageRequest) -> Page:
    """Return the page with the facts that match ``q`` of the query: in the session that the query names, or else in the
    most recently active sessions."""
    text = flatten(request.query.get("q", ""), TEXT_MAX)
    if request.id:
        return _within(request, text)
    lead = tag("p", "Facts by their words, or by what they are: \u201cdatabase\u201d finds PostgreSQL.", class_="lead")
    found = _link_everywhere(request, text) if text else None
    return Page("Search", join_markup(heading("Search", lead), search_form(request, text), found), "search")


def search_form(request: PageRequest, text: str) -> Markup:
    """Return the search form, with ``text`` in its field. It searches in the session that the request names, or else in
    all sessions."""
    return tag(
        "form",
        hidden_fields({"id": request.id}),
        tag("label", "Words of a fact", for_="q", class_="visually-hidden"),
        tag("input", type="search", name="q", id="q", value=text, maxlength=TEXT_MAX, placeholder="Words of a fact"),
        tag("button", "Search"),
        method="get",
        action="search",
        class_="find",
        role="search",
    )


def _within(request: PageRequest, text: str) -> Page:
    def look(state: SessionState) -> tuple[str, list[SearchHit]]:
        former = former_nodes(state.graph, edits_in_force([one.edit for one in state.edits.values()]))
        return title_of(state), search(state.graph, text, k=HITS_MAX, former=former) if text else []

    title, hits = request.memory.view(request.id, look, tenant=request.tenant)
    shown = _hits(request.id, hits) if hits else nothing("No fact shares words with that." if text else "")
    section = tag("section", shown, class_="card")
    return session_page(request, "facts", title, search_form(request, text), section, name="Search")


def _link_everywhere(request: PageRequest, text: str) -> Markup:
    cards, looked_at, left = [], 0, SEARCHED_EVENTS_MAX
    for info in request.memory.log.sessions(request.tenant, limit=SEARCHED_SESSIONS_MAX):
        if info.seq > left:
            continue
        left -= info.seq
        looked_at += 1
        try:
            title, hits = request.memory.view(
                info.key.id,
                lambda state: (title_of(state), search(state.graph, text, k=PER_SESSION)),
                tenant=request.tenant,
            )
        except UnknownSession:  # erased meanwhile
            continue
        if hits:
            more = link(to("search", id=info.key.id, q=text), "Search this session", class_="stay")
            cards.append(card(title or info.key.id, _hits(info.key.id, hits), more=more, goal=bool(title)))
    which = (
        f"Searched the sessions that were active most recently ({looked_at:,}). Very long and older sessions are"
        " searched from their own pages."
    )
    none = nothing("No fact shares words with that.") if not cards else None
    return tag("div", none, cards, tag("p", which, class_="hint"))


def _quote(node: Node) -> Markup | None:
    """Return the quoted words that a fact comes from as HTML. ``None`` if there are none, or if the fact's label
    contains them already."""
    words = node.source.quote
    return tag("q", quote_line(words), class_="quote") if words and not is_repeated(words, node.label) else None


def _hits(session_id: str, hits: list[SearchHit]) -> Markup:
    rows = [
        tag(
            "li",
            type_of(hit.node),
            fact_link(session_id, hit.node),
            status_of(hit.node),
            origin_link(session_id, hit.node),
            _quote(hit.node),
        )
        for hit in hits
    ]
    return tag("ul", rows, class_="facts found")
