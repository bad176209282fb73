"""Parses the command line, runs a command, and turns every error into one line on standard error and an exit status.

Imports little, so that ``--help`` is fast.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NoReturn

from tokenmizer_mw import __version__
from tokenmizer_mw.errors import CallerError, ConfigError, ModelFailed, TokenMizerError
from tokenmizer_mw.model import LOCAL_TENANT, SCOPES
from tokenmizer_mw.runtime.collection import uncollected_imports
from tokenmizer_mw.runtime.installing import find_uninstalled, install_hint
from tokenmizer_mw.runtime.terminal import abandon_output, complain, inert, tolerate_any_character

from .arguments import COMMANDS

AGENTS: Final = ("claude-code", "codex", "cursor", "vscode")

_EPILOG: Final = """\
exit status: 0 done; 1 the store, the disk or a setting is at fault; 2 the call is; 130 interrupted.
environment: TOKENMIZER_STORE is the default of --store, TOKENMIZER_<SETTING> sets a setting.
"""


class _Parser(argparse.ArgumentParser):
    """Argument parser that prints an error as one line on standard error and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see {self.prog} --help)")
        self.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as the base class does, but exit with an error for unknown arguments instead of returning them. The
        error then refers to the help of the command, not to that of the whole program."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line. The attribute ``command`` of the parsed arguments is the name of the
    command."""
    top = _Parser(
        prog="tokenmizer-mw",
        description="Session memory that survives the context window.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"tokenmizer-mw {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    shared = _shared_options()
    for name, (help_, arguments) in COMMANDS.items():
        command = _add_command(commands, name, help_, parents=shared)
        for flags, options in arguments:
            command.add_argument(*flags, **options)
    _demo(commands)
    _serving(commands)
    _dashboard(commands)
    _keys(commands)
    _agents(commands)
    return top


def _add_command(commands: Any, name: str, about: str, description: str = "", **options: Any) -> _Parser:
    """Add a command to ``commands`` and return its parser. ``about``: the line in the list of commands.
    ``description``: the text of the command's own help; "" for ``about`` as a sentence. ``options``: further arguments
    of ``add_parser``."""
    sentence = description or f"{about[0].upper()}{about[1:]}."
    added: _Parser = commands.add_parser(name, help=about, description=sentence, **options)
    return added


def _shared_options() -> list[_Parser]:
    shared = _Parser(add_help=False)
    shared.add_argument("--store", metavar="URL", help="where sessions are kept, such as sqlite:///chat.db")
    shared.add_argument("--tenant", default=LOCAL_TENANT, help="whose sessions (default: %(default)s)")
    shared.add_argument("--config", metavar="FILE", help="a YAML file of settings")
    shared.add_argument("--json", action="store_true", help="print JSON")
    return [shared]


def _demo(commands: Any) -> None:
    demo = _add_command(
        commands,
        "demo",
        "a chat session through the middleware, before your eyes",
        "Play a working session of 40 turns through the middleware in a real application.",
    )
    demo.add_argument("--fast", action="store_true", help="without the pauses that a model makes")
    demo.add_argument("--live", action="store_true", help="ask the provider instead (needs OPENAI_API_KEY)")
    demo.add_argument("--model", default="gpt-5.6", help="with --live: the model to ask (default: %(default)s)")
    demo.add_argument(
        "--keep", metavar="DIR", help="where to leave the database (default: demo in your data directory)"
    )


def _serving(commands: Any) -> None:
    shared = _Parser(add_help=False)
    shared.add_argument("--config", metavar="FILE", help="the proxy's YAML file (default: $TOKENMIZER_CONFIG, or none)")
    shared.add_argument("--store", metavar="URL", help="where sessions are kept, such as sqlite:///chat.db")
    about = "run the proxy: change the base URL of a client, and its chats are remembered"
    serve = _add_command(commands, "serve", about, "Run the proxy until Ctrl-C.", parents=[shared])
    serve.add_argument("--host", help="address to listen on (default: 127.0.0.1; others need auth: true)")
    serve.add_argument("--port", type=int, help="port to listen on (default: 8787)")
    serve.add_argument("--workers", type=int, help="processes (default: 1)")
    serve.add_argument("--dashboard", action="store_true", help="show the sessions in a browser, at / of the server")
    serve.add_argument("--log", choices=("text", "json"), default="text", help="form of log lines (default: text)")
    about = "check the store and the proxy's configuration"
    sentence = "Look at the store and, where the extra proxy is installed, at the proxy's configuration."
    check = _add_command(commands, "check", about, sentence, parents=[shared])
    check.add_argument("--host", help="as for serve (default: 127.0.0.1)")
    check.add_argument("--port", type=int, help="as for serve (default: 8787)")
    check.add_argument("--reach", action="store_true", help="try the store, Redis and the providers, too")
    check.add_argument("--json", action="store_true", help="print JSON")


def _dashboard(commands: Any) -> None:
    about = "show the sessions of a store in a browser, with their facts and manual changes"
    board = _add_command(commands, "dashboard", about)
    where = board.add_mutually_exclusive_group()
    where.add_argument("--store", metavar="URL", help="where sessions are kept, such as sqlite:///chat.db")
    where.add_argument("--db", metavar="FILE", help="a SQLite database, by its file")
    board.add_argument("--config", metavar="FILE", help="a YAML file of settings")
    board.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    board.add_argument("--port", type=int, default=8789, help="port to listen on (default: %(default)s)")
    board.add_argument("--name", action="append", default=[], help="a host name that it is reached by, if others")


def _keys(commands: Any) -> None:
    shared = _Parser(add_help=False)
    shared.add_argument("--store", metavar="URL", help="where sessions and keys are kept, such as sqlite:///chat.db")
    shared.add_argument("--config", metavar="FILE", help="the proxy's YAML file, which may name the store")
    shared.add_argument("--json", action="store_true", help="print JSON")
    keys = _add_command(commands, "keys", "make, list and revoke the API keys of a server")
    actions = keys.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=_Parser)
    create = actions.add_parser("create", help="make a key and show it, once", parents=[shared])
    create.add_argument("--tenant", required=True, help="whose sessions the key opens")
    about = f"of {', '.join(SCOPES)} (default: %(default)s)"
    create.add_argument("--scopes", metavar="NAMES", default="chat,read,write", help=about)
    create.add_argument("--expires", metavar="WHEN", help="after 90d, 12h, 8w or 1y, or on a date such as 2027-01-31")
    create.add_argument("--entry", action="store_true", help="keep nothing, print an entry for a list of keys instead")
    listing = actions.add_parser("list", help="list the keys; none of them can be shown again", parents=[shared])
    listing.add_argument("--tenant", help="of this tenant only")
    revoke = actions.add_parser("revoke", help="revoke a key", parents=[shared])
    revoke.add_argument("id", metavar="ID", help="the key's id")


def _agents(commands: Any) -> None:
    about = "serve the memory to coding agents over the Model Context Protocol (needs the extra mcp)"
    mcp = _add_command(commands, "mcp", about)
    mcp.add_argument("--http", action="store_true", help="over HTTP for this machine, not standard input and output")
    mcp.add_argument("--host", default="127.0.0.1", help="with --http (default: %(default)s)")
    mcp.add_argument("--port", type=int, default=8788, help="with --http (default: %(default)s)")
    mcp.add_argument("--store", metavar="URL", help="where sessions are kept, such as sqlite:///chat.db")
    mcp.add_argument("--server", metavar="URL", help="ask this running server instead (default: $TOKENMIZER_SERVER)")
    mcp.add_argument("--root", metavar="DIR", action="append", help="files below may be analysed (default: here)")
    mcp.add_argument("--config", metavar="FILE", help="a YAML file of settings")
    about = "write the configuration of a coding agent, or take it out again; shows the difference first"
    install = _add_command(commands, "install", about)
    install.add_argument("host", type=_agent, choices=AGENTS, metavar="HOST", help=", ".join(AGENTS))
    install.add_argument("--remove", action="store_true", help="take it out again")
    install.add_argument("--project", action="store_true", help="for the project here alone, not for all of yours")
    install.add_argument("--dry-run", action="store_true", help="only show the difference")
    install.add_argument("--yes", action="store_true", help="do not ask")
    install.add_argument("--json", action="store_true", help="print JSON")
    _add_command(commands, "hook", "handle an event of a coding agent, which calls this by itself", add_help=False)


_BY_PROXY: Final = {"aider": "aider --openai-api-base http://127.0.0.1:8787/v1 --model openai/gpt-5.6"}
"""Coding agents that support neither hooks nor MCP: name of the agent -> command that starts it with the proxy."""


def _agent(name: str) -> str:
    if command := _BY_PROXY.get(name.casefold()):
        raise argparse.ArgumentTypeError(
            f"{name} has neither hooks nor MCP and works through the proxy: start tokenmizer-mw serve, then {command} "
            "(docs/proxy.md)"
        )
    return name


_NEAREST_MAX: Final = 3

_NEAR: Final = 0.6
"""Similarity of two names, from 0 to 1. An error about an unknown command suggests commands that are at least this
similar, at most ``_NEAREST_MAX``."""

_MEANT: Final = {
    **dict.fromkeys(("doctor", "status", "verify"), ("check",)),
    **dict.fromkeys(("diff", "changes", "compare"), ("checkpoint", "graph ID --message N for each moment", "edits")),
    **dict.fromkeys(("lost", "loss-report", "loss_report", "dropped"), ("loss",)),
    **dict.fromkeys(("list", "ls"), ("sessions",)),
    **dict.fromkeys(("delete", "remove", "rm", "erase"), ("forget",)),
    **dict.fromkeys(("ask", "query"), ("recall", "search")),
    **dict.fromkeys(("start", "proxy", "run"), ("serve",)),
}
"""Names that users may try because other programs use them: such a name -> the commands of this program for the
same."""

FAILED: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

_RUNNERS: Final = {
    "demo": ("running", "run_demo"),
    "import": ("maintenance", "run_import"),
    "serve": ("serving", "run_serve"),
    "check": ("serving", "run_check"),
    "dashboard": ("serving", "run_dashboard"),
    "analyze": ("files", "run_analyze"),
    "compress": ("files", "run_compress"),
    "keys": ("keys", "run_keys"),
    "mcp": ("agents", "run_mcp"),
    "install": ("agents", "run_install"),
}
"""The commands that are not run by ``commands.run_command``: name of the command -> (module, function). A module is
imported when its command runs."""


def run(argv: Sequence[str]) -> int:
    """Run the command line and return the exit status. ``argv``: arguments without the program's name.

    - 0: success. Some commands also return 1 for a negative result, such as ``check``.
    - ``MISUSED`` (2): no command, an unknown one, or an error whose ``fault`` is "caller" or "peer" (except
      ``ModelFailed``).
    - ``FAILED`` (1): any other failure.
    - ``INTERRUPTED`` (130): Ctrl-C.
    - ``PIPE_CLOSED`` (141): the program that reads the output has ended.

    Errors are printed as one line on standard error. If the variable ``TOKENMIZER_DEBUG`` is set, unexpected exceptions
    are raised instead. ``SystemExit`` is raised only by ``--help``, ``--version`` and options or arguments that cannot
    be parsed (0, 0, 2); an unknown command does not raise it.
    """
    tolerate_any_character()
    try:
        status = _run(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except TokenMizerError as error:
        complain(str(error))
        is_misused = error.fault in ("caller", "peer") and not isinstance(error, ModelFailed)
        return MISUSED if is_misused else FAILED
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


def _require_known(command: str) -> None:
    """Raise ``CallerError`` if ``command`` is no command of this program; the message suggests similar ones. An option
    (which begins with "-") is accepted."""
    names = {*COMMANDS, *_RUNNERS, "hook"}
    if command.startswith("-") or command in names:
        return
    meant = _MEANT.get(command, ())
    near = meant or get_close_matches(command, sorted(names), _NEAREST_MAX, _NEAR)
    near = near or sorted(name for name in names if command in name)
    nearest = f"; nearest: {', '.join(near)}" if near else ""
    raise CallerError(f"there is no command {command[:40]!r}{nearest} (see tokenmizer-mw --help)")


def _run(argv: Sequence[str]) -> int:
    if not argv:
        parser().print_help(sys.stderr)
        return MISUSED
    _require_known(argv[0])
    arguments = parser().parse_args(argv)
    module, function = _RUNNERS.get(arguments.command, ("commands", "run_command"))

    # A command reports a failure in one line of its own; the log's line about the same failure is for servers.
    if module in ("commands", "maintenance"):
        import logging  # nothing else needs it

        logging.getLogger("tokenmizer_mw").addHandler(logging.NullHandler())
    with uncollected_imports():
        imported = import_module(f"{__package__}.{module}")
    run_command: Callable[[argparse.Namespace], int] = getattr(imported, function)
    return run_command(arguments)


def confirm(question: str, unattended: str, declined: str) -> None:
    """Print a yes-or-no question on standard error and read the answer from standard input. Returns if the answer is
    "y" or "yes".

    Raises ``CallerError`` for any other answer, with the message ``declined``. If standard input is empty or cannot be
    read, the message says that nobody can confirm, followed by ``unattended``, which should name the option that avoids
    the question.
    """
    is_seen = sys.stdin is not None and sys.stdin.isatty()
    print(f"{inert(question)} [y/N]", end=" " if is_seen else "\n", file=sys.stderr, flush=True)
    try:
        answer = sys.stdin.readline() if sys.stdin is not None else ""
    except OSError:
        answer = ""
    if not answer:
        raise CallerError(f"nobody is there to confirm: {unattended}")
    if answer.strip().casefold() not in ("y", "yes"):
        raise CallerError(declined)


def read_input(file: str | None, most: int = -1) -> bytes:
    """Return the content of a file, or of standard input if ``file`` is "-" or ``None``. ``most``: maximum number of
    bytes; the rest is ignored (-1: no limit). Raises ``CallerError`` if it cannot be read."""
    try:
        if file is None or file == "-":
            return sys.stdin.buffer.read(most)
        with open(file, "rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise CallerError(f"{file}: {error.strerror or error}") from None


_DEMO_NEEDS: Final = ("fastapi", "httpx2", "uvicorn", "rich")
"""Packages that the demonstration imports and the library does not need; the extra ``demo`` installs them."""


def run_demo(arguments: argparse.Namespace) -> int:
    """Run the command ``demo``, a scripted chat through the middleware. Returns 0 if the script was played to its end,
    old messages were cut and the model still knew all old facts that it was asked for; else 1. Raises ``ConfigError``
    if a package is missing, or with ``--live`` the API key in ``OPENAI_API_KEY``."""
    if arguments.live and not os.environ.get("OPENAI_API_KEY"):
        raise ConfigError("--live needs your key in OPENAI_API_KEY")
    if missing := find_uninstalled(_DEMO_NEEDS):
        raise ConfigError(f"{missing[0]} is not installed: {install_hint('demo')}")
    print("Starting the application and the model ...", flush=True)  # loading them takes longer than a moment
    from tokenmizer_mw.cli.demo.run import demonstrate

    return demonstrate(fast=arguments.fast, live_model=arguments.model if arguments.live else None, keep=arguments.keep)
