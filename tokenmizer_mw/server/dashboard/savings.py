"""The savings page: what was saved in total, after deducting what the provider's prompt cache would have saved anyway;
a chart by day; and tables by stage, model and day, which can be sorted by any column and saved as files. A stage is a
part of this package that saves tokens, such as cutting old messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from tokenmizer_mw.chat.usage import has_prices, name_prices
from tokenmizer_mw.context.savings import Savings, dollars, format_dollars
from tokenmizer_mw.model.usage import ANSWERED, CALL, CUT, REFINE, Sum, UsageSums, total
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.settings import Settings

from .caches import title_of
from .markup import Child, Markup, card, figure_list, format_count, join_markup, link, nothing, quote_line, tag, to
from .page import Page, PageRequest, file_links, heading, session_head
from .request import MessagesOnly, explain_no_requests, messages_only


def show_savings(request: PageRequest) -> Page:
    """Return the savings page of the session that the query names, or of all sessions of the tenant if it names
    none."""
    title, unseen = request.memory.view(request.id, _look, tenant=request.tenant) if request.id else ("", None)
    found = request.memory.savings(request.id or None, tenant=request.tenant)
    lead = tag("p", "What calls cost, and what they would have cost without the memory.", class_="lead")
    head = session_head(request, "savings", title) if request.id else heading("Savings", lead)
    shown = _render_savings(request, found) if found.rows else _empty(request, unseen)
    return Page(
        f"Savings - {title or request.id}" if request.id else "Savings", join_markup(head, shown), "savings", request.id
    )


def _look(state: SessionState) -> tuple[str, MessagesOnly | None]:
    return title_of(state), messages_only(state)


def _empty(request: PageRequest, unseen: MessagesOnly | None) -> Markup:
    if unseen is not None:
        return tag("section", explain_no_requests(request, unseen), class_="card")
    in_code = tag("code", "Settings(savings=True)")
    in_environment = tag("code", "TOKENMIZER_SAVINGS=true")
    where = ", in the environment of the proxy and of applications that use "
    text = tag(
        "p",
        *("To account for what calls cost and saved, set ", in_code, ", or ", in_environment, where),
        *(tag("code", "Settings.load()"), "."),
    )
    more = tag("p", "The first call that ends after that shows here.", class_="hint")
    hooks = "Hooks of coding agents record messages, not calls: the proxy counts an agent's calls."
    return tag("section", nothing("No calls are recorded."), text, more, tag("p", hooks, class_="hint"), class_="card")


def _render_savings(request: PageRequest, found: Savings) -> Markup:
    whole = found.whole
    tables = [_render_table(request, by) for by in TABLES]
    return join_markup(_verdict(whole, request.memory.settings), _by_day(request), *tables, _remarks(whole))


def _verdict(whole: UsageSums, settings: Settings) -> Markup:
    if not _is_priced(whole):
        return card("Tokens", figure_list(_count_rows(whole)), tag("p", *_explain_no_price(settings), class_="hint"))
    lost = whole.saved < 0
    share = f": {abs(whole.saved) / whole.client_cost:.1%} {'more' if lost else 'less'}" if whole.client_cost else ""
    rows = ((format_dollars(abs(whole.saved)), "lost" if lost else "saved"), *_count_rows(whole))
    figures = figure_list(rows)
    cost, client_cost = format_dollars(whole.cost), format_dollars(whole.client_cost)
    text = f"The input cost {cost} in place of {client_cost} without the memory{share}."
    loss = tag("p", "What was written anew cost more than was saved so far.", class_="warning") if lost else None
    return card("Net of prompt caching", figures, loss, tag("p", text, class_="hint"))


def _count_rows(whole: UsageSums) -> tuple[tuple[str, str], ...]:
    return (
        (f"{whole.saved_tokens:,}", "tokens not sent"),
        (f"{whole.calls:,}", "call" if whole.calls == 1 else "calls"),
        (f"{whole.input_tokens:,}", "tokens sent"),
        (f"{whole.cached_tokens:,}", "read from the provider's cache"),
    )


def _explain_no_price(settings: Settings) -> list[Child]:
    """Return the content of a paragraph that says why only tokens and no amounts of money are shown, and what to do
    about it."""
    own: list[Child] = ["name a file with your prices in the setting ", tag("code", "prices"), "."]
    if has_prices(settings):
        return ["Only tokens are shown: no price of these models is known. To have prices, ", *own]
    command = tag("code", install_hint("prices"))
    return ["Only tokens are shown: no prices are installed. To have them, ", command, ", or ", *own]


def _by_day(request: PageRequest) -> Markup | None:
    by: tuple[Literal["day"]] = ("day",)
    sums = request.memory.savings(request.id or None, by=by, tenant=request.tenant).rows
    drawn = draw_chart(_group_sums((row.day, row) for row in sums if row.stage == CALL))
    return card("Day by day", drawn) if drawn is not None else None


def _remarks(whole: UsageSums) -> Markup | None:
    lines = [f"Prices of {name_prices()}, and your own where the settings name a file."] if _is_priced(whole) else []
    if whole.estimated:
        lines.append(f"{format_count(whole.estimated, 'call')} came without usage: their tokens are counted here.")
    if whole.unpriced and _is_priced(whole):
        lines.append(
            f"{format_count(whole.unpriced, 'call')} went to models without a known price: they cost nothing here."
        )
    return tag("p", " ".join(lines), class_="hint") if lines else None


DAYS_DRAWN: Final = 30
_WIDTH: Final = 720
_HEIGHT: Final = 160
_TICKS: Final = 5
_STEPS: Final = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
_UNITS: Final = ((10**9, "B"), (10**6, "M"), (10**3, "k"))


def draw_chart(days: Mapping[str, UsageSums]) -> Markup | None:
    """Return a bar chart of input tokens per day, those sent and those not sent; ``None`` if ``days`` is empty.

    ``days``: date in UTC, such as "2026-11-29" -> sums of the calls of that day. Days without calls may be missing. The
    chart shows the ``DAYS_DRAWN`` days that end with the newest date.
    """
    if not days:
        return None
    newest = date.fromisoformat(max(days))
    listed = [(newest - timedelta(days=back)).isoformat() for back in range(DAYS_DRAWN - 1, -1, -1)]
    most = _round_up(max(max(days[day].input_tokens, days[day].client_tokens) for day in listed if day in days))
    step = _WIDTH / DAYS_DRAWN
    bars = [_bar(day, days[day], place * step, step, most) for place, day in enumerate(listed) if day in days]
    lines = [tag("path", d=f"M0 {y}H{_WIDTH}", class_="grid") for y in (0.5, _HEIGHT / 2, _HEIGHT - 0.5)]
    drawing = tag(
        "svg",
        *lines,
        *bars,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        class_="chart",
        role="img",
        aria_label=f"Input tokens by day from {listed[0]} to {listed[-1]}: sent, and not sent",
    )
    keys = (tag("span", "sent", class_="key is-sent"), tag("span", "not sent", class_="key is-saved"))
    scale = tag("div", [tag("span", compact(number)) for number in (most, most // 2, 0)], class_="scale")
    ticks = [listed[round(place * (DAYS_DRAWN - 1) / (_TICKS - 1))] for place in range(_TICKS)]
    dates = tag("div", [tag("span", _spell_day(day)) for day in ticks], class_="dates")
    return tag("figure", tag("figcaption", "Input tokens by day: ", *keys), scale, drawing, dates, class_="by-day")


def _bar(day: str, figures: UsageSums, x: float, step: float, most: int) -> Markup:
    sent = figures.input_tokens / most * _HEIGHT
    saved = max(0, figures.client_tokens - figures.input_tokens) / most * _HEIGHT
    name = f"{day}: {figures.input_tokens:,} sent, {figures.client_tokens - figures.input_tokens:,} not sent"

    def box(top: float, height: float, class_: str) -> Markup:
        at = {"x": f"{x + 3:.1f}", "y": f"{top:.1f}", "width": f"{step - 6:.1f}", "height": f"{height:.1f}"}
        return tag("rect", class_=class_, **at)

    parts = (box(_HEIGHT - sent, sent, "is-sent"), box(_HEIGHT - sent - saved, saved, "is-saved"))
    return tag("g", tag("title", name), *parts)


def _round_up(number: int) -> int:
    """Round up to a number that is easy to read at the end of a scale, such as 1,200,000 for 1,034,567; at least 2."""
    power: int = 10 ** max(0, len(str(number)) - 1)
    return max(2, next(round(step * power) for step in _STEPS if step * power >= number))


def compact(number: int) -> str:
    """Format a number with at most three digits and a unit, such as "10.2M" for 10,204,000. Numbers below 1,000 have no
    unit."""
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number}"


def _spell_day(day: str) -> str:
    found = date.fromisoformat(day)
    return f"{found.day} {found:%b}"


DAYS_LISTED: Final = 30
"""Maximum number of days in the table by day on the page; the newest ones are listed. A file has all days."""

NO_PRICE: Final = "\u2013"
"""Text that is shown instead of an amount of money if no price is known."""

By = Literal["stage", "model", "day"]
Row = tuple[str, UsageSums]
"""A row of a table: the name of the stage (part of this package that saves tokens), model or day, and its sums."""

_STAGES: Final = {
    CUT: "resume block in place of old messages",
    ANSWERED: "answers given again",
    REFINE: "a model that reads the session",
}
"""Name of a stage (part of this package that saves tokens) -> text for people. The stages of compression are missing;
they are shown by their names."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of numbers in a table.

    - ``name``: its name in addresses and files. ``head``: its heading.
    - ``value``: function that returns the number of a row.
    - ``is_money``: whether the number is an amount of money, in billionths of a US dollar.
    """

    name: str
    head: str
    value: Callable[[UsageSums], int]
    is_money: bool = False

    def render(self, figures: UsageSums, priced: bool) -> str:
        """Return the text of a cell on the page. ``priced``: whether a price is known; if not, amounts of money are
        shown as ``NO_PRICE``."""
        if not self.is_money:
            return f"{self.value(figures):,}"
        return format_dollars(self.value(figures)) if priced else NO_PRICE

    def record(self, figures: UsageSums, priced: bool) -> int | float | None:
        """Return the value of a cell in a file: a number, for an amount of money in US dollars. ``None`` for an amount
        if no price is known (``priced`` is false)."""
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
    """A table of the page. ``head``: heading of its first column. ``order``: name of the column by which it is sorted
    by default, with "-" in front for descending order."""

    title: str
    head: str
    columns: tuple[_Column, ...]
    order: str


TABLES: Final[Mapping[By, _Table]] = {
    "stage": _Table("By stage", "Stage", _OF_STAGES, "-saved"),
    "model": _Table("By model", "Model", _OF_CALLS, "model"),
    "day": _Table("By day", "Day", _OF_CALLS, "-day"),
}


def savings_records(request: PageRequest) -> list[dict[str, object]]:
    """Return all rows of the table that ``by`` of the query names ("stage", "model" or "day"; "day" for anything else),
    sorted as the query asks, as dictionaries for a file. Raises ``UnknownSession`` if the query names an unknown
    session."""
    by = _read_by(request)
    if request.id:
        request.memory.view(request.id, lambda state: None, tenant=request.tenant)  # raises for an unknown session
    rows, priced = _read_rows(request, by)
    return [
        {by: name, **{one.name: one.record(figures, priced(figures)) for one in TABLES[by].columns}}
        for name, figures in _sort_rows(rows, by, _sort_of(request, by))
    ]


def savings_file(request: PageRequest, kind: str) -> str:
    """Return the file name for the table that ``by`` of the query names, such as "savings-by-day.csv". ``kind``: ending
    of the name, such as "csv"."""
    return f"savings-by-{_read_by(request)}.{kind}"


def _read_by(request: PageRequest) -> By:
    """Return the name of the table that ``by`` of the query names; "day" if it names none."""
    return next((by for by in TABLES if by == request.query.get("by")), "day")


def _is_priced(figures: UsageSums) -> bool:
    """Return whether the price of at least one of the calls in ``figures`` is known."""
    return figures.unpriced < figures.calls


def _group_sums(rows: Iterable[tuple[str, Sum]]) -> dict[str, UsageSums]:
    """Add up the sums of all rows with the same name. Returns name -> sums."""
    found: dict[str, list[UsageSums]] = {}
    for name, row in rows:
        found.setdefault(name, []).append(row.figures)
    return {name: total(each) for name, each in found.items()}


def _read_rows(request: PageRequest, by: By) -> tuple[list[Row], Callable[[UsageSums], bool]]:
    """Return the rows of a table, unsorted, and a function that takes the sums of a row and returns whether their price
    is known. The sums of a stage (part of this package that saves tokens) do not include calls without a price, so for
    stages all calls together decide."""
    session = request.id or None
    if by == "stage":
        found = request.memory.savings(session, tenant=request.tenant)
        priced = _is_priced(found.whole)
        return list(found.stages.items()), lambda _: priced
    sums = request.memory.savings(session, by=(by,), tenant=request.tenant).rows
    grouped = _group_sums((getattr(row, by), row) for row in sums if row.stage == CALL)
    return list(grouped.items()), _is_priced


def _sort_of(request: PageRequest, by: By) -> str:
    """Return the name of the column by which a table is sorted, with "-" in front for descending order. It is the one
    that the query names, or else the default."""
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


def _render_table(request: PageRequest, by: By) -> Markup:
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
    """Return the heading of the column ``name``: a link that sorts the table ``by`` by this column, or in the reverse
    order if it is sorted so already."""
    sort = _sort_of(request, by)
    is_text = name == by
    first, second = (name, f"-{name}") if is_text else (f"-{name}", name)
    kept = {f"by_{other}": request.query.get(f"by_{other}") for other in TABLES}
    query = kept | {"id": request.id, f"by_{by}": second if sort == first else first}
    order = {name: "ascending", f"-{name}": "descending"}.get(sort)
    address = f"{to('savings', **query)}#by-{by}"
    return tag("th", link(address, title), scope="col", class_=None if is_text else "number", aria_sort=order)
