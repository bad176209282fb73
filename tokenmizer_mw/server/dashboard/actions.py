"""The actions that forms of the dashboard trigger: manual edits of facts, checkpoints, and the erasure of a session.
Also the card that lists a session's manual edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from tokenmizer_mw.errors import CallerError, UnknownSession
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import NodeEdited
from tokenmizer_mw.model.node import Node, spell_slot
from tokenmizer_mw.operations.erasure import erase
from tokenmizer_mw.session import RecordedEdit, SessionState
from tokenmizer_mw.session.manual_edits import undone_numbers

from .caches import title_of
from .markup import Markup, card, fact_link, format_count, link, moment, quote_line, tag, to
from .page import Page, PageRequest, redirect, session_page


def facts_of_edits(graph: SessionGraph, edits: Iterable[RecordedEdit]) -> dict[str, Node]:
    """Return the facts that ``edits`` changed: id -> the fact as it is now in ``graph``. Facts that no longer exist are
    left out."""
    found = (graph.get(one.fact) for one in edits)
    return {node.id: node for node in found if node is not None}


def edits_card(
    request: PageRequest,
    edits: Sequence[RecordedEdit],
    facts: Mapping[str, Node],
    *,
    of_fact: bool = False,
    rest: Markup | None = None,
) -> Markup | None:
    """Return a card that lists manual edits in the given order, each with a button to undo it; ``None`` if ``edits`` is
    empty. The buttons are only shown to callers who may write.

    - ``facts``: id -> edited fact, to show its name.
    - ``of_fact``: whether the card is on the page of the one fact that all the edits changed; the fact is then not
      named.
    - ``rest``: a link to further edits, ``None`` for none.
    """
    if not edits:
        return None
    undone = undone_numbers(sorted((one.edit for one in edits), key=lambda edit: edit.number))
    rows = [_edit_row(request, one, None if of_fact else facts.get(one.fact), one.number in undone) for one in edits]
    return card("Changed by hand", tag("ul", rows, class_="edits"), rest, id="edits", live=True)


def _edit_row(request: PageRequest, edited: RecordedEdit, node: Node | None, is_undone: bool) -> Markup:
    """Return the row of an edit. ``node``: the edited fact, to show its name; ``None`` if it is not to be named.
    ``is_undone``: whether the edit was undone."""
    edit = edited.edit
    about = [": ", fact_link(request.id, node)] if node is not None else []
    reason = tag("span", quote_line(edit.reason), class_="reason") if edit.reason and not edit.undoes else None
    back = tag("span", "undone", class_="badge") if is_undone else None
    if request.caller.may("write") and not is_undone:
        button = tag("button", "Undo", class_="quiet", aria_label=f"Undo change {edit.number}")
        back = request.form_of("change", button, id=request.id, node=edit.id, do="undo", number=edit.number)
    number = tag("span", f"change {edit.number}", class_="turn")
    text = tag("div", tag("p", _describe_operation(edited), about, " ", number), _describe_words(edit), reason)
    return tag("li", text, moment(edited.recorded_at, request.now), back)


def _describe_operation(edited: RecordedEdit) -> str:
    """Return what an edit did, as text for people, such as "Corrected" or "Change 3 undone"."""
    edit = edited.edit
    if edit.undoes:
        return f"Change {edit.undoes} undone"
    if edit.changes.get("confidence") == 0.0:
        return "Withdrawn, because it never was true"
    return _OPERATIONS.get(edited.operation, edited.operation.capitalize())


_OPERATIONS: Final[Mapping[str, str]] = {
    "remember": "Added",
    "correct": "Corrected",
    "invalidate": "Declared wrong",
    "complete": "Marked as done",
    "archive": "Archived",
    "separate": "Kept beside the fact that had replaced it",
    "date": "Dated",
    "pin": "Pinned",
    "unpin": "No longer pinned",
}
"""``operation`` of an edit -> text for people that says what the edit did."""


def _describe_words(edit: NodeEdited) -> list[Markup]:
    """Return a line with the values before and after for each of these that an edit changed: the fact's label, its
    reason, and what it is a value of (its slot). Empty for an edit that added a fact."""
    lines = []
    for name, what in _WORDS.items():
        if name in edit.changes and not edit.adds:
            before, now = (_format_value(name, fields) for fields in (edit.before, edit.changes))
            lines.append(tag("p", f"{what}: ", tag("del", quote_line(before)), " ", tag("ins", quote_line(now))))
    return lines


_WORDS: Final[Mapping[str, str]] = {"label": "said", "detail": "because", "slot": "value of"}
"""The fields of a fact that people read: name of the field -> word to show in front of the value."""


def _format_value(name: str, fields: Mapping[str, object]) -> str:
    value = str(fields[name] or "nothing")
    return spell_slot(value, str(fields.get("label", ""))) if name == "slot" else value


_Edit = Callable[[PageRequest, str], object]
"""Function that applies a manual edit to the fact with the given id. If it returns a text, that is the key in ``NOTES``
of the message to show; otherwise the key is the value of the form's field ``do``."""


def apply_edit(request: PageRequest) -> Response:
    """Apply the manual edit that the form's field ``do`` names, such as "pin", "correct" or "undo", to the fact whose
    id is in the field ``node``. Return a redirect to the page of that fact. Raises ``CallerError`` for an unknown
    ``do``."""
    do, node = request.form.get("do", ""), request.form.get("node", "")
    if do not in _EDITS:
        raise CallerError("the form says nothing that can be done")
    request.memory.view(request.id, lambda state: None, tenant=request.tenant)  # what was said last has its facts first
    note = _EDITS[do](request, node)
    return redirect(to("fact", id=request.id, node=node, done=note if isinstance(note, str) else do))


def make_checkpoint(request: PageRequest) -> Response:
    """Add a checkpoint (a named point of the session), and return a redirect to the session's page."""
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
    """Return a function that applies an edit by calling ``edit``, a method of ``SessionMemory``, with the fact and the
    reason in the form."""

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
    """Return the page that asks whether to erase the session permanently, with a form to confirm it."""

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
    """Erase the session that the form names, and return a redirect to the list of sessions. Raises ``CallerError`` if
    the form does not confirm it, and ``UnknownSession`` if the session has no events."""
    if request.form.get("sure") != "yes":
        raise CallerError("nothing was erased: tick the box to say that you are sure")
    gone = erase(request.memory, request.id, tenant=request.tenant)
    request.caches.titles.forget(request.tenant, request.id)
    request.caches.pasts.forget(request.key)
    if not gone.events:
        raise UnknownSession
    return redirect(to("", done="forget"))
