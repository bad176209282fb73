"""The list of a session's facts, filtered by type and status, in pages and as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tokenmizer_mw.graph.export.appearance import STATUSES, TYPES
from tokenmizer_mw.model.node import Node, NodeType, Status
from tokenmizer_mw.session import SessionState

from .asked import File, Page, PageRequest
from .files import csv_file, json_file
from .found import form
from .frame import session_head
from .live import mark_of_session
from .markup import Markup, join_markup, tag
from .titles import title_of
from .words import fact_link, format_count, link, message_link, nothing, status_of, to, type_of

PER_PAGE: Final = 50
OPEN: Final = "open"
"""What stands for work that is not finished and errors that are not fixed."""

CURRENT: Final = "current"


def choose_nodes(nodes: Sequence[Node], type_: str, status: str) -> list[Node]:
    """Return the nodes of a type and a status ("" for any), newest first."""
    return [node for node in reversed(nodes) if _fits(node, type_, status)]


def _fits(node: Node, type_: str, status: str) -> bool:
    if type_ and node.type.value != type_:
        return False
    if status == OPEN:
        return node.open or (node.type is NodeType.ERROR and node.status is Status.ACTIVE)
    if status == CURRENT:
        return node.current
    return not status or node.status.value == status


def filters(asked: PageRequest, page_name: str, type_: str, status: str, **kept: str) -> Markup:
    """Return the form that selects type and status; ``kept``: other query parameters to preserve."""
    types = [("", "All types"), *((one.value, look.title) for one, look in TYPES.items())]
    statuses = [("", "Any status"), (CURRENT, "current"), (OPEN, "open")]
    statuses += [(one.value, look.word) for one, look in STATUSES.items()]
    hidden = [
        tag("input", type="hidden", name=name, value=value) for name, value in {"id": asked.id, **kept}.items() if value
    ]
    return tag(
        "form",
        hidden,
        _select("type", "Type", types, type_),
        _select("status", "Status", statuses, status),
        tag("button", "Show"),
        method="get",
        action=page_name,
        class_="filters",
    )


def _select(name: str, title: str, options: Sequence[tuple[str, str]], value: str) -> Markup:
    given = [tag("option", text, value=key, selected=key == value) for key, text in options]
    return tag("label", tag("span", title), tag("select", given, name=name), class_="field")


SORTS: Final[Mapping[str, Callable[[Node], object]]] = {
    "fact": lambda node: node.label.casefold(),
    "type": lambda node: list(TYPES).index(node.type),
    "status": lambda node: list(STATUSES).index(node.status),
    "message": lambda node: node.source.turn,
}
"""What facts can be sorted by: the columns of the table."""


def order_nodes(nodes: list[Node], sort: str) -> list[Node]:
    """Return ``nodes`` sorted by a column ("-" before its name for descending); unchanged for an unknown name."""
    key = SORTS.get(sort.removeprefix("-"))
    return nodes if key is None else sorted(nodes, key=key, reverse=sort.startswith("-"))  # type: ignore[arg-type]


def csv(asked: PageRequest) -> File:
    """Return the selected facts as a CSV file."""
    return csv_file("facts.csv", _records(asked))


def json(asked: PageRequest) -> File:
    """Return the selected facts as a JSON file."""
    return json_file("facts.json", _records(asked))


def _records(asked: PageRequest) -> list[dict[str, object]]:
    query = asked.query
    nodes = asked.memory.graph(asked.id, tenant=asked.tenant).nodes()
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


def page(asked: PageRequest) -> Page:
    """Return one page of the list."""
    type_, status = asked.query.get("type", ""), asked.query.get("status", "")
    sort = asked.query.get("sort", "")
    at = asked.query.get("page", "1")
    number = max(1, min(int(at), 100_000)) if at.isdecimal() and len(at) < 7 else 1

    def look(state: SessionState) -> tuple[str, int, list[Node], int]:
        nodes = order_nodes(choose_nodes(state.graph.nodes(), type_, status), sort)
        return title_of(state), state.seq, nodes[(number - 1) * PER_PAGE : number * PER_PAGE], len(nodes)

    title, seq, shown, count = asked.memory.view(asked.id, look, tenant=asked.tenant)
    body = join_markup(
        session_head(asked, "facts", title),
        tag("div", filters(asked, "facts", type_, status), form(asked, ""), class_="tools"),
        tag(
            "div",
            tag("p", f"{format_count(count, 'fact')}{'' if sort else ', the newest first'}.", class_="hint"),
            table(asked, shown) if shown else nothing("No facts like that."),
            id="list",
            data_live=True,
        ),
        _pages(asked, type_, status, number, count),
        _files(asked),
    )
    live = to("events", id=asked.id, since=mark_of_session(seq)) if number == 1 else ""
    return Page(f"Facts - {title or asked.id}", body, "", asked.id, live)


def _files(asked: PageRequest) -> Markup:
    query = {name: asked.query.get(name) for name in ("type", "status", "sort")}
    csv_, json_ = (link(to(f"facts.{kind}", id=asked.id, **query), kind.upper()) for kind in ("csv", "json"))
    return tag("p", "These facts as ", csv_, " or ", json_, class_="hint")


def _head(asked: PageRequest, name: str) -> Markup:
    """A heading that sorts by its column, the other way round when it is asked for again."""
    sort = asked.query.get("sort", "")
    kept = {key: asked.query.get(key) for key in ("type", "status")}
    address = to("facts", id=asked.id, **kept, sort=f"-{name}" if sort == name else name)
    order = {name: "ascending", f"-{name}": "descending"}.get(sort)
    return tag("th", link(address, name.capitalize()), scope="col", aria_sort=order)


def table(asked: PageRequest, nodes: Sequence[Node]) -> Markup:
    """Return a table of facts, one per row."""
    head = tag("tr", [_head(asked, name) for name in SORTS])
    rows = [
        tag(
            "tr",
            tag(
                "td",
                fact_link(asked.id, node),
                tag("span", "pinned", class_="badge") if node.pinned else None,
                class_="first",
            ),
            tag("td", type_of(node), data_label="Type"),
            tag("td", status_of(node.status), data_label="Status"),
            tag("td", message_link(asked.id, node.source.turn), class_="number"),
        )
        for node in nodes
    ]
    return tag("table", tag("thead", head), tag("tbody", rows), class_="list")


def _pages(asked: PageRequest, type_: str, status: str, number: int, count: int) -> Markup | None:
    last = max(1, -(-count // PER_PAGE))
    if last == 1:
        return None

    def at(page: int, text: str, rel: str) -> Markup:
        sort = asked.query.get("sort")
        return link(
            to("facts", id=asked.id, type=type_, status=status, sort=sort, page=page), text, class_="button", rel=rel
        )

    newer = at(number - 1, "Newer", "prev") if number > 1 else None
    older = at(number + 1, "Older", "next") if number < last else None
    where = tag("span", f"Page {number:,} of {last:,}")
    return tag("nav", newer, where, older, class_="pages", aria_label="Pages of facts")
