"""Builds the OpenAPI document from the route table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from tokenmizer_mw.model.session import SESSION_ID_MAX

from . import shapes
from .routes import Route
from .shapes import JSON, LINES

OPENAPI: Final = "3.1.0"
_SCHEMAS: Final = "#/components/schemas/{model}"
_KEY: Final = "key"

_FAILURES: Final = {
    401: "Who asks is not known.",
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
    "properties": {"role": {"enum": ["user", "assistant"]}, "content": {"type": ["string", "array", "null"]}},
    "required": ["role", "content"],
}

_IMPORTS: Final = {
    JSON: {"schema": {"type": "array", "minItems": 1, "items": _MESSAGE}},
    LINES: {"schema": {"type": "string", "description": "An export, or one message a line."}},
}


def openapi_document(routes: Sequence[Route], prefix: str = "") -> dict[str, Any]:
    """Return the OpenAPI document of ``routes``, mounted under ``prefix``."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": OPENAPI,
        "info": {"title": "tokenmizer-mw", "version": version("tokenmizer-mw"), "summary": "Session memory over HTTP."},
        "servers": [{"url": prefix or "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {_KEY: {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(routes: Iterable[Route]) -> tuple[Mapping[Any, Any], Mapping[str, Any]]:
    """The JSON schema of every type that goes in or out, and the definitions that they share."""
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
    """A parameter that may be left out is never null: there is no way to write that."""
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
    """Return the error statuses (400 and above) that a route may return."""
    found = set(route.failures)
    if route.scope is not None:
        found |= {401, 403, 422, 500, 503}
    if route.of_session:
        found.add(404)
    if route.body is not None:
        found |= {413, 415}
    return sorted(found)
