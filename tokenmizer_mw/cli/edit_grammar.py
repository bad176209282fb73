"""Argument parsers of the commands that query and edit facts. Imports nothing heavy."""

from __future__ import annotations

from typing import Any, Final

Argument = tuple[tuple[str, ...], dict[str, Any]]

_SESSION: Final[Argument] = (("session",), {"metavar": "SESSION", "help": "the session's id, or how it begins or ends"})
_FACT: Final[Argument] = (("fact",), {"metavar": "FACT", "help": "the fact's id, or its words"})
_REASON: Final[Argument] = (("--reason",), {"metavar": "TEXT", "default": "", "help": "why"})

KINDS: Final = ("rule", "choice", "preference", "goal", "task", "environment")


def _number(text: str) -> int:
    return int(text)


EDITS: Final[dict[str, tuple[str, tuple[Argument, ...]]]] = {
    "recall": (
        "answer a question from the facts and the messages of a session",
        (
            _SESSION,
            (("question",), {"metavar": "QUESTION", "help": "such as: which database do we use?"}),
            (("--budget",), {"type": _number, "default": 200, "metavar": "TOKENS", "help": "(default: %(default)s)"}),
        ),
    ),
    "search": (
        "list the facts of a session that share most with a text",
        (
            _SESSION,
            (("text",), {"metavar": "TEXT", "help": "words of facts"}),
            (("--limit",), {"type": _number, "default": 5, "metavar": "N", "help": "(default: %(default)s)"}),
        ),
    ),
    "remember": (
        "add a fact to a session by hand",
        (
            _SESSION,
            (("text",), {"metavar": "TEXT", "help": "the fact, in one line"}),
            (("--kind",), {"choices": KINDS, "default": "rule", "help": "(default: %(default)s)"}),
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
        (_SESSION, _FACT, (("--reason",), {"metavar": "TEXT", "required": True, "help": "why it is wrong"})),
    ),
    "archive": ("put a fact away that is true and of no interest any more", (_SESSION, _FACT, _REASON)),
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
                {"type": _number, "nargs": "?", "metavar": "NUMBER", "help": "which one (default: the newest)"},
            ),
        ),
    ),
    "edits": ("list the changes by hand of a session", (_SESSION,)),
}
"""Commands by their names, as in ``parser``."""
