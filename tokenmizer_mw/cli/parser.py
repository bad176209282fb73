"""The command line's grammar. Imports nothing heavy, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
from typing import Any, Final, NoReturn

from tokenmizer_mw import __version__
from tokenmizer_mw.model.session import LOCAL_TENANT
from tokenmizer_mw.terminal import complain

LEVELS: Final = ("critical", "standard", "full")

_EPILOG: Final = """\
exit status: 0 done; 1 the store, the disk or a setting is at fault; 2 the call is; 130 interrupted.
environment: TOKENMIZER_STORE is the default of --store, TOKENMIZER_<SETTING> sets a setting.
"""


class _Parser(argparse.ArgumentParser):
    """Complains in one line, in the name of the program."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see {self.prog} --help)")
        self.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in the base class, but a command refuses what it does not know, so that its own help is named."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown


def parser() -> argparse.ArgumentParser:
    """The grammar: ``arguments.command`` names the command."""
    top = _Parser(
        prog="tokenmizer-mw",
        description="Session memory that survives the context window.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"tokenmizer-mw {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    shared = _shared_options()
    for name, (help_, arguments) in _COMMANDS.items():
        command = commands.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}.", parents=shared)
        for flags, options in arguments:
            command.add_argument(*flags, **options)
    _demo(commands)
    return top


def _shared_options() -> list[_Parser]:
    shared = _Parser(add_help=False)
    shared.add_argument("--store", metavar="URL", help="where sessions are kept, such as sqlite:///chat.db")
    shared.add_argument("--tenant", default=LOCAL_TENANT, help="whose sessions (default: %(default)s)")
    shared.add_argument("--config", metavar="FILE", help="a YAML file of settings")
    shared.add_argument("--json", action="store_true", help="print JSON")
    return [shared]


def _demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="a chat session through the middleware, before your eyes",
        description="Play a working session of 40 turns through the middleware in a real application.",
    )
    demo.add_argument("--fast", action="store_true", help="without the pauses that a model makes")
    demo.add_argument("--live", action="store_true", help="ask the provider instead (needs OPENAI_API_KEY)")
    demo.add_argument("--model", default="gpt-4o-mini", help="with --live: the model to ask (default: %(default)s)")
    demo.add_argument("--keep", metavar="DIR", help="where to leave the database (default: a new temporary directory)")


_Argument = tuple[tuple[str, ...], dict[str, Any]]

_SESSION: Final[_Argument] = (("session",), {"metavar": "SESSION", "help": "the session's id"})

_COMMANDS: Final[dict[str, tuple[str, tuple[_Argument, ...]]]] = {
    "sessions": ("list the sessions, the most recent first", ()),
    "resume": (
        "print the resume block of a session",
        (
            _SESSION,
            (("--level",), {"choices": LEVELS, "default": "standard", "help": "100, 300 or 600 tokens"}),
            (("--budget",), {"type": int, "metavar": "TOKENS", "help": "at most this many tokens, whatever the level"}),
            (("--query",), {"metavar": "TEXT", "help": "facts that share words with TEXT come first"}),
        ),
    ),
    "graph": (
        "print the graph of a session",
        (
            _SESSION,
            (("--recorded-at",), {"metavar": "TIME", "help": "as believed then (ISO 8601 or seconds since 1970)"}),
            (("--valid-at",), {"metavar": "TIME", "help": "what was true then"}),
        ),
    ),
    "why": (
        "tell why a fact is so: who said it, what it replaced, for which reason",
        (_SESSION, (("text",), {"metavar": "TEXT", "help": "words of the fact, or its id"})),
    ),
    "checkpoint": ("mark this point of a session and tell what changed since the last one", (_SESSION,)),
    "forget": (
        "erase a session for good",
        (_SESSION, (("--yes",), {"action": "store_true", "help": "do not ask"})),
    ),
    "redact": (
        "take secrets out of a text, or of what is stored",
        (
            (("file",), {"metavar": "FILE", "nargs": "?", "default": "-", "help": "default: standard input"}),
            (("--explain",), {"action": "store_true", "help": "tell what was looked at and why"}),
            (("--stored",), {"action": "store_true", "help": "go through all stored sessions instead"}),
            (("--session",), {"metavar": "ID", "help": "with --stored: only this one"}),
        ),
    ),
    "import": (
        "read a transcript, or an export, into a session",
        (
            (("file",), {"metavar": "FILE", "help": "JSON or JSON Lines; - reads standard input"}),
            (("--session",), {"metavar": "ID", "help": "the session's id (default: the file's, or the file's name)"}),
        ),
    ),
    "export": (
        "write the log of a session as JSON Lines",
        (_SESSION, (("-o", "--output"), {"metavar": "FILE", "help": "default: standard output"})),
    ),
}
