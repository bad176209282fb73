"""The arguments of the commands that use a store, as a table. Imports nothing heavy."""

from __future__ import annotations

import argparse
from typing import Any, Final

Argument = tuple[tuple[str, ...], dict[str, Any]]
_SESSION: Final[Argument] = (("session",), {"metavar": "SESSION", "help": "the session's id, or how it begins or ends"})
_FACT: Final[Argument] = (("fact",), {"metavar": "FACT", "help": "the fact's id, or its words"})
_REASON: Final[Argument] = (("--reason",), {"metavar": "TEXT", "default": "", "help": "why"})
KINDS: Final = ("rule", "choice", "decision", "preference", "goal", "task", "environment")
LEVELS: Final = ("critical", "standard", "full")

_LEVELS_HELP: Final = (
    "100, 300 or 600 tokens (default: %(default)s, 300; blocks in chats take the setting block_tokens, 600)"
)

FORMATS: Final = {
    "html": ".html",
    "markdown": ".md",
    "d3": ".json",
    "canvas": ".canvas",
    "mermaid": ".mmd",
}
"""The formats of an exported graph, and what names of such files end in."""

EDITS: Final[dict[str, tuple[str, tuple[Argument, ...]]]] = {
    "recall": (
        "answer a question from the facts and the messages of a session",
        (
            _SESSION,
            (("question",), {"metavar": "QUESTION", "help": "such as: which database do we use?"}),
            (("--budget",), {"type": int, "default": 200, "metavar": "TOKENS", "help": "(default: %(default)s)"}),
        ),
    ),
    "search": (
        "list the facts of a session that share most with a text",
        (
            _SESSION,
            (("text",), {"metavar": "TEXT", "help": "words of facts"}),
            (("--limit",), {"type": int, "default": 5, "metavar": "N", "help": "(default: %(default)s)"}),
        ),
    ),
    "remember": (
        "add a fact to a session by hand",
        (
            _SESSION,
            (("text",), {"metavar": "TEXT", "help": "the fact, in one line"}),
            (("--kind",), {"choices": KINDS, "help": "(default: by its wording a rule or preference, else a choice)"}),
            _REASON,
            (("--create",), {"action": "store_true", "help": "begin a session that is not there"}),
        ),
    ),
    "correct": (
        "change the words of a fact",
        (
            _SESSION,
            _FACT,
            (("--text",), {"metavar": "TEXT", "help": "what it should say"}),
            (("--because",), {"metavar": "TEXT", "help": "reason of the fact: why it is so"}),
            (("--reason",), {"metavar": "TEXT", "default": "", "help": "reason of the change: why it is corrected"}),
        ),
    ),
    "invalidate": (
        "declare a fact wrong",
        (
            _SESSION,
            _FACT,
            (("--reason",), {"metavar": "TEXT", "required": True, "help": "why it is wrong"}),
            (("--never-true",), {"action": "store_true", "help": "it was no fact at all: tell no model of it"}),
        ),
    ),
    "archive": ("put a fact away that is true and of no interest any more", (_SESSION, _FACT, _REASON)),
    "separate": (
        "keep a replaced fact beside the one that replaced it: the two have nothing to do with each other",
        (_SESSION, _FACT, _REASON),
    ),
    "pin": (
        "put a fact before others in resume blocks",
        (_SESSION, _FACT, (("--off",), {"action": "store_true", "help": "no longer"})),
    ),
    "undo": (
        "take a change by hand back",
        (
            _SESSION,
            (
                ("number",),
                {"type": int, "nargs": "?", "metavar": "NUMBER", "help": "which one (default: the newest)"},
            ),
        ),
    ),
    "edits": ("list the changes by hand of a session", (_SESSION,)),
}
"""The commands that query and edit facts."""

_TIMES: Final[tuple[Argument, ...]] = (
    (("--recorded-at",), {"metavar": "TIME", "help": "as believed then (ISO 8601 or seconds since 1970)"}),
    (("--valid-at",), {"metavar": "TIME", "help": "what was true then"}),
)


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


COMMANDS: Final[dict[str, tuple[str, tuple[Argument, ...]]]] = {
    "sessions": (
        "list the sessions, the most recent first: when each changed, open tasks and errors, goal or first question",
        (
            (
                ("--limit",),
                {"type": _positive, "default": 100, "metavar": "N", "help": "at most N (default: %(default)s)"},
            ),
        ),
    ),
    "resume": (
        "print the resume block of a session as it is now; graph and export take --recorded-at for earlier times",
        (
            _SESSION,
            (("--level",), {"choices": LEVELS, "default": "standard", "help": _LEVELS_HELP}),
            (("--budget",), {"type": int, "metavar": "TOKENS", "help": "at most this many tokens, whatever the level"}),
            (("--query",), {"metavar": "TEXT", "help": "facts that share words with TEXT come first"}),
        ),
    ),
    "graph": (
        "print the graph of a session",
        (
            _SESSION,
            *_TIMES,
            (("--tree",), {"action": "store_true", "help": "as a tree in colours"}),
        ),
    ),
    "why": (
        "tell why a fact is so: who said it, what it replaced, for which reason",
        (_SESSION, (("text",), {"metavar": "TEXT", "help": "words of the fact, or its id"})),
    ),
    **EDITS,
    "refine": (
        "let the configured model (llm_url, llm_model) read a session, and add the facts that were missed",
        (
            (("session",), {**_SESSION[1], "nargs": "?"}),
            (("--all",), {"action": "store_true", "help": "all sessions of the tenant, one after the other"}),
        ),
    ),
    "checkpoint": ("mark this point of a session and tell what changed since the last one", (_SESSION,)),
    "stats": (
        "tell what calls cost and what was saved, net of the providers' prompt caches",
        (
            (("--session",), {"metavar": "ID", "help": "of this session only"}),
            (("--model",), {"metavar": "NAME", "help": "of this model only"}),
            (("--since",), {"metavar": "DAY", "help": "from this day on (2026-11-21, UTC)"}),
            (("--until",), {"metavar": "DAY", "help": "up to and including this day"}),
            (("--by",), {"choices": ("session", "model", "day"), "help": "tell these apart"}),
            (("--calls",), {"metavar": "SESSION", "help": "show the newest calls of a session instead"}),
        ),
    ),
    "cache": (
        "tell what the cache holds of a tenant's answers, or empty it",
        (
            (("--purge",), {"action": "store_true", "help": "forget them"}),
            (("--session",), {"metavar": "ID", "help": "with --purge: only those of this session"}),
        ),
    ),
    "compaction": (
        "print what a compaction stands for, from the text that a client keeps",
        ((("file",), {"metavar": "FILE", "nargs": "?", "default": "-", "help": "default: standard input"}),),
    ),
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
    "analyze": (
        "tell in a few hundred tokens what is in a file",
        (
            (("file",), {"metavar": "FILE", "help": "text, a table, a log, source code, PDF, a workbook, an archive"}),
            (("--budget",), {"type": int, "metavar": "TOKENS", "help": "at most this many tokens"}),
            (("--lines",), {"metavar": "A:B", "help": "show these lines instead"}),
            (("--find",), {"metavar": "TEXT", "help": "show the lines that hold TEXT instead"}),
        ),
    ),
    "compress": (
        "say a chat, or the output of a tool, in fewer tokens",
        (
            (
                ("file",),
                {
                    "metavar": "FILE",
                    "nargs": "?",
                    "help": "messages as JSON or JSON Lines, or any text; - or none reads standard input",
                },
            ),
            (
                ("--stages",),
                {"metavar": "NAMES", "help": "stages with commas between them (default: the setting, else all)"},
            ),
            (("--text",), {"action": "store_true", "help": "JSON is the output of a tool, too, and no chat"}),
            (("--ran",), {"metavar": "COMMAND", "help": "the text is what this command printed"}),
            (("--path",), {"metavar": "NAME", "help": "the text is this file (default: FILE)"}),
            (("--model",), {"default": "", "help": "count tokens as this model does"}),
        ),
    ),
    "import": (
        "read a transcript, or an export, into a session",
        (
            (
                ("file",),
                {
                    "metavar": "FILE",
                    "help": "messages in JSON, an export of a chat, or an agent's transcript; - reads standard input",
                },
            ),
            (("--session",), {"metavar": "ID", "help": "the session's id (default: the file's, or the file's name)"}),
        ),
    ),
    "export": (
        "write the log of a session as JSON Lines, or its graph as a page, a picture or a file of another program",
        (
            _SESSION,
            (("-o", "--output"), {"metavar": "FILE", "help": "default: standard output"}),
            (
                ("--format",),
                {
                    "choices": ("log", *FORMATS),
                    "help": "default: what the name of FILE ends in (such as .html), else the log, which import reads",
                },
            ),
            *_TIMES,
        ),
    ),
    "backup": (
        "write a verified copy of all sessions while they are in use",
        (
            (("dest",), {"metavar": "DEST", "nargs": "?", "help": "a new file, or a directory for one"}),
            (("--portable",), {"action": "store_true", "help": "as JSON Lines that every kind of store takes back"}),
            (("--list",), {"action": "store_true", "help": "list the backups on record instead"}),
            (("--drop",), {"metavar": "FILE", "help": "take a backup that is no more off the record instead"}),
        ),
    ),
    "restore": (
        "take the sessions of a backup back into a store, whichever kind either is",
        ((("source",), {"metavar": "SRC", "help": "what backup wrote"}),),
    ),
    "retain": (
        "erase the sessions that nothing was added to for long",
        (
            (("--older-than",), {"metavar": "AGE", "required": True, "help": "such as 90d, 12h, 8w or 1y"}),
            (("--all-tenants",), {"action": "store_true", "help": "those of everybody"}),
            (("--dry-run",), {"action": "store_true", "help": "only say which"}),
        ),
    ),
}
"""All commands that use a store, by their names: help, and arguments as ``add_argument`` takes them."""
