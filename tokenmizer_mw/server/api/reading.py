"""The read-only routes. Each function runs in a worker thread and returns the JSON response."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, cast

from tokenmizer_mw.context.compaction.seal import SealBroken
from tokenmizer_mw.errors import InvalidSession, UnknownSession
from tokenmizer_mw.graph.export.formats import format_named
from tokenmizer_mw.graph.views import diff
from tokenmizer_mw.model.event import Checkpointed, Recorded, transition_to_dict
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.operations.exports import export_lines
from tokenmizer_mw.operations.summaries import summarize_session
from tokenmizer_mw.session import fold
from tokenmizer_mw.store.log import Place, SessionInfo, require_place

from . import shapes
from .asked import ApiRequest, RawAnswer
from .errors import UNKNOWN_CHECKPOINT, UNKNOWN_NODE, ApiRefusal, Problem, invalid

LINES: Final = "application/x-ndjson"


def resume(asked: ApiRequest[shapes.ResumeQuery, None]) -> shapes.ResumeAnswer:
    """The resume block of a session."""
    wish = asked.query
    found = asked.memory.resume(
        asked.session_id, wish.level, budget=wish.budget, query=wish.query, model=wish.model, tenant=asked.tenant
    )
    return {
        "session_id": asked.session_id,
        "text": found.text,
        "tokens": found.tokens,
        "exact": found.exact,
        "level": found.level,
        "budget": found.budget,
        "node_ids": list(found.node_ids),
        "turn": found.turn,
    }


def graph(asked: ApiRequest[shapes.GraphQuery, None]) -> shapes.GraphAnswer | RawAnswer:
    """The current graph of a session, as JSON or as a file."""
    if asked.query.format != "json":
        return _file(asked, asked.query.format)
    found = asked.memory.graph(asked.session_id, tenant=asked.tenant)
    return {"session_id": asked.session_id, "graph": cast(shapes.Graph, found.to_dict())}


def _file(asked: ApiRequest[Any, None], name: str) -> RawAnswer:
    """An export, to be saved: it never runs as a page of whoever serves it."""
    text = asked.memory.export(asked.session_id, name, tenant=asked.tenant)
    kind = format_named(name)
    keep = ("content-disposition", f'attachment; filename="session-graph{kind.suffix}"')
    return RawAnswer(text.encode(), kind.media_type, headers=(keep, ("content-security-policy", "sandbox")))


def history(asked: ApiRequest[shapes.HistoryQuery, None]) -> shapes.HistoryAnswer:
    """The graph of a session as recorded at a time, or as valid at a time."""
    at, by = asked.query.at_time, asked.query.as_
    when = {"recorded_at": at} if by == "recorded" else {"valid_at": at}
    found = asked.memory.graph(asked.session_id, tenant=asked.tenant, **when)
    told = cast(shapes.Graph, found.to_dict())
    return {"session_id": asked.session_id, "at_time": at, "as": by, "graph": told}


def transitions(asked: ApiRequest[shapes.NoQuery, None]) -> shapes.TransitionsAnswer:
    """All decisions of a session that were replaced by another one."""
    found = asked.memory.graph(asked.session_id, tenant=asked.tenant)
    steps = found.transitions()
    ends = {id for step in steps for id in (step.old, step.new)}
    nodes = [node for node in found.to_dict()["nodes"] if node["id"] in ends]
    told = [cast(shapes.TransitionJson, transition_to_dict(step)) for step in steps]
    return {"session_id": asked.session_id, "transitions": told, "nodes": nodes}


def why(asked: ApiRequest[shapes.WhyQuery, None]) -> shapes.WhyJson:
    """The explanation of a fact: what led to it, and what replaced it."""
    found = asked.memory.why(asked.session_id, asked.query.text, tenant=asked.tenant)
    if found is None:
        raise ApiRefusal(UNKNOWN_NODE)
    told: dict[str, Any] = found.to_dict()
    return cast(shapes.WhyJson, {"session_id": asked.session_id, **told, "text": found.text})


def search(asked: ApiRequest[shapes.SearchQuery, None]) -> shapes.SearchAnswer:
    """The facts most similar to a text."""
    hits = asked.memory.search(asked.session_id, asked.query.text, asked.query.k, tenant=asked.tenant)
    told = [shapes.node_of(hit.node) for hit in hits]
    found = [shapes.FoundFactJson(node=node, score=hit.score) for node, hit in zip(told, hits, strict=True)]
    return {"session_id": asked.session_id, "hits": found}


def changes(asked: ApiRequest[shapes.DiffQuery, None]) -> shapes.DiffAnswer:
    """The difference between two points of a session."""
    asked.memory.graph(asked.session_id, tenant=asked.tenant)  # all facts are drawn first
    events = asked.memory.log.read(SessionKey(asked.tenant, asked.session_id))
    before, after = _place(events, asked.query.from_), _place(events, asked.query.to)
    found = diff(_upto(events, before), _upto(events, after))
    told = cast(shapes.DiffJson, found.to_dict())
    return {"session_id": asked.session_id, "from": before, "to": after, "diff": told}


def _upto(events: Sequence[Recorded], seq: int) -> Any:
    return fold([event for event in events if event.seq <= seq]).graph


def _place(events: Sequence[Recorded], named: str | None) -> int:
    """The number of the event that a place names. Raises ``ApiRefusal`` for a checkpoint that is not there."""
    newest = events[-1].seq if events else 0
    if named is None:
        return newest
    if named.isdigit():
        return min(int(named), newest)
    for recorded in events:
        if isinstance(recorded.event, Checkpointed) and recorded.event.id == named:
            return recorded.seq
    raise ApiRefusal(UNKNOWN_CHECKPOINT)


def checkpoints(asked: ApiRequest[shapes.NoQuery, None]) -> shapes.CheckpointsAnswer:
    """The checkpoints of a session."""
    marks: list[shapes.Mark] = [
        {
            "id": recorded.event.id,
            "seq": recorded.seq,
            "recorded_at": recorded.recorded_at,
            "turn": recorded.event.turn,
            "tokens": recorded.event.tokens,
        }
        for recorded in _events(asked)
        if isinstance(recorded.event, Checkpointed)
    ]
    return {"session_id": asked.session_id, "checkpoints": marks}


def export(asked: ApiRequest[shapes.NoQuery, None]) -> RawAnswer:
    """The events of a session, one per line."""
    lines = export_lines(asked.session_id, _events(asked))
    return RawAnswer("".join(f"{line}\n" for line in lines).encode(), LINES)


def _events(asked: ApiRequest[Any, None]) -> Sequence[Recorded]:
    found = asked.memory.log.read(SessionKey(asked.tenant, asked.session_id))
    if not found:
        raise UnknownSession
    return found


def sessions(asked: ApiRequest[shapes.SessionsQuery, None]) -> shapes.SessionsAnswer:
    """A page of the tenant's sessions."""
    most = min(asked.query.limit, asked.memory.settings.page_max)
    after = _read_cursor(asked.query.cursor) if asked.query.cursor is not None else None
    found = asked.memory.sessions(after=after, limit=most + 1, tenant=asked.tenant)
    page = found[:most]
    listed = [_describe_session(asked, info) for info in page]
    return {"sessions": listed, "next": _cursor(page[-1]) if len(found) > most else None}


def _describe_session(asked: ApiRequest[shapes.SessionsQuery, None], info: SessionInfo) -> shapes.ListedSessionJson:
    told: shapes.ListedSessionJson = {
        "session_id": info.key.id,
        "events": info.seq,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    }
    if asked.query.details:
        with suppress(UnknownSession):  # erased meanwhile
            about = summarize_session(asked.memory, info.key)
            told |= {
                "title": about.title,
                "goal": about.goal,
                "project": about.project,
                "open_work": about.open_work,
            }
    return told


def recall(asked: ApiRequest[shapes.RecallQuery, None]) -> shapes.RecallAnswer:
    """The passages and facts of a session that answer a question."""
    wish = asked.query
    found = asked.memory.recall(asked.session_id, wish.query, budget=wish.budget, tenant=asked.tenant)
    return {
        "session_id": asked.session_id,
        "text": found.text,
        "tokens": found.tokens,
        "node_ids": list(found.ids),
        "messages": list(found.turns),
    }


def compaction(asked: ApiRequest[shapes.NoQuery, shapes.CompactionBody]) -> shapes.CompactionAnswer:
    """The content of a compaction that a client stores."""
    try:
        kept = asked.memory.service.compaction.seal().open(asked.tenant, asked.body.encrypted_content)
    except SealBroken as error:
        raise ApiRefusal(
            Problem(404, "unknown_compaction", f"The compaction cannot be read: {error}.", "encrypted_content")
        ) from None
    return {
        "session_id": kept.session,
        "checkpoint": kept.checkpoint,
        "text": kept.text,
        "open": kept.open,
        "tokens": kept.tokens,
    }


def _cursor(info: SessionInfo) -> str:
    return base64.urlsafe_b64encode(json.dumps(info.place).encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> Place:
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        updated_at, id = json.loads(raw)
        place = float(updated_at), str(id)
        require_place(LOCAL_TENANT, place)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error, InvalidSession):
        raise ApiRefusal(invalid("cursor: not one of ours.", "cursor")) from None
    return place


def stats(asked: ApiRequest[shapes.StatsQuery, None]) -> shapes.StatsAnswer:
    """Statistics of the tenant's sessions, and what calls cost and saved."""
    wish = asked.query
    saved = asked.memory.savings(
        wish.session,
        model=wish.model,
        since=wish.from_ or "",
        until=wish.to or "",
        by=(wish.by,) if wish.by else (),
        tenant=asked.tenant,
    )
    found = asked.memory.sessions(tenant=asked.tenant)
    told: shapes.StatsAnswer = {
        "sessions": len(found),
        "events": sum(info.seq for info in found),
        "oldest": min((info.created_at for info in found), default=None),
        "newest": max((info.updated_at for info in found), default=None),
        "savings": cast(shapes.SavingsJson, saved.to_dict()),
    }
    if asked.caller.may("admin"):
        told["counters"] = asked.memory.counters()
    return told
