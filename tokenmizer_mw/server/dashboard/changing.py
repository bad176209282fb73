"""The actions of forms: manual edits of facts, and checkpoints. All are recorded; edits can be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tokenmizer_mw.errors import CallerError

from .asked import PageRequest, See
from .words import to

_Work = Callable[[PageRequest, str], None]


def change(asked: PageRequest) -> See:
    """Apply the edit in the form's field ``do`` to the fact that the form names."""
    do, node = asked.form.get("do", ""), asked.form.get("node", "")
    if do not in _WORK:
        raise CallerError("the form says nothing that can be done")
    asked.memory.view(asked.id, lambda state: None, tenant=asked.tenant)  # what was said last has its facts first
    _WORK[do](asked, node)
    return See(to("fact", id=asked.id, node=node, done=do))


def checkpoint(asked: PageRequest) -> See:
    """Create a checkpoint of the session."""
    asked.memory.checkpoint(asked.id, tenant=asked.tenant)
    return See(to("session", id=asked.id, done="checkpoint"))


def _invalidate(asked: PageRequest, node: str) -> None:
    reason = asked.form.get("reason", "").strip()
    if not reason:
        raise CallerError("to declare a fact wrong, say why")
    asked.memory.invalidate(asked.id, node, reason, tenant=asked.tenant)


def _archive(asked: PageRequest, node: str) -> None:
    asked.memory.archive(asked.id, node, asked.form.get("reason", ""), tenant=asked.tenant)


def _pin(asked: PageRequest, node: str) -> None:
    asked.memory.pin(asked.id, node, tenant=asked.tenant)


def _unpin(asked: PageRequest, node: str) -> None:
    asked.memory.pin(asked.id, node, False, tenant=asked.tenant)


def _correct(asked: PageRequest, node: str) -> None:
    form = asked.form
    asked.memory.correct(asked.id, node, label=form.get("label"), detail=form.get("detail"), tenant=asked.tenant)


def _undo(asked: PageRequest, node: str) -> None:
    number = asked.form.get("number", "")
    asked.memory.undo(asked.id, int(number) if number.isdecimal() and len(number) < 10 else 0, tenant=asked.tenant)


_WORK: Final[Mapping[str, _Work]] = {
    "invalidate": _invalidate,
    "archive": _archive,
    "pin": _pin,
    "unpin": _unpin,
    "correct": _correct,
    "undo": _undo,
}
