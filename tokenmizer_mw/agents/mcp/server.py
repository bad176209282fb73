"""The MCP server: its tools, resources for sessions, resume blocks and graphs, and a prompt."""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final, Literal

from anyio import from_thread, lowlevel
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp_types import ToolAnnotations
from pydantic import Field

from tokenmizer_mw.agents.hooks.events import project_named, root_of
from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.graph.views import remove_phrases, spell_phrases
from tokenmizer_mw.model.session import SESSION_ID_MAX
from tokenmizer_mw.runtime.offload import CALLS, offload

from .backing import Backing, open_file
from .opening import INSTRUCTIONS, NAME, TITLE
from .tools import (
    CheckpointMade,
    FactOutput,
    FileDigest,
    Forgotten,
    GraphStats,
    Recalled,
    RememberOutput,
    ResumeBlock,
    SavingsOutput,
    SearchOutput,
    SessionList,
    SessionOutput,
    ToolServer,
    WhyOutput,
    add_edits,
)

_BUDGET: Final = 300
"""The value of ``files.BUDGET``, whose module is not imported before a tool reads a file."""

_OPEN_MAX: Final = 20
_LISTED_MAX: Final = 1_000
_STEPS: Final = 50
_CANDIDATES_MAX: Final = 5
_FIRST_SESSION: Final = "mcp"
"""Name, within its project, of the session that ``remember`` creates if the project has none."""
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS: Final = ToolAnnotations(destructive_hint=False, open_world_hint=False)
_ADDS_ONCE: Final = _ADDS.model_copy(update={"idempotent_hint": True})
_ERASES: Final = ToolAnnotations(destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""Hints to clients about what a tool does. Hints with their default value are left out, because a model reads the
list."""

_Session = Annotated[str, Field(max_length=SESSION_ID_MAX)]
_Text = Annotated[str, Field(min_length=1, max_length=1_000)]
_Level = Literal["critical", "standard", "full"]
_Kind = Literal["rule", "choice", "decision", "preference", "goal", "task", "environment"]


@dataclass(frozen=True, slots=True)
class Memory:
    """What the MCP tools need to do their work.

    - ``backing``: access to the sessions.
    - ``folder``: the client's working directory; ``roots``: folders whose files may be read.
    - ``bounds``: most bytes of memory and most seconds for reading one file; ``None`` for the defaults.
    """

    backing: Backing
    folder: str
    roots: Sequence[str]
    bounds: tuple[int, float] | None = None

    @property
    def project(self) -> str:
        """Name of the project of the working directory, such as "shop-01221a02"."""
        return project_named(root_of(self.folder))

    async def find_session_id(self, session_id: str) -> str:
        """Return the full id of a session. ``session_id``: its id or a beginning of it, with or without the project; ""
        for the most recently updated session of this project.

        An id that no session has or begins with is returned as it is. Raises ``ToolError`` if "" was passed and the
        project has no session, or if several ids begin with ``session_id``.
        """
        if session_id:
            return await self._complete_session_id(session_id)
        found = await self._find_newest_id()
        if found is None:
            raise ToolError(
                f"Nothing was recorded in this project ({self.project}) so far: remember begins its session with a "
                "first fact; list_sessions names the sessions of other projects."
            )
        return found

    async def find_or_name_session(self, session_id: str) -> tuple[str, bool]:
        """Do what ``find_session_id`` does, and also return whether the session does not exist yet. In a project
        without sessions, "" does not raise: the result is the id that its first session will have, and true."""
        if session_id:
            return await self._complete_session_id(session_id), False
        found = await self._find_newest_id()
        return found or f"{self.project}/{_FIRST_SESSION}", found is None

    async def _find_newest_id(self) -> str | None:
        """Return the id of the most recently updated session of the project; ``None`` if there is none among the newest
        1,000 of all projects."""
        values = await self.backing.get("sessions", limit=_LISTED_MAX)
        ids = (str(one["session_id"]) for one in values["sessions"])
        return next((id for id in ids if id.startswith(f"{self.project}/")), None)

    async def _complete_session_id(self, given: str) -> str:
        """Return the full id of the session that ``given`` begins, with or without its project. Returns ``given``
        itself if it is a full id, if no id begins so, or if there are more sessions than one page lists."""
        found, is_all = await self._find_beginning_with(given)
        if given in found or not is_all or not found:
            return given
        if len(found) > 1:
            raise ToolError(f"{len(found)} sessions begin with {given!r}: {', '.join(found[:_CANDIDATES_MAX])}.")
        return found[0]

    async def require_whole_id(self, given: str) -> None:
        """Raise ``ToolError``, which lists the ids, if ``given`` is only the beginning of session ids."""
        found, is_all = await self._find_beginning_with(given)
        if found and given not in found and is_all:
            raise ToolError(f"{given!r} is no whole id: name one of {', '.join(found[:_CANDIDATES_MAX])}.")

    async def _find_beginning_with(self, given: str) -> tuple[list[str], bool]:
        """Return the ids of listed sessions that begin with ``given``, with or without their project, and whether the
        list had all sessions; no ids if the sessions cannot be listed."""
        try:
            values = await self.backing.get("sessions", limit=_LISTED_MAX)
        except ToolError:
            return [], False
        ids = [str(one["session_id"]) for one in values["sessions"]]
        return [id for id in ids if id.startswith(given) or f"/{given}" in id], not values.get("next")


def server(memory: Memory, version: str) -> MCPServer[Any]:
    """Return the MCP server, with all its tools, resources and prompts, for ``memory``. ``version``: of this package,
    reported to clients."""
    made = ToolServer(NAME, title=TITLE, instructions=INSTRUCTIONS, version=version, log_level="WARNING")
    _sessions(made, memory)
    _questions(made, memory)
    _changes(made, memory)
    add_edits(made, memory.backing, memory.find_session_id)
    _file(made, memory)
    _resources(made, memory)
    return made


def _sessions(made: MCPServer[Any], memory: Memory) -> None:
    ask = memory.backing

    @made.tool(annotations=_READS)
    async def list_sessions(
        limit: Annotated[int, Field(ge=1, le=_LISTED_MAX)] = 20, cursor: str | None = None
    ) -> SessionList:
        """List the sessions, newest first: goal, project, date, open work."""
        values = await ask.get("sessions", limit=limit, cursor=cursor, details=True)
        listed = [_describe_session(one) for one in values["sessions"]]
        return SessionList(sessions=listed, next=values.get("next"), project=memory.project)

    @made.tool(annotations=_READS)
    async def resume_session(
        session_id: _Session = "",
        level: _Level = "standard",
        budget: Annotated[int | None, Field(le=1_000_000, description="64 or more, in place of a level.")] = None,
        query: Annotated[str | None, Field(max_length=1_000, description="Such facts come first.")] = None,
    ) -> ResumeBlock:
        """Where a session stands, in 100 (critical), 300 or 600 (full) tokens: goal, rules, decisions, open
        work, errors, files."""
        session = await memory.find_session_id(session_id)
        values = await ask.get("resume", session, level=level, budget=budget, query=query)
        return ResumeBlock.model_validate(values)

    @made.tool(annotations=_READS)
    async def get_graph_stats(session_id: _Session = "") -> GraphStats:
        """Count a session's facts by type and status; name its open work."""
        session = await memory.find_session_id(session_id)
        graph = _drop_withdrawn((await ask.get("graph", session))["graph"])
        nodes = graph["nodes"]
        unfinished = [node for node in nodes if node["status"] in ("pending", "in_progress")]
        errors = [node for node in nodes if node["type"] == "error" and node["status"] == "active"]
        return GraphStats(
            session_id=session,
            facts=len(nodes),
            relations=len(graph["edges"]),
            transitions=len(graph["transitions"]),
            by_type=dict(Counter(node["type"] for node in nodes).most_common()),
            by_status=dict(Counter(node["status"] for node in nodes).most_common()),
            open_work=[_fact(node) for node in (*unfinished, *errors)[:_OPEN_MAX]],
        )

    @made.tool(annotations=_READS)
    async def get_savings_stats() -> SavingsOutput:
        """Count what is kept and saved."""
        values = await ask.get("stats")
        saved = _drop_zeros(values.get("savings"))
        note = "" if saved else "No savings are on record: they come from chats through the proxy."
        figures = _drop_zeros({"savings": saved, "counters": values.get("counters")})
        figures |= {name: _time(values[name]) for name in ("oldest", "newest") if values.get(name)}
        counted = {name: int(values.get(name) or 0) for name in ("sessions", "events")}
        return SavingsOutput(figures=figures, note=note, **counted)


def _questions(made: MCPServer[Any], memory: Memory) -> None:
    ask = memory.backing

    @made.tool(annotations=_READS)
    async def why_decision(
        text: Annotated[str, Field(min_length=1, max_length=1_000, description="Its words or id.")],
        session_id: _Session = "",
    ) -> WhyOutput:
        """Why a fact is so: who said it, in which words, what it replaced and why."""
        session = await memory.find_session_id(session_id)
        values = await ask.get("graph", session, "why", text=text)
        if _is_withdrawn(values["node"]):
            raise ToolError("The fact was withdrawn: it never was true.")
        return WhyOutput(session_id=session, text=values["text"], node_id=values["node"]["id"])

    @made.tool(annotations=_READS)
    async def search(
        text: _Text, session_id: _Session = "", limit: Annotated[int, Field(ge=1, le=100)] = 5
    ) -> SearchOutput:
        """Find the facts nearest to a text, also replaced and rejected ones."""
        session = await memory.find_session_id(session_id)
        values = await ask.get("graph", session, "search", text=text, limit=limit)
        facts = [_fact(hit["node"], hit["score"]) for hit in values["hits"] if not _is_withdrawn(hit["node"])]
        return SearchOutput(session_id=session, facts=facts)

    @made.tool(annotations=_READS)
    async def recall(
        query: _Text, budget: Annotated[int, Field(ge=20, le=20_000)] = 200, session_id: _Session = ""
    ) -> Recalled:
        """Answer a question from facts and quoted messages."""
        session = await memory.find_session_id(session_id)
        values = await ask.get("recall", session, query=query, budget=budget)
        text = values["text"] or "Nothing in the session shares a word with that. get_graph_stats names its open work."
        return Recalled(session_id=session, text=text, tokens=values["tokens"], messages=values["messages"])


def _changes(made: MCPServer[Any], memory: Memory) -> None:
    ask = memory.backing

    @made.tool(annotations=_ADDS)
    async def checkpoint_session(ctx: Context, session_id: _Session = "") -> CheckpointMade:
        """Mark this point of a session; tell what changed since the last mark."""
        session = await memory.find_session_id(session_id)
        await ctx.report_progress(0, 2, "extracting the facts of the last messages")
        made_ = await ask.post("checkpoint", session_id=session)
        await ctx.report_progress(2, 2, "done")
        diff = made_["diff"]
        phrases = _withdrawn_phrases((await ask.get("graph", session))["graph"]["nodes"])
        added = [_without_words(node, "detail", phrases) for node in diff["added"] if not _is_withdrawn(node)]
        changed = [_without_words(after, "detail", phrases) for _, after in diff["changed"] if not _is_withdrawn(after)]
        return CheckpointMade(
            session_id=session,
            id=made_["id"],
            seq=made_["seq"],
            tokens=made_["tokens"],
            added=list(map(_fact, added)),
            changed=list(map(_fact, changed)),
            removed=[_fact(node) for node in diff["removed"]],
        )

    @made.tool(annotations=_ADDS_ONCE)
    async def remember(
        text: Annotated[str, Field(min_length=1, max_length=1_000)],
        kind: Annotated[_Kind | None, Field(description="Default: by its wording.")] = None,
        reason: Annotated[str, Field(max_length=1_000)] = "",
        session_id: _Session = "",
    ) -> RememberOutput:
        """Add a fact, in one line. A new value ("database: PostgreSQL") replaces the old one."""
        session, is_new = await memory.find_or_name_session(session_id)
        create = {"create": True} if is_new else {}
        values = await ask.post("remember", session_id=session, text=text, kind=kind, reason=reason, **create)
        fact = _fact(values["node"])
        why = f", because {fact.detail}" if fact.detail else ""
        number = int(values.get("number", 0))
        undo = f" Change {number} can be undone." if number else ""
        replaced, similar = (
            ", ".join(f"{node['id']} {node['label']!r}" for node in values.get(name, ()))
            for name in ("replaced", "similar")
        )
        did = f" It replaced {replaced}." if replaced else ""
        if similar:
            did += f" Similar, still in force: {similar}; use correct or invalidate if one no longer holds."
        text = f"Stored as {kind or values['node'].get('kind')} {fact.id}: {fact.label}{why}.{did}{undo}"
        return RememberOutput(session_id=session, text=text, fact=fact, number=number)

    @made.tool(annotations=_ERASES)
    async def forget_session(
        session_id: Annotated[str, Field(min_length=1, max_length=SESSION_ID_MAX)],
    ) -> Forgotten:
        """Erase a session for good (backups keep it), only if the user asks."""
        await memory.require_whole_id(session_id)
        values = await ask.delete("sessions", session_id)
        return Forgotten(session_id=session_id, events=values["events"])


def _file(made: MCPServer[Any], memory: Memory) -> None:
    @made.tool(annotations=_READS)
    async def analyze_file(
        path: Annotated[str, Field(min_length=1, max_length=4_096, description="A path in this project.")],
        ctx: Context,
        budget: Annotated[int, Field(ge=50, le=20_000)] = _BUDGET,
    ) -> FileDigest:
        """Sum up a file of any size in a few hundred tokens: text, logs, tables, code, PDF, workbooks."""
        loop = lowlevel.current_token()

        def report(done: float, of: float, word: str) -> None:
            from_thread.run(ctx.report_progress, done, of, word, token=loop)

        return await offload(partial(_analyze_file, path, memory, budget, report), CALLS)


Report = Callable[[float, float, str], None]
"""Reports progress to the client: amount done, total amount, and what is being done. Called in a worker thread."""


def _analyze_file(path: str, memory: Memory, budget: int, report: Report) -> FileDigest:
    """Return the digest of a file, as the tool ``analyze_file`` does. Call it in a worker thread."""
    from tokenmizer_mw.safety.redact import Redactor
    from tokenmizer_mw.saving.files import ReadingLimits, analyze  # not before a tool reads a file

    limits = ReadingLimits(*memory.bounds) if memory.bounds is not None else ReadingLimits()
    redactor = Redactor(key=secrets.token_bytes(32))
    with open_file(path, memory.roots) as file:
        size = os.fstat(file.fileno()).st_size
        read, shown = 0, 0

        def progress(more: int) -> None:
            nonlocal read, shown
            read += more
            if (step := read * _STEPS // max(size, 1)) > shown:
                shown = step
                report(min(read, size), size, "reading")

        try:
            name = os.path.basename(path)
            digest = analyze(
                file,
                name=name,
                budget=budget,
                redactor=redactor,
                progress=progress,
                limits=limits,
                options=False,  # they are those of the command line
            )
        except TokenMizerError as error:
            raise ToolError(f"{path}: {error}.") from None
        report(size, size, "done")
    details = {name: value for name, value in digest.to_dict().items() if name != "text"}
    return FileDigest(file=path, text=digest.text, details=details)


def _resources(made: MCPServer[Any], memory: Memory) -> None:
    ask = memory.backing
    anything = ResourceSecurity(exempt_params=frozenset({"session_id"}))  # ids are data, never paths

    @made.resource("tokenmizer://sessions", title="Sessions", mime_type="application/json")
    async def sessions() -> str:
        """The sessions that are kept, the most recently updated first."""
        return json.dumps(await _read(ask, "sessions", limit=_LISTED_MAX))

    @made.resource(
        "tokenmizer://sessions/{session_id}/resume", title="Resume block", mime_type="text/markdown", security=anything
    )
    async def resume_block(session_id: str) -> str:
        """Where a session stands, in 300 tokens."""
        return str((await _read(ask, "resume", session_id))["text"])

    @made.resource(
        "tokenmizer://sessions/{session_id}/resume/{level}",
        title="Resume block of a level",
        mime_type="text/markdown",
        security=anything,
    )
    async def resume_block_of_level(session_id: str, level: str) -> str:
        """Where a session stands: critical is 100 tokens, standard 300, full 600."""
        return str((await _read(ask, "resume", session_id, level=level))["text"])

    @made.resource(
        "tokenmizer://sessions/{session_id}/graph", title="Graph", mime_type="application/json", security=anything
    )
    async def graph(session_id: str) -> str:
        """All facts of a session and how they hang together."""
        return json.dumps(_drop_withdrawn((await _read(ask, "graph", session_id))["graph"]))

    @made.prompt(title="Go on where a session stopped")
    async def resume(session_id: str = "") -> str:
        """Where a session stands, and the request to go on from there."""
        session = await memory.find_session_id(session_id)
        text = (await ask.get("resume", session, level="full"))["text"]
        return f"{text}\n\nGo on from there. Say in one sentence where we are before you do."


async def _read(ask: Backing, *path: str, **query: Any) -> dict[str, Any]:
    """Return what ``Backing.get`` returns; errors are raised in the form that resources need."""
    try:
        return await ask.get(*path, **query)
    except ToolError as error:
        unknown = str(error).startswith("There is no such session")
        raise (ResourceNotFoundError if unknown else ResourceError)(str(error)) from None


def _describe_session(values: Mapping[str, Any]) -> SessionOutput:
    return SessionOutput(
        session_id=values["session_id"],
        goal=values.get("goal") or "",
        title="" if values.get("goal") else values.get("title") or "",
        project=values["session_id"].rpartition("/")[0],
        updated=_time(values["updated_at"]),
        open_work=values.get("open_work") or 0,
        events=values["events"],
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _drop_zeros(values: Any) -> Any:
    """Return ``values`` without members that are zero or empty, at any depth."""
    if isinstance(values, dict):
        members = {name: _drop_zeros(value) for name, value in values.items()}
        return {name: value for name, value in members.items() if value}
    return list(map(_drop_zeros, values)) if isinstance(values, list) else values


def _is_withdrawn(node: Mapping[str, Any]) -> bool:
    """Return whether a fact was withdrawn as never true; models are not shown such facts."""
    return node["status"] == "invalidated" and node.get("confidence") == 0


def _drop_withdrawn(graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return a graph without the facts that were withdrawn as never true, without the relations and replacements of
    these, and without their words in the reasons of other facts."""
    out = {node["id"] for node in graph["nodes"] if _is_withdrawn(node)}
    phrases = _withdrawn_phrases(graph["nodes"])
    steps = [step for step in graph["transitions"] if not out & {step["old"], step["new"]}]
    return {
        "nodes": [_without_words(node, "detail", phrases) for node in graph["nodes"] if node["id"] not in out],
        "edges": [edge for edge in graph["edges"] if not out & {edge["source"], edge["target"]}],
        "transitions": [_without_words(step, "reason", phrases) for step in steps],
    }


def _withdrawn_phrases(nodes: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return spell_phrases(node["label"] for node in nodes if _is_withdrawn(node))


def _without_words(values: Mapping[str, Any], name: str, phrases: Collection[str]) -> Mapping[str, Any]:
    """Return a fact or a replacement whose member ``name`` lacks the words of withdrawn facts."""
    return {**values, name: remove_phrases(values[name], phrases)} if phrases and values.get(name) else values


def _fact(node: Mapping[str, Any], score: float | None = None) -> FactOutput:
    source = node.get("source") or {}
    return FactOutput(
        id=node["id"],
        type=node["type"],
        label=node["label"],
        status=node["status"],
        detail=node.get("detail") or "",
        turn=source.get("turn", 0),
        quote=source.get("quote") or "",
        score=round(score, 2) if score is not None else None,
    )
