"""Conversations through real SDKs: what a user is handed is what the memory holds, sync and async, streamed and not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.upstream.server import Upstream
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialects import ROUTES

from .sdks.table import ENDINGS, SDK_WARNINGS, SDKS
from .sdks.talk import Said, Talk, parsed
from .served import Served

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

Ask = Callable[[Talk, str], Said]


def test_every_dialect_is_spoken() -> None:
    """A dialect that is missing fails here, and one that is not driven."""
    assert set(ROUTES) == set(ENDINGS)


@pytest.fixture(params=["sync", "async"])
def faces(request: pytest.FixtureRequest, run: Callable[..., Any]) -> Callable[[bool], Ask]:
    def of(stream: bool) -> Ask:
        if request.param == "sync":
            return lambda talk, model: talk.ask(model, stream=stream)
        return lambda talk, model: run(talk.aask(model, stream=stream))

    return of


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
def test_memory_holds_what_the_user_was_handed(
    served: Served, sdk: type[Talk], faces: Callable[[bool], Ask], stream: bool, session: str
) -> None:
    ask = faces(stream)
    talk = sdk(served.url, session)
    told: list[tuple[Role, str, list[Any]]] = []

    def turn(model: str) -> Said:
        said = ask(talk, model)
        told.append((Role.ASSISTANT, said.text, [(call.name, call.arguments) for call in said.calls]))
        assert _plain(served.messages(session)) == told
        assert said.thinking == served.messages(session)[-1].thinking
        return said

    talk.user("Where does the Ünal river rise?")
    told.append((Role.USER, "Where does the Ünal river rise?", []))
    said = turn("fake-n4-uni-usage-think" + ("" if talk.tears_at_separators else "-sep"))
    assert said.text.startswith("You said: Where does the Ünal river rise?")
    assert said.thinking == "They want an answer."
    talk.user("Look it up, please.")
    told.append((Role.USER, "Look it up, please.", []))
    calls = turn("fake-n2-think-tools").calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("lookup", {"topic": "Look it up, please.", "deep": True, "limit": 3}),
        ("today", {}),
    ]
    results = ["It rises in the hills.", "Saturday"]
    for call, result in zip(calls, results, strict=True):
        talk.result(call, result)
    told += _results(served, talk, results)
    said = turn("fake-n2-split7")
    assert "It rises in the hills." in said.text
    talk.user("Thanks.")
    told.append((Role.USER, "Thanks.", []))
    turn("fake-n1")
    assert [outcome for outcome, _ in served.outcomes(session)] == ["complete"] * 4


@pytest.fixture(scope="module")
def one(serve: Callable[..., Any]) -> Iterator[Served]:
    with serve("fastapi") as running:
        yield running


MODES = ("crlf", "cr-split7", "multi-glue", "ka-ping", "nospace", "gzip-uni", "slowhead-split1", "len-usage", "nodone")


NOT_UNDERSTOOD = {
    ("openai chat", "len-usage"),  # its own accumulation of chunks refuses a reply that hit the limit
    ("openai responses", "nodone"),  # without the last event there is no response to read
    ("gemini", "ka-ping"),  # takes a comment for the beginning of an error
    ("gemini", "nospace"),
    ("gemini chats", "ka-ping"),
    ("gemini chats", "nospace"),
}
"""Streams that an SDK cannot read, with us or without."""


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
def test_odd_streams_are_what_they_are_without_us(
    one: Served, upstream: Upstream, sdk: type[Talk], modes: str, session: str
) -> None:
    """Whatever an SDK makes of a stream, it makes of it through us, and what its user gets is what is remembered."""
    direct, through = (_heard(sdk(url, session), f"fake-n2-think-{modes}") for url in (upstream.url, one.url))
    assert through == direct
    assert isinstance(through, Said) is ((sdk.name, modes) not in NOT_UNDERSTOOD)
    if isinstance(through, Said):
        reply = one.messages(session)[-1]
        assert (reply.text, reply.thinking) == (through.text, through.thinking)


def _heard(talk: Talk, model: str) -> Said | type[BaseException]:
    talk.user("Where does the Ünal river rise?")
    try:
        return talk.ask(model, stream=True)
    except Exception as error:
        return type(error)


def _results(served: Served, talk: Talk, results: list[str]) -> list[tuple[Role, str, list[Any]]]:
    """How the dialect sends results: each in a message of its own, or all in one."""
    one = talk.name.startswith(("anthropic", "gemini"))
    return [(Role.TOOL, "", results)] if one else [(Role.TOOL, "", [result]) for result in results]


def _plain(messages: list[Message]) -> list[tuple[Role, str, list[Any]]]:
    """Role, text, and calls or results of messages; the system's are not recorded."""
    return [
        (
            message.role,
            message.text,
            [(call.name, parsed(call.arguments)) for call in message.tool_calls]
            or [_unwrapped(result.text) for result in message.tool_results],
        )
        for message in messages
    ]


def _unwrapped(text: str) -> str:
    """A result, of which some dialects send JSON."""
    return str(parsed(text)["result"]) if text.startswith("{") else text
