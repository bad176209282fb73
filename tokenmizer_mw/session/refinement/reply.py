"""The categories that a model may state about a session, as JSON schema, and the parser of its reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.safety.guard import suspicion
from tokenmizer_mw.session.refinement.lenient_json import LooseObject, objects


class ListShape(Enum):
    """The form of the entries in a category's list: plain texts, errors with their state, files with their purpose, or
    pairs of old and new."""

    TEXT = "text"
    ERROR = "error"
    FILE = "file"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class ReplyCategory:
    """A list in the reply, such as decisions or tasks. ``type`` and ``status``: those of the facts made from it;
    ``asked``: the instruction for the model."""

    name: str
    type: NodeType
    status: Status
    asked: str
    shape: ListShape = ListShape.TEXT


# fmt: off
CATEGORIES: Final = (
    ReplyCategory("goal", NodeType.GOAL, Status.ACTIVE, "what the user is after; one entry, rarely two"),
    ReplyCategory("decisions", NodeType.DECISION, Status.ACTIVE,
        "choices that are in force at the end, each with its reason: the user's own, and those of the assistant that"
        " the user let stand"),
    ReplyCategory("rules", NodeType.DECISION, Status.ACTIVE,
        "standing rules and preferences of the user that are in force at the end"),
    ReplyCategory("superseded", NodeType.DECISION, Status.ACTIVE,
        "choices that gave way to others, one entry for every such change, with the reason if somebody gave one",
        ListShape.PAIR),
    ReplyCategory("rejected", NodeType.DECISION, Status.INVALIDATED, "options that were weighed and turned down"),
    ReplyCategory("tasks_done", NodeType.TASK, Status.COMPLETED,
        "work that was finished, unless a later message undoes it or shows that it was not"),
    ReplyCategory("tasks_pending", NodeType.TASK, Status.PENDING,
        "work that is open at the end: asked for and not answered, begun, not confirmed to work, or left to the user;"
        " mere offers are no such work"),
    ReplyCategory("errors", NodeType.ERROR, Status.ACTIVE,
        "what went wrong; resolved only where a fix was made and nothing later speaks against it", ListShape.ERROR),
    ReplyCategory("files", NodeType.FILE, Status.ACTIVE,
        "files that were written, changed or talked about, paths as given, and what each is for", ListShape.FILE),
    ReplyCategory("environment", NodeType.ENVIRONMENT, Status.ACTIVE,
        "platforms, versions, settings, commands and values around the work"),
    ReplyCategory("dependencies", NodeType.DEPENDENCY, Status.ACTIVE, "libraries, packages and services in use"),
    ReplyCategory("endpoints", NodeType.ENDPOINT, Status.ACTIVE, "routes and addresses"),
)
# fmt: on
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


_THOUGHTS_END: Final = "</think>"
_NAMED: Final = ("label", "text", "name", "path", "title", "description")
"""Members of an object that stands where a plain text was asked for: the first of them that is one, is it."""
_EXPLAINED: Final = ("cause", "fix")


@dataclass(frozen=True, slots=True)
class ReplyStatement:
    """One entry of a reply. ``old`` and ``reason`` are set for replacements, ``resolved`` for errors; ``detail``: an
    error's cause and fix."""

    category: str
    text: str
    old: str = ""
    reason: str = ""
    resolved: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefinementReply:
    """A parsed reply of a refinement.

    - ``whole``: categories whose list was complete, empty ones included.
    - ``dropped``: number of entries that have a wrong type or exceed the limit, and of lists with an unknown name.
    - ``handover``: the prose summary that the model wrote; ``breaks_off``: true if its end is missing.
    """

    stated: tuple[ReplyStatement, ...] = ()
    whole: frozenset[str] = frozenset()
    dropped: int = 0
    handover: str = ""
    breaks_off: bool = False


def read_reply(text: str, *, chars_max: int, items_max: int) -> RefinementReply | None:
    """Parse the statements in ``text``. Reads at most ``chars_max`` characters, and keeps at most ``items_max`` entries
    per category. ``None`` when no JSON object in it has a known category. Linear time.

    If there are several such objects, the one with the most entries counts, the last one of equals, because a model may
    write a draft first.
    """
    body = text[:chars_max]
    answer = body.rpartition(_THOUGHTS_END)[2]
    found = [
        part
        for top in objects(answer if "{" in answer else body)
        for part in _levels(top, 2)
        if _is_known(part.members)
    ]
    if not found:
        return None
    replies = [_read(part, items_max) for part in found]
    return max(reversed(replies), key=lambda reply: (len(reply.stated), len(reply.handover)))


def _levels(outer: LooseObject, depth: int) -> Iterator[LooseObject]:
    """An object and those that are its members: some models wrap what they were asked for."""
    yield outer
    for inner in outer.members.values():
        if depth and isinstance(inner, LooseObject):
            yield from _levels(inner, depth - 1)


def _is_known(members: dict[str, Any]) -> bool:
    return not BY_NAME.keys().isdisjoint(members) or HANDOVER in members


def _read(given: LooseObject, items_max: int) -> RefinementReply:
    stated: list[ReplyStatement] = []
    dropped = sum(name not in BY_NAME and name != HANDOVER for name in given.members)
    whole = set()
    for category in CATEGORIES:
        if category.name not in given.members:
            continue
        value = given.members[category.name]
        entries = value if isinstance(value, list) else [] if value is None else [value]
        read = [one for entry in entries if (one := _read_stated(category, entry)) is not None and not _orders(one)]
        stated += read[:items_max]
        dropped += len(entries) - len(read[:items_max])
        if category.name not in given.cut and isinstance(value, list):
            whole.add(category.name)
    handover = _text(given.members.get(HANDOVER, given.broken.get(HANDOVER)))
    dropped += not isinstance(given.members.get(HANDOVER, ""), str)
    return RefinementReply(tuple(stated), frozenset(whole), dropped, handover, HANDOVER in given.cut)


def _read_stated(category: ReplyCategory, entry: object) -> ReplyStatement | None:
    members = entry.members if isinstance(entry, LooseObject) else {}
    if category.shape is ListShape.PAIR:
        old, new = _text(members.get("old")), _text(members.get("new"))
        changed = bool(old and new) and old.casefold() != new.casefold()
        return ReplyStatement(category.name, new, old, _text(members.get("reason"))) if changed else None
    text = _text(entry) or next((named for name in _NAMED if (named := _text(members.get(name)))), "")
    detail = "; ".join(named for name in _EXPLAINED if (named := _text(members.get(name)))) if text else ""
    return (
        ReplyStatement(category.name, text, resolved=members.get("resolved") is True, detail=detail) if text else None
    )


def _orders(stated: ReplyStatement) -> bool:
    """Whether an entry reads like an order to a model: its words may well be the session's, and it is no record."""
    return any(suspicion(text).flagged for text in (stated.text, stated.old, stated.reason, stated.detail) if text)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
