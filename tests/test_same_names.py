"""What can be done with facts has one name in the library, on the command line, over HTTP and for models."""

from __future__ import annotations

import json
from typing import Any

import pytest

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


def test_a_former_path_is_answered_and_not_documented() -> None:
    found = match_routes({"path": "/api/decision/invalidate", "root_path": ""}, ROUTES)
    assert found is not None
    assert found.routes["POST"].name == "invalidate"
    assert not [route for route in ROUTES if "decision" in route.path]


def test_a_former_tool_is_not_listed() -> None:
    assert "search_session" not in listed_tools()
