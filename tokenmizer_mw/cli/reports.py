"""The commands that report: ``sessions``, ``stats``, ``cache`` and ``compaction``. They read a store; only
``cache --purge`` deletes something."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from tokenmizer_mw.chat.usage import name_prices
from tokenmizer_mw.context.compaction.contract import SealBroken, find_seals
from tokenmizer_mw.context.savings import Savings, call_to_dict, format_dollars
from tokenmizer_mw.errors import CallerError, ConfigError, UnknownSession
from tokenmizer_mw.model.usage import CALL, UsageSums
from tokenmizer_mw.operations.summaries import SessionSummary, summarize_session
from tokenmizer_mw.runtime.terminal import inert, show, show_json, show_result
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.store.choosing import STORE_VARIABLE, Announcement, last_ended_store
from tokenmizer_mw.store.ledger import By
from tokenmizer_mw.store.log import SessionInfo
from tokenmizer_mw.store.open import describe_place, find_missing

from .store import Store, hint_other_tenants

SessionRow = tuple[SessionInfo, SessionSummary]

_TITLE_MIN: Final = 20
"""Number of characters of a title that fit into a table row at least, however long the ids are and however narrow the
terminal is."""

_FIXED: Final = 26
"""Width in characters of a table row of ``sessions``, without the id and the title."""


def _other_store(arguments: argparse.Namespace, place: str) -> str:
    """Return a hint that another store may be meant, such as
    "; the proxy that ended last used another store: add --store ...". It is appended to a message that ends with the
    name of the store, ``place``. "" if the user selected the store with ``--store`` or the environment variable."""
    if arguments.store or os.environ.get(STORE_VARIABLE):
        return ""
    ended = last_ended_store()
    if ended is None or _is_unusable(ended) or describe_place(ended.store) in place:
        return "; if your application uses another store, name it: --store sqlite:///memory.db"
    return f"; the proxy that ended last used another store: add --store {shlex.quote(ended.store)}"


def _is_unusable(ended: Announcement) -> bool:
    """Return whether the store that an ended server used cannot be opened now: its recorded address lacks the password,
    or its SQLite file is gone."""
    return ended.has_password or (ended.store.startswith("sqlite:") and bool(find_missing(ended.store)))


def list_sessions(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``sessions``: print the sessions of a tenant, the most recently updated first, at most
    ``--limit``. If there are none, or more, say so on standard error. Raises ``CallerError`` if the user named a store
    that does not exist."""
    store.require()
    found = store.memory.sessions(tenant=arguments.tenant, limit=arguments.limit + 1)
    rows = list(_rows(store, found[: arguments.limit]))
    if arguments.json:
        show_json([_session_to_dict(info, summary) for info, summary in rows])
    elif rows:
        _show_sessions(rows, store.place)
    else:
        where = hint_other_tenants(store.log, arguments.tenant) or _other_store(arguments, store.place)
        print(f"no sessions in {store.place}{where}", file=sys.stderr)
    if len(found) > arguments.limit:
        print(f"these are the {arguments.limit:,} most recent ones; --limit N shows more", file=sys.stderr)


def _rows(store: Store, found: list[SessionInfo]) -> Iterator[SessionRow]:
    for info in found:
        with suppress(UnknownSession):  # erased meanwhile
            yield info, summarize_session(store.memory, info.key)


def _session_to_dict(info: SessionInfo, summary: SessionSummary) -> dict[str, Any]:
    return {
        "session": info.key.id,
        "tenant": info.key.tenant,
        **asdict(summary),
        "events": info.seq,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    }


def _show_sessions(rows: list[SessionRow], place: str) -> None:
    """Print a header, and for each session a line with id, time of the last change, number of open tasks and errors
    ("-" for none) and title. On a terminal, titles are shortened to fit, and the store is named on standard error."""
    width = max(len("session"), *(len(info.key.id) for info, _ in rows))
    room = None
    show(f"{'session':<{width}}  {'updated':<16}  open  about")
    if sys.stdout.isatty():
        print(f"sessions of {place}", file=sys.stderr)
        room = max(_TITLE_MIN, shutil.get_terminal_size().columns - width - _FIXED)
    for info, summary in rows:
        changed = datetime.fromtimestamp(info.updated_at).strftime("%Y-%m-%d %H:%M")
        title = flatten(summary.title, room) if room else summary.title
        show(f"{info.key.id:<{width}}  {changed}  {summary.open_work or '-':>4}  {title}".rstrip())


CALLS_SHOWN: Final = 20
Row = Sequence[str]


def show_savings(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``stats``: print tokens, cost and savings of all recorded calls that the options select, or with
    ``--calls`` the newest calls of one session (at most ``CALLS_SHOWN``). If no calls are recorded, say so on standard
    error. Raises ``CallerError`` if the user named a store that does not exist."""
    store.require()
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
            f"no calls are recorded in {store.place}: the setting savings (TOKENMIZER_SAVINGS=true) records them",
            file=sys.stderr,
        )
    else:
        _show_totals(found, arguments.by)


def _show_totals(found: Savings, by: str | None) -> None:
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
        f"cost {format_dollars(whole.cost)}; without this package {format_dollars(whole.client_cost)} for"
        f" {whole.client_tokens:,} tokens of input, cached as the provider allows",
        _verdict(whole),
    ]
    return "\n".join(lines)


def _verdict(whole: UsageSums) -> str:
    share = f" ({abs(whole.saved) / whole.client_cost:.1%})" if whole.client_cost else ""
    if whole.saved < 0:
        return f"LOST {format_dollars(-whole.saved)}{share}: what was written anew cost more than was saved"
    return f"saved {format_dollars(whole.saved)}{share} and {whole.saved_tokens:,} tokens of input"


def _remarks(whole: UsageSums) -> str:
    lines = [f"prices of {name_prices()}, and your own where the settings name a file"]
    if whole.estimated:
        lines.append(f"{whole.estimated:,} calls came without usage: their tokens are counted here")
    if whole.unpriced:
        lines.append(f"{whole.unpriced:,} calls went to models without a known price: they cost nothing here")
    return "\n".join(lines)


def _stage(name: str, figures: UsageSums) -> Row:
    tokens = (figures.client_tokens, figures.input_tokens, figures.saved_tokens)
    return name, f"{figures.calls:,}", *(f"{number:,}" for number in tokens), format_dollars(figures.saved)


def _group(name: str, figures: UsageSums) -> Row:
    tokens = (figures.calls, figures.input_tokens, figures.cached_tokens)
    amounts = (figures.cost, figures.client_cost, figures.saved)
    return name or "(erased)", *(f"{number:,}" for number in tokens), *map(format_dollars, amounts)


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
        stages = " ".join(f"{name} {format_dollars(each.saved)}" for name, each in one.stages.items() if name != CALL)
        numbers = (whole.input_tokens, whole.cached_tokens, whole.client_tokens)
        rows.append(
            (
                one.model,
                *(f"{number:,}" for number in numbers),
                format_dollars(whole.cost),
                format_dollars(whole.saved),
                stages,
            )
        )
    _table(("model", "input", "from cache", "without", "cost", "saved", "by stage"), rows)


def _table(head: Row, rows: Sequence[Row]) -> None:
    """Print a table with the header ``head``. It is formatted by the library rich if that is installed and standard
    output is a terminal, else as plain columns."""
    cells = [[inert(cell) for cell in row] for row in rows]
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        _print_plain(head, cells)
        return
    if not sys.stdout.isatty():
        _print_plain(head, cells)
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


def _print_plain(head: Row, rows: Sequence[Row]) -> None:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join((first, *others)).rstrip())


_OFF = "no cache that this command could reach: set cache and cache_url (memory:// lies in the server's process)"


def show_cache(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``cache``: print the number and the size of a tenant's cached responses. With ``--purge``, delete
    them; with ``--session``, only those of this session.

    Raises ``ConfigError`` if no cache is configured or the cache is in the memory of a server process, where this
    command cannot reach it. Raises ``StoreError`` if the cache fails.
    """
    answers = store.memory.service.answers
    if answers is None or answers.settings.cache_url == "memory://":
        raise ConfigError(_OFF)
    if arguments.purge:
        gone = answers.purge(arguments.tenant, arguments.session)
        show_result(
            arguments.json,
            {"purged": gone},
            f"{gone:,} answers are forgotten; processes that hold the cache notice at once",
        )
        return
    held = answers.holdings(arguments.tenant)
    if arguments.json:
        show_json({"tenant": arguments.tenant, "answers": held.entries, "bytes": held.bytes})
    else:
        most = answers.settings.cache_bytes
        show(f"{held.entries:,} answers, {held.bytes:,} bytes, of at most {most:,} of all tenants")


def show_compaction(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``compaction``: find the last compaction in a text, decrypt it and print it. A compaction is the
    encrypted text with which this proxy replaced old messages. The text comes from a file or standard input.

    Raises ``CallerError`` if the text is not UTF-8 or has no compaction, or if the compaction was made with another
    store or tenant. Raises ``ConfigError`` if the package cryptography is missing.
    """
    from .maintenance import read_text  # brings what makes backups

    seals = find_seals(read_text(arguments.file))
    if not seals:
        raise CallerError("there is no compaction of this server in it")
    try:
        content = store.memory.service.compaction.seal().open(arguments.tenant, seals[-1])
    except SealBroken as error:
        needs = "it needs the store and the tenant that it was made with"
        raise CallerError(f"the compaction cannot be read: {error}; {needs}") from None
    if arguments.json:
        show_json(asdict(content))
        return
    show(f"session {content.session}, {content.checkpoint}: in the place of {content.tokens:,} tokens")
    show(content.text)
