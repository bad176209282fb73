"""A long session in a small window, in every dialect: what the provider gets is shorter, valid, and the same from call
to call between two cuts. The scripted upstream refuses what the provider would refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests.sampling import covering
from tests.upstream.answer import Scripted
from tests.upstream.request import Received
from tests.upstream.server import Upstream
from tests.upstream.steering import steering
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.wire.dialects import ROUTES

from .sdks.table import SDK_WARNINGS, SDKS
from .sdks.talk import Talk
from .served import Served

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

TURNS = 18
BLOCK = "<session-record"
LISTS = {"openai responses": "input", "gemini": "contents", "gemini chats": "contents"}


@pytest.fixture(scope="module")
def small(serve: Callable[..., Any]) -> Iterator[Served]:
    with serve("starlette", context_window=1_100, block_tokens=150, reminder_tokens=0) as running:
        yield running


@pytest.mark.parametrize(
    ("sdk", "stream"), covering(SDKS, [True, False]), ids=lambda value: getattr(value, "name", None)
)
def test_cut_requests_are_valid_and_keep_their_prefix(
    small: Served, upstream: Upstream, sdk: type[Talk], stream: bool, session: str
) -> None:
    talk = sdk(small.url, session)
    before, cuts_before = upstream.statistics.requests, small.memory.counters().get("cut_made", 0)
    said = [_turn(talk, upstream, number, stream=stream) for number in range(TURNS)]
    requests = upstream.since(before)
    cuts = small.memory.counters()["cut_made"] - cuts_before
    assert cuts >= 2
    assert [message.text for message in small.messages(session) if message.role is Role.USER] == said
    for request in requests:
        _assert_block_in_place(talk, request)
    assert _changes_of_the_prefix(talk, requests) == cuts
    sizes = [len(request.body) for request in requests]
    assert max(sizes) < 2.5 * sizes[len(sizes) // 4]


def _turn(talk: Talk, upstream: Upstream, number: int, *, stream: bool) -> str:
    """One turn; in every third the model calls two tools before it answers. What the user said."""
    text = f"In step {number} we keep the table part_{number} in PostgreSQL and write src/part_{number}.py for it."
    talk.user(text)
    thinking = steering("fake-think")
    if number % 3 == 2:
        wanted = (("lookup", {"topic": f"part {number}"}), ("today", {}))
        upstream.script.append(Scripted("I look it up.", wanted, thinking))
        for call in talk.ask("fake", stream=stream).calls:
            talk.result(call, f"{call.name} of step {number} returned 0")
    reply = f"Step {number} is done: src/part_{number}.py writes part_{number}, and its tests pass. " * 2
    upstream.script.append(Scripted(reply.strip(), steering=thinking))
    assert talk.ask("fake", stream=stream).text == reply.strip()
    return text


def _assert_block_in_place(talk: Talk, request: Received) -> None:
    """The block stands behind the system's message and before a user's, or among the system's blocks."""
    body = request.json
    assert json.dumps(body).count(BLOCK) <= 2  # the fence around it says it once at either end
    if BLOCK not in json.dumps(body):
        return
    told = body[LISTS.get(talk.name, "messages")]
    if talk.name == "anthropic":
        assert body["system"][0]["text"] == "You are brief."
        assert body["system"][-1]["text"].startswith(BLOCK)
        first = told[0]
    else:
        place = next(at for at, item in enumerate(told) if item.get("role") not in ("system", "developer"))
        assert _text(told[place]).startswith(BLOCK)
        assert told[place]["role"] == "user"
        first = told[place + 1]
    assert (first["role"], _text(first)[:8]) == ("user", "In step ")


def _text(item: dict[str, Any]) -> str:
    content = item.get("content", item.get("parts"))
    return str(content if isinstance(content, str) else content[0]["text"])


def _changes_of_the_prefix(talk: Talk, requests: list[Received]) -> int:
    """How often a request did not begin with all bytes of the one before up to the end of its last message, or had
    another text in what stands behind the messages."""
    dialect = next(dialect for ending, dialect in ROUTES.items() if requests[0].path.endswith(ending))
    read = [dialect.read(request.body, path=request.path) for request in requests]
    told = [
        (request.text, request.text[: request.spans[-1][1]], request.text[request.spans[-1][1] :]) for request in read
    ]
    return sum(not text.startswith(start) or rest != behind for (_, start, behind), (text, _, rest) in pairwise(told))
