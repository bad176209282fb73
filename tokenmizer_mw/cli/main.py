"""Where the program starts. A hook of a coding agent pays for this with every event: it loads next to nothing."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; ``argv`` without the program's name (``None``: the process's own). Returns the exit
    status; ``SystemExit`` comes from ``--help``, ``--version`` and misuse only."""
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["hook"]:
        from tokenmizer_mw.agents.hooks.client import run_hook

        return run_hook(given[1:])
    from .running import run

    return run(given)
