"""Runs a command, and turns every error into one line and an exit status."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.runtime.terminal import abandon_output, complain, tolerate_any_character

FAILED: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141


def run(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status.

    ``argv``: arguments without the program's name. ``SystemExit`` is raised only by ``--help``, ``--version`` and
    invalid arguments.
    """
    tolerate_any_character()
    try:
        status = _run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except TokenMizerError as error:
        complain(str(error))
        return MISUSED if error.fault in ("caller", "peer") else FAILED
    except BrokenPipeError:
        abandon_output()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        abandon_output()
        complain("interrupted")
        return INTERRUPTED
    except OSError as error:
        abandon_output()
        complain(f"{error.filename or 'output'}: {error.strerror or error}")
        return FAILED
    except Exception as error:
        if os.environ.get("TOKENMIZER_DEBUG"):
            raise
        abandon_output()
        complain(f"a fault of tokenmizer-mw itself: {type(error).__name__}: {error} (TOKENMIZER_DEBUG=1 shows where)")
        return FAILED


def _run(argv: Sequence[str]) -> int:
    from .parser import parser

    arguments = parser().parse_args(argv)
    if arguments.command == "demo":
        from .demo_command import run_demo

        return run_demo(arguments)
    if arguments.command in ("serve", "check"):
        from .serving import run_check, run_serve

        return run_serve(arguments) if arguments.command == "serve" else run_check(arguments)
    if arguments.command == "dashboard":
        from .dashboard import run_dashboard

        return run_dashboard(arguments)
    if arguments.command == "analyze":
        from .analysis import run_analyze

        return run_analyze(arguments)
    if arguments.command == "compress":
        from .compression import run_compress

        return run_compress(arguments)
    if arguments.command == "keys":
        from .keys import run_keys

        return run_keys(arguments)
    if arguments.command in ("mcp", "install"):
        from .agents import run_install, run_mcp

        return run_mcp(arguments) if arguments.command == "mcp" else run_install(arguments)
    from .commands import run_command

    # A command reports a failure in one line of its own; the log's line about the same failure is for servers.
    logging.getLogger("tokenmizer_mw").addHandler(logging.NullHandler())
    return run_command(arguments)
