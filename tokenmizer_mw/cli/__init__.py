"""The command line: ``tokenmizer-mw``, also ``python -m tokenmizer_mw``.

This module imports almost nothing, because coding agents start the command ``tokenmizer-mw hook`` for every event.
"""

from __future__ import annotations

import sys

__all__ = ["main"]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 for success, 1 if the store, the disk or a setting is at
    fault, 2 for a wrong command or argument, 130 after Ctrl-C. ``running.run`` lists all.

    ``argv``: arguments without the program's name; ``None`` for those of the process. The command ``hook`` always
    returns 0. ``SystemExit`` is raised only by ``--help``, ``--version`` and invalid arguments.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["hook"]:
        from tokenmizer_mw.agents.hooks.client import run_hook

        return run_hook(given[1:])
    from .running import run

    return run(given)
