"""The categories that a model may state about a session: one row each, from which JSON schema and parser are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from tokenmizer_mw.model.node import NodeType, Status


class ListShape(Enum):
    """What stands in the list of a category: plain texts, errors with their state, files with what they are for, or
    pairs of old and new."""

    TEXT = "text"
    ERROR = "error"
    FILE = "file"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class ReplyCategory:
    """A list in the reply. ``type`` and ``status`` are those of its facts; ``asked`` is the instruction for the
    model.
    """

    name: str
    type: NodeType
    status: Status
    asked: str
    shape: ListShape = ListShape.TEXT


CATEGORIES: Final = (
    ReplyCategory("goal", NodeType.GOAL, Status.ACTIVE, "what the user is after; one entry, rarely two"),
    ReplyCategory(
        "decisions",
        NodeType.DECISION,
        Status.ACTIVE,
        "choices that are in force at the end, each with its reason: the user's own, and those of the assistant that"
        " the user let stand",
    ),
    ReplyCategory(
        "rules",
        NodeType.DECISION,
        Status.ACTIVE,
        "standing rules and preferences of the user that are in force at the end",
    ),
    ReplyCategory(
        "superseded",
        NodeType.DECISION,
        Status.ACTIVE,
        "choices that gave way to others, one entry for every such change, with the reason if somebody gave one",
        ListShape.PAIR,
    ),
    ReplyCategory("rejected", NodeType.DECISION, Status.INVALIDATED, "options that were weighed and turned down"),
    ReplyCategory(
        "tasks_done",
        NodeType.TASK,
        Status.COMPLETED,
        "work that was finished, unless a later message undoes it or shows that it was not",
    ),
    ReplyCategory(
        "tasks_pending",
        NodeType.TASK,
        Status.PENDING,
        "work that is open at the end: asked for and not answered, begun, not confirmed to work, or left to the user;"
        " mere offers are no such work",
    ),
    ReplyCategory(
        "errors",
        NodeType.ERROR,
        Status.ACTIVE,
        "what went wrong; resolved only where a fix was made and nothing later speaks against it",
        ListShape.ERROR,
    ),
    ReplyCategory(
        "files",
        NodeType.FILE,
        Status.ACTIVE,
        "files that were written, changed or talked about, paths as given, and what each is for",
        ListShape.FILE,
    ),
    ReplyCategory(
        "environment",
        NodeType.ENVIRONMENT,
        Status.ACTIVE,
        "platforms, versions, settings, commands and values around the work",
    ),
    ReplyCategory("dependencies", NodeType.DEPENDENCY, Status.ACTIVE, "libraries, packages and services in use"),
    ReplyCategory("endpoints", NodeType.ENDPOINT, Status.ACTIVE, "routes and addresses"),
)
"""In the order in which they are merged: what is in force comes before what it replaced."""

HANDOVER: Final = "handover"
HANDOVER_ASKED: Final = (
    "one text of at most 500 tokens (2,000 characters) for the colleague: what the session is for, what was decided and"
    " why, what replaced what, what is finished, open and next, what failed with cause and fix, which rules of the user"
    " hold, which files, commands and values matter; plain sentences, densest first, no headings"
)
"""The member of a reply that holds the handover, and what the model is asked to write there."""

BY_NAME: Final = {category.name: category for category in CATEGORIES}

_TEXT: Final = {"type": "string"}


def _object(**members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_ENTRIES: Final = {
    ListShape.TEXT: _TEXT,
    ListShape.ERROR: _object(label=_TEXT, cause=_TEXT, fix=_TEXT, resolved={"type": "boolean"}),
    ListShape.FILE: _object(path=_TEXT, what=_TEXT),
    ListShape.PAIR: _object(old=_TEXT, new=_TEXT, reason=_TEXT),
}

SCHEMA: Final = _object(
    **{
        category.name: {"type": "array", "description": category.asked, "items": _ENTRIES[category.shape]}
        for category in CATEGORIES
    },
    **{HANDOVER: {"type": "string", "description": HANDOVER_ASKED}},
)
"""JSON Schema of a reply, in the strict form that providers accept: every member required, no others."""
