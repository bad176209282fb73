"""Where the texts of messages stand, and texts put in their places."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.wire.passages import Spot, spot_edits, spots
from tokenmizer_mw.wire.spans import splice

LONG = "what the tool returned, in a text of more than forty characters"

FOUND: list[tuple[str, Any, list[tuple[tuple[str | int, ...], str, bool, str]]]] = [
    ("tool", {"role": "tool", "tool_call_id": "c", "content": "a"}, [((0, "content"), "a", True, "c")]),
    (
        "tool in parts",
        {
            "role": "tool",
            "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}],
        },
        [((0, "content", 0, "text"), "a", True, ""), ((0, "content", 2, "text"), "b", True, "")],
    ),
    ("assistant", {"role": "assistant", "content": "a"}, [((0, "content"), "a", False, "")]),
    ("user", {"role": "user", "content": "a"}, []),
    ("user in parts", {"role": "user", "content": [{"type": "text", "text": "a"}]}, []),
    ("system", {"role": "system", "content": "a"}, []),
    (
        "anthropic",
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "a"}]},
                {"type": "text", "text": "what a person says"},
            ],
        },
        [((0, "content", 0, "content", 0, "text"), "a", True, "c")],
    ),
    (
        "thinking and calls",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "a", "signature": "s"},
                {"type": "text", "text": "b"},
                {"type": "text", "text": "c", "citations": [{}]},
                {"type": "tool_use", "input": {"text": "d"}},
            ],
        },
        [((0, "content", 1, "text"), "b", False, "")],
    ),
    (
        "responses",
        {"type": "function_call_output", "call_id": "c", "output": "a"},
        [((0, "output"), "a", True, "c")],
    ),
    (
        "shell",
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "a", "stderr": "b", "outcome": {}}]},
        [((0, "output", 0, "stdout"), "a", True, "c"), ((0, "output", 0, "stderr"), "b", True, "c")],
    ),
    (
        "gemini",
        {"role": "user", "parts": [{"text": "x"}, {"functionResponse": {"id": "c", "response": {"output": LONG}}}]},
        [((0, "parts", 1, "functionResponse", "response", "output"), LONG, True, "c")],
    ),
    (
        "gemini's own",
        {
            "role": "model",
            "parts": [{"text": "a"}, {"text": "b", "thought": True}, {"text": "c", "thoughtSignature": "s"}],
        },
        [((0, "parts", 0, "text"), "a", False, "")],
    ),
    (
        "cohere",
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "document", "document": {"data": {"a": LONG}}}]},
        [((0, "content", 0, "document", "data", "a"), LONG, True, "c")],
    ),
    (
        "several elements",
        ({"role": "assistant", "content": "a"}, {"type": "reasoning"}, {"role": "assistant", "content": "b"}),
        [((0, "content"), "a", False, ""), ((2, "content"), "b", False, "")],
    ),
    ("nothing", {"role": "tool", "content": None}, []),
    ("no message", ["role", "tool"], []),
    ("parts of wrong types", {"role": "tool", "content": [{"type": ["text"], "text": "a"}, 1, None]}, []),
    ("wrong types", {"role": ["tool"], "parts": 7, "content": {"a": 1}, "type": None}, []),
]


@pytest.mark.parametrize(("raw", "found"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND])
def test_texts_are_found(raw: Any, found: list[Any]) -> None:
    assert [(spot.steps, spot.text, spot.result, spot.call_id) for spot in spots(raw)] == found


def test_output_within_json_is_the_passage() -> None:
    text = '{"output": "a\\nb", "metadata": {"exit_code": 1.50}}'
    (spot,) = spots({"role": "tool", "content": text})
    assert spot.text == "a\nb"
    assert spot.spell("c") == '{"output": "c", "metadata": {"exit_code": 1.50}}'


@pytest.mark.parametrize(
    "text", ['{"output": 1}', '{"output": "a", "output": "b"}', '{"output": "a"', '{"a": "output"}']
)
def test_other_json_is_the_passage_itself(text: str) -> None:
    (spot,) = spots({"role": "tool", "content": text})
    assert spot == Spot((0, "content"), text, True)


@given(st.text(min_size=1), st.text(), st.booleans(), st.sampled_from([None, 1, 3]))
def test_text_is_put_in_its_place_and_nothing_else_changes(old: str, new: str, plain: bool, indent: int | None) -> None:
    message = {"a": [1.50, {"content": old}], "role": "tool", "content": [{"type": "text", "text": old}, old], "z": old}
    spelled = json.dumps(message, ensure_ascii=not plain, indent=indent)
    body = f'{{"messages": [{spelled}, 1]}}'
    start = body.index(spelled)
    edits = spot_edits(body, (start, start + len(spelled)), {(0, "content", 0, "text"): new})
    changed = splice(body, edits)
    assert len(changed) <= len(body)
    expected = json.loads(spelled)
    if edits:
        expected["content"][0]["text"] = new
        assert changed[:start] == body[:start]
    assert json.loads(changed)["messages"][0] == expected
    assert len(json.dumps(new)) >= len(json.dumps(old)) or edits or plain


def test_member_that_stands_there_twice_is_left_alone() -> None:
    body = '{"role": "tool", "content": "one of them", "content": "the other one"}'
    assert spot_edits(body, (0, len(body)), {(0, "content"): "x"}) == []


def test_half_a_character_is_escaped() -> None:
    body = '{"role": "tool", "content": "\\ud800 and a long text behind it, ü"}'
    (edit,) = spot_edits(body, (0, len(body)), {(0, "content"): "\ud800 ü"})
    assert edit[2].encode()
    assert json.loads(splice(body, [edit]))["content"] == "\ud800 ü"
