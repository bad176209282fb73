"""What the routes that change something do. Each runs in a worker thread and returns what goes out as JSON."""

from __future__ import annotations

from typing import cast

from tokenmizer_mw.errors import InvalidSession, UnknownNode, UnknownSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.erasure import erase
from tokenmizer_mw.operations.imports import import_into
from tokenmizer_mw.operations.transcripts import read_transcript

from . import shapes
from .asked import Asked
from .errors import INVALID_SESSION, Refused, too_large


def checkpoint(asked: Asked[shapes.NoQuery, shapes.CheckpointBody]) -> shapes.CheckpointAnswer:
    """Mark this point of a session."""
    made = asked.memory.checkpoint(asked.body.session_id, tenant=asked.tenant)
    told = cast(shapes.Diff, made.diff.to_dict())
    return {
        "session_id": asked.body.session_id,
        "id": made.id,
        "seq": made.seq,
        "tokens": made.tokens,
        "diff": told,
    }


def remember(asked: Asked[shapes.NoQuery, shapes.RememberBody]) -> shapes.RememberAnswer:
    """Add a fact by hand, to a session that is there: a mistyped id must not begin one."""
    body = asked.body
    try:
        asked.memory.graph(body.session_id, tenant=asked.tenant)
        node = asked.memory.remember(body.session_id, body.text, body.kind, reason=body.reason, tenant=asked.tenant)
    except InvalidSession:
        raise Refused(INVALID_SESSION) from None
    return {"session_id": body.session_id, "node": shapes.node_of(node)}


def invalidate(asked: Asked[shapes.NoQuery, shapes.InvalidateBody]) -> shapes.InvalidateAnswer:
    """Declare a fact wrong."""
    body = asked.body
    asked.memory.graph(body.session_id, tenant=asked.tenant)  # what was said last has its facts first
    asked.memory.invalidate(body.session_id, body.node_id, body.reason, tenant=asked.tenant)
    node = asked.memory.graph(body.session_id, tenant=asked.tenant).get(body.node_id)
    if node is None:
        raise UnknownNode
    return {"session_id": body.session_id, "node": shapes.node_of(node)}


def forget(asked: Asked[shapes.NoQuery, None]) -> shapes.ErasedAnswer:
    """Erase a session for good, from the backups that we made too."""
    gone = erase(asked.memory, asked.session_id, tenant=asked.tenant)
    if not gone.events:
        raise UnknownSession
    return {
        "session_id": asked.session_id,
        "events": gone.events,
        "backups_cleaned": len(gone.cleaned),
        "backups_unreachable": len(gone.unreachable),
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


def import_(asked: Asked[shapes.NoQuery, bytes]) -> shapes.ImportedAnswer:
    """Take an export or messages into a session."""
    key = SessionKey(asked.tenant, asked.session_id)
    if not key.valid():
        raise Refused(INVALID_SESSION)
    longest = asked.memory.settings.request_max
    if _has_longer_line(asked.body, longest):
        raise Refused(too_large(longest))
    found = read_transcript(asked.body, "The body", size_max=asked.memory.settings.import_max)
    try:
        done = import_into(asked.memory, key, found, now=asked.clock())
    except InvalidSession:
        raise Refused(INVALID_SESSION) from None
    return {"session_id": asked.session_id, "what": done.what, "count": done.count, "new": done.new}
