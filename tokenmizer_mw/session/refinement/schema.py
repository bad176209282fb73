"""What a model may state about a session: one row a category, from which the JSON schema and the reading are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from tokenmizer_mw.model.node import NodeType, Status


class Shape(Enum):
    """What stands in the list of a category: plain texts, errors with their state, files with what they are for, or
    pairs of old and new."""

    TEXT = "text"
    ERROR = "error"
    FILE = "file"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Category:
    """A list in the reply. ``type`` and ``status`` are those of the facts in it; ``asked`` tells the model what belongs
    there."""

    name: str
    type: NodeType
    status: Status
    asked: str
    shape: Shape = Shape.TEXT


CATEGORIES: Final = (
    Category("goal", NodeType.GOAL, Status.ACTIVE, "what the user is after; one entry, rarely two"),
    Category(
        "decisions",
        NodeType.DECISION,
        Status.ACTIVE,
        "choices that are in force at the end, each with its reason: the user's own, and those of the assistant that"
        " the user let stand",
    ),
    Category(
        "rules",
        NodeType.DECISION,
        Status.ACTIVE,
        "standing rules and preferences of the user that are in force at the end",
    ),
    Category(
        "superseded",
        NodeType.DECISION,
        Status.ACTIVE,
        "choices that gave way to others, one entry for every such change, with the reason if somebody gave one",
        Shape.PAIR,
    ),
    Category("rejected", NodeType.DECISION, Status.INVALIDATED, "options that were weighed and turned down"),
    Category(
        "tasks_done",
        NodeType.TASK,
        Status.COMPLETED,
        "work that was finished, unless a later message undoes it or shows that it was not",
    ),
    Category(
        "tasks_pending",
        NodeType.TASK,
        Status.PENDING,
        "work that is open at the end: asked for and not answered, begun, not confirmed to work, or left to the user;"
        " mere offers are no such work",
    ),
    Category(
        "errors",
        NodeType.ERROR,
        Status.ACTIVE,
        "what went wrong; resolved only where a fix was made and nothing later speaks against it",
        Shape.ERROR,
    ),
    Category(
        "files",
        NodeType.FILE,
        Status.ACTIVE,
        "files that were written, changed or talked about, paths as given, and what each is for",
        Shape.FILE,
    ),
    Category(
        "environment",
        NodeType.ENVIRONMENT,
        Status.ACTIVE,
        "platforms, versions, settings, commands and values around the work",
    ),
    Category("dependencies", NodeType.DEPENDENCY, Status.ACTIVE, "libraries, packages and services in use"),
    Category("endpoints", NodeType.ENDPOINT, Status.ACTIVE, "routes and addresses"),
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
    Shape.TEXT: _TEXT,
    Shape.ERROR: _object(label=_TEXT, cause=_TEXT, fix=_TEXT, resolved={"type": "boolean"}),
    Shape.FILE: _object(path=_TEXT, what=_TEXT),
    Shape.PAIR: _object(old=_TEXT, new=_TEXT, reason=_TEXT),
}

SCHEMA: Final = _object(
    **{
        category.name: {"type": "array", "description": category.asked, "items": _ENTRIES[category.shape]}
        for category in CATEGORIES
    },
    **{HANDOVER: {"type": "string", "description": HANDOVER_ASKED}},
)
"""JSON Schema of a reply, in the strict form that providers accept: every member required, no others."""
