"""Transcripts as hosts write them, with lines nobody has seen yet and ends that are missing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.model.message import Role
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.agent_transcripts import LINE_MAX, ShownContext, find_shown_context, messages_in
from tokenmizer_mw.safety.fence import frame, nonce_for

SECRET = b"of this installation"
BLOCK = "Goal: a shop".join(frame(nonce_for(SECRET, SessionKey("local", "a"), "checkpoint-1")))


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def assistant(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}, **more}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def handed_out(uuid: str = "b1") -> dict[str, Any]:
    return {"type": "attachment", "uuid": uuid, "attachment": {"type": "hook_additional_context", "content": [BLOCK]}}


def cut(*kept: str) -> dict[str, Any]:
    kept_ = {"preservedMessages": {"uuids": list(kept)}}
    return {"type": "system", "subtype": "compact_boundary", "compactMetadata": kept_ if kept else {}}


def lines(*values: object) -> bytes:
    return b"".join(value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" for value in values)


def told(*values: object) -> list[tuple[Role, str]]:
    return [(one.message.role, one.message.text) for one in messages_in(lines(*values))[0]]


def test_messages_of_claude_code() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "2 passed"}
    raw = lines(user("Run the tests."), assistant(said("I do.")), assistant(call), user([result]))
    found = [one.message for one in messages_in(raw)[0]]
    assert [message.role for message in found] == [Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.TOOL]
    assert found[2].tool_calls[0].name == "Bash"
    assert found[3].tool_results[0].text == "2 passed"


def test_what_claude_code_says_in_the_models_place_is_left_out() -> None:
    absent = {"role": "assistant", "model": "<synthetic>", "content": [said("No response requested.")]}
    raw = (user("Go on."), {"type": "assistant", "message": absent}, assistant(said("I do.")))
    assert told(*raw) == [(Role.USER, "Go on."), (Role.ASSISTANT, "I do.")]


def test_messages_of_codex() -> None:
    def item(**inner: Any) -> dict[str, Any]:
        return {"timestamp": "2026-11-21T10:00:00Z", "type": "response_item", "payload": inner}

    raw = lines(
        {"type": "session_meta", "payload": {"id": "x"}},
        item(type="message", role="developer", content=[{"type": "input_text", "text": "Be kind."}]),
        item(type="message", role="user", content=[{"type": "input_text", "text": "Run the tests."}]),
        item(type="reasoning", summary=[], encrypted_content="x"),
        item(type="function_call", name="shell", arguments='{"command": ["pytest"]}', call_id="c1"),
        item(type="function_call_output", call_id="c1", output="2 passed"),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "They pass."}]),
        {"type": "event_msg", "payload": {"type": "token_count"}},
    )
    found = [one.message for one in messages_in(raw)[0]]
    assert [message.role for message in found] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert found[1].tool_calls[0].name == "shell"
    assert found[3].text == "They pass."


def test_what_is_no_message_is_passed_over() -> None:
    assert told(
        {"type": "queue-operation", "operation": "enqueue"},
        {"type": "a kind that comes next year", "message": {"role": "user", "content": "no"}},
        user("of a subagent", isSidechain=True),
        user("a caveat", isMeta=True),
        user("the host's summary", isCompactSummary=True),
        user("<command-name>/compact</command-name>"),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        assistant({"type": "thinking", "thinking": "hm", "signature": "x"}),
        {"type": "user", "message": "no object"},
        {"type": "user"},
        user({"an": "object"}),
        user([{"type": "a part of next year"}, said("but some words")]),
        b"no JSON at all\n",
        b'{"type": "user", "message": {"role": "user", "content": "cut in th\n',
        b"\xff\xfe\x00\n",
        b"[1, 2]\n",
        b"[" * 100_000 + b"\n",
        b'{"type": "user", "message": "' + b"x" * LINE_MAX + b'"}\n',
        user("the last one"),
    ) == [(Role.USER, "but some words"), (Role.USER, "the last one")]


def test_a_line_that_is_not_whole_is_read_when_it_is() -> None:
    raw = lines(user("one"), user("two"))
    for end in range(len(raw)):
        first, place = messages_in(raw[:end])
        rest, _ = messages_in(raw[place:], place)
        assert [one.message.text for one in [*first, *rest]] == ["one", "two"]
    places = [one.place for one in messages_in(raw)[0]]
    assert messages_in(raw[places[1] :], places[1])[0][0].place == places[1]


@given(st.binary(max_size=400), st.integers(0, 10))
def test_any_bytes_can_be_read(noise: bytes, twice: int) -> None:
    raw = lines(user("before")) + noise * twice + b"\n" + lines(user("behind"))
    found = [one.message.text for one in messages_in(raw)[0]]
    assert found[0] == "before"
    assert found[-1] == "behind"
    find_shown_context(raw, SECRET)


def test_a_block_is_in_the_context_until_a_cut() -> None:
    assert find_shown_context(lines(user("hello")), SECRET) == ShownContext()
    assert find_shown_context(lines(user("hello"), handed_out()), SECRET) == ShownContext(present=True, last=True)
    assert find_shown_context(lines(handed_out(), assistant(said("hi"))), SECRET) == ShownContext(present=True)
    assert find_shown_context(lines(handed_out(), assistant(said("hi")), cut()), SECRET) == ShownContext()
    assert find_shown_context(lines(handed_out(), cut("other"), user("go on")), SECRET) == ShownContext()
    assert find_shown_context(lines(handed_out(), cut("b1")), SECRET) == ShownContext(present=True, last=True)
    assert find_shown_context(lines(handed_out(), cut(), handed_out("b2")), SECRET) == ShownContext(
        present=True, last=True
    )


def test_blocks_of_others_do_not_count() -> None:
    assert find_shown_context(lines(handed_out()), b"of another installation") == ShownContext()


def test_what_was_handed_out_and_is_not_written_down_yet_counts() -> None:
    raw = lines(user("hello"), assistant(said("hi")))
    assert find_shown_context(raw, SECRET, given=len(raw)) == ShownContext(last=True)
    assert find_shown_context(raw, SECRET, given=0) == ShownContext()


def test_strange_cuts_are_cuts() -> None:
    for metadata in (None, 3, {"preservedMessages": 3}, {"preservedMessages": {"uuids": 3}}):
        value = {"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata}
        assert find_shown_context(lines(handed_out(), value), SECRET) == ShownContext()
