"""The actions of forms: manual edits of facts, with the list of them, checkpoints, and erasure of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from starlette.responses import Response

from tokenmizer_mw.errors import CallerError, UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.model.node import Status
from tokenmizer_mw.operations.erasure import erase
from tokenmizer_mw.session import RecordedEdit, SessionState
from tokenmizer_mw.session.manual_edits import undone_numbers

from .caches import title_of
from .markup import Markup, card, format_count, link, moment, quote_line, tag, to
from .page import Page, PageRequest, redirect, session_page


def edits_card(
    request: PageRequest, edits: Sequence[RecordedEdit], *, of_fact: bool = False, rest: Markup | None = None
) -> Markup | None:
    """Return a card that lists the edits, in the given order; ``None`` without edits.

    ``of_fact``: true on the page of their fact; ``rest``: a link to further ones.
    """
    if not edits:
        return None
    undone = undone_numbers(sorted((one.edit for one in edits), key=lambda edit: edit.number))
    rows = [_edit_row(request, one, of_fact, one.edit.number in undone) for one in edits]
    return card("Changed by hand", tag("ul", rows, class_="edits"), rest, id="edits", live=True)


def _edit_row(request: PageRequest, edited: RecordedEdit, of_fact: bool, is_undone: bool) -> Markup:
    edit = edited.edit
    about = None if of_fact else link(to("fact", id=request.id, node=edit.id), edit.id)
    reason = tag("span", quote_line(edit.reason), class_="reason") if edit.reason else None
    back = tag("span", "undone", class_="badge") if is_undone else None
    if request.caller.may("write") and not is_undone:
        button = tag("button", "Undo", class_="quiet", aria_label=f"Undo change {edit.number}")
        back = request.form_of("change", button, id=request.id, node=edit.id, do="undo", number=edit.number)
    text = tag("div", tag("p", about, " " if about else None, *_describe_changes(edit)), reason)
    return tag("li", text, moment(edited.recorded_at, request.now), back)


def _describe_changes(edit: NodeEdited) -> list[Markup | str]:
    parts: list[Markup | str] = ["added"] if edit.adds else []
    for name, value in edit.changes.items():
        if name in ("source", "value") or edit.adds:
            continue
        before, now, what = _format_value(edit.before[name]), _format_value(value), _NAMES.get(name, name)
        parts += ["; " if parts else "", f"{what}: ", tag("del", quote_line(before)), " ", tag("ins", quote_line(now))]
    return parts


_NAMES: Final = {"slot": "value of"}
"""What pages call a property of a fact otherwise than the code does."""


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Status):
        return value.word
    if isinstance(value, Enum):
        return str(value.value).replace("_", " ")
    return str(value or "nothing")


_Edit = Callable[[PageRequest, str], object]
"""Applies an edit; returns the name of the note that says what was done, anything else: that of the form's field."""


def apply_edit(request: PageRequest) -> Response:
    """Apply the edit in the form's field ``do`` to the fact that the form names."""
    do, node = request.form.get("do", ""), request.form.get("node", "")
    if do not in _EDITS:
        raise CallerError("the form says nothing that can be done")
    request.memory.view(request.id, lambda state: None, tenant=request.tenant)  # what was said last has its facts first
    note = _EDITS[do](request, node)
    return redirect(to("fact", id=request.id, node=node, done=note if isinstance(note, str) else do))


def make_checkpoint(request: PageRequest) -> Response:
    """Create a checkpoint of the session."""
    request.memory.checkpoint(request.id, tenant=request.tenant)
    return redirect(to("session", id=request.id, done="checkpoint"))


def _invalidate(request: PageRequest, node: str) -> str:
    reason = request.form.get("reason", "").strip()
    if not reason:
        raise CallerError("to invalidate a fact, give a reason")
    never_true = request.form.get("never_true") == "yes"
    done = request.memory.invalidate(request.id, node, reason, never_true=never_true, tenant=request.tenant)
    if done.after.is_withdrawn:
        return "withdraw"
    return "invalidate" if done.after.is_rejected else "drop"


def _with_reason(edit: Callable[..., object]) -> _Edit:
    """An edit to which the form may give a reason; ``edit`` is a method of the memory."""

    def apply(request: PageRequest, node: str) -> None:
        edit(request.memory, request.id, node, request.form.get("reason", ""), tenant=request.tenant)

    return apply


def _correct(request: PageRequest, node: str) -> None:
    form = request.form
    request.memory.correct(request.id, node, label=form.get("label"), detail=form.get("detail"), tenant=request.tenant)


def _undo(request: PageRequest, node: str) -> None:
    number = request.form.get("number", "")
    request.memory.undo(
        request.id, int(number) if number.isdecimal() and len(number) < 10 else 0, tenant=request.tenant
    )


_EDITS: Final[Mapping[str, _Edit]] = {
    "invalidate": _invalidate,
    "complete": _with_reason(SessionMemory.complete),
    "archive": _with_reason(SessionMemory.archive),
    "separate": _with_reason(SessionMemory.separate),
    "pin": lambda request, node: request.memory.pin(request.id, node, tenant=request.tenant),
    "unpin": lambda request, node: request.memory.pin(request.id, node, False, tenant=request.tenant),
    "correct": _correct,
    "undo": _undo,
}


def confirm_erasure(request: PageRequest) -> Page:
    """Return the confirmation page."""

    def look(state: SessionState) -> tuple[str, int, int]:
        return title_of(state), len(state.transcript), len(state.graph)

    title, messages, facts = request.memory.view(request.id, look, tenant=request.tenant)
    form = request.form_of(
        "forget",
        tag("label", tag("input", type="checkbox", name="sure", value="yes", required=True), " Yes, erase it"),
        tag(
            "div",
            tag("button", "Erase for good", class_="danger"),
            link(to("session", id=request.id), "Keep it", class_="button"),
            class_="actions",
        ),
        id=request.id,
    )
    text = (
        f"Its {format_count(messages, 'message')} and {format_count(facts, 'fact')} are taken out of the store."
        " Backups that were made before keep them. This cannot be undone."
    )
    question = tag("h2", "Erase ", quote_line(request.id), "?")
    shown = tag("section", question, tag("p", text), form, class_="card narrow")
    return replace(session_page(request, "", title, shown), title=f"Erase {request.id}")


def erase_session(request: PageRequest) -> Response:
    """Erase the session that the form names, if the form confirms it."""
    if request.form.get("sure") != "yes":
        raise CallerError("nothing was erased: tick the box to say that you are sure")
    gone = erase(request.memory, request.id, tenant=request.tenant)
    request.caches.titles.forget(request.tenant, request.id)
    request.caches.pasts.forget(request.key)
    if not gone.events:
        raise UnknownSession
    return redirect(to("", done="forget"))
