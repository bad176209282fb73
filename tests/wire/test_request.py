"""What a ``Shape`` may tell besides: messages of several elements, streams by default, a model from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pytest

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.request import Shape, cut_edits, read_request
from tokenmizer_mw.wire.spans import splice

SPEAKERS = {"u": Role.USER, "a": Role.ASSISTANT}


def _role_of(raw: Any) -> Role | None:
    return SPEAKERS.get((raw[0] if isinstance(raw, tuple) else raw)[0])


def _roles(sent: Sequence[Any]) -> list[Role]:
    return [_role_of(raw) or Role.SYSTEM for raw in sent]


def _read(raw: object, number: int) -> Message:
    each = raw if isinstance(raw, tuple) else (raw,)
    return Message(_role_of(raw) or Role.SYSTEM, f"{number}:" + "".join(said[1:] for said in each))


def _group(sent: Sequence[Any]) -> list[int]:
    sizes = [len(list(said)) for _, said in groupby(sent, lambda raw: raw[0])]
    return sizes if len(sizes) < len(sent) else []


GROUPED = Shape("grouped", _role_of, _roles, _read, group=_group)
STREAMING = Shape("streaming", _role_of, _roles, _read, streams=True)


def test_messages_that_take_several_elements() -> None:
    sent = '{"messages":["uHi", "aHel", "alo" ,"a!","uAnd?"]}'
    request = read_request(GROUPED, sent.encode())
    assert [message.text for message in request.messages] == ["1:Hi", "2:Hello!", "3:And?"]
    assert [sent[start:end] for start, end in request.spans] == ['"uHi"', '"aHel", "alo" ,"a!"', '"uAnd?"']
    assert request.sizes == (1, 3, 1)
    assert splice(sent, cut_edits(request, 2, '"uB"')) == '{"messages":["uB","uAnd?"]}'


def test_one_element_each_needs_no_sizes() -> None:
    assert read_request(GROUPED, b'{"messages":["uHi","aHello"]}').sizes == ()
    assert read_request(GROUPED, b'{"messages":[]}').sizes == ()


def test_what_is_known_does_not_keep_messages_apart() -> None:
    known = KnownRequests(1_000_000)
    history = [{"0": speaker, "1": "x" * 900} for speaker in "uauaua"]
    shape = Shape("objects", lambda raw: SPEAKERS[_first(raw)["0"]], _object_roles, _read_object, group=_object_group)
    for more in ([], [{"0": "u"}], [{"0": "a"}], [{"0": "a"}, {"0": "u"}], [{"0": "u"}, {"0": "a"}, {"0": "a"}]):
        body = json.dumps({"messages": history + more}).encode()
        told, alone = read_request(shape, body, known), read_request(shape, body)
        assert (told, list(told.messages), told.spans) == (alone, list(alone.messages), alone.spans)


def _first(raw: Any) -> Any:
    return raw[0] if isinstance(raw, tuple) else raw


def _object_roles(sent: Sequence[Any]) -> list[Role]:
    return [SPEAKERS[_first(raw)["0"]] for raw in sent]


def _object_group(sent: Sequence[Any]) -> list[int]:
    return _group([raw["0"] for raw in sent])


def _read_object(raw: object, number: int) -> Message:
    return Message(SPEAKERS[_first(raw)["0"]], f"{len(raw) if isinstance(raw, tuple) else 1}")


@pytest.mark.parametrize(
    ("fields", "streamed"),
    [({}, True), ({"stream": None}, True), ({"stream": 0}, True), ({"stream": True}, True), ({"stream": False}, False)],
)
def test_a_dialect_that_streams_unless_told_not_to(fields: dict[str, object], streamed: bool) -> None:
    body = json.dumps({"messages": ["uHi"], **fields}).encode()
    assert read_request(STREAMING, body).stream is streamed
    assert read_request(GROUPED, body).stream is (fields.get("stream") is True)


def test_the_model_and_the_stream_flag_may_come_from_elsewhere() -> None:
    request = read_request(GROUPED, b'{"messages":[],"model":"m","stream":true}', model="other", stream=False)
    assert (request.model, request.stream) == ("other", False)


def test_how_far_the_messages_are_bound_and_why_they_may_not_change() -> None:
    def bound(sent: Sequence[Any], fields: Mapping[str, Any]) -> int:
        return len(sent) if fields.get("model") == "m" else 0

    shape = Shape("bound", _role_of, _roles, _read, bound=bound, refuses=lambda sent: "u" * ("u" in sent))
    request = read_request(shape, b'{"messages":["uHi","aHo"],"model":"m"}')
    assert (request.bound, request.stand_down) == (2, "assistant_prefill")
    assert read_request(shape, b'{"messages":["u"],"model":"n"}').stand_down == "u"
    assert read_request(STREAMING, b'{"messages":["uHi"]}').bound == 0
