"""What can be done with facts has one name in the library, on the command line, over HTTP and for models."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from pydantic import ValidationError

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.agents.mcp.opening import TOOL_LIST
from tokenmizer_mw.cli.arguments import COMMANDS
from tokenmizer_mw.server.api.routes import ROUTES, match_routes

NAMES = ("remember", "correct", "complete", "archive", "separate", "pin", "undo", "recall", "search", "invalidate")


def listed_tools() -> dict[str, Any]:
    return {tool["name"]: tool for tool in json.loads(TOOL_LIST.read_bytes())["tools"]}


@pytest.mark.parametrize("name", NAMES)
def test_every_surface_has_the_name(name: str) -> None:
    assert callable(getattr(SessionMemory, name))
    assert name in COMMANDS
    assert name in listed_tools()
    (route,) = [route for route in ROUTES if route.name == name]
    assert name in route.path.split("/")


def parameters_of(name: str) -> dict[str, set[str]]:
    """The arguments of a question in the library, over HTTP and for models, by surface."""
    (route,) = [route for route in ROUTES if route.name == name]
    library = {*inspect.signature(getattr(SessionMemory, name)).parameters} - {"self", "session_id", "tenant"}
    tool = {*listed_tools()[name]["inputSchema"]["properties"]} - {"session_id"}
    return {"library": library, "rest": {*route.query.model_fields}, "mcp": tool}


@pytest.mark.parametrize(("name", "own"), [("search", {"text", "limit"}), ("recall", {"query", "budget"})])
def test_questions_have_the_same_arguments_everywhere(name: str, own: set[str]) -> None:
    names = parameters_of(name)
    assert names["rest"] == names["mcp"] == own
    assert own <= names["library"]


def test_former_names_of_arguments_are_taken() -> None:
    memory = SessionMemory.open("memory://")
    memory.record("s", [{"role": "user", "content": "Use SQLite for storage. Never push to main without a review."}])
    assert memory.search("s", "storage review", k=1) == memory.search("s", "storage review", limit=1)
    assert len(memory.search("s", "storage review", 1)) == 1
    memory.close()
    queries = {route.name: route.query for route in ROUTES}
    for name, taken in {"search": ("text", "query", "question"), "recall": ("query", "question", "text")}.items():
        read = [queries[name].model_validate({one: "x"}) for one in taken]
        assert read[1:] == read[:-1]
        with pytest.raises(ValidationError):
            queries[name].model_validate(dict.fromkeys(taken, "x"))
    assert queries["search"].model_validate({"text": "x", "k": "3"}).model_dump()["limit"] == 3


def test_a_former_path_is_answered_and_not_documented() -> None:
    found = match_routes({"path": "/api/decision/invalidate", "root_path": ""}, ROUTES)
    assert found is not None
    assert found.routes["POST"].name == "invalidate"
    assert not [route for route in ROUTES if "decision" in route.path]


def test_a_former_tool_is_not_listed() -> None:
    assert "search_session" not in listed_tools()
