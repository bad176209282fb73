"""What sessions of coding agents come to: plans that are kept and forgotten, reports that a tool carries."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import NodeType, Status

from .talks import SPEAKERS, judged, labels

Step = str | tuple[str, dict[str, Any], str]
"""A line such as "u: add a page", or a call's name, its arguments and what it returned."""


def agent(*steps: Step) -> SessionGraph:
    """The graph after these steps."""
    messages = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            messages.append(Message(SPEAKERS[step[0]], step[3:]))
            continue
        name, arguments, returned = step
        call = ToolCall(f"call-{number}", name, json.dumps(arguments))
        messages.append(Message(Role.ASSISTANT, tool_calls=(call,)))
        messages.append(Message(Role.TOOL, tool_results=(ToolResult(call.id, returned),)))
    return judged(messages)


def made(number: int, subject: str) -> Step:
    return ("TaskCreate", {"subject": subject, "description": ""}, f"Task #{number} created successfully: {subject}")


def moved(number: int, status: str) -> Step:
    return ("TaskUpdate", {"taskId": str(number), "status": status}, f"Updated task #{number} status")


def test_items_of_a_plan_are_moved_by_their_numbers() -> None:
    steps = [made(1, "Add the import form"), made(2, "Parse the bank's export"), made(3, "Drop the old importer")]
    graph = agent("u: let people import their bank statements", *steps, moved(1, "completed"), moved(2, "in_progress"))
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["Add the import form"]
    assert labels(graph, NodeType.TASK, Status.IN_PROGRESS) == ["Parse the bank's export"]
    assert "Drop the old importer" in labels(graph, NodeType.TASK, Status.PENDING)


def renamed(number: int, subject: str) -> Step:
    return ("TaskUpdate", {"taskId": str(number), "subject": subject}, f"Updated task #{number} subject")


ASKED: Final = "u: I want a command line for my book list"


def test_items_with_numbers_are_what_their_tool_says() -> None:
    """Those of like subjects are two, and one is neither left behind nor named by what is said around it."""
    graph = agent(
        ASKED,
        made(3, "Add the command that lists books"),
        made(4, "Add the command that lists authors"),
        "a: The commands only print so far.",
        "u: fine, and please keep the code short",
        "a: I will.",
        "u: go on",
        "a: Next come the commands.",
        "u: yes",
        moved(3, "completed"),
        moved(4, "in_progress"),
    )
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["Add the command that lists books"]
    assert "Add the command that lists authors" in labels(graph, NodeType.TASK, Status.IN_PROGRESS)


def test_an_item_is_named_as_its_tool_names_it() -> None:
    order = "a: Next I will print the list of books with the command."
    graph = agent(ASKED, order, made(7, "Print the list of books with the command books"), renamed(7, "Print as CSV"))
    assert "Print as CSV" in labels(graph, NodeType.TASK, Status.PENDING)
    assert not any("list of books" in label for label in labels(graph, NodeType.TASK))


def test_an_item_is_put_back_and_taken_off() -> None:
    steps = [ASKED, made(1, "Write the parser"), moved(1, "in_progress"), moved(1, "pending")]
    assert "Write the parser" in labels(agent(*steps), NodeType.TASK, Status.PENDING)
    gone = agent(*steps, moved(1, "deleted"))
    assert "Write the parser" in labels(gone, NodeType.TASK, Status.ARCHIVED)
    back = agent(*steps, moved(1, "deleted"), moved(1, "in_progress"))
    assert "Write the parser" in labels(back, NodeType.TASK, Status.IN_PROGRESS)


def test_an_unknown_number_and_a_refused_item_change_nothing() -> None:
    refused = ("TaskCreate", {"subject": "Add the import form"}, "Exit code 1\nquota exceeded")
    graph = agent("u: let people import their bank statements", refused, moved(7, "completed"))
    assert "Add the import form" not in labels(graph, NodeType.TASK)
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == []


def test_steps_that_only_look_or_check_are_no_work_done() -> None:
    steps = [made(1, "Explore the importer"), made(2, "Run tests and lint"), made(3, "Test the import with Ada's file")]
    graph = agent("u: let people import statements", *steps, *(moved(number, "completed") for number in (1, 2, 3)))
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["Test the import with Ada's file"]


PLAN = {"plan": [{"step": "add the import form", "status": "in_progress"}, {"step": "write the help page"}]}


def test_a_plan_that_is_not_kept_up_is_left_behind() -> None:
    begun: list[Step] = ["u: let people import their bank statements", ("update_plan", PLAN, "Plan updated")]
    once = agent(*begun, "a: The form is there.", "u: rename it to upload please")
    assert "write the help page" in labels(once, NodeType.TASK, Status.PENDING)
    twice = agent(
        *begun, "a: The form is there.", "u: rename it to upload please", "a: Renamed.", "u: and make it blue"
    )
    assert "write the help page" not in labels(twice, NodeType.TASK, Status.PENDING)
    again = agent(*begun, "a: Fine.", "u: rename it", "a: Renamed.", "u: go on", ("update_plan", PLAN, "Plan updated"))
    assert "write the help page" in labels(again, NodeType.TASK, Status.PENDING)


def test_what_an_assistant_says_by_a_tool_is_said() -> None:
    asked = "u: let people import their bank statements"
    report = {"result": "I added an import form to the accounts page. The help page is still missing."}
    graph = agent(asked, ("attempt_completion", report, ""))
    assert "added an import form to the accounts page" in " ".join(labels(graph, NodeType.TASK, Status.COMPLETED))
    searched = agent(asked, ("web_search", {"message": "I added an import form to the accounts page."}, ""))
    assert labels(searched, NodeType.TASK, Status.COMPLETED) == []


def test_a_question_that_a_tool_carries_is_answered_by_the_next_message() -> None:
    question = {"question": "Should the import run at night or at once?"}
    graph = agent("u: let people import statements", ("ask_followup_question", question, ""), "u: at night")
    assert any("at night" in label for label in labels(graph, NodeType.DECISION, Status.ACTIVE))


def test_a_final_report_stands_for_the_steps_and_the_order_that_it_tells() -> None:
    edit = ("Edit", {"file_path": "src/card.css", "old_string": "a", "new_string": "b"}, "The file was updated.")
    tested = ("Bash", {"command": "npm run build"}, "built in 2 s")
    steps: list[Step] = [
        "u: add rounded corners to the member card",
        edit,
        "a: Updated the card's style sheet.",
        tested,
    ]
    graph = agent(*steps, "a: Done. I added rounded corners of 8 px to the member card and its photo.")
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == [
        "added rounded corners of 8 px to the member card and its photo"
    ]


def test_a_line_that_leads_in_to_what_is_shown_is_no_work_done() -> None:
    edit = ("Edit", {"file_path": "src/card.css", "old_string": "a", "new_string": "b"}, "The file was updated.")
    graph = agent("u: make the warning shorter", edit, "a: The warning now reads:\n```\nDisk is full\n```")
    assert "The warning now reads" not in labels(graph, NodeType.TASK, Status.COMPLETED)


def files(graph: SessionGraph) -> list[str]:
    return labels(graph, NodeType.FILE, Status.ACTIVE)


OPENED: Final = "u: make the cards load faster"
NAMED: Final = "u: the old page had menu.json for that. The code is in src/cards.ts and photos.ts"


def test_a_bare_name_that_no_tool_ever_touches_is_no_file_of_the_session() -> None:
    read = ("Read", {"file_path": "src/photos.ts"}, "export {}")
    edit = ("Edit", {"file_path": "src/cards.ts", "old_string": "a", "new_string": "b"}, "The file was updated.")
    graph = agent(OPENED, "a: Which page?", NAMED, read, edit, "a: Cards are cached now.")
    assert sorted(files(graph)) == ["src/cards.ts", "src/photos.ts"]
    assert "menu.json" in files(agent(OPENED, "a: Which page?", NAMED, "a: Cards should be cached."))
    touched = ("Read", {"file_path": "menu.json"}, "{}")
    later = agent(OPENED, "a: Which page?", NAMED, edit, "a: Cards are cached now.", "u: and the menu too", touched)
    assert "menu.json" in files(later)


def test_placeholders_and_arguments_of_pasted_code_name_no_files() -> None:
    pasted = 'u: I ran pack(["boxes", str(root / "boxes/small.json"), load("lids.yaml")]) and looked at <Name>View.cs'
    assert files(agent(OPENED, "a: How?", pasted)) == []
    plain = "u: I looked at `boxes/small.json` (and lids.yaml) and at NameView.cs"
    assert files(agent(OPENED, "a: How?", plain)) == ["boxes/small.json", "lids.yaml", "NameView.cs"]


COMMIT = Message(
    Role.ASSISTANT,
    "I'll commit and push.",
    tool_calls=(ToolCall("call-1", "Bash", json.dumps({"command": "git commit -m 'Sort the bank import'"})),),
)


@pytest.mark.parametrize(
    ("report", "status"),
    [
        ("The change has been committed and pushed.", Status.COMPLETED),
        ("Error: the commit hook rejected the change.", Status.IN_PROGRESS),
    ],
)
def test_a_step_whose_result_nobody_recorded_ends_with_the_report(report: str, status: Status) -> None:
    graph = judged([Message(Role.USER, "commit and push"), COMMIT, Message(Role.ASSISTANT, report)])
    assert labels(graph, NodeType.TASK, status) == ["commit: Sort the bank import"]


@pytest.mark.parametrize(
    ("call", "open_after"),
    [
        (("Bash", {"command": "listing -Z src"}, "Exit code 2\nerror: unexpected argument '-Z' found"), False),
        (
            ("Edit", {"file_path": "a.py"}, "<tool_use_error>String to replace not found in file.</tool_use_error>"),
            False,
        ),
        (("Bash", {"command": "make dist"}, "Exit code 2\nmake: *** [Makefile:9: dist] Error 1"), True),
    ],
)
def test_a_call_that_was_wrong_in_itself_is_worked_around_when_the_work_ends(call: Step, open_after: bool) -> None:
    asked = "u: let people import their bank statements"
    meanwhile = agent(asked, call)
    assert len(labels(meanwhile, NodeType.ERROR, Status.ACTIVE)) == 1
    at_the_end = agent(asked, call, "a: I added the import form to the accounts page.")
    assert len(labels(at_the_end, NodeType.ERROR, Status.ACTIVE)) == open_after
