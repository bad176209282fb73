"""The categories that a model may state about a session, as JSON schema, and the parser of its reply.

A reply is JSON as models write it: prose and code fences around an object, single quotes, surplus and missing commas,
line breaks in strings, and a truncated end are accepted, in one pass that is linear in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.safety.guard import suspicion


class ListShape(Enum):
    """The form of the entries in a category's list: plain texts, errors with their state, files with their purpose, or
    pairs of old and new."""

    TEXT = "text"
    ERROR = "error"
    FILE = "file"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class ReplyCategory:
    """A list that the refining model's reply contains, such as decisions or open tasks.

    ``name``: its key in the reply; ``type``, ``status``: those of the facts that are made from its entries; ``asked``:
    what the prompt says about it; ``shape``: the form of its entries.
    """

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
"""The lists of a reply, in the order in which they are merged: what is in force comes before what it replaced."""

HANDOVER: Final = "handover"
HANDOVER_ASKED: Final = (
    "one text of at most 500 tokens (2,000 characters) for the colleague: what the session is for, what was decided and"
    " why, what replaced what, what is finished, open and next, what failed with cause and fix, which rules of the user"
    " hold, which files, commands and values matter; plain sentences, densest first, no headings"
)
"""``HANDOVER``: name of the member of a reply that holds the handover. ``HANDOVER_ASKED``: the instruction for it to
the model."""

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
"""Members that are tried in this order if an object stands where a text was asked for; the first that is a text is
taken."""
_EXPLAINED: Final = ("cause", "fix")


@dataclass(frozen=True, slots=True)
class ReplyStatement:
    """One entry of a list in a reply. ``category``: the list's name; ``old`` and ``reason``: the replaced choice and
    why, set for replacements; ``resolved``: set for errors; ``detail``: an error's cause and fix."""

    category: str
    text: str
    old: str = ""
    reason: str = ""
    resolved: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefinementReply:
    """A parsed reply of a refinement. ``stated``: the entries of its lists.

    - ``whole``: names of the lists that were complete, empty ones included.
    - ``dropped``: number of entries that have a wrong type, read like an instruction to a model, or exceed the limit,
      and of members of the reply with an unknown name or, for the handover, a wrong type.
    - ``handover``: the prose summary that the model wrote; ``breaks_off``: true if its end is missing.
    """

    stated: tuple[ReplyStatement, ...] = ()
    whole: frozenset[str] = frozenset()
    dropped: int = 0
    handover: str = ""
    breaks_off: bool = False


def read_reply(text: str, *, chars_max: int, items_max: int) -> RefinementReply | None:
    """Parse the statements in ``text``. Reads at most ``chars_max`` characters, and keeps at most ``items_max`` entries
    per list. ``None`` when no JSON object in it has a known list or a handover. Linear time.

    If there are several such objects, the one with the most entries counts, and the last one of equals, because a model
    may write a draft first.
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
    """Yield an object and the objects inside it, because some models wrap what they were asked for. ``depth``: how many
    levels inside."""
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
    """Whether an entry reads like an instruction to a model. Such an entry is dropped even if the session has its
    words."""
    return any(suspicion(text).flagged for text in (stated.text, stated.old, stated.reason, stated.detail) if text)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


DEPTH_MAX: Final = 16
"""Deepest nesting of brackets that is read. What lies deeper is skipped."""

_SPACE: Final = frozenset(" \t\r\n\f\v\u00a0\u2028\u2029\ufeff")
_QUOTES: Final = {'"': '"', "'": "'", "\u201c": "\u201d"}
_AFTER_TEXT: Final = frozenset(",:]}")
_WORD_ENDS: Final = frozenset(",:]}[{\n")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


@dataclass(frozen=True, slots=True)
class LooseObject:
    """A JSON object found in a text that need not be valid JSON.

    ``members``: its members; ``cut``: names of members whose value is incomplete because the text ends in it;
    ``broken``: for such members whose value is a string, the part of it that is there.
    """

    members: dict[str, Any] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bare:
    """A word without quotes that is not a JSON value, such as a member's name without quotes."""

    text: str


def objects(text: str) -> list[LooseObject]:
    """Return the outermost JSON objects in ``text``, in order; ``[]`` for none. If the text ends inside an object, its
    complete members are returned, and the complete items of a list or an object in which the text ends."""
    scanner = _Scanner(text)
    found = []
    while (start := text.find("{", scanner.at)) >= 0:
        scanner.at = start
        found.append(scanner.object(0)[0])
    return found


@dataclass(slots=True)
class _Scanner:
    text: str
    at: int = 0

    def value(self, depth: int) -> tuple[Any, bool]:
        """Read the value that begins at ``at``. Returns it, and whether it is complete."""
        char = self._next()
        if char == "{" and depth < DEPTH_MAX:
            return self.object(depth)
        if char == "[" and depth < DEPTH_MAX:
            return self._array(depth)
        if char in _QUOTES:
            return self._string(_QUOTES[char])
        return self._word()

    def object(self, depth: int) -> tuple[LooseObject, bool]:
        """Read the object whose opening brace is at ``at``. Returns it, and whether it is complete."""
        self.at += 1
        found = LooseObject()
        while (char := self._next()) and char not in "}]":
            if char in _QUOTES:
                key, whole = self._string(_QUOTES[char])
            else:
                key, whole = self._word()
            if not whole or self._next() != ":":
                self._skip_comma()
                continue
            self.at += 1
            value, whole = self.value(depth + 1)
            name = key.text if isinstance(key, Bare) else str(key)
            if whole or isinstance(value, list | LooseObject):
                found.members[name] = value
            if not whole:
                found.cut.add(name)
            if not whole and isinstance(value, str):
                found.broken[name] = value
            self._skip_comma()
        return found, self._closes("}")

    def _array(self, depth: int) -> tuple[list[Any], bool]:
        self.at += 1
        found: list[Any] = []
        while (char := self._next()) and char not in "}]":
            value, whole = self.value(depth + 1)
            if whole:
                found.append(value)
            self._skip_comma()
        return found, self._closes("]")

    def _closes(self, bracket: str) -> bool:
        """Return whether a closing bracket follows at the current position; false at the end of the text. If it is
        ``bracket``, it is skipped. One of the other kind counts as well, but stays for the value around this one."""
        char = self.text[self.at : self.at + 1]
        self.at += char == bracket
        return bool(char)

    def _string(self, quote: str) -> tuple[str, bool]:
        """Read the quoted text that begins at the current position. Returns it, and whether its end is there.

        ``quote``: the quote mark that ends it; one that stands before anything but a JSON sign or the end of the text
        belongs to it."""
        start = at = self.at + 1
        text = self.text
        while at < len(text):
            char = text[at]
            if char == "\\":
                at += 1
            elif char == quote and self._goes_on(at + 1):
                self.at = at + 1
                return _unescape(text[start:at]), True
            at += 1
        self.at = len(text)
        return _unescape(text[start:]), False

    def _goes_on(self, at: int) -> bool:
        while at < len(self.text) and self.text[at] in _SPACE:
            at += 1
        return at == len(self.text) or self.text[at] in _AFTER_TEXT

    def _word(self) -> tuple[Any, bool]:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in _WORD_ENDS:
            self.at += 1
        if self.at == start:
            self.at += 1  # a bracket too deep, or one that nobody opened
        word = self.text[start : self.at].strip()
        if word in _WORDS:
            return _WORDS[word], True
        try:
            return float(word), self.at < len(self.text)
        except ValueError:
            return Bare(word), self.at < len(self.text)

    def _next(self) -> str:
        """Skip white space and return the character there, "" at the end."""
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _skip_comma(self) -> None:
        while self._next() in (",", ":"):
            self.at += 1


def _unescape(raw: str) -> str:
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return raw.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'").replace("\\\\", "\\")
