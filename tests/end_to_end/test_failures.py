"""What goes wrong at the provider reaches the SDK as it is, and a client that leaves frees the provider."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tests.upstream.steering import Steering
from tests.waiting import eventually
from tokenmizer_mw.model.message import Role

from .sdks.table import SDK_WARNINGS, SDKS
from .sdks.talk import KEY, Talk
from .served import Served
from .surfaces import SURFACES, Surface

pytestmark = [pytest.mark.filterwarnings(warning) for warning in SDK_WARNINGS]

STREAMS = [surface for surface in SURFACES if surface.framing]


def _failed(talk: Talk, model: str, *, stream: bool) -> BaseException:
    """The error that the SDK's user gets."""
    talk.user("Where does the Ünal river rise?")
    with pytest.raises(Exception) as caught:
        talk.ask(model, stream=stream)
    return caught.value


@pytest.mark.parametrize(("status", "stream"), [(429, True), (500, False)], ids=["429-streamed", "500-whole"])
@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
def test_sdk_gets_the_providers_error(
    served: Served, upstream: Upstream, sdk: type[Talk], status: int, stream: bool, session: str
) -> None:
    model = f"fake-e{status}"
    direct, through = sdk(upstream.url, session), sdk(served.url, session)
    expected = direct.refused(_failed(direct, model, stream=stream))
    told = through.refused(_failed(through, model, stream=stream))
    assert told is not None
    assert told == expected
    assert told.status == status
    is_recorded = status >= 500  # what is refused is not
    assert served.closed(session, is_recorded)[-1:] == [("error", "")] * is_recorded
    assert [message.role for message in served.messages(session)] == [Role.USER] * is_recorded


@pytest.mark.parametrize("modes", ["cut", "errmid"])
@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
def test_sdk_gets_the_break_of_a_stream(
    served: Served, upstream: Upstream, sdk: type[Talk], modes: str, session: str
) -> None:
    model = f"fake-n6-{modes}"
    direct, through = sdk(upstream.url, session), sdk(served.url, session)
    expected = _failed(direct, model, stream=True)
    told = _failed(through, model, stream=True)
    assert type(told) is type(expected)
    assert str(told) == str(expected)
    assert [outcome for outcome, _ in served.closed(session)] == ["error"]


def test_retries_of_an_sdk_are_one_turn(served: Served, upstream: Upstream, session: str) -> None:
    upstream.script.extend([Scripted(steering=Steering(status=500)), Scripted("At last.")])
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=KEY, max_retries=2) as client:
        reply = client.chat.completions.create(
            model="fake", messages=[{"role": "user", "content": "Well?"}], extra_headers={"x-session-id": session}
        )
    assert reply.choices[0].message.content == "At last."
    assert [message.text for message in served.messages(session)] == ["Well?", "At last."]
    assert served.outcomes(session)[-1] == ("complete", "stop")


@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
def test_stream_closed_by_its_user_frees_the_provider(
    served: Served, upstream: Upstream, sdk: type[Talk], session: str
) -> None:
    talk = sdk(served.url, session)
    talk.user("Tell me everything.")
    before = upstream.statistics.aborted
    events: Any = talk.stream("fake-n900-d100")
    for _, _ in zip(range(12), events, strict=False):
        pass
    events.close()
    _assert_freed(upstream, before)
    assert served.closed(session) == [("aborted", "")]
    assert [message.role for message in served.messages(session)] == [Role.USER, Role.ASSISTANT]


@pytest.mark.parametrize("model", ["fake-f60000", "fake-n900-d100"], ids=["before the first byte", "midway"])
@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
def test_cancelled_call_frees_the_provider(
    served: Served, upstream: Upstream, sdk: type[Talk], run: Callable[..., Any], model: str, session: str
) -> None:
    talk = sdk(served.url, session)
    talk.user("Tell me everything.")
    before = upstream.statistics.aborted

    async def cancelled() -> None:
        seen = upstream.statistics.requests
        asking = asyncio.ensure_future(talk.aask(model, stream=True))
        while upstream.statistics.requests == seen and not asking.done():
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    run(cancelled())
    _assert_freed(upstream, before)
    assert served.closed(session) == [("aborted", "")]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: f"{surface.name}-{surface.framing or 'whole'}")
def test_client_that_gives_up_waiting_frees_the_provider(
    served: Served, upstream: Upstream, surface: Surface, session: str
) -> None:
    path, body = surface.request("fake-f60000")
    before = upstream.statistics.aborted
    headers = {"x-session-id": session, "content-type": "application/json"}
    with closing(http.client.HTTPConnection(urlsplit(served.url).netloc)) as link:
        link.request("POST", path, json.dumps(body), headers)
        assert eventually(lambda: upstream.statistics.active)
    _assert_freed(upstream, before)
    assert served.closed(session) == [("aborted", "")]


def _assert_freed(upstream: Upstream, before: int) -> None:
    """The provider has seen that its reader left, in the midst of an answer that takes a minute or more."""
    assert eventually(lambda: upstream.statistics.aborted > before)
    assert eventually(lambda: upstream.statistics.active == 0)
