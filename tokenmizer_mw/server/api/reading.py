"""The functions of the API routes that only read. Each runs in a worker thread and returns the JSON response as a
dictionary, or another response. Exceptions of this package become error responses."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from starlette.responses import Response

from tokenmizer_mw.context.compaction.contract import SealBroken
from tokenmizer_mw.errors import InvalidSession, UnknownSession
from tokenmizer_mw.graph.export.formats import format_named
from tokenmizer_mw.graph.views import diff
from tokenmizer_mw.model.event import Checkpointed, Recorded, transition_to_dict
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.operations.exports import export_lines
from tokenmizer_mw.operations.summaries import summarize_session
from tokenmizer_mw.session import fold
from tokenmizer_mw.session.manual_edits import undone_numbers
from tokenmizer_mw.store.log import Place, SessionInfo, require_place

from . import shapes
from .requests import UNKNOWN_CHECKPOINT, UNKNOWN_MESSAGE, ApiRefusal, ApiRequest, Problem, invalid, unknown_node
from .shapes import LINES


def resume(request: ApiRequest[shapes.ResumeQuery, None]) -> shapes.ResumeAnswer:
    """Return the resume block of a session: a short text with its facts, which can replace old messages in a prompt.
    The query sets its maximum number of tokens."""
    wish = request.query
    found = request.memory.resume(
        request.session_id, wish.level, budget=wish.budget, query=wish.query, model=wish.model, tenant=request.tenant
    )
    return {
        "session_id": request.session_id,
        "text": found.text,
        "tokens": found.tokens,
        "exact": found.exact,
        "level": found.level,
        "budget": found.budget,
        "node_ids": list(found.node_ids),
        "turn": found.turn,
    }


def graph(request: ApiRequest[shapes.GraphQuery, None]) -> shapes.GraphAnswer | Response:
    """Return the graph of a session (its facts and how they are related), as JSON or as a file in the format that the
    query names. With ``message`` in the query, the graph is as it was after that message, else as it is now. Raises
    ``ApiRefusal`` if the session has fewer messages."""
    message = request.query.message
    view, tenant = request.memory.view, request.tenant
    if message is not None and message > view(request.session_id, lambda state: len(state.transcript), tenant=tenant):
        raise ApiRefusal(UNKNOWN_MESSAGE)
    if request.query.format != "json":
        return _file(request, request.query.format, message)
    found = request.memory.graph(request.session_id, message=message, tenant=request.tenant)
    return {"session_id": request.session_id, "graph": cast(shapes.Graph, found.to_dict())}


def _file(request: ApiRequest[Any, None], name: str, message: int | None) -> Response:
    """Return the graph as a file in the export format ``name``, which browsers save. If a browser shows the file,
    scripts in it do not run."""
    text = request.memory.export(request.session_id, name, message=message, tenant=request.tenant)
    kind = format_named(name)
    disposition = f'attachment; filename="session-graph{kind.suffix}"'
    headers = {"content-disposition": disposition, "content-security-policy": "sandbox"}
    return Response(text, media_type=kind.media_type, headers=headers)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def history(request: ApiRequest[shapes.HistoryQuery, None]) -> shapes.HistoryAnswer:
    """Return the graph of a session for the time ``at_time``: with ``as=recorded``, the graph as it was recorded at
    that time; with ``as=valid``, the facts that were true at that time, according to what is known now."""
    at, by = request.query.at_time, request.query.as_
    time = _EPOCH + timedelta(seconds=at)  # as a number, the library takes the years from 2000 to 5000 alone
    when = {"recorded_at": time} if by == "recorded" else {"valid_at": time}
    found = request.memory.graph(request.session_id, message=None, tenant=request.tenant, **when)
    graph = cast(shapes.Graph, found.to_dict())
    return {"session_id": request.session_id, "at_time": at, "as": by, "graph": graph}


def transitions(request: ApiRequest[shapes.NoQuery, None]) -> shapes.TransitionsAnswer:
    """Return all replacements of one fact of a session by another, oldest first, and the facts in them."""
    found = request.memory.graph(request.session_id, tenant=request.tenant)
    steps = found.transitions()
    ends = {id for step in steps for id in (step.old, step.new)}
    nodes = [node for node in found.to_dict()["nodes"] if node["id"] in ends]
    replaced = [cast(shapes.TransitionJson, transition_to_dict(step)) for step in steps]
    return {"session_id": request.session_id, "transitions": replaced, "nodes": nodes}


_NEAREST_MAX: Final = 3
"""Maximum number of facts that the error lists as the nearest ones if a text fits no fact."""


def why(request: ApiRequest[shapes.WhyQuery, None]) -> shapes.WhyJson:
    """Explain the fact that ``text`` in the query names: who stated it, what it replaced, and what replaced it. Raises
    ``ApiRefusal`` if ``text`` fits no fact; its message lists the nearest facts."""
    found = request.memory.why(request.session_id, request.query.text, tenant=request.tenant)
    if found is None:
        hits = request.memory.search(request.session_id, request.query.text, _NEAREST_MAX, tenant=request.tenant)
        raise ApiRefusal(unknown_node(hit.node for hit in hits if not hit.node.is_withdrawn))
    return cast(shapes.WhyJson, {"session_id": request.session_id, **found.to_dict(), "text": found.text})


def search(request: ApiRequest[shapes.SearchQuery, None]) -> shapes.SearchAnswer:
    """Return the facts of a session that match ``text``, best first, at most ``limit``. The list is empty if none
    matches."""
    hits = request.memory.search(request.session_id, request.query.text, request.query.limit, tenant=request.tenant)
    found = [shapes.FoundFactJson(node=shapes.node_of(hit.node), score=hit.score) for hit in hits]
    return {"session_id": request.session_id, "hits": found}


def difference(request: ApiRequest[shapes.DiffQuery, None]) -> shapes.DiffAnswer:
    """Return how the graph of a session differs between the points ``from`` and ``to`` in the query. Each is a
    checkpoint or the number of an event. Raises ``ApiRefusal`` for an unknown checkpoint."""
    request.memory.graph(request.session_id, tenant=request.tenant)  # all facts are drawn first
    events = request.memory.log.read(SessionKey(request.tenant, request.session_id))
    before, after = _seq_of_place(events, request.query.from_), _seq_of_place(events, request.query.to)
    found = diff(_graph_until(events, before), _graph_until(events, after))
    return {
        "session_id": request.session_id,
        "from": before,
        "to": after,
        "diff": cast(shapes.DiffJson, found.to_dict()),
    }


def _graph_until(events: Sequence[Recorded], seq: int) -> Any:
    return fold([event for event in events if event.seq <= seq]).graph


def _seq_of_place(events: Sequence[Recorded], named: str | None) -> int:
    """Return the number of an event. ``named``: a checkpoint's id such as "checkpoint-2", which stands for the event
    that created the checkpoint; or the number itself, which is limited to that of the newest event; or ``None`` for the
    newest event. Raises ``ApiRefusal`` for an unknown checkpoint."""
    newest = events[-1].seq if events else 0
    if named is None:
        return newest
    if named.isdigit():
        return min(int(named), newest)
    for recorded in events:
        if isinstance(recorded.event, Checkpointed) and recorded.event.id == named:
            return recorded.seq
    raise ApiRefusal(UNKNOWN_CHECKPOINT)


def edits(request: ApiRequest[shapes.NoQuery, None]) -> shapes.EditsAnswer:
    """Return the manual edits of a session (changes of facts by hand), oldest first. Those that were undone are
    included and marked."""
    found = request.memory.edits(request.session_id, tenant=request.tenant)
    undone = undone_numbers([one.edit for one in found])
    listed = [cast(shapes.EditJson, {**one.to_dict(), "undone": one.number in undone}) for one in found]
    return {"session_id": request.session_id, "edits": listed}


def messages(request: ApiRequest[shapes.MessagesQuery, None]) -> shapes.MessagesAnswer:
    """Return a page of the messages of a session, oldest first: those with a number above ``after``, at most ``limit``
    and at most the setting ``page_max``. Raises ``UnknownSession`` for an unknown session."""
    request.memory.view(request.session_id, lambda state: None, tenant=request.tenant)  # raises for an unknown session
    wish, found = request.query, request.memory.messages(request.session_id, tenant=request.tenant)
    most = min(wish.limit, request.memory.settings.page_max)
    left = [one for one in found if one.number > wish.after]
    page = left[:most]
    following = page[-1].number if len(left) > most else None
    return {"session_id": request.session_id, "messages": list(map(shapes.message_of, page)), "next": following}


def loss_report(request: ApiRequest[shapes.NoQuery, None]) -> shapes.LossAnswer:
    """Return the facts that the model no longer sees since the last cut (the last time that a resume block replaced old
    messages): neither the block nor a later message states them."""
    found = request.memory.loss_report(request.session_id, tenant=request.tenant)
    return cast(shapes.LossAnswer, {"session_id": request.session_id, **found.to_dict()})


def checkpoints(request: ApiRequest[shapes.NoQuery, None]) -> shapes.CheckpointsAnswer:
    """Return the checkpoints (named points) of a session, oldest first, including those that cuts created. In a cut, a
    resume block replaces old messages."""
    marks: list[shapes.Mark] = [
        {
            "id": recorded.event.id,
            "seq": recorded.seq,
            "recorded_at": recorded.recorded_at,
            "turn": recorded.event.turn,
            "tokens": recorded.event.tokens,
        }
        for recorded in _events(request)
        if isinstance(recorded.event, Checkpointed)
    ]
    return {"session_id": request.session_id, "checkpoints": marks}


def export(request: ApiRequest[shapes.NoQuery, None]) -> Response:
    """Return all events of a session as JSON Lines, which the route "import" can read."""
    lines = export_lines(request.session_id, _events(request))
    return Response("".join(f"{line}\n" for line in lines), media_type=LINES)


def _events(request: ApiRequest[Any, None]) -> Sequence[Recorded]:
    found = request.memory.log.read(SessionKey(request.tenant, request.session_id))
    if not found:
        raise UnknownSession
    return found


def sessions(request: ApiRequest[shapes.SessionsQuery, None]) -> shapes.SessionsAnswer:
    """Return a page of the sessions of the caller's tenant, most recently updated first, at most ``limit`` and at most
    the setting ``page_max``. ``cursor`` in the query: the value ``next`` of the page before."""
    most = min(request.query.limit, request.memory.settings.page_max)
    after = _read_cursor(request.query.cursor) if request.query.cursor is not None else None
    found = request.memory.sessions(after=after, limit=most + 1, tenant=request.tenant)
    page = found[:most]
    listed = [_describe_session(request, info) for info in page]
    return {"sessions": listed, "next": _cursor(page[-1]) if len(found) > most else None}


def _describe_session(request: ApiRequest[shapes.SessionsQuery, None], info: SessionInfo) -> shapes.ListedSessionJson:
    answer: shapes.ListedSessionJson = {
        "session_id": info.key.id,
        "events": info.seq,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
    }
    if request.query.details:
        with suppress(UnknownSession):  # erased meanwhile
            about = summarize_session(request.memory, info.key)
            answer |= {"title": about.title, "goal": about.goal, "project": about.project, "open_work": about.open_work}
    return answer


def recall(request: ApiRequest[shapes.RecallQuery, None]) -> shapes.RecallAnswer:
    """Return what a session says about the question in the query: facts and quoted messages, in at most ``budget``
    tokens."""
    wish = request.query
    found = request.memory.recall(request.session_id, wish.query, budget=wish.budget, tenant=request.tenant)
    return {
        "session_id": request.session_id,
        "text": found.text,
        "tokens": found.tokens,
        "node_ids": list(found.ids),
        "messages": list(found.turns),
        "times": {str(number): time for number, time in found.times.items()},
    }


def compaction(request: ApiRequest[shapes.NoQuery, shapes.CompactionBody]) -> shapes.CompactionAnswer:
    """Decrypt a compaction, which is the encrypted summary of old messages that a client stores, and return its
    content. Raises ``ApiRefusal`` (status 404) if it was changed, or if it was made for another tenant or by another
    server."""
    try:
        content = request.memory.service.compaction.seal().open(request.tenant, request.body.encrypted_content)
    except SealBroken as error:
        raise ApiRefusal(
            Problem(404, "unknown_compaction", f"The compaction cannot be read: {error}.", "encrypted_content")
        ) from None
    return {
        "session_id": content.session,
        "checkpoint": content.checkpoint,
        "text": content.text,
        "open": content.open,
        "tokens": content.tokens,
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


def stats(request: ApiRequest[shapes.StatsQuery, None]) -> shapes.StatsAnswer:
    """Return how many sessions the caller's tenant has and how old they are, and what the model calls that the query
    selects cost and saved. Callers with the scope "admin" also get the counters of this process."""
    wish = request.query
    saved = request.memory.savings(
        wish.session,
        model=wish.model,
        since=wish.from_ or "",
        until=wish.to or "",
        by=(wish.by,) if wish.by else (),
        tenant=request.tenant,
    )
    found = request.memory.sessions(tenant=request.tenant)
    answer: shapes.StatsAnswer = {
        "sessions": len(found),
        "events": sum(info.seq for info in found),
        "oldest": min((info.created_at for info in found), default=None),
        "newest": max((info.updated_at for info in found), default=None),
        "savings": cast(shapes.SavingsJson, saved.to_dict()),
    }
    if request.caller.may("admin"):
        answer["counters"] = request.memory.counters()
    return answer
