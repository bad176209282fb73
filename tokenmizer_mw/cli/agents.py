"""``mcp`` and ``install``: what coding agents are given."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tokenmizer_mw import __version__
from tokenmizer_mw.errors import CallerError, ConfigError
from tokenmizer_mw.terminal import inert, show, show_json


def run_mcp(arguments: argparse.Namespace) -> int:
    """Serve the memory over the Model Context Protocol: needs the extra ``mcp``. 0 when the client has gone."""
    try:
        from tokenmizer_mw.mcp.serving import Wanted, run_http, run_stdio
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("tokenmizer_mw"):
            raise
        raise ConfigError(f"{missing.name} is not installed: pip install 'tokenmizer-mw[mcp]'") from None
    wanted = Wanted(
        store=arguments.store or "",
        server=arguments.server or "",
        roots=arguments.root or (),
        config=arguments.config,
        version=__version__,
    )
    if arguments.http:
        run_http(wanted, arguments.host, arguments.port)
    else:
        run_stdio(wanted)
    return 0


def run_install(arguments: argparse.Namespace) -> int:
    """Write a host's configuration, or take it out again, once its user has seen the difference."""
    from tokenmizer_mw.install import LeftAlone, planned

    try:
        plan = planned(arguments.host, Path.home(), Path.cwd(), project=arguments.project, remove=arguments.remove)
    except LeftAlone as left:
        if left.by_hand:
            print(f"Add this by hand:\n\n{inert(left.by_hand)}", file=sys.stderr)
        raise
    changes = [change for change in plan if change.before != change.after]
    if arguments.json:
        show_json([{"file": str(change.path), "diff": change.diff} for change in changes])
    for change in changes if not arguments.json else ():
        show(change.diff.rstrip("\n"))
    if not changes:
        print("nothing to do: it is as it should be", file=sys.stderr)
        return 0
    if arguments.dry_run:
        return 0
    if not arguments.yes:
        _confirm()
    for change in changes:
        kept = change.carry_out()
        if not arguments.json:
            done = "removed" if change.after is None else "wrote"
            show(f"{done} {change.path}" + (f"; what it was is in {kept}" if kept else ""))
    return 0


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise CallerError("nobody is there to confirm: say --yes, or --dry-run to see the difference only")
    print(inert("Write this? [y/N] "), end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise CallerError("nothing was written")
