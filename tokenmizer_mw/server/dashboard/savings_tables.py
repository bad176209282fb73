"""The tables of the savings page, by stage, model and day: sorted by any column, and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tokenmizer_mw.context.savings import dollars
from tokenmizer_mw.model.usage import ANSWERED, CALL, CUT, REFINE, Sum, UsageSums, total

from .markup import Child, Markup, card, link, nothing, quote_line, tag, to
from .page import PageRequest, file_links

DAYS_LISTED: Final = 30
"""Days that are listed on the page, the newest ones; a file has all."""

NO_PRICE: Final = "\u2013"
"""What stands in place of an amount where no price is known."""

By = Literal["stage", "model", "day"]
Row = tuple[str, UsageSums]
"""A stage, model or day, and its sums."""

_STAGES: Final = {
    CUT: "resume block in place of old messages",
    ANSWERED: "answers given again",
    REFINE: "a model that reads the session",
}
"""What stages do; those of compression have names of their own."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of numbers. ``name``: in addresses and files; ``is_money``: in billionths of a dollar."""

    name: str
    head: str
    value: Callable[[UsageSums], int]
    is_money: bool = False

    def render(self, figures: UsageSums, priced: bool) -> str:
        """Return a cell of the page."""
        if not self.is_money:
            return f"{self.value(figures):,}"
        return money(self.value(figures)) if priced else NO_PRICE

    def record(self, figures: UsageSums, priced: bool) -> int | float | None:
        """Return a cell of a file: tokens, or dollars, ``None`` where no price is known."""
        if not self.is_money:
            return self.value(figures)
        return dollars(self.value(figures)) if priced else None


_CALLS: Final = _Column("calls", "Calls", lambda figures: figures.calls)
_OF_CALLS: Final = (
    _CALLS,
    _Column("tokens_without_memory", "Tokens without memory", lambda figures: figures.client_tokens),
    _Column("tokens_sent", "Tokens sent", lambda figures: figures.input_tokens),
    _Column("cost", "Cost", lambda figures: figures.cost, is_money=True),
    _Column("saved", "Saved", lambda figures: figures.saved, is_money=True),
)
_OF_STAGES: Final = (
    _CALLS,
    _Column("tokens_before", "Tokens before", lambda figures: figures.client_tokens),
    _Column("tokens_after", "Tokens after", lambda figures: figures.input_tokens),
    _Column("tokens_saved", "Tokens saved", lambda figures: figures.saved_tokens),
    _Column("saved", "Money saved", lambda figures: figures.saved, is_money=True),
)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table. ``order``: its column and direction if nothing else is requested, "-" for descending."""

    title: str
    head: str
    columns: tuple[_Column, ...]
    order: str


TABLES: Final[Mapping[By, _Table]] = {
    "stage": _Table("By stage", "Stage", _OF_STAGES, "-saved"),
    "model": _Table("By model", "Model", _OF_CALLS, "model"),
    "day": _Table("By day", "Day", _OF_CALLS, "-day"),
}


def render_tables(request: PageRequest) -> list[Markup]:
    """Return the tables, each with links to its files."""
    return [_render(request, by) for by in TABLES]


def savings_records(request: PageRequest) -> list[dict[str, object]]:
    """Return the rows of the table ``by`` of the query (by default the days), sorted as the query says, for a file."""
    by = read_by(request)
    if request.id:
        request.memory.view(request.id, lambda state: None, tenant=request.tenant)  # raises for an unknown session
    rows, priced = _read_rows(request, by)
    return [
        {by: name, **{one.name: one.record(figures, priced(figures)) for one in TABLES[by].columns}}
        for name, figures in _sort_rows(rows, by, _sort_of(request, by))
    ]


def savings_file(request: PageRequest, kind: str) -> str:
    """Return the name of the file for the table that the query names."""
    return f"savings-by-{read_by(request)}.{kind}"


def read_by(request: PageRequest) -> By:
    """Return the table that the query names; "day" for anything else."""
    return next((by for by in TABLES if by == request.query.get("by")), "day")


def is_priced(figures: UsageSums) -> bool:
    """Whether the price of any of the calls is known."""
    return figures.unpriced < figures.calls


def money(nano: int) -> str:
    """Format an amount given in billionths of a dollar; less than a dollar to a hundredth of a cent."""
    amount = dollars(nano)
    return f"{'-' if amount < 0 else ''}${abs(amount):,.{2 if abs(amount) >= 1 else 4}f}"


def group_sums(rows: Iterable[tuple[str, Sum]]) -> dict[str, UsageSums]:
    """Return the sums of rows by name."""
    found: dict[str, list[UsageSums]] = {}
    for name, row in rows:
        found.setdefault(name, []).append(row.figures)
    return {name: total(each) for name, each in found.items()}


def _read_rows(request: PageRequest, by: By) -> tuple[list[Row], Callable[[UsageSums], bool]]:
    """The rows of a table, and whether the price of a row is known. Sums of stages do not count the calls without a
    price, so all of them are taken together."""
    session = request.id or None
    if by == "stage":
        found = request.memory.savings(session, tenant=request.tenant)
        priced = is_priced(found.whole)
        return list(found.stages.items()), lambda _: priced
    sums = request.memory.savings(session, by=(by,), tenant=request.tenant).rows
    grouped = group_sums((getattr(row, by), row) for row in sums if row.stage == CALL)
    return list(grouped.items()), is_priced


def _sort_of(request: PageRequest, by: By) -> str:
    """The column that a table is sorted by, "-" before its name for descending."""
    table, wanted = TABLES[by], request.query.get(f"by_{by}", "")
    known = {by, *(column.name for column in table.columns)}
    return wanted if wanted.removeprefix("-") in known else table.order


def _sort_rows(rows: Sequence[Row], by: By, sort: str) -> list[Row]:
    values = {column.name: column.value for column in TABLES[by].columns}
    value = values.get(sort.removeprefix("-"))
    ordered = sorted(rows, key=lambda row: row[0])
    if value is None:
        return ordered[::-1] if sort.startswith("-") else ordered
    return sorted(ordered, key=lambda row: value(row[1]), reverse=sort.startswith("-"))


def _render(request: PageRequest, by: By) -> Markup:
    table, (rows, priced) = TABLES[by], _read_rows(request, by)
    if not rows:
        return card(table.title, nothing("No stage changed a call yet."))
    newest = sorted(rows, reverse=True, key=lambda row: row[0])[:DAYS_LISTED] if by == "day" else rows
    body = [_render_row(table, by, row, priced(row[1])) for row in _sort_rows(newest, by, _sort_of(request, by))]
    heads = [_head(request, by, by, table.head), *(_head(request, by, one.name, one.head) for one in table.columns)]
    shown = tag("table", tag("thead", tag("tr", heads)), tag("tbody", body), class_="list plain")
    files = file_links("savings", id=request.id, by=by, **{f"by_{by}": request.query.get(f"by_{by}")})
    return card(table.title, shown, files, id=f"by-{by}")


def _render_row(table: _Table, by: By, row: Row, priced: bool) -> Markup:
    name, figures = row
    first: Child = (
        _STAGES.get(name) or quote_line(name or "unknown") if by == "stage" else quote_line(name or "unknown")
    )
    cells = [
        tag("td", column.render(figures, priced), class_="number", data_label=column.head) for column in table.columns
    ]
    return tag("tr", tag("td", first or quote_line(name or "unknown"), class_="first"), cells)


def _head(request: PageRequest, by: By, name: str, title: str) -> Markup:
    """A heading that sorts its table by its column, the other way round when it is requested again."""
    sort = _sort_of(request, by)
    is_text = name == by
    first, second = (name, f"-{name}") if is_text else (f"-{name}", name)
    kept = {f"by_{other}": request.query.get(f"by_{other}") for other in TABLES}
    query = kept | {"id": request.id, f"by_{by}": second if sort == first else first}
    order = {name: "ascending", f"-{name}": "descending"}.get(sort)
    address = f"{to('savings', **query)}#by-{by}"
    return tag("th", link(address, title), scope="col", class_=None if is_text else "number", aria_sort=order)
