"""Files of tool traffic, as the graph shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES, derive
from tokenmizer_mw.extract.text.names import project_path
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
    return told(said)


def told(said: list[tuple[int, Message]]) -> SessionGraph:
    """The graph after these messages, read one at a time."""
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


def test_a_file_that_is_only_talked_of_waits_where_tools_do_the_work() -> None:
    said = [
        (1, Message(Role.USER, "Go on.")),
        (2, Message(Role.ASSISTANT, tool_calls=(ToolCall("c", "Read", '{"file_path": "shop/cart.py"}'),))),
        (3, Message(Role.TOOL, tool_results=(ToolResult("c", "x = 1"),))),
        (4, Message(Role.ASSISTANT, "The rate comes from `shop/rates.py`, `shop/cart.py` only uses it.")),
        (5, Message(Role.ASSISTANT, "I looked at `shop/rates.py` again.")),
    ]
    graph = told(said)
    assert files(graph) == {"shop/cart.py": "read and named", "shop/rates.py": "named"}
    assert [node.label for node in graph.nodes(NodeType.FILE, Status.ACTIVE)] == ["shop/cart.py"]
    said.append((6, Message(Role.ASSISTANT, tool_calls=(ToolCall("d", "Edit", '{"file_path": "shop/rates.py"}'),))))
    said.append((7, Message(Role.TOOL, tool_results=(ToolResult("d", "updated"),))))
    assert files(told(said))["shop/rates.py"] == "edited"


def test_talk_of_a_deleted_file_does_not_bring_it_back() -> None:
    said = [
        (1, Message(Role.USER, "Go on.")),
        (2, Message(Role.ASSISTANT, tool_calls=(ToolCall("c", "bash", '{"command": "rm shop/old.py"}'),))),
        (3, Message(Role.TOOL, tool_results=(ToolResult("c", ""),))),
        (4, Message(Role.ASSISTANT, "`shop/old.py` is gone.")),
    ]
    (node,) = told(said).nodes(NodeType.FILE)
    assert (node.status, node.detail) == (Status.ARCHIVED, "deleted")


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("cp ~/Downloads/logo.svg web/static/", "", {"web/static/logo.svg": "written"}),
        ("git rm -r legacy/importer", "", {"legacy/importer": "deleted"}),
        ("rm -rf node_modules/x dist build/out", "", {}),
        ("git add shop/cart.py docs/", "", {"shop/cart.py": "edited"}),
        ("git status -s", " M a/b.py\n?? a/c.py\n D gone.py", {"a/b.py": "edited", "a/c.py": "created"}),
        ("git status", "\tmodified:   a/b.py\n\tnew file:   a/c.py", {"a/b.py": "edited", "a/c.py": "created"}),
    ],
)
def test_files_of_commands(command: str, text: str, expected: dict[str, str]) -> None:
    assert files(after(("bash", {"command": command}, text))) == expected


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("git commit -m 'Round taxes'", "[main 1a2b3c4] Round taxes", ["commit: Round taxes"]),
        ("git commit -m 'Round taxes'", "nothing to commit, working tree clean", []),
        ("git push origin main", "   1a2b3c4..5d6e7f8  main -> main", ["branch main pushed"]),
        ("git push -u origin tax", " * [new branch]      tax -> tax", ["branch tax pushed"]),
        ("git push origin main", " ! [rejected]  main -> main (fetch first)", []),
        ("git checkout -b tax/round", "Switched to a new branch 'tax/round'", ["branch tax/round created"]),
        ("git switch -qc tax", "", ["branch tax created"]),
        ("git checkout main", "Switched to branch 'main'", []),
        ("git merge tax", "Fast-forward", ["branch tax merged"]),
        ("git merge tax", "CONFLICT (content): Merge conflict in a.py", []),
        ("git tag v1.2", "", ["tag v1.2 created"]),
        ("git tag", "v1.1", []),
        ("gh pr create --title 'Round taxes' --fill", "https://git.example/o/r/pull/12", ["pull request 12 created"]),
        ("gh pr merge 12 --squash", "Merged", ["pull request 12 merged"]),
        ("gh pr list", "12 Round taxes", []),
    ],
)
def test_steps_of_git(command: str, text: str, expected: list[str]) -> None:
    graph = after(("bash", {"command": command}, text))
    assert [node.label for node in graph.nodes(NodeType.TASK, Status.COMPLETED)] == expected


def test_files_whose_tests_fail_are_files_of_the_session() -> None:
    text = "FAILED tests/test_tax.py::test_total - assert 7 == 8\n==== 1 failed in 0.1s ===="
    assert files(after(("bash", {"command": "pytest"}, text))) == {"tests/test_tax.py": "failing"}
    text = " FAIL  src/cart.test.ts > total > adds\n      Tests  1 failed | 3 passed (4)"
    assert files(after(("bash", {"command": "npx vitest run"}, text))) == {"src/cart.test.ts": "failing"}


def test_dotted_folders_of_a_home_are_no_files_of_the_project() -> None:
    graph = told([(1, Message(Role.USER, "The notes are in /home/ana/.agent/projects/notes.md by the way."))])
    assert graph.nodes(NodeType.FILE, Status.ACTIVE) == []


def call(number: int, tool: str, arguments: Mapping[str, Any]) -> tuple[int, Message]:
    return (number, Message(Role.ASSISTANT, tool_calls=(ToolCall(f"c{number}", tool, json.dumps(arguments)),)))


def result(number: int, to: int, text: str) -> tuple[int, Message]:
    return (number, Message(Role.TOOL, tool_results=(ToolResult(f"c{to}", text),)))


def tasks(graph: SessionGraph) -> dict[str, Status]:
    return {node.label: node.status for node in graph.nodes(NodeType.TASK)}


def test_a_commit_that_nobody_saw_end_is_open() -> None:
    begun = [call(1, "exec_command", {"cmd": "git add . && git commit -m 'Round taxes'"})]
    assert tasks(told(begun)) == {"commit: Round taxes": Status.IN_PROGRESS}
    assert tasks(told([*begun, result(2, 1, "[main 1a2b3c4] Round taxes")])) == {
        "commit: Round taxes": Status.COMPLETED
    }
    assert tasks(told([*begun, result(2, 1, "nothing to commit")])) == {"commit: Round taxes": Status.ARCHIVED}


def test_an_errand_is_open_until_its_agent_is_back() -> None:
    sent = [call(1, "Task", {"description": "Plan the export of invoices", "prompt": "..."})]
    assert tasks(told(sent)) == {"Plan the export of invoices": Status.IN_PROGRESS}
    assert tasks(told([*sent, result(2, 1, "Planned.")])) == {"Plan the export of invoices": Status.ARCHIVED}


def test_steps_of_a_plan_that_only_look_are_gone_when_they_are_done() -> None:
    plan = {
        "plan": [
            {"step": "Inspect the tax tables", "status": "completed"},
            {"step": "Round taxes per line", "status": "completed"},
            {"step": "Review the invoices", "status": "pending"},
        ]
    }
    shown = tasks(told([call(1, "update_plan", plan)]))
    assert {label: status for label, status in shown.items() if status is not Status.ARCHIVED} == {
        "Round taxes per line": Status.COMPLETED,
        "Review the invoices": Status.PENDING,
    }


def test_a_search_by_name_with_few_results_looked_for_them() -> None:
    assert files(after(("Glob", {"pattern": "**/PLAN*"}, "/srv/shop/PLAN.md"))) == {"/srv/shop/PLAN.md": "read"}
    assert files(after(("Glob", {"pattern": "**/*.py"}, "a.py\nb.py\nc.py\nd.py"))) == {}
    assert files(after(("Glob", {"pattern": "**/*.py"}, "No files found"))) == {}


def test_files_that_a_formatter_would_write_are_files_of_the_session() -> None:
    text = "Exit code 1\nwould reformat shop/tax.py\n1 file would be reformatted."
    assert files(after(("bash", {"command": "black --check ."}, text))) == {"shop/tax.py": "failing"}
