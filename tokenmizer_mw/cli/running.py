"""Runs a command, and turns every error into one line and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from tokenmizer_mw.errors import ConfigError, TokenMizerError
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.terminal import abandon_output, complain, tolerate_any_character

FAILED: Final = 1

MISUSED: Final = 2

INTERRUPTED: Final = 130

PIPE_CLOSED: Final = 141

_RUNNERS: Final = {
    "demo": ("running", "run_demo"),
    "import": ("importing", "run_import"),
    "serve": ("serving", "run_serve"),
    "check": ("serving", "run_check"),
    "dashboard": ("serving", "run_dashboard"),
    "analyze": ("files", "run_analyze"),
    "compress": ("files", "run_compress"),
    "keys": ("keys", "run_keys"),
    "mcp": ("agents", "run_mcp"),
    "install": ("agents", "run_install"),
}
"""Module and function of the commands that are not in ``commands``. A module is imported when its command runs."""


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
    module, function = _RUNNERS.get(arguments.command, ("commands", "run_command"))

    # A command reports a failure in one line of its own; the log's line about the same failure is for servers.
    if module in ("commands", "importing"):
        import logging  # nothing else needs it

        logging.getLogger("tokenmizer_mw").addHandler(logging.NullHandler())
    run_command: Callable[[argparse.Namespace], int] = getattr(import_module(f"{__package__}.{module}"), function)
    return run_command(arguments)


def run_demo(arguments: argparse.Namespace) -> int:
    """Run the demonstration; return 0 if it succeeded."""
    if arguments.live and not os.environ.get("OPENAI_API_KEY"):
        raise ConfigError("--live needs your key in OPENAI_API_KEY")
    print("Starting the application and the model ...", flush=True)  # loading them takes longer than a moment
    try:
        from tokenmizer_mw.cli.demo.run import demonstrate
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("tokenmizer_mw"):
            raise
        raise ConfigError(f"{missing.name} is not installed: {install_hint('demo')}") from None
    return demonstrate(
        fast=arguments.fast,
        live_model=arguments.model if arguments.live else None,
        keep=arguments.keep,
    )
