"""List of manual edits, each with an undo button."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.session import Edited

from .asked import PageRequest
from .markup import Markup, tag
from .words import link, moment, quote_line, to


def edits_list(asked: PageRequest, edits: Iterable[Edited], *, of_fact: bool = False) -> Markup:
    """Return the edits as a list, in the given order. ``of_fact``: true on the page of their fact."""
    return tag("ul", [_row(asked, one, of_fact) for one in edits], class_="edits")


def _row(asked: PageRequest, edited: Edited, of_fact: bool) -> Markup:
    edit = edited.edit
    about = None if of_fact else link(to("fact", id=asked.id, node=edit.id), edit.id)
    reason = tag("span", quote_line(edit.reason), class_="reason") if edit.reason else None
    back = None
    if asked.caller.may("write"):
        button = tag("button", "Undo", class_="quiet", aria_label=f"Undo change {edit.number}")
        back = asked.form_of("change", button, id=asked.id, node=edit.id, do="undo", number=edit.number)
    said = tag("div", tag("p", about, " " if about else None, *_describe_changes(edit)), reason)
    return tag("li", said, moment(edited.recorded_at, asked.now), back)


def _describe_changes(edit: NodeEdited) -> list[Markup | str]:
    told_: list[Markup | str] = ["added"] if edit.adds else []
    for name, value in edit.changes.items():
        if name in ("source", "value", "slot") or edit.adds:
            continue
        before, now = _value(edit.before[name]), _value(value)
        told_ += ["; " if told_ else "", f"{name}: ", tag("del", quote_line(before)), " ", tag("ins", quote_line(now))]
    return told_


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return str(value.value).replace("_", " ")
    return str(value or "nothing")
