"""Notes in place of text that was left out say nothing about the work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.text.cut_marks import CUT, find_cut_marks, replace_cut_marks
from tokenmizer_mw.model.node import NodeType

from .talks import talk

Growth = Callable[[Callable[[str], object], str, int], float]

MARKS = [
    "[... 532 characters cut ...]",
    "[… 1,240 lines omitted …]",
    "... [532 characters truncated] ...",
    "…12 tokens truncated…",
    "--- 300 lines cut ---",
    "532 characters cut",
    "line longer than 1,048,576 characters cut",
    "(truncated)",
    "<response clipped>",
    "[Output truncated: 532 lines]",
    "Output truncated to 30000 characters",
    "... 12 more lines ...",
    "… +12 lines (ctrl+o to expand)",
    "[... omitted 3 of 503 lines ...]",
    "[12 lines of this output are left out.]",
    "[... lines 3 to 90 of this output are left out (5321 characters); to see them, read that part of a.py ...]",
]
NO_MARKS = [
    "",
    "...",
    "the text is cut",
    "the last line is cut off",
    "5 skipped",
    "[5 skipped]",
    "3 rows deleted",
    "removed",
    "Error: 3 lines cut by the parser",
    "[ERROR] 3 lines cut",
    "KeyError: 'cut'",
    "[...] the importer was removed [...]",
    "... and the parser drops 12 more lines ...",
]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_replaced_wherever_it_stands(mark: str) -> None:
    assert replace_cut_marks(mark) == CUT
    assert replace_cut_marks(f"one\n  {mark}\ntwo") == f"one\n  {CUT}\ntwo"
    assert find_cut_marks(f"{mark}\n\nand\n{mark}") == [mark, mark]


@pytest.mark.parametrize("mark", [mark for mark in MARKS if mark[0] + mark[-1] in ("[]", "()", "<>", "……")])
def test_a_mark_with_a_frame_is_replaced_within_a_line(mark: str) -> None:
    assert replace_cut_marks(f"FAILED test_a - {mark}") == f"FAILED test_a - {CUT}"


@pytest.mark.parametrize("text", NO_MARKS)
def test_what_is_no_mark(text: str) -> None:
    assert replace_cut_marks(text) is text
    assert find_cut_marks(text) == []


@pytest.mark.parametrize("piece", ["[(<a", "...a", "…a", "some more [words] here\n"])
def test_long_texts_take_time_by_their_length(piece: str, growth: Growth) -> None:
    assert growth(lambda text: replace_cut_marks(f"{text} more"), piece, 60_000) < 3


def facts(output: str, *, is_error: bool) -> list[str]:
    """The labels of errors in a session with one command and this output."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    with SessionMemory.open("memory://") as memory:
        memory.record(
            "s",
            [
                {"role": "user", "content": "Build the shop."},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": output, "is_error": is_error},
            ],
        )
        return [node.label for node in memory.graph("s").nodes() if node.type is NodeType.ERROR]


TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n'


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_in_the_output_of_a_tool_is_no_error(mark: str) -> None:
    for output in (mark, f"compiling\n{mark}\ndone", f"{TRACEBACK}{mark}\nnext step"):
        assert facts(output, is_error=False) == []
    for output in (mark, f"Exit code 2\n{mark}", f"{mark}\nexit code: 2"):
        assert facts(output, is_error=True) == ["make failed"]
    assert facts(f"Exit code 2\n{mark}\ncc: no memory left\n{mark}", is_error=True) == [
        "make failed: cc: no memory left"
    ]
    assert facts(f"{TRACEBACK}{mark}\nValueError: no price", is_error=True) == ["ValueError: no price"]


@pytest.mark.parametrize("mark", [mark for mark in MARKS if " more " not in mark and "+" not in mark])
@pytest.mark.parametrize(
    "shape", ["{}", "The tests fail:\n\n{}", f"It fails:\n```\n{TRACEBACK}{{}}\n```", f"I get this:\n{TRACEBACK}{{}}\n"]
)
def test_a_mark_in_a_message_is_no_fact(mark: str, shape: str) -> None:
    graph = talk("u: Build the shop.", "a: Here.", f"u: {shape.format(mark)}")
    words = ("cut", "omitted", "truncated", "clipped", "left out", "lines")
    assert [node.label for node in graph.nodes() if any(word in node.label for word in words)] == []
