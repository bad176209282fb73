"""The table of all routes, the search for the route of a request's path, and the OpenAPI document of the routes.

A session id is one percent-encoded path segment ("team%2Fmonday"), so that it may contain slashes. ASGI servers pass
the path decoded (``path``) and mostly also as received (``raw_path``). ``raw_path`` is used only if the two
agree; without it, a slash in an id cannot be distinguished from a separator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from starlette.responses import Response

from tokenmizer_mw.graph.export.formats import FORMATS
from tokenmizer_mw.model.session import SESSION_ID_MAX
from tokenmizer_mw.server.access.caller import below_root

from . import reading, shapes, writing
from .requests import ApiRequest, JsonResponse, Route
from .shapes import JSON, LINES


def _health(request: ApiRequest[shapes.NoQuery, None]) -> shapes.HealthAnswer | Response:
    found = request.health.look(with_place=request.caller.may("admin"))
    return found if found["ready"] else JsonResponse(found, 503)


def _live(request: ApiRequest[shapes.NoQuery, None]) -> shapes.HealthAnswer:
    return {"status": "ok", "live": True, "ready": True, "reasons": []}


_GRAPH: Final = "/api/graph/{session_id}"
_SESSION: Final = "/api/sessions/{session_id}"
_FILES: Final = tuple(sorted({one.media_type.partition(";")[0] for one in FORMATS.values()} - {JSON}))


# fmt: off
ROUTES: Final[tuple[Route, ...]] = (
    Route("checkpoint", "POST", "/api/checkpoint", "write", "Mark this point of a session.",
          writing.checkpoint, shapes.CheckpointAnswer, body=shapes.CheckpointBody, status=201),
    Route("checkpoints", "GET", "/api/checkpoints/{session_id}", "read", "The checkpoints of a session.",
          reading.checkpoints, shapes.CheckpointsAnswer),
    Route("resume", "GET", "/api/resume/{session_id}", "read", "The resume block of a session.",
          reading.resume, shapes.ResumeAnswer, shapes.ResumeQuery),
    Route("graph", "GET", _GRAPH, "read", "The graph of a session, as JSON or as a file.",
          reading.graph, shapes.GraphAnswer, shapes.GraphQuery, also=_FILES),
    Route("history", "GET", f"{_GRAPH}/history", "read", "The graph as it was recorded, or true, at a time.",
          reading.history, shapes.HistoryAnswer, shapes.HistoryQuery),
    Route("transitions", "GET", f"{_GRAPH}/transitions", "read", "Every decision that replaced another.",
          reading.transitions, shapes.TransitionsAnswer),
    Route("why", "GET", f"{_GRAPH}/why", "read", "Why a fact is so: who said it, what it replaced.",
          reading.why, shapes.WhyJson, shapes.WhyQuery),
    Route("search", "GET", f"{_GRAPH}/search", "read", "The facts that share most with a text.",
          reading.search, shapes.SearchAnswer, shapes.SearchQuery),
    Route("diff", "GET", f"{_GRAPH}/diff", "read", "What changed between two checkpoints, or numbers of events.",
          reading.difference, shapes.DiffAnswer, shapes.DiffQuery),
    Route("messages", "GET", "/api/messages/{session_id}", "read", "The messages of a session, word for word.",
          reading.messages, shapes.MessagesAnswer, shapes.MessagesQuery),
    Route("loss_report", "GET", "/api/loss-report/{session_id}", "read", "The facts that the last cut left out.",
          reading.loss_report, shapes.LossAnswer),
    Route("edits", "GET", "/api/edits/{session_id}", "read", "The changes by hand of a session, with their numbers.",
          reading.edits, shapes.EditsAnswer),
    Route("remember", "POST", "/api/remember", "write", "Add a fact by hand; `create` begins its session.",
          writing.remember, shapes.RememberAnswer, body=shapes.RememberBody, status=201),
    Route("complete", "POST", "/api/complete", "write", "Say that a task is done, an error fixed, or a goal reached.",
          writing.complete, shapes.EditAnswer, body=shapes.CompleteBody),
    Route("invalidate", "POST", "/api/invalidate", "write", "Declare a fact wrong.",
          writing.invalidate, shapes.EditAnswer, body=shapes.InvalidateBody),
    Route("archive", "POST", "/api/archive", "write", "Put a fact away that is of no interest any more.",
          writing.archive, shapes.EditAnswer, body=shapes.ArchiveBody),
    Route("separate", "POST", "/api/separate", "write", "Keep a replaced fact beside the one that replaced it.",
          writing.separate, shapes.EditAnswer, body=shapes.SeparateBody),
    Route("pin", "POST", "/api/pin", "write", "Put a fact before others in resume blocks, or no longer.",
          writing.pin, shapes.EditAnswer, body=shapes.PinBody),
    Route("correct", "POST", "/api/correct", "write", "Change the words of a fact.",
          writing.correct, shapes.EditAnswer, body=shapes.CorrectBody),
    Route("undo", "POST", "/api/undo", "write", "Undo a manual change.",
          writing.undo, shapes.UndoAnswer, body=shapes.UndoBody),
    Route("recall", "GET", "/api/recall/{session_id}", "read", "What a session says about a question.",
          reading.recall, shapes.RecallAnswer, shapes.RecallQuery),
    Route("compaction", "POST", "/api/compaction", "read", "What a compaction that a client keeps stands for.",
          reading.compaction, shapes.CompactionAnswer, body=shapes.CompactionBody, failures=(404,)),
    Route("sessions", "GET", "/api/sessions", "read", "The sessions, the most recently updated first.",
          reading.sessions, shapes.SessionsAnswer, shapes.SessionsQuery),
    Route("forget", "DELETE", _SESSION, "erase", "Erase a session for good.",
          writing.forget, shapes.ErasedAnswer),
    Route("export", "GET", f"{_SESSION}/export", "read", "The events of a session, one a line.",
          reading.export, LINES),
    Route("import", "POST", f"{_SESSION}/import", "write", "Take an export, or messages, into a session.",
          writing.import_, shapes.ImportedAnswer, body=(JSON, LINES), status=201, failures=(409,)),
    Route("stats", "GET", "/api/stats", "read", "The sessions in figures, and what calls cost.",
          reading.stats, shapes.StatsAnswer, shapes.StatsQuery),
    Route("health", "GET", "/health", None, "Whether it works, and what does not.",
          _health, shapes.HealthAnswer, failures=(503,)),
    Route("live", "GET", "/health/live", None, "Whether the process answers.",
          _live, shapes.HealthAnswer),
    Route("ready", "GET", "/health/ready", None, "Whether it can take requests.",
          _health, shapes.HealthAnswer, failures=(503,)),
)
# fmt: on
"""All routes except two that ``Api`` adds itself: the OpenAPI document and the metrics."""

_ID: Final = "{session_id}"

_FORMER_PATHS: Final[Mapping[tuple[str, ...], Sequence[str]]] = {
    ("api", "decision", "invalidate"): ("api", "invalidate")
}
"""Former paths -> the paths that replaced them, each split at its slashes. The former ones still work and are not
documented."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The routes at the path of a request. ``routes``: HTTP method, such as "GET" -> route. ``session_id``: the session
    id in the path, "" if it has none."""

    routes: Mapping[str, Route]
    session_id: str


def match_routes(scope: Mapping[str, Any], routes: Sequence[Route]) -> Matched | None:
    """Find those of ``routes`` that have the path of a request, and the session id in that path. ``None`` if no route
    has the path. The path is taken from the ASGI ``scope``, without the prefix under which the API is mounted."""
    longest = max(route.path.count("/") for route in routes)
    for path in _paths_below(scope):
        segments = _segments(path, scope.get("raw_path") or b"", longest)
        segments = _FORMER_PATHS.get(tuple(segments), segments)
        found = {route: id for route in routes if (id := _id_in(route.path, segments)) is not None}
        if found:
            return Matched({route.method: route for route in found}, next(iter(found.values())))
    return None


def _paths_below(scope: Mapping[str, Any]) -> list[str]:
    """Return the paths to try: the request's path without the mount prefix, and the unchanged path, for hosts that have
    already removed the prefix."""
    return list(dict.fromkeys([below_root(scope), scope["path"]]))


def _segments(path: str, raw: bytes, most: int) -> Sequence[str]:
    """Split ``path`` at its slashes. A percent-encoded slash does not split: if ``raw``, the path as received, ends in
    the same path, ``raw`` is split instead and each segment decoded. ``most``: maximum number of segments of a route;
    further slashes do not split."""
    pieces = raw.partition(b"?")[0].rsplit(b"/", most)[1:]
    for start in range(len(pieces)):
        # One that is not UTF-8 becomes text that no server decodes to.
        decoded = [unquote_to_bytes(piece).decode("utf-8", "surrogateescape") for piece in pieces[start:]]
        if "/" + "/".join(decoded) == path:
            return decoded
    return path.removeprefix("/").split("/", most)


def _id_in(pattern: str, segments: Sequence[str]) -> str | None:
    """Return the session id in ``segments``, the path of a request, if they fit ``pattern``, such as
    "/api/graph/{session_id}". "" if they fit and the pattern has no id; ``None`` if they do not fit."""
    parts = pattern.removeprefix("/").split("/")
    if len(parts) != len(segments):
        return None
    id = ""
    for part, segment in zip(parts, segments, strict=True):
        if part == _ID and segment:
            id = segment
        elif part != segment:
            return None
    return id


OPENAPI: Final = "3.1.0"
_SCHEMAS: Final = "#/components/schemas/{model}"
_KEY: Final = "key"

_FAILURES: Final = {
    401: "The API key is missing or invalid.",
    403: "The caller may not do this.",
    404: "There is no such session, or nothing in it that fits; a session of somebody else is not there either.",
    409: "The session exists and holds something else.",
    413: "The body is too large.",
    415: "The body is of a kind that is not read.",
    422: "A value cannot be used; field names it.",
    500: "A fault of the server.",
    503: "The store, or the service that authenticates callers, cannot be reached at the moment.",
}

_SESSION_ID: Final = {
    "name": "session_id",
    "in": "path",
    "required": True,
    "description": "Any printable id, percent-encoded, slashes too.",
    "schema": {"type": "string", "format": shapes.PRINTABLE, "minLength": 1, "maxLength": SESSION_ID_MAX},
}

_MESSAGE: Final = {
    "type": "object",
    "description": "A message as OpenAI or Anthropic shape it.",
    "required": ["role", "content"],
    "anyOf": [
        {"properties": {"role": {"const": "user"}, "content": {"type": ["string", "array"]}}},
        {"properties": {"role": {"const": "assistant"}, "content": {"type": ["string", "array", "null"]}}},
    ],
}

_IMPORTS: Final = {
    JSON: {"schema": {"type": "array", "minItems": 1, "items": _MESSAGE}},
    LINES: {"schema": {"type": "string", "description": "An export, or one message a line."}},
}


def openapi_document(routes: Sequence[Route], prefix: str = "") -> dict[str, Any]:
    """Return the OpenAPI document that describes ``routes``, as a dictionary of JSON values. ``prefix``: the path under
    which the API is mounted, such as "/memory"; "" at the root."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": OPENAPI,
        "info": {"title": "tokenmizer-mw", "version": version("tokenmizer-mw"), "summary": "Session memory over HTTP."},
        "servers": [{"url": prefix or "/"}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {_KEY: {"type": "http", "scheme": "bearer"}}},
    }


def _schemas(routes: Iterable[Route]) -> tuple[Mapping[Any, Any], Mapping[str, Any]]:
    """Return two mappings: type of a body or response -> its JSON schema; name -> definition that the schemas refer
    to."""
    types = {shapes.ErrorBody, *(route.answer for route in routes), *(route.body for route in routes)}
    wanted = sorted((one for one in types if not isinstance(one, str | tuple | None)), key=str)
    inputs: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]]
    inputs = [(one, "serialization", TypeAdapter(one)) for one in wanted]
    found, shared = TypeAdapter.json_schemas(inputs, ref_template=_SCHEMAS)
    return {kind: schema for (kind, _), schema in found.items()}, shared.get("$defs", {})


def _operation(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [*([_SESSION_ID] if "{session_id}" in route.path else []), *_parameters(route.query)],
        "responses": _responses(route, schemas),
    }
    if route.scope is not None:
        described |= {"security": [{_KEY: []}], "description": f"Needs the scope {route.scope}."}
    if route.body is not None:
        content = _IMPORTS if isinstance(route.body, tuple) else {JSON: {"schema": schemas[route.body]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    described = query.model_json_schema(ref_template=_SCHEMAS)
    required = described.get("required", ())
    return [_parameter(name, schema, name in required) for name, schema in described.get("properties", {}).items()]


def _parameter(name: str, schema: Mapping[str, Any], required: bool) -> dict[str, Any]:
    """Return the OpenAPI description of a query parameter with this JSON ``schema``. The type "null" is removed from
    it, because a query cannot express null."""
    plain = {key: value for key, value in schema.items() if key not in ("title", "description")}
    if {"type": "null"} in plain.get("anyOf", ()):
        others = [one for one in plain.pop("anyOf") if one != {"type": "null"}]
        plain |= others[0] if len(others) == 1 else {"anyOf": others}
    if plain.get("default", "") is None:
        del plain["default"]
    described = {"name": name, "in": "query", "required": required, "schema": plain}
    description = schema.get("description") or plain.pop("description", "")
    return described | ({"description": description} if description else {})


def _responses(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    if isinstance(route.answer, str):
        good = {route.answer: {"schema": {"type": "string"}}}
    else:
        good = {JSON: {"schema": schemas[route.answer]}}
    good |= {media: {"schema": {"type": "string"}} for media in route.also}
    described: dict[str, Any] = {str(route.status): {"description": route.summary, "content": good}}
    for status in failures_of(route):
        schema = schemas[shapes.ErrorBody if route.scope is not None else route.answer]
        described[str(status)] = {"description": _FAILURES[status], "content": {JSON: {"schema": schema}}}
    return described


def failures_of(route: Route) -> list[int]:
    """Return the error statuses (400 and above) that a route may answer with, in ascending order."""
    found = set(route.failures)
    if route.scope is not None:
        found |= {401, 403, 422, 500, 503}
    if route.of_session:
        found.add(404)
    if route.body is not None:
        found |= {413, 415}
    return sorted(found)
