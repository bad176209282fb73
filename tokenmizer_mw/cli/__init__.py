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
    """Run the command line and return the exit status: 0 for success, 1 if the store, the disk or a setting is at fault
    (and for a negative result of some commands, such as ``check``), 2 for no or an unknown command and for a request
    that makes no sense (such as an unknown session), 130 after Ctrl-C. ``running.run`` lists all.

    ``argv``: arguments without the program's name; ``None`` for those of the process. The command ``hook`` always
    returns 0. ``--help``, ``--version`` and arguments that a command does not have raise ``SystemExit`` (with 0, 0 and
    2).
    """
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["hook"]:
        from tokenmizer_mw.agents.hooks.client import run_hook

        return run_hook(given[1:])
    from .running import run

    return run(given)
