from __future__ import annotations

import pytest

from tokenmizer_mw.cli.demo.app import SeenRequest, compare_messages, judge_answer
from tokenmizer_mw.cli.demo.conversation import CALLS_MAX, Conversation, summary, tool_results
from tokenmizer_mw.cli.demo.script import ChatMessage, Probe, load_script


def chat(*texts: str) -> list[ChatMessage]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.mark.parametrize(
    ("received", "dropped", "block", "kept"),
    [
        (chat("s", "a", "b", "c", "d"), 0, "", 5),
        (chat("s", "BLOCK", "c", "d"), 2, "BLOCK", 3),
        (chat("s", "BLOCK", "d"), 3, "BLOCK", 2),
        (chat("s", "BLOCK", "c", "d", "RECALL"), 4, "BLOCK\nc\nd\nRECALL", 1),
        (chat("BLOCK"), 5, "BLOCK", 0),
        (chat("s", "d"), 3, "", 2),
    ],
)
def test_both_sides_of_the_middleware(received: list[ChatMessage], dropped: int, block: str, kept: int) -> None:
    observed = compare_messages(chat("s", "a", "b", "c", "d"), received, 10, 5)
    assert (observed.dropped, observed.block, len(observed.kept)) == (dropped, block, kept)


PROBE = Probe("the port", ("port",), r"\d+", "", "8471")


@pytest.mark.parametrize(
    ("block", "kept", "answer", "right", "source"),
    [
        ("- port 8471", chat("hello", "which port?"), "it is 8471", True, "resume block"),
        ("", chat("the port is 8471", "which port?"), "it is 8471", True, "recent messages"),
        ("- port 8471", chat("port=8471", "which port?"), "it is 8471", True, "both"),
        ("- port 80", chat("hello", "which port?"), "it is 80", False, "nothing"),
        ("- port 8471", chat("report 8471 times", "which port?"), "no idea", False, "resume block"),
    ],
)
def test_answers_are_judged_against_what_reached_the_model(
    block: str, kept: list[ChatMessage], answer: str, right: bool, source: str
) -> None:
    answered = judge_answer(22, PROBE, answer, SeenRequest(10, 5, 2, block, tuple(kept)))
    assert (answered.right, answered.source) == (right, source)


SCRIPT = load_script()
TURN = SCRIPT.turns[6]


def test_scripted_calls_get_their_scripted_results() -> None:
    calls = [{"id": TURN.steps[1].id, "function": {"name": "run_command", "arguments": "{}"}}]
    [result] = tool_results(TURN, calls, [])
    assert result == {"role": "tool", "tool_call_id": TURN.steps[1].id, "content": TURN.steps[1].result}


def test_calls_that_a_live_model_makes_get_the_next_result_that_is_left() -> None:
    calls = [{"id": f"live-{n}"} for n in range(len(TURN.steps) + 1)]
    results = [message["content"] for message in tool_results(TURN, calls, chat("go on"))]
    assert results == [*(step.result for step in TURN.steps), "done"]


def test_a_live_model_that_never_stops_calling_is_told_to_answer() -> None:
    conversation = Conversation("m", SCRIPT)
    conversation.messages += chat("go on")
    assert "tool_choice" not in conversation.request()
    conversation.messages += [{"role": "tool", "tool_call_id": str(n), "content": ""} for n in range(CALLS_MAX)]
    assert conversation.request()["tool_choice"] == "none"


@pytest.mark.parametrize(
    ("arguments", "result", "line"),
    [
        ('{"path": "a.py", "content": "x"}', "wrote a.py (1 lines)", "f a.py -> wrote a.py (1 lines)"),
        ('{"command": "pytest"}', "..F\n1 failed in 0.1s\nexit code: 1", "f pytest -> 1 failed in 0.1s"),
        ("{broken", "", "f"),
        ("[1]", "ok", "f -> ok"),
    ],
)
def test_a_call_in_one_line(arguments: str, result: str, line: str) -> None:
    assert summary({"function": {"name": "f", "arguments": arguments}}, result) == line
