"""Files of tool traffic, as the graph shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES, derive
from tokenmizer_mw.extract.names import project_path
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import NodeType, Status
from tokenmizer_mw.settings import Settings

Step = tuple[str, Mapping[str, Any], str]


def after(*steps: Step) -> SessionGraph:
    """The graph after calls (tool, arguments, result), one after the other."""
    said: list[tuple[int, Message]] = [(1, Message(Role.USER, "Go on."))]
    for number, (tool, arguments, text) in enumerate(steps, 1):
        call = ToolCall(f"c{number}", tool, json.dumps(arguments))
        said.append((2 * number, Message(Role.ASSISTANT, tool_calls=(call,))))
        said.append((2 * number + 1, Message(Role.TOOL, tool_results=(ToolResult(call.id, text, False),))))
    graph = SessionGraph()
    for index, numbered in enumerate(said):
        for event in derive(graph, [numbered], said[max(0, index - CONTEXT_MESSAGES) : index], Settings()):
            graph.apply(event)
    return graph


def files(graph: SessionGraph) -> dict[str, str]:
    return {node.label: node.detail for node in graph.nodes(NodeType.FILE)}


def test_what_was_done_to_a_file_stands_over_that_it_was_read() -> None:
    graph = after(
        ("Read", {"file_path": "/srv/shop/cart.py"}, "x = 1"),
        ("Edit", {"file_path": "/srv/shop/cart.py"}, "updated"),
        ("Read", {"file_path": "/srv/shop/cart.py"}, "x = 2"),
        ("Write", {"file_path": "/srv/shop/tax.py"}, "written"),
        ("Edit", {"file_path": "/srv/shop/tax.py"}, "updated"),
    )
    assert files(graph) == {"/srv/shop/cart.py": "edited", "/srv/shop/tax.py": "written"}


def test_the_end_of_a_file_is_told_and_its_return() -> None:
    made = ("create", {"filename": "probe.py"}, "created")
    gone = ("bash", {"command": "rm probe.py"}, "")
    (node,) = after(made, gone).nodes(NodeType.FILE)
    assert (node.detail, node.status) == ("deleted", Status.ARCHIVED)
    (node,) = after(made, gone, made).nodes(NodeType.FILE)
    assert (node.detail, node.status) == ("written", Status.ACTIVE)


def test_underscores_of_a_path_are_no_emphasis() -> None:
    assert files(after(("Write", {"file_path": "shop/__init__.py"}, "ok"))) == {"shop/__init__.py": "written"}


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/ana/shop/.github/workflows/ci.yml", ".github/workflows/ci.yml"),
        ("D:\\shop\\.editorconfig", ".editorconfig"),
        ("/srv/shop/.env.local", ".env.local"),
        ("/home/ana/.bashrc", "/home/ana/.bashrc"),
        ("/root/.ssh/config", "/root/.ssh/config"),
        ("~/.config/tool.json", "~/.config/tool.json"),
        ("web/.env", "web/.env"),
        ("/srv/shop/../shop/a.py", "/srv/shop/../shop/a.py"),
        ("", ""),
    ],
)
def test_dotted_names_mark_the_root_of_a_project(path: str, shown: str) -> None:
    assert project_path(path) == shown


def test_two_spellings_of_a_dotted_path_are_one_file() -> None:
    graph = after(
        ("Read", {"file_path": "/home/ana/shop/.github/ci.yml"}, "on: push"),
        ("bash", {"command": "sed -i s/a/b/ .github/ci.yml"}, ""),
    )
    assert files(graph) == {".github/ci.yml": "edited"}


def test_an_edit_without_a_path_is_one_of_the_open_file() -> None:
    text = "Text replaced.\n(Open file: /srv/shop/tax.py)\n(Current directory: /srv/shop)\nbash-$"
    assert files(after(("edit", {"search": "a", "replace": "b"}, text))) == {"/srv/shop/tax.py": "edited"}
