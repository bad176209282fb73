"""The arguments of the commands that open a store, as tables. Imports only the standard library, so that ``--help`` is
fast."""

from __future__ import annotations

import argparse
from typing import Any, Final

Argument = tuple[tuple[str, ...], dict[str, Any]]
Command = tuple[str, tuple[Argument, ...]]


def _option(*flags: str, **options: Any) -> Argument:
    """Return one argument or option as a pair: its names, such as ``("--budget",)``, and the keyword arguments that
    ``ArgumentParser.add_argument`` takes with them."""
    return flags, options


def _command(about: str, *arguments: Argument) -> Command:
    """Return a command as a pair. ``about``: its help text, one line. ``arguments``: its arguments and options, each
    made by ``_option``."""
    return about, arguments


_SESSION: Final[Argument] = _option("session", metavar="ID", help="the session's id, or how it begins or ends")

_FACT: Final[Argument] = _option("fact", metavar="FACT", help="the fact's id, or its words")

_REASON: Final[Argument] = _option("--reason", metavar="TEXT", default="", help="why")

KINDS: Final = ("rule", "choice", "decision", "preference", "goal", "task", "environment")

LEVELS: Final = ("critical", "standard", "full")

_LEVELS_HELP: Final = (
    "100, 300 or 600 tokens (default: %(default)s, 300; blocks in chats take the setting block_tokens, 600)"
)

FORMATS: Final = {"html": ".html", "markdown": ".md", "d3": ".json", "canvas": ".canvas", "mermaid": ".mmd"}
"""The formats in which ``export`` can write a graph, each with the ending of such files."""

_OTHER_FORMATS: Final = tuple(suffix[1:] for name, suffix in FORMATS.items() if suffix[1:] != name)
"""Further values of ``--format``: the endings of the files without the dot, where an ending differs from the name, such
as "md" for "markdown"."""

EDITS: Final[dict[str, Command]] = {
    "recall": _command(
        "answer a question from the facts and the messages of a session",
        _SESSION,
        _option("question", metavar="QUESTION", help="such as: which database do we use?"),
        _option("--budget", type=int, default=200, metavar="TOKENS", help="(default: %(default)s)"),
    ),
    "search": _command(
        "list the facts of a session that share most with a text",
        _SESSION,
        _option("text", metavar="TEXT", help="words of facts"),
        _option("--limit", type=int, default=5, metavar="N", help="(default: %(default)s)"),
    ),
    "remember": _command(
        "add a fact to a session by hand",
        _SESSION,
        _option("text", metavar="TEXT", help="the fact, in one line"),
        _option("--kind", choices=KINDS, help="(default: by its wording a rule or preference, else a choice)"),
        _REASON,
        _option("--create", action="store_true", help="begin a session that is not there"),
    ),
    "correct": _command(
        "change the words of a fact",
        _SESSION,
        _FACT,
        _option("--text", metavar="TEXT", help="what it should say"),
        _option("--because", metavar="TEXT", help="reason of the fact: why it is so"),
        _option("--reason", metavar="TEXT", default="", help="reason of the change: why it is corrected"),
    ),
    "complete": _command("mark a task as done, an error as fixed, or a goal as reached", _SESSION, _FACT, _REASON),
    "invalidate": _command(
        "declare a fact wrong",
        _SESSION,
        _FACT,
        _option("--reason", metavar="TEXT", required=True, help="why it is wrong"),
        _option("--never-true", action="store_true", help="it was no fact at all: show it to no model"),
    ),
    "archive": _command("put a fact away that is true and of no interest any more", _SESSION, _FACT, _REASON),
    "separate": _command(
        "keep a replaced fact beside the one that replaced it: the two have nothing to do with each other",
        _SESSION,
        _FACT,
        _REASON,
    ),
    "pin": _command(
        "put a fact before others in resume blocks",
        _SESSION,
        _FACT,
        _option("--off", action="store_true", help="no longer"),
    ),
    "undo": _command(
        "undo a manual change",
        _SESSION,
        _option("number", type=int, nargs="?", metavar="NUMBER", help="which one (default: the newest)"),
    ),
    "edits": _command("list the changes by hand of a session", _SESSION),
}
"""The commands that query and edit facts: name of the command -> help text and arguments. ``COMMANDS`` contains them,
too."""


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


_PAST: Final[tuple[Argument, ...]] = (
    _option("--message", type=_positive, metavar="N", help="as it was after message N of the session"),
    _option(
        "--recorded-at",
        metavar="TIME",
        help="as it was recorded then: ISO 8601 (local time without a zone), or seconds since 1970",
    ),
    _option("--valid-at", metavar="TIME", help="what was true then"),
)
"""Options that select an earlier state of a session's graph: after a message, as recorded at a time, or as valid at a
time."""


COMMANDS: Final[dict[str, Command]] = {
    "sessions": _command(
        "list the sessions, the most recent first: when each changed, open tasks and errors, goal or first question",
        _option("--limit", type=_positive, default=100, metavar="N", help="at most N (default: %(default)s)"),
    ),
    "resume": _command(
        "print the resume block of a session as it is now; for an earlier state: graph --message or --recorded-at",
        _SESSION,
        _option("--level", choices=LEVELS, default="standard", help=_LEVELS_HELP),
        _option("--budget", type=int, metavar="TOKENS", help="at most this many tokens, whatever the level"),
        _option("--query", metavar="TEXT", help="facts that share words with TEXT come first"),
    ),
    "graph": _command(
        "print the graph of a session",
        _SESSION,
        *_PAST,
        _option("--tree", action="store_true", help="as a tree in colours"),
    ),
    "why": _command(
        "explain a fact: who stated it, what it replaced, for which reason",
        _SESSION,
        _option("text", metavar="TEXT", help="words of the fact, or its id"),
    ),
    **EDITS,
    "refine": _command(
        "let the configured model (llm_url, llm_model) read a session, and add the facts that were missed",
        _option("session", **_SESSION[1], nargs="?"),
        _option("--all", action="store_true", help="all sessions of the tenant, one after the other"),
    ),
    "loss": _command(
        "list the facts that the last cut of a session removed from the model's context and its block does not state",
        _SESSION,
    ),
    "checkpoint": _command("mark this point of a session and show what changed since the last one", _SESSION),
    "stats": _command(
        "show cost and savings of calls, net of the providers' prompt caches",
        _option("--session", metavar="ID", help="of this session only"),
        _option("--model", metavar="NAME", help="of this model only"),
        _option("--since", metavar="DAY", help="from this day on (2026-11-21, UTC)"),
        _option("--until", metavar="DAY", help="up to and including this day"),
        _option("--by", choices=("session", "model", "day"), help="group by"),
        _option("--calls", metavar="ID", help="show the newest calls of a session instead"),
    ),
    "cache": _command(
        "show what the cache holds of a tenant's answers, or empty it",
        _option("--purge", action="store_true", help="forget them"),
        _option("--session", metavar="ID", help="with --purge: only those of this session"),
    ),
    "compaction": _command(
        "print what a compaction stands for, from the text that a client keeps",
        _option("file", metavar="FILE", nargs="?", default="-", help="default: standard input"),
    ),
    "forget": _command("erase a session for good", _SESSION, _option("--yes", action="store_true", help="do not ask")),
    "redact": _command(
        "take secrets out of a text, or of what is stored",
        _option("file", metavar="FILE", nargs="?", default="-", help="default: standard input"),
        _option("--explain", action="store_true", help="report what was looked at and why"),
        _option("--stored", action="store_true", help="go through all stored sessions instead"),
        _option("--session", metavar="ID", help="with --stored: only this one"),
    ),
    "analyze": _command(
        "describe a file in a few hundred tokens",
        _option("file", metavar="FILE", help="text, a table, a log, source code, PDF, a workbook, an archive"),
        _option("--budget", type=int, metavar="TOKENS", help="at most this many tokens"),
        _option("--lines", metavar="A:B", help="show these lines instead"),
        _option("--find", metavar="TEXT", help="show the lines that hold TEXT instead"),
    ),
    "compress": _command(
        "compress a chat or a tool's output",
        _option(
            "file",
            metavar="FILE",
            nargs="?",
            help="messages as JSON or JSON Lines, or any text; - or none reads standard input",
        ),
        _option("--stages", metavar="NAMES", help="stages with commas between them (default: the setting, else all)"),
        _option("--text", action="store_true", help="JSON is the output of a tool, too, and no chat"),
        _option("--ran", metavar="COMMAND", help="the text is what this command printed"),
        _option("--path", metavar="NAME", help="the text is this file (default: FILE)"),
        _option("--model", default="", help="count tokens as this model does"),
    ),
    "import": _command(
        "read a transcript, or an export, into a session",
        _option(
            "file",
            metavar="FILE",
            help="messages in JSON, an export of a chat, or an agent's transcript; - reads standard input",
        ),
        _option("--session", metavar="ID", help="the session's id (default: the file's, or the file's name)"),
    ),
    "export": _command(
        "write the log of a session as JSON Lines, or its graph as a page, a picture or a file of another program",
        _SESSION,
        _option("-o", "--output", metavar="FILE", help="default: standard output"),
        _option(
            "--format",
            choices=("log", *FORMATS, *_OTHER_FORMATS),
            help="default: what the name of FILE ends in (such as .html), else the log, which import reads",
        ),
        *_PAST,
    ),
    "backup": _command(
        "write a verified copy of all sessions while they are in use",
        _option("dest", metavar="DEST", nargs="?", help="a new file, or a directory for one"),
        _option("--portable", action="store_true", help="as JSON Lines that every kind of store takes back"),
        _option("--list", action="store_true", help="list the backups on record instead"),
        _option("--drop", metavar="FILE", help="remove a deleted backup from the list instead"),
    ),
    "restore": _command(
        "take the sessions of a backup back into a store, whichever kind either is",
        _option("source", metavar="SRC", help="what backup wrote"),
    ),
    "retain": _command(
        "erase the sessions that nothing was added to for long",
        _option("--older-than", metavar="AGE", required=True, help="such as 90d, 12h, 8w or 1y"),
        _option("--all-tenants", action="store_true", help="those of everybody"),
        _option("--dry-run", action="store_true", help="only show which"),
    ),
}
"""All commands that open a store: name of the command -> help text and arguments."""
