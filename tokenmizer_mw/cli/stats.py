"""The command ``stats``: what calls cost and what was saved, net of the providers' prompt caches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Final

from tokenmizer_mw.context.costs.prices import AS_OF
from tokenmizer_mw.context.costs.report import Savings, call_to_dict, dollars
from tokenmizer_mw.model.spending import CALL, UsageSums
from tokenmizer_mw.runtime.terminal import inert, show, show_json
from tokenmizer_mw.store.ledger import BY, By

from .opening import Store

APART: Final = tuple(name for name in BY if name != "stage")
CALLS_SHOWN: Final = 20

Row = Sequence[str]


def stats(arguments: argparse.Namespace, store: Store) -> None:
    """Print the totals, or the newest calls of a session."""
    if arguments.calls:
        _calls(arguments, store)
        return
    by: tuple[By, ...] = (arguments.by,) if arguments.by else ()
    found = store.memory.savings(
        arguments.session,
        model=arguments.model,
        since=arguments.since or "",
        until=arguments.until or "",
        by=by,
        tenant=arguments.tenant,
    )
    if arguments.json:
        show_json(found.to_dict())
    elif not found.rows:
        print(
            f"no calls are recorded in {store.place}: the setting savings (TOKENMIZER_SAVINGS=true) keeps books",
            file=sys.stderr,
        )
    else:
        _show(found, arguments.by)


def _show(found: Savings, by: str | None) -> None:
    whole = found.whole
    show(_headline(whole))
    if found.stages:
        rows = [_stage(name, figures) for name, figures in found.stages.items()]
        _table(("stage", "calls", "tokens before", "after", "saved", "money saved"), rows)
    if by is not None:
        rows = [_group(getattr(row, by), row.figures) for row in found.rows if row.stage == CALL]
        _table((by, "calls", "input", "from cache", "cost", "without", "saved"), rows)
    show(_remarks(whole))


def _headline(whole: UsageSums) -> str:
    cached = whole.cached_tokens / whole.input_tokens if whole.input_tokens else 0.0
    lines = [
        f"{whole.calls:,} calls, {whole.input_tokens:,} tokens of input ({cached:.0%} read from the provider's cache),"
        f" {whole.output_tokens:,} of output",
        f"cost {money(whole.cost)}; without us {money(whole.client_cost)} for {whole.client_tokens:,} tokens of input,"
        " cached as the provider allows",
        _verdict(whole),
    ]
    return "\n".join(lines)


def _verdict(whole: UsageSums) -> str:
    share = f" ({abs(whole.saved) / whole.client_cost:.1%})" if whole.client_cost else ""
    if whole.saved < 0:
        return f"LOST {money(-whole.saved)}{share}: what was written anew cost more than was saved"
    return f"saved {money(whole.saved)}{share} and {whole.saved_tokens:,} tokens of input"


def _remarks(whole: UsageSums) -> str:
    lines = [f"prices of {AS_OF}, and your own where the settings name a file"]
    if whole.estimated:
        lines.append(f"{whole.estimated:,} calls came without usage: their tokens are counted here")
    if whole.unpriced:
        lines.append(f"{whole.unpriced:,} calls went to models without a known price: they cost nothing here")
    return "\n".join(lines)


def _stage(name: str, figures: UsageSums) -> Row:
    tokens = (figures.client_tokens, figures.input_tokens, figures.saved_tokens)
    return name, f"{figures.calls:,}", *(f"{number:,}" for number in tokens), money(figures.saved)


def _group(name: str, figures: UsageSums) -> Row:
    tokens = (figures.calls, figures.input_tokens, figures.cached_tokens)
    amounts = (figures.cost, figures.client_cost, figures.saved)
    return name or "(erased)", *(f"{number:,}" for number in tokens), *map(money, amounts)


def _calls(arguments: argparse.Namespace, store: Store) -> None:
    spent = store.memory.list_usage(arguments.calls, limit=CALLS_SHOWN, tenant=arguments.tenant)
    if arguments.json:
        show_json([call_to_dict(one) for one in spent])
        return
    if not spent:
        print(f"no calls of session {inert(arguments.calls)} are recorded in {store.place}", file=sys.stderr)
        return
    rows = []
    for one in reversed(spent):
        whole = one.stages.get(CALL, UsageSums())
        stages = " ".join(f"{name} {money(each.saved)}" for name, each in one.stages.items() if name != CALL)
        numbers = (whole.input_tokens, whole.cached_tokens, whole.client_tokens)
        rows.append((one.model, *(f"{number:,}" for number in numbers), money(whole.cost), money(whole.saved), stages))
    _table(("model", "input", "from cache", "without us", "cost", "saved", "by stage"), rows)


def money(nano: int) -> str:
    """Format an amount in dollars, small ones to a hundredth of a cent."""
    amount = dollars(nano)
    digits = 2 if abs(amount) >= 100 else 4
    return f"{'-' if amount < 0 else ''}${abs(amount):,.{digits}f}"


def _table(head: Row, rows: Sequence[Row]) -> None:
    """A table; with the library rich where it is installed and a person looks on."""
    cells = [[inert(cell) for cell in row] for row in rows]
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        _plain(head, cells)
        return
    if not sys.stdout.isatty():
        _plain(head, cells)
        return
    table: Any = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place == 0 else "right")
    for row in cells:
        table.add_row(*(Text(cell, style="red" if cell.startswith("-$") else "") for cell in row))
    console = Console()
    console.print()
    console.print(table)
    console.print()


def _plain(head: Row, rows: Sequence[Row]) -> None:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join((first, *others)).rstrip())
