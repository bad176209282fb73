"""The routes that change data. Each function runs in a worker thread and returns the JSON response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from tokenmizer_mw.errors import InvalidSession, UnknownNode, UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.erasure import erase
from tokenmizer_mw.operations.imports import import_into
from tokenmizer_mw.operations.transcripts import read_transcript
from tokenmizer_mw.session.manual_edits import find_addition

from . import shapes
from .asked import ApiRequest
from .errors import INVALID_SESSION, ApiRefusal, too_large


def checkpoint(asked: ApiRequest[shapes.NoQuery, shapes.CheckpointBody]) -> shapes.CheckpointAnswer:
    """Create a checkpoint of a session."""
    made = asked.memory.checkpoint(asked.body.session_id, tenant=asked.tenant)
    told = cast(shapes.DiffJson, made.diff.to_dict())
    return {
        "session_id": asked.body.session_id,
        "id": made.id,
        "seq": made.seq,
        "tokens": made.tokens,
        "diff": told,
    }


def remember(asked: ApiRequest[shapes.NoQuery, shapes.RememberBody]) -> shapes.RememberAnswer:
    """Add a fact by hand to an existing session; an unknown id is an error, so that a typo does not create a
    session."""
    body = asked.body
    try:
        node = asked.memory.remember(body.session_id, body.text, body.kind, reason=body.reason, tenant=asked.tenant)
    except InvalidSession:
        raise ApiRefusal(INVALID_SESSION) from None
    number = find_addition(asked.memory.edits(body.session_id, tenant=asked.tenant), node.id)
    return {"session_id": body.session_id, "node": shapes.node_of(node), "number": number}


def invalidate(asked: ApiRequest[shapes.NoQuery, shapes.InvalidateBody]) -> shapes.EditAnswer:
    """Invalidate a fact."""
    body = asked.body
    return _do_edit(
        asked, body.node_id, lambda memory, id: memory.invalidate(id, body.node_id, body.reason, tenant=asked.tenant)
    )


def archive(asked: ApiRequest[shapes.NoQuery, shapes.ArchiveBody]) -> shapes.EditAnswer:
    """Archive a fact."""
    body = asked.body
    return _do_edit(
        asked, body.node_id, lambda memory, id: memory.archive(id, body.node_id, body.reason, tenant=asked.tenant)
    )


def pin(asked: ApiRequest[shapes.NoQuery, shapes.PinBody]) -> shapes.EditAnswer:
    """Pin or unpin a fact."""
    body = asked.body
    return _do_edit(
        asked, body.node_id, lambda memory, id: memory.pin(id, body.node_id, body.pinned, tenant=asked.tenant)
    )


def correct(asked: ApiRequest[shapes.NoQuery, shapes.CorrectBody]) -> shapes.EditAnswer:
    """Correct the text of a fact."""
    body = asked.body

    def work(memory: SessionMemory, id: str) -> None:
        memory.correct(id, body.node_id, label=body.text, detail=body.detail, reason=body.reason, tenant=asked.tenant)

    return _do_edit(asked, body.node_id, work)


def undo(asked: ApiRequest[shapes.NoQuery, shapes.UndoBody]) -> shapes.EditAnswer:
    """Undo a manual edit."""
    number, id = asked.body.number, asked.body.session_id
    edits = asked.memory.edits(id, tenant=asked.tenant)
    node_id = next((one.edit.id for one in edits if one.edit.number == number), "")
    return _do_edit(asked, node_id, lambda memory, id: memory.undo(id, number, tenant=asked.tenant))


def _do_edit(
    asked: ApiRequest[shapes.NoQuery, Any], node_id: str, work: Callable[[SessionMemory, str], None]
) -> shapes.EditAnswer:
    """Do the work, and give the fact with the number of the change. 0: it changed nothing."""
    id, tenant = asked.body.session_id, asked.tenant
    graph = asked.memory.graph(id, tenant=tenant)  # what was said last has its facts first
    if node_id and graph.get(node_id) is None:
        raise UnknownNode
    before = len(asked.memory.edits(id, tenant=tenant))
    work(asked.memory, id)
    node = asked.memory.graph(id, tenant=tenant).get(node_id)
    if node is None:
        raise UnknownNode
    edits = asked.memory.edits(id, tenant=tenant)
    number = edits[-1].edit.number if len(edits) > before else 0
    return {"session_id": id, "node": shapes.node_of(node), "number": number}


def forget(asked: ApiRequest[shapes.NoQuery, None]) -> shapes.ErasedAnswer:
    """Erase a session permanently; existing backups are not changed."""
    gone = erase(asked.memory, asked.session_id, tenant=asked.tenant)
    if not gone.events:
        raise UnknownSession
    return {
        "session_id": asked.session_id,
        "events": gone.events,
        "backups": len(gone.backups),
    }


def _has_longer_line(body: bytes, size: int) -> bool:
    """Whether a line is longer than ``size`` bytes: looked for in steps of that length, not line by line."""
    start = 0
    while len(body) - start > size:
        end = body.rfind(b"\n", start, start + size + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def import_(asked: ApiRequest[shapes.NoQuery, bytes]) -> shapes.ImportedAnswer:
    """Import an export or a list of messages into a session."""
    key = SessionKey(asked.tenant, asked.session_id)
    if not key.valid():
        raise ApiRefusal(INVALID_SESSION)
    longest = asked.memory.settings.request_max
    if _has_longer_line(asked.body, longest):
        raise ApiRefusal(too_large(longest))
    found = read_transcript(asked.body, "The body", size_max=asked.memory.settings.import_max)
    try:
        done = import_into(asked.memory, key, found, now=asked.clock())
    except InvalidSession:
        raise ApiRefusal(INVALID_SESSION) from None
    return {"session_id": asked.session_id, "what": done.what, "count": done.count, "new": done.new}
