"""Old tool results and thinking are cleared for providers that do not know how, and the answer tells of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.end_to_end.sdks.table import SDK_WARNINGS
from tests.proxy.serving import Served
from tests.upstream.server import Upstream
from tokenmizer_mw.context.compaction.clearing import CLEARED, clear_thinking, clear_tool_uses
from tokenmizer_mw.context.compaction.request import ClearThinking, ClearToolUses

from .clients import Chat, sent

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

TOOL: Any = {"name": "read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}


def used(count: int, name: str = "read", size: int = 40) -> list[Any]:
    """A chat in which a tool was called so many times."""
    messages: list[Any] = [{"role": "user", "content": "Read them all."}]
    for number in range(count):
        call = {"type": "tool_use", "id": f"call_{number}", "name": name, "input": {"path": f"file-{number}"}}
        text = f"row {number} " * size
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": text}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def thought(turns: int) -> list[Any]:
    messages: list[Any] = []
    for number in range(turns):
        thinking = {"type": "thinking", "thinking": f"Thought {number}", "signature": "c2lnbmVk"}
        messages.append({"role": "user", "content": f"Question {number}"})
        messages.append({"role": "assistant", "content": [thinking, {"type": "text", "text": f"Answer {number}"}]})
    return messages


def cleared_results(messages: list[Any]) -> list[int]:
    results = [block for message in messages for block in message["content"] if isinstance(block, dict)]
    return [
        place
        for place, block in enumerate(b for b in results if b["type"] == "tool_result")
        if block["content"] == CLEARED
    ]


@pytest.mark.parametrize(
    ("edit", "cleared"),
    [
        (ClearToolUses(tokens=100), [0, 1, 2]),
        (ClearToolUses(tokens=100, keep=5), [0]),
        (ClearToolUses(tokens=100, keep=0), [0, 1, 2, 3, 4, 5]),
        (ClearToolUses(tokens=100_000), []),
        (ClearToolUses(tokens=None, uses=5), [0, 1, 2]),
        (ClearToolUses(tokens=None, uses=6), []),
        (ClearToolUses(tokens=100, exclude=frozenset({"read"})), []),
        (ClearToolUses(tokens=100, least=100_000), []),
    ],
)
def test_which_results_are_cleared(edit: ClearToolUses, cleared: list[int]) -> None:
    messages = used(6)
    before = json.dumps(messages)
    found = clear_tool_uses(messages, edit, len, 5_000)
    assert cleared_results(found.messages) == cleared
    assert (found.edit is None) == (not cleared)
    if found.edit is not None:
        assert found.edit["cleared_tool_uses"] == len(cleared)
        assert found.edit["cleared_input_tokens"] > 0
    assert json.dumps(messages) == before


def test_what_was_cleared_is_not_cleared_again() -> None:
    once = clear_tool_uses(used(6), ClearToolUses(tokens=100), len, 5_000)
    again = clear_tool_uses(once.messages, ClearToolUses(tokens=100), len, 5_000)
    assert again.edit is None
    assert again.messages == once.messages


def test_inputs_of_named_tools_are_cleared() -> None:
    found = clear_tool_uses(used(4), ClearToolUses(tokens=1, inputs=frozenset({"read"})), len, 5_000)
    assert [message["content"][0]["input"] for message in found.messages[1::2]] == [
        {},
        *({"path": f"file-{number}"} for number in (1, 2, 3)),
    ]


@pytest.mark.parametrize(("keep", "left"), [(0, []), (1, ["Thought 2"]), (2, ["Thought 1", "Thought 2"]), (9, None)])
def test_which_thinking_is_cleared(keep: int, left: list[str] | None) -> None:
    found = clear_thinking(thought(3), ClearThinking(keep), len)
    kept = [
        block["thinking"] for message in found.messages[1::2] for block in message["content"] if "thinking" in block
    ]
    assert kept == (["Thought 0", "Thought 1", "Thought 2"] if left is None else left)
    assert (found.edit is None) == (left is None)


@pytest.mark.parametrize("odd", [None, 5, [], {}, [[]]])
def test_blocks_of_no_kind_are_left_alone(odd: Any) -> None:
    messages = [*thought(1), {"role": "assistant", "content": [{"type": odd}]}, {"role": odd, "content": [odd]}]
    assert clear_thinking(messages, ClearThinking(5), len).messages == messages
    assert clear_tool_uses(messages, ClearToolUses(None, 1, 0), len, 9).messages == messages


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", ["openai", "mistral", "cohere", "ollama", "anthropic"])
def test_through_the_proxy(ours: Served, upstream: Upstream, provider: str, stream: bool) -> None:
    name = f"clears-{provider}-{stream}"
    edits: Any = [{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 4}}]
    options: Any = {"tools": [TOOL], "betas": ["context-management-2025-06-27"]}
    with Chat(ours, name, provider, stream=stream, context_management={"edits": edits}, **options) as chat:
        chat.messages = used(5)
        answer = chat.ask()
        assert [edit.type for edit in answer.context_management.applied_edits] == ["clear_tool_uses_20250919"]
        assert answer.context_management.applied_edits[0].cleared_tool_uses == 2
        assert "row 1 " not in sent(upstream)
        assert "row 2 " in sent(upstream)
        chat.say("What was in the first file?")
    words = [text for role, text in ours.said(name) if role == "user"]
    assert words == ["Read them all.", "What was in the first file?"]


def test_thinking_through_the_proxy(ours: Served, upstream: Upstream) -> None:
    edits: Any = [{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}}]
    with Chat(ours, "clears-thinking", "anthropic", context_management={"edits": edits}) as chat:
        chat.messages = [*thought(3), {"role": "user", "content": "And now?"}]
        answer = chat.ask()
    assert answer.context_management.applied_edits[0].cleared_thinking_turns == 2
    assert "Thought 1" not in sent(upstream)
    assert "Thought 2" in sent(upstream)


def test_nothing_due_changes_nothing_and_tells_nothing(ours: Served, upstream: Upstream) -> None:
    edits: Any = [{"type": "clear_tool_uses_20250919"}]
    with Chat(ours, "clears-nothing", "openai", context_management={"edits": edits}, tools=[TOOL]) as chat:
        chat.messages = used(5)
        assert chat.ask().context_management is None
    assert "row 0 " in sent(upstream)
