"""The command ``sessions``: lists the stored sessions with their summaries."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.operations.summaries import SessionSummary, summarize_session
from tokenmizer_mw.runtime.terminal import show, show_json
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.store.log import SessionInfo

from .opening import Store, elsewhere

Row = tuple[SessionInfo, SessionSummary]

_TITLE_MIN: Final = 20
"""Characters of a title that are shown however long the ids are."""

_FIXED: Final = 26
"""Columns of a row beside the id and the title."""


def list_sessions(arguments: argparse.Namespace, store: Store) -> None:
    """Print the sessions of a tenant, most recent first."""
    found = store.memory.sessions(tenant=arguments.tenant, limit=arguments.limit + 1)
    rows = list(_rows(store, found[: arguments.limit]))
    if arguments.json:
        show_json([_plain(info, summary) for info, summary in rows])
    elif rows:
        _show(rows)
    else:
        print(f"no sessions in {store.place}{elsewhere(store.log, arguments.tenant)}", file=sys.stderr)
    if len(found) > arguments.limit:
        print(f"these are the {arguments.limit:,} most recent ones; --limit N shows more", file=sys.stderr)


def _rows(store: Store, found: list[SessionInfo]) -> Iterator[Row]:
    for info in found:
        with suppress(UnknownSession):  # erased meanwhile
            yield info, summarize_session(store.memory, info.key)


def _plain(info: SessionInfo, summary: SessionSummary) -> dict[str, Any]:
    return {
        "session": info.key.id,
        "tenant": info.key.tenant,
        **asdict(summary),
        "events": info.seq,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    }


def _show(rows: list[Row]) -> None:
    """A line each: the id, which begins with the project where there is one, when it changed, open work, the title.
    A terminal gets a heading and titles that fit, a pipe gets neither."""
    width = max(len("session"), *(len(info.key.id) for info, _ in rows))
    room = None
    if sys.stdout.isatty():
        show(f"{'session':<{width}}  {'updated':<16}  open  about")
        room = max(_TITLE_MIN, shutil.get_terminal_size().columns - width - _FIXED)
    for info, summary in rows:
        changed = datetime.fromtimestamp(info.updated_at).strftime("%Y-%m-%d %H:%M")
        title = flatten(summary.title, room) if room else summary.title
        show(f"{info.key.id:<{width}}  {changed}  {summary.open_work or '-':>4}  {title}".rstrip())
