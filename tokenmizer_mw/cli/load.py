"""``tokenmizer-mw load``: load on a server of one's own, and what came of it."""

from __future__ import annotations

import argparse
import asyncio
import os
from urllib.parse import urlsplit

from tokenmizer_mw.access.hosts import is_loopback
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.operations.load import Plan, Report, load
from tokenmizer_mw.terminal import show, show_json

KEY_VARIABLE = "TOKENMIZER_KEY"
"""Names the key where the command line does not, so that it is in no history of a shell."""

_LOST_SHOWN = 5


def run_load(arguments: argparse.Namespace) -> int:
    """Run the command. Returns 0 when something was acknowledged and all of it is kept, else 1; raises ``CallerError``
    for an address that may be somebody else's."""
    plan = Plan(
        url=_address(arguments.url, owned=arguments.i_own_this_server),
        model=arguments.model,
        dialect=arguments.dialect,
        sessions=arguments.sessions,
        turns=arguments.turns,
        concurrency=arguments.concurrency,
        seconds=arguments.seconds,
        stream=not arguments.whole,
        key=arguments.key or os.environ.get(KEY_VARIABLE, ""),
        erase=arguments.erase,
    )
    report = asyncio.run(load(plan))
    if arguments.json:
        show_json(_plain(report))
    else:
        show(_table(report))
    return 0 if report.holds else 1


def _address(given: str, *, owned: bool) -> str:
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CallerError(f"--url is an address such as http://127.0.0.1:8787, not {given}")
    if not owned and not is_loopback(parts.hostname):
        raise CallerError(
            f"{parts.hostname} is not this machine: add --i-own-this-server if it is yours and may be put under load"
        )
    return given.rstrip("/").removesuffix("/v1")


def _table(report: Report) -> str:
    seconds = max(report.seconds, 1e-9)
    failed = {status: count for status, count in sorted(report.outcomes.items()) if status != "200"}
    rows = [
        ("requests", f"{report.requests} in {report.seconds:.1f} s"),
        ("throughput", f"{report.requests / seconds:.1f} requests/s, {report.received / seconds / 1024:.0f} KiB/s"),
        ("errors", ", ".join(f"{count} x {status}" for status, count in failed.items()) or "none"),
        ("first byte p50", _milliseconds(report.first_byte(0.5))),
        ("first byte p95", _milliseconds(report.first_byte(0.95))),
        ("acknowledged turns", str(report.acknowledged)),
        ("kept of them", _kept(report)),
        ("sessions", f"{report.run}-1 and following"),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    return "\n".join([*lines, *(f"lost: {text}" for text in report.lost[:_LOST_SHOWN])])


def _kept(report: Report) -> str:
    if report.unchecked:
        return f"not known: {report.unchecked}"
    return f"{report.acknowledged - len(report.lost)}, {len(report.lost)} lost"


def _milliseconds(seconds: float | None) -> str:
    return "none came" if seconds is None else f"{seconds * 1000:.1f} ms"


def _plain(report: Report) -> dict[str, object]:
    return {
        "run": report.run,
        "seconds": report.seconds,
        "requests": report.requests,
        "outcomes": dict(sorted(report.outcomes.items())),
        "received_bytes": report.received,
        "first_byte_seconds": {"p50": report.first_byte(0.5), "p95": report.first_byte(0.95)},
        "acknowledged": report.acknowledged,
        "lost": len(report.lost),
        "unchecked": report.unchecked,
    }
