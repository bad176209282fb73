"""Work that somebody reports in few words, told with what it answers."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.outcomes import report_in
from tokenmizer_mw.extract.rules.outcomes import OUTCOMES, Outcome
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import NodeType, Status

from .talks import judged, labels, talk


@pytest.mark.parametrize("row", OUTCOMES, ids=lambda row: row.example)
def test_row_reads_its_example(row: Outcome) -> None:
    assert report_in(row.example, more=row.adds) == row.example


@pytest.mark.parametrize("row", OUTCOMES, ids=lambda row: row.counter)
def test_row_leaves_its_counter_example(row: Outcome) -> None:
    assert report_in(row.counter, more=row.adds) == ""


@pytest.mark.parametrize(
    ("sentence", "report"),
    [
        ("done, starts in 3 s instead of 40", "done, starts in 3 s instead of 40"),
        ("nice, the index is in", "the index is in"),
        ("moved, but the old folder still shows up", "moved"),
        ("did that, key = abc, and the page loads", "did that, and the page loads"),
    ],
)
def test_a_report_ends_where_something_is_left_open(sentence: str, report: str) -> None:
    assert report_in(sentence) == report


@pytest.mark.parametrize(
    "sentence",
    [
        "is the index in?",
        "the index should be in by Friday",
        "once the index is in we can go on",
        "the import isn't done",
        "Decided: the index is built at night",
        "what is built in the pipeline",
        "the export never works",
        "yep, edited by hand",
    ],
)
def test_what_is_open_or_asked_is_no_report(sentence: str) -> None:
    assert report_in(sentence) == ""


ADVICE = "a: That comes from one folder for all. Split the folders:\n- `shared/` for all\n- `local/` for the machine"


def done(*lines: str) -> list[str]:
    return labels(talk(*lines), NodeType.TASK, Status.COMPLETED)


def test_a_bare_report_is_told_with_what_was_advised() -> None:
    assert done("u: my settings follow me around", ADVICE, "u: moved.") == ["Split the folders: moved"]


def test_a_report_is_told_with_the_choice_that_it_carries_out() -> None:
    found = done(
        "u: which queue for the mails, RabbitMQ or Redis?",
        "a: Redis is there already, RabbitMQ is one more server. Redis keeps it small.",
        "u: let's use Redis",
        "a: Then:\n```\nqueue = Redis()\n```",
        "u: done, sends 400 mails a minute",
    )
    assert found == ["Redis: done, sends 400 mails a minute"]


def test_reports_that_follow_one_another_are_one() -> None:
    found = done("u: the disk is full", "a: Prune the old images.", "u: pruned. disk is back at 40%. alarm gone too")
    assert found == ["pruned, disk is back at 40%, alarm gone too"]


def test_an_assistant_tells_first_what_its_tools_showed() -> None:
    call = ToolCall("1", "Bash", '{"command": "make test"}')
    graph = judged(
        [
            Message(Role.USER, "the suite is red since the new parser"),
            Message(Role.ASSISTANT, "", tool_calls=(call,)),
            Message(Role.TOOL, "ok", tool_results=(ToolResult("1", "ok"),)),
            Message(Role.ASSISTANT, "The suite takes 40 s instead of 300, all 88 pass."),
        ]
    )
    assert labels(graph, NodeType.TASK, Status.COMPLETED) == ["The suite takes 40 s instead of 300, all 88 pass"]


def test_what_an_assistant_describes_is_no_result() -> None:
    assert done("u: how do I speed it up?", "a: The suite runs in 40 s, the old one is slower.", "u: thanks") == []


def test_an_answer_to_a_question_is_no_report() -> None:
    assert done("u: login is slow", "a: Can you reach the server from your phone?", "u: from the phone it works.") == []


def test_a_bare_word_that_answers_nothing_is_dropped() -> None:
    assert done("u: hello", "a: Hello, nice to meet you.", "u: applied.") == []


def test_what_an_assistant_takes_back_is_not_done() -> None:
    before = ("u: the lock is held twice", "a: I moved the release into the guard. The double lock is fixed.")
    assert done(*before) != []
    assert done(*before, "u: sure?", "a: I have to take that back: the guard still blocks in two of nine runs.") == []


def test_what_a_user_takes_back_is_not_done() -> None:
    before = (
        "u: sessions must be revocable",
        "a: Delete the row:\n```\ndelete from sessions\n```",
        "u: tests pass, done here",
    )
    assert done(*before) != []
    assert done(*before, "a: What about open sockets?", "u: damn, so it isn't finished") == []


def test_a_text_that_only_bids_is_no_report() -> None:
    assert (
        done("u: which docs?", "a: Consider these:\n- a README\n- a guide", "u: Read the README if you have time") == []
    )


def test_a_commit_that_was_asked_for_ends_the_orders_beside_it() -> None:
    call = ToolCall("1", "Bash", '{"command": "git commit -qm \'guard: release early\'"}')
    found = judged(
        [
            Message(Role.USER, "Add a comment to the guard about the order, commit with a ref to AB-7."),
            Message(Role.ASSISTANT, "", tool_calls=(call,)),
            Message(Role.TOOL, "", tool_results=(ToolResult("1", "[main 1a2b3c4] guard: release early"),)),
        ]
    )
    assert labels(found, NodeType.TASK, Status.PENDING, Status.IN_PROGRESS) == []


def test_a_figure_behind_an_arrow_is_a_result() -> None:
    assert report_in("the page cache \u2192 40 ms at the median") == "the page cache \u2192 40 ms at the median"


def test_what_confirms_a_question_is_no_report() -> None:
    asked = "a: The staging file is older, you changed it by hand, didn't you? Run it again."
    assert done("u: staging answers 500", asked, "u: yep, edited it by hand") == []
