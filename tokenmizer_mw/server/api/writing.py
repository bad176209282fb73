"""The functions of the API routes that change data. Each runs in a worker thread and returns the JSON response as a
dictionary. Exceptions of this package become error responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from tokenmizer_mw.errors import InvalidSession, UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.erasure import erase
from tokenmizer_mw.operations.imports import import_into
from tokenmizer_mw.operations.transcripts import read_transcript
from tokenmizer_mw.session.edit_results import FactEdit

from . import shapes
from .requests import INVALID_SESSION, ApiRefusal, ApiRequest, too_large


def checkpoint(request: ApiRequest[shapes.NoQuery, shapes.CheckpointBody]) -> shapes.CheckpointAnswer:
    """Add a checkpoint (a named point with which later states can be compared) to a session. Return its id, and what
    changed since the previous checkpoint."""
    made = request.memory.checkpoint(request.body.session_id, tenant=request.tenant)
    return {
        "session_id": request.body.session_id,
        "id": made.id,
        "seq": made.seq,
        "tokens": made.tokens,
        "diff": cast(shapes.DiffJson, made.diff.to_dict()),
    }


def remember(request: ApiRequest[shapes.NoQuery, shapes.RememberBody]) -> shapes.RememberAnswer:
    """Add a fact to a session by hand. Return the fact and the number of the edit, 0 if the fact was known already. If
    the session does not exist, that is an error, so that a typo does not create a session; with ``create`` true, it is
    created."""
    body = request.body
    how = {"reason": body.reason, "tenant": request.tenant}
    try:
        node = request.memory.remember(body.session_id, body.text, body.kind, create=body.create, **how)
    except InvalidSession:
        raise ApiRefusal(INVALID_SESSION) from None
    return {
        "session_id": body.session_id,
        "node": shapes.node_of(node),
        "number": node.number,
        "replaced": [shapes.node_of(old) for old in node.replaced],
        "similar": [shapes.node_of(one) for one in node.similar],
    }


def invalidate(request: ApiRequest[shapes.NoQuery, shapes.InvalidateBody]) -> shapes.EditAnswer:
    """Mark a fact as wrong. Resume blocks (the short texts that replace old messages) then list a decision or a task as
    rejected, and no longer state any other fact. With ``never_true``, no model is shown the fact at all any more."""
    body = request.body
    done = request.memory.invalidate(
        body.session_id, body.node_id, body.reason, never_true=body.never_true, tenant=request.tenant
    )
    return _answer(body.session_id, done)


def _with_reason(edit: Callable[..., FactEdit]) -> Callable[[ApiRequest[shapes.NoQuery, Any]], shapes.EditAnswer]:
    """Return the function of a route that edits one fact. It calls ``edit``, a method of ``SessionMemory``, with the
    session, the fact and the reason in the request body."""

    def answer(request: ApiRequest[shapes.NoQuery, Any]) -> shapes.EditAnswer:
        body = request.body
        done = edit(request.memory, body.session_id, body.node_id, body.reason, tenant=request.tenant)
        return _answer(body.session_id, done)

    return answer


complete: Final = _with_reason(SessionMemory.complete)
archive: Final = _with_reason(SessionMemory.archive)
separate: Final = _with_reason(SessionMemory.separate)


def pin(request: ApiRequest[shapes.NoQuery, shapes.PinBody]) -> shapes.EditAnswer:
    """Pin a fact, so that resume blocks (the short texts that replace old messages) state it directly after the
    standing rules. With ``pinned`` false in the body, unpin it."""
    body = request.body
    done = request.memory.pin(body.session_id, body.node_id, body.pinned, tenant=request.tenant)
    return _answer(body.session_id, done)


def correct(request: ApiRequest[shapes.NoQuery, shapes.CorrectBody]) -> shapes.EditAnswer:
    """Change the text of a fact (its label), the reason why it is so (``detail``), or both. What the body does not
    contain stays unchanged."""
    body = request.body
    done = request.memory.correct(
        body.session_id, body.node_id, label=body.text, detail=body.detail, reason=body.reason, tenant=request.tenant
    )
    return _answer(body.session_id, done)


def undo(request: ApiRequest[shapes.NoQuery, shapes.UndoBody]) -> shapes.UndoAnswer:
    """Undo the manual edit ``number``. Without a number, undo the newest edit that is neither undone nor an undo
    itself."""
    body = request.body
    done = request.memory.undo(body.session_id, body.number, tenant=request.tenant)
    restored = [shapes.node_of(node) for node in done.restored]
    return {**_answer(body.session_id, done), "undone": done.undone, "restored": restored}


def _answer(session_id: str, done: FactEdit) -> shapes.EditAnswer:
    return {
        "session_id": session_id,
        "node": shapes.node_of(done.after),
        "number": done.number,
        "before": done.previous,
        "effects": done.effects,
    }


def forget(request: ApiRequest[shapes.NoQuery, None]) -> shapes.ErasedAnswer:
    """Erase a session permanently; backups are not changed. Return how many events it had and how many backups may
    still contain it. Raises ``UnknownSession`` if it has no events."""
    gone = erase(request.memory, request.session_id, tenant=request.tenant)
    if not gone.events:
        raise UnknownSession
    return {"session_id": request.session_id, "events": gone.events, "backups": len(gone.backups)}


def _has_longer_line(body: bytes, size: int) -> bool:
    """Return whether any line of ``body`` is longer than ``size`` bytes. The search goes in steps of ``size`` bytes,
    which is faster than line by line."""
    start = 0
    while len(body) - start > size:
        end = body.rfind(b"\n", start, start + size + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def import_(request: ApiRequest[shapes.NoQuery, bytes]) -> shapes.ImportedAnswer:
    """Import the body, which is an export of a session or a list of messages, into the session in the path. Return how
    many events or messages it has, and how many of these are new. Raises ``ApiRefusal`` for an invalid session id, and
    for a line of more than ``request_max`` bytes."""
    key = SessionKey(request.tenant, request.session_id)
    if not key.valid():
        raise ApiRefusal(INVALID_SESSION)
    longest = request.memory.settings.request_max
    if _has_longer_line(request.body, longest):
        raise ApiRefusal(too_large(longest))
    found = read_transcript(request.body, "The body", size_max=request.memory.settings.import_max)
    try:
        done = import_into(request.memory, key, found, now=request.clock())
    except InvalidSession:
        raise ApiRefusal(INVALID_SESSION) from None
    return {"session_id": request.session_id, "what": done.what, "count": done.count, "new": done.new}
