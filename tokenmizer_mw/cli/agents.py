"""The commands ``mcp`` and ``install``, for coding agents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tokenmizer_mw import __version__
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import find_uninstalled, install_hint
from tokenmizer_mw.runtime.terminal import inert, show, show_json
from tokenmizer_mw.settings import Settings

from .running import confirm

if TYPE_CHECKING:
    from tokenmizer_mw.agents.install import Change

_NEEDED: Final = ("mcp", "httpx2", "uvicorn", "platformdirs")
"""Packages that the MCP server and the hooks import and the library does not; the extra ``mcp`` installs them."""


def run_mcp(arguments: argparse.Namespace) -> int:
    """Run the command ``mcp``: run the MCP server on standard input and output, or over HTTP with ``--http``. Returns 0
    when the client has disconnected; with ``--http``, when a signal stops the server. Raises ``ConfigError`` if a
    package of the extra ``mcp`` is not installed."""
    from tokenmizer_mw.agents.mcp import ServingOptions
    from tokenmizer_mw.agents.mcp.starting import start_http, start_stdio

    if missing := find_uninstalled(_NEEDED):
        raise ConfigError(f"{missing[0]} is not installed: {install_hint('mcp')}")
    wanted = ServingOptions(
        settings=Settings.load(arguments.config),
        store=arguments.store or "",
        server=arguments.server or "",
        roots=arguments.root or (),
        version=__version__,
    )
    if arguments.http:
        start_http(wanted, arguments.host, arguments.port)
    else:
        start_stdio(wanted)
    return 0


def run_install(arguments: argparse.Namespace) -> int:
    """Run the command ``install``: print the changes to a coding agent's configuration files as a diff, and write the
    files if the user agrees. With ``--remove``, the changes take this package out of the configuration. Returns 0, also
    if there is nothing to change. ``--dry-run`` only prints; ``--yes`` does not ask.

    Raises ``ConfigError`` if a package of the extra ``mcp`` is missing, so that the agent could not start what is
    registered. Raises ``CallerError`` if the user does not agree, or if a file cannot be read or changed safely.
    Nothing is written in these cases.
    """
    plan = _plan(arguments)
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
        confirm("Write this?", "pass --yes, or --dry-run to see the difference only", "nothing was written")
    for change in changes:
        backup = change.carry_out()
        if not arguments.json:
            done = "removed" if change.after is None else "wrote"
            show(f"{done} {change.path}" + (f"; what it was is in {backup}" if backup else ""))
    for line in _list_next_steps(arguments, plan):
        print(inert(line), file=sys.stderr)
    return 0


_NEXT: Final = {
    "codex": "Start codex once in a terminal and trust the hooks (it asks, or use /hooks): until then it does not run"
    " them.",
}
"""What the user has to do after an installation, besides restarting the agent: name of the agent -> text."""


def _list_next_steps(arguments: argparse.Namespace, plan: Sequence[Change]) -> Iterator[str]:
    """Yield lines to print for the user: what to do after an installation, or what a removal has left on the disk.
    ``plan``: the changes that were made."""
    from tokenmizer_mw.agents.install import find_backups

    if not arguments.remove:
        yield "Restart the agent and send a prompt; then `tokenmizer-mw sessions` lists the session."
        if step := _NEXT.get(arguments.host):
            yield step
        return
    yield "The recorded sessions stay in the store: tokenmizer-mw sessions lists them."
    if copies := [str(copy) for change in plan for copy in find_backups(change.path)]:
        yield f"Copies of earlier configurations are left, to delete when you no longer need them: {', '.join(copies)}"


def _plan(arguments: argparse.Namespace) -> list[Change]:
    from tokenmizer_mw.agents.install import LeftAlone, plan_changes

    if not arguments.remove:
        _check_extra(arguments.dry_run)
    try:
        return plan_changes(arguments.host, Path.home(), Path.cwd(), project=arguments.project, remove=arguments.remove)
    except LeftAlone as left:
        for path, text in left.by_hand.items():
            print(f"Add this to {inert(str(path))} by hand:\n\n{inert(text)}", file=sys.stderr)
        raise


def _check_extra(dry_run: bool) -> None:
    """Raise ``ConfigError`` if packages of the extra ``mcp`` are missing. If ``dry_run`` is true, print a warning on
    standard error instead."""
    missing = find_uninstalled(_NEEDED)
    if not missing:
        return
    verb = "is" if len(missing) == 1 else "are"
    reason = (
        f"{', '.join(missing)} {verb} not installed, and the hooks and the MCP server need what the extra mcp brings: "
        f"{install_hint('mcp')}"
    )
    if not dry_run:
        raise ConfigError(f"nothing was written: {reason}")
    print(f"without --dry-run, nothing would be written: {reason}", file=sys.stderr)
