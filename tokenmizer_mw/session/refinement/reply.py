"""Parse a model's reply into statements, and count what does not fit the schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.safety.guard import suspicion

from .loose import LooseObject, objects
from .schema import BY_NAME, CATEGORIES, HANDOVER, ListShape, ReplyCategory

_THOUGHTS_END: Final = "</think>"
_NAMED: Final = ("label", "text", "name", "path", "title", "description")
"""Members of an object that stands where a plain text was asked for: the first of them that is one, is it."""
_EXPLAINED: Final = ("cause", "fix")


@dataclass(frozen=True, slots=True)
class Stated:
    """One entry of a reply. ``old`` and ``reason``: for replacements. ``resolved``: for errors. ``detail``: an error's
    cause and fix.
    """

    category: str
    text: str
    old: str = ""
    reason: str = ""
    resolved: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefinementReply:
    """A parsed reply.

    - ``whole``: categories whose list was complete, empty ones included.
    - ``dropped``: number of entries of a wrong type or too many, and of lists with an unknown name.
    - ``handover``: the handover text as the model wrote it; ``breaks_off``: its end is missing.
    """

    stated: tuple[Stated, ...] = ()
    whole: frozenset[str] = frozenset()
    dropped: int = 0
    handover: str = ""
    breaks_off: bool = False


def read_reply(text: str, *, chars_max: int, items_max: int) -> RefinementReply | None:
    """The statements in ``text``, of which ``chars_max`` characters are read and ``items_max`` entries a category kept;
    ``None`` when no object in it has a category. Linear in the text.

    Of several such objects the one with most entries counts, the last one of equals: a model may write a draft first.
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
    stated: list[Stated] = []
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


def _read_stated(category: ReplyCategory, entry: object) -> Stated | None:
    members = entry.members if isinstance(entry, LooseObject) else {}
    if category.shape is ListShape.PAIR:
        old, new = _text(members.get("old")), _text(members.get("new"))
        changed = bool(old and new) and old.casefold() != new.casefold()
        return Stated(category.name, new, old, _text(members.get("reason"))) if changed else None
    text = _text(entry) or next((said for name in _NAMED if (said := _text(members.get(name)))), "")
    detail = "; ".join(said for name in _EXPLAINED if (said := _text(members.get(name)))) if text else ""
    return Stated(category.name, text, resolved=members.get("resolved") is True, detail=detail) if text else None


def _orders(stated: Stated) -> bool:
    """Whether an entry reads like an order to a model: its words may well be the session's, and it is no record."""
    return any(suspicion(text).flagged for text in (stated.text, stated.old, stated.reason, stated.detail) if text)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
