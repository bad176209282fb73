"""The savings page: net savings in total, by stage, by model and by day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from tokenmizer_mw.context.costs.prices import AS_OF
from tokenmizer_mw.context.costs.report import Savings, dollars
from tokenmizer_mw.model.spending import CALL, Sum, UsageSums, total

from .asked import Page, PageRequest
from .chart import chart
from .frame import heading, session_head
from .markup import Child, Markup, join_markup, tag
from .titles import title_of
from .words import card, format_count, nothing, quote_line

DAYS: Final = 30
"""Days that are listed, the newest first."""

_SMALL: Final = 100


def page(asked: PageRequest) -> Page:
    """Return the savings of a session, or of the whole tenant."""
    title = asked.memory.view(asked.id, title_of, tenant=asked.tenant) if asked.id else ""
    found = asked.memory.savings(asked.id or None, tenant=asked.tenant)
    lead = tag("p", "What calls cost, and what they would have cost without the memory.", class_="lead")
    head = session_head(asked, "savings", title) if asked.id else heading("Savings", lead)
    shown = _render_savings(asked, found) if found.rows else _empty()
    return Page(
        f"Savings - {title or asked.id}" if asked.id else "Savings", join_markup(head, shown), "savings", asked.id
    )


def _empty() -> Markup:
    in_code = tag("code", "Settings(savings=True)")
    in_environment = tag("code", "TOKENMIZER_SAVINGS=true")
    where = ", in the environment of the proxy and of applications that use "
    text = tag(
        "p",
        *("To account for what calls cost and saved, set ", in_code, ", or ", in_environment, where),
        *(tag("code", "Settings.load()"), "."),
    )
    more = tag("p", "The first call that ends after that shows here.", class_="hint")
    return tag("section", nothing("No calls are recorded."), text, more, class_="card")


def _render_savings(asked: PageRequest, found: Savings) -> Markup:
    whole = found.whole
    return join_markup(
        _verdict(whole),
        _by_day(asked),
        _stages(found),
        _apart(asked, "model", "By model", "Model"),
        _apart(asked, "day", "By day", "Day"),
        _remarks(whole),
    )


def _verdict(whole: UsageSums) -> Markup:
    share = f"{abs(whole.saved) / whole.client_cost:.1%} of the input's cost" if whole.client_cost else ""
    lost = whole.saved < 0
    rows = (
        (money(abs(whole.saved)), "lost" if lost else "saved"),
        (f"{whole.saved_tokens:,}", "tokens not sent"),
        (f"{whole.calls:,}", "call" if whole.calls == 1 else "calls"),
        (f"{whole.input_tokens:,}", "tokens sent"),
        (f"{whole.cached_tokens:,}", "read from the provider's cache"),
    )
    figures = tag("dl", [tag("div", tag("dt", name), tag("dd", number)) for number, name in rows], class_="figures")
    text = f"It cost {money(whole.cost)}; without the memory {money(whole.client_cost)}"
    loss = tag("p", "What was written anew cost more than was saved so far.", class_="warning") if lost else None
    return card("Net of prompt caching", figures, loss, tag("p", f"{text}. {share}", class_="hint"))


def _by_day(asked: PageRequest) -> Markup | None:
    by: tuple[Literal["day"]] = ("day",)
    sums = asked.memory.savings(asked.id or None, by=by, tenant=asked.tenant).rows
    drawn = chart(_group_sums((row.day, row) for row in sums if row.stage == CALL))
    return card("Day by day", drawn) if drawn is not None else None


def _stages(found: Savings) -> Markup:
    rows = [
        (
            quote_line(name),
            *_numbers(each.calls, each.client_tokens, each.input_tokens, each.saved_tokens),
            money(each.saved),
        )
        for name, each in sorted(found.stages.items(), key=lambda one: -one[1].saved)
    ]
    heads = ("Stage", "Calls", "Tokens before", "After", "Saved", "Money saved")
    return card("By stage", _table(heads, rows) if rows else nothing("No stage changed a call yet."))


def _apart(asked: PageRequest, by: Literal["model", "day"], title: str, head: str) -> Markup:
    sums = asked.memory.savings(asked.id or None, by=(by,), tenant=asked.tenant).rows
    grouped = _group_sums((getattr(row, by), row) for row in sums if row.stage == CALL)
    newest = sorted(grouped, reverse=True)[:DAYS] if by == "day" else sorted(grouped)
    rows = [
        (
            quote_line(name or "unknown"),
            *_numbers(grouped[name].calls, grouped[name].client_tokens, grouped[name].input_tokens),
            money(grouped[name].cost),
            money(grouped[name].saved),
        )
        for name in newest
    ]
    return card(title, _table((head, "Calls", "Tokens without", "Tokens sent", "Cost", "Saved"), rows))


def _group_sums(rows: Iterable[tuple[str, Sum]]) -> dict[str, UsageSums]:
    found: dict[str, list[UsageSums]] = {}
    for name, row in rows:
        found.setdefault(name, []).append(row.figures)
    return {name: total(each) for name, each in found.items()}


def _numbers(*numbers: int) -> list[str]:
    return [f"{number:,}" for number in numbers]


def _table(heads: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    head = tag("tr", [tag("th", name, scope="col", class_="number" if at else None) for at, name in enumerate(heads)])
    body = [
        tag(
            "tr",
            [
                tag("td", cell, class_="number" if at else "first", data_label=heads[at] if at else None)
                for at, cell in enumerate(row)
            ],
        )
        for row in rows
    ]
    return tag("table", tag("thead", head), tag("tbody", body), class_="list plain")


def _remarks(whole: UsageSums) -> Markup:
    lines = [f"Prices of {AS_OF}, and your own where the settings name a file."]
    if whole.estimated:
        lines.append(f"{format_count(whole.estimated, 'call')} came without usage: their tokens are counted here.")
    if whole.unpriced:
        lines.append(
            f"{format_count(whole.unpriced, 'call')} went to models without a known price: they cost nothing here."
        )
    return tag("p", " ".join(lines), class_="hint")


def money(nano: int) -> str:
    """Format an amount given in billionths of a dollar."""
    amount = dollars(nano)
    return f"${amount:,.2f}" if abs(amount) >= _SMALL else f"${amount:,.4f}"
