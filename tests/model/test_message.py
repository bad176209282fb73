"""One digest for every spelling in which a client sends a message back, and another one for another message."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest


def _called(arguments: str) -> Message:
    return Message(Role.ASSISTANT, tool_calls=(ToolCall("c1", "scale", arguments),))


@pytest.mark.parametrize(
    ("sent", "again"),
    [
        ('{"by": 1.0, "to": 1e2}', '{"by":1,"to":100}'),
        ('{"id": 12345678901234567890}', '{"id":12345678901234567000}'),
        ('{"at": [-0.0, 1E400]}', '{"at": [0, 1e400]}'),
        ('{"b": "\\u00e9", "a": null}', '{"a":null,"b":"é"}'),
        ("", "{}"),
    ],
)
def test_arguments_that_a_client_parsed_and_wrote_anew_are_the_same(sent: str, again: str) -> None:
    assert digest(_called(sent)) == digest(_called(again))


@pytest.mark.parametrize("between", ["", " ", "\n", "\n\n", "\r\n"])
def test_a_text_is_the_same_however_a_client_joins_its_blocks(between: str) -> None:
    assert digest(Message(Role.ASSISTANT, f" one{between}two\n")) == digest(Message(Role.ASSISTANT, "one\ntwo"))
    results = [Message(Role.TOOL, tool_results=(ToolResult("c1", text),)) for text in (f"one{between}two", "onetwo")]
    assert digest(results[0]) == digest(results[1])


def test_a_refusal_that_comes_back_as_text_is_the_same() -> None:
    assert digest(Message(Role.ASSISTANT, refusal="No.")) == digest(Message(Role.ASSISTANT, "No."))


def test_other_messages_have_other_digests() -> None:
    others = [
        Message(Role.ASSISTANT, "1.0"),
        Message(Role.ASSISTANT, "1"),
        Message(Role.USER, "1"),
        Message(Role.USER, "1", attachments=("image",)),
        Message(Role.TOOL, tool_results=(ToolResult("c1", "1"),)),
        Message(Role.TOOL, tool_results=(ToolResult("c2", "1"),)),
        _called('{"by": 1}'),
        _called('{"by": "1"}'),
        _called('{"by": true}'),
        _called('{"by": 2}'),
        _called("{by"),
    ]
    assert len({digest(message) for message in others}) == len(others)
