"""The recorded replies of every dialect say the same in words of the translation as to the memory's own reader, which
is written apart from it; whole and streamed, in any pieces."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.replay import chunkings, cut_at, replaced
from tokenmizer_mw.errors import ForeignReply
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.server.translate.chat import Fault, Finish, ModelReply, ModelToolCall, Text, Thought
from tokenmizer_mw.server.translate.table import PROVIDERS
from tokenmizer_mw.server.translate.translation import ProviderSide
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.request import Dialect

from .heard import Heard, events_of, heard, settled

GOLDEN: Final = Path(__file__).parents[2] / "wire" / "golden"
FOLDERS: Final = {
    "openai": GOLDEN,
    "anthropic": GOLDEN / "anthropic",
    "gemini": GOLDEN / "gemini",
    "cohere": GOLDEN / "cohere",
    "ollama": GOLDEN / "ollama",
}
SIDES: Final[dict[str, ProviderSide]] = {name: PROVIDERS[name].side() for name in FOLDERS}
WIRES: Final[dict[str, Dialect]] = {
    name: next(wire for wire in ROUTES.values() if wire.name == side.name) for name, side in SIDES.items()
}
NOT_ASKED_FOR: Final = {
    "openai/audio",
    "openai/legacy_function",
    "anthropic/compaction",
    "anthropic/mcp",
    "anthropic/pause",
    "anthropic/server",
    "gemini/code",
    "gemini/image",
}
"""Replies to requests that no translation makes: sounds, legacy functions, tools that the provider runs."""


def names(*suffixes: str) -> list[str]:
    found = [f"{name}/{path.name}" for name, folder in FOLDERS.items() for path in sorted(folder.iterdir())]
    return [name for name in found if name.endswith(suffixes) and name.rpartition(".")[0] not in NOT_ASKED_FOR]


STREAMS: Final = names(".sse", ".ndjson")
STREAMS.remove("cohere/lines.ndjson")  # another transport of the same, which is not asked for
BODIES: Final = [name for name in names(".json") if "_array" not in name]


def golden(name: str) -> tuple[ProviderSide, Dialect, bytes]:
    provider, _, file = name.partition("/")
    return SIDES[provider], WIRES[provider], (FOLDERS[provider] / file).read_bytes()


def joined(text: str) -> str:
    """Text without the line ends that a reader may put between its blocks."""
    return text.replace("\n", "")


def arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def same(name: str, told: Heard | ModelReply, reply: Reply) -> None:
    message = reply.message
    texts = "".join(part.text for part in told.parts if isinstance(part, Text))
    thoughts = "".join(part.text for part in told.parts if isinstance(part, Thought))
    if message is None:
        assert (texts, thoughts) == ("", "")
        return
    if name.startswith("cohere/"):  # what it says before its calls counts as a thought there, and is said here
        assert sorted(joined(texts + thoughts)) == sorted(joined(message.text + message.thinking))
    else:
        assert joined(texts) == joined(message.text + message.refusal)
        assert joined(thoughts) == joined(message.thinking)
    calls = [part for part in told.parts if isinstance(part, ModelToolCall)]
    known = [(call.name, arguments(call.arguments)) for call in message.tool_calls]
    assert [(call.name, arguments(call.arguments)) for call in calls] == known
    assert all(call.id for call in calls)
    assert all(made.id in ("", call.id) for made, call in zip(message.tool_calls, calls, strict=True))


def outcomes(told: Heard) -> set[Outcome]:
    """How the memory's reader may say that it ended."""
    if told.fault is not None:
        return {Outcome.ERROR}
    if told.ended is None or told.ended.finish is Finish.LENGTH:
        return {Outcome.TRUNCATED}
    return {Outcome.COMPLETE, Outcome.ERROR} if told.ended.finish is Finish.FILTERED else {Outcome.COMPLETE}


@pytest.mark.parametrize("name", STREAMS)
def test_stream_says_what_the_memory_reads(name: str) -> None:
    side, wire, data = golden(name)
    told, reply = heard(events_of(side.reader(), [data])), wire.collect(data, stream=True)
    same(name, told, reply)
    assert reply.outcome in outcomes(told)
    if told.ended is not None and told.ended.usage is not None:
        usage = told.ended.usage
        assert (usage.prompt, usage.completion) == tuple(
            reply.usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")
        )


@pytest.mark.parametrize("name", BODIES)
def test_whole_reply_says_what_the_memory_reads(name: str) -> None:
    side, wire, data = golden(name)
    reply = wire.collect(data, stream=False)
    try:
        answer = side.answer(json.loads(data))
    except (ForeignReply, ValueError):
        assert reply.outcome in (Outcome.ERROR, Outcome.TRUNCATED)
        return
    same(name, answer, reply)
    usage = answer.usage
    figures = tuple(reply.usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens"))
    assert (usage.prompt, usage.completion) == figures


@pytest.mark.parametrize("name", STREAMS)
def test_every_split_gives_the_same_events(name: str) -> None:
    side, _, data = golden(name)
    whole = events_of(side.reader(), [data])
    step = max(1, len(data) // 150)
    for place, pieces in enumerate(chunkings(data)):
        if place % step == 0 or place == len(data):
            assert events_of(side.reader(), pieces) == whole


@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 3_000), max_size=40))
def test_any_chunking_gives_the_same_events(name: str, places: list[int]) -> None:
    side, _, data = golden(name)
    assert events_of(side.reader(), cut_at(data, places)) == events_of(side.reader(), [data])


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_anywhere_does_not_end(name: str) -> None:
    """Nor is a cut an error, once anything has come; only what needs no more bytes ends."""
    side, wire, data = golden(name)
    whole = settled(events_of(side.reader(), [data]))
    step = max(1, len(data) // 200)
    for place in range(0, len(data), step):
        told = heard(events_of(side.reader(), [data[:place]]))
        assert told.fault is None or isinstance(whole[-1], Fault) or told.began is None
        if told.ended is not None:
            collected = wire.collect(data[:place], stream=True)
            assert collected.finish_reason or collected.outcome is Outcome.COMPLETE
            assert whole[-1].__class__ is told.ended.__class__


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**60) | st.floats() | st.sampled_from(["", "text", "\ud83e", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner),
    max_leaves=8,
)


@given(st.sampled_from(STREAMS), st.data())
def test_no_value_in_a_stream_raises(name: str, data: st.DataObject) -> None:
    side, _, raw = golden(name)
    lines = raw.decode("utf-8", "replace").split("\n")
    spoken = [place for place, line in enumerate(lines) if line.removeprefix("data: ").startswith("{")]
    if not spoken:
        return
    place = data.draw(st.sampled_from(spoken))
    mark = "data: " * lines[place].startswith("data: ")
    try:
        value = json.loads(lines[place].removeprefix("data: "))
    except ValueError:
        return
    lines[place] = mark + json.dumps(replaced(data.draw, value, JSON))
    events = events_of(side.reader(), ["\n".join(lines).encode("utf-8", "replace")])
    repr(events).encode("utf-8")


@given(st.sampled_from(BODIES), st.data())
def test_no_value_in_a_body_raises_anything_else(name: str, data: st.DataObject) -> None:
    side, _, raw = golden(name)
    try:
        value = json.loads(raw)
    except ValueError:
        return
    body = replaced(data.draw, value, JSON)
    if isinstance(body, dict):
        with contextlib.suppress(ForeignReply):
            repr(side.answer(body)).encode("utf-8")


@given(st.sampled_from(sorted(SIDES)), st.binary(max_size=300), st.integers(400, 599))
def test_no_bytes_raise(name: str, data: bytes, status: int) -> None:
    side = SIDES[name]
    heard(events_of(side.reader(), [data]))
    fault = side.fault(status, data)
    assert (fault.status, bool(fault.message)) == (status, True)
