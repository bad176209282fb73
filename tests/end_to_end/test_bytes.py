"""What comes through an example is what the provider sent, to the byte, in every mode; memory holds how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.upstream.server import Upstream
from tests.waiting import eventually
from tokenmizer_mw.model.message import Role

from .served import Served
from .surfaces import QUESTION, SURFACES, Surface

STREAMED = (
    "usage",
    "uni-sep",
    "crlf",
    "crlf-split1",
    "split7-uni",
    "glue",
    "multi",
    "gzip-uni",
    "gzip-split7",
    "slowhead",
    "think-tools-split7",
    "len",
    "nodone",
    "errmid",
    "big",
)
ONLY_SSE = ("cr", "cr-split1", "nospace", "ka-ping", "multi-crlf-ka-split1")
WHOLE = ("uni-sep", "split1", "gzip-uni", "slowhead", "think-tools", "len", "big")
PASSED_ON = ("content-type", "content-encoding", "content-length", "x-request-id", "retry-after")

CASES = [
    pytest.param(surface, modes, id=f"{surface.name}-{surface.framing or 'whole'}-{modes}")
    for surface in SURFACES
    for modes in (STREAMED + ONLY_SSE * (surface.framing == "sse") if surface.framing else WHOLE)
]


@dataclass(frozen=True, slots=True)
class Got:
    """A response as a client saw it. ``broken``: it ended before its end."""

    status: int
    headers: dict[str, str]
    raw: bytes
    broken: bool = False


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client() as client:
        yield client


def get(client: httpx2.Client, url: str, surface: Surface, model: str, session: str = "") -> Got:
    """Ask, and take the bytes as they stand on the wire."""
    path, body = surface.request(model)
    headers = {"x-session-id": session} if session else {}
    raw: list[bytes] = []
    with client.stream("POST", url + path, json=body, headers=headers) as response:
        told = {name: response.headers[name] for name in PASSED_ON if name in response.headers}
        try:
            raw.extend(response.iter_raw())
        except (httpx2.RemoteProtocolError, httpx2.ReadError):
            return Got(response.status_code, told, b"".join(raw), broken=True)
    return Got(response.status_code, told, b"".join(raw))


@pytest.mark.parametrize(("surface", "modes"), CASES)
def test_bytes_are_the_providers(
    served: Served, upstream: Upstream, client: httpx2.Client, surface: Surface, modes: str, session: str
) -> None:
    model = f"fake-n{1 if 'split1' in modes else 3}-{modes}"
    direct = get(client, upstream.url, surface, model)
    through = get(client, served.url, surface, model, session)
    assert through == direct
    assert (direct.status, direct.broken) == (200, False)
    assert upstream.calls[-1].json == surface.request(model)[1]
    assert [outcome for outcome, _ in served.closed(session)] == [_outcome(surface, modes)]
    assert _said(served, session) == _expected(surface, modes)


def _outcome(surface: Surface, modes: str) -> str:
    """``big`` is more than is captured of a response; an error within the stream, or its missing end, is told by it."""
    if modes in ("len", "nodone", "big"):
        return "truncated"
    return "error" if modes == "errmid" else "complete"


def _said(served: Served, session: str) -> Any:
    """The question, and what is kept of the answer: its beginning, and the names of the tools that it calls."""
    messages = served.messages(session)
    assert (messages[0].role, messages[0].text) == (Role.USER, QUESTION)
    reply = messages[1] if len(messages) > 1 else None
    return reply and (reply.text[:30], tuple(call.name for call in reply.tool_calls))


def _expected(surface: Surface, modes: str) -> Any:
    if modes == "big":
        return None
    if "tools" in modes:
        said = "" if surface.name == "cohere" else "Let me look that up."
        return said, ("lookup", "today")
    return f"You said: {QUESTION}"[:30], ()


@pytest.mark.parametrize("status", [400, 429, 500, 503])
@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: f"{surface.name}-{surface.framing or 'whole'}")
def test_errors_are_the_providers(
    served: Served, upstream: Upstream, client: httpx2.Client, surface: Surface, status: int, session: str
) -> None:
    direct = get(client, upstream.url, surface, f"fake-e{status}")
    through = get(client, served.url, surface, f"fake-e{status}", session)
    assert through == direct
    assert direct.status == status
    assert ("retry-after" in direct.headers) is (status in (429, 503))
    is_recorded = status >= 500  # what is refused is not
    assert served.closed(session, is_recorded) == [("error", "")] * is_recorded
    assert [message.role for message in served.messages(session)] == [Role.USER] * is_recorded


@pytest.mark.parametrize("modes", ["cut", "d5-rst", "cut-split7", "cut-gzip"])
@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: f"{surface.name}-{surface.framing or 'whole'}")
def test_what_breaks_off_looks_broken(
    served: Served, upstream: Upstream, client: httpx2.Client, surface: Surface, modes: str, session: str
) -> None:
    direct = get(client, upstream.url, surface, f"fake-n8-{modes}")
    through = get(client, served.url, surface, f"fake-n8-{modes}", session)
    assert direct.broken
    assert through.broken
    assert through.raw == direct.raw or ("rst" in modes and direct.raw.startswith(through.raw))
    assert served.closed(session) == [("error", "")]


def test_every_call_was_counted_once(served: Served) -> None:
    """Nothing failed on our side in all of the above."""
    assert eventually(lambda: served.memory.flush(1))
    ours = {name: count for name, count in served.memory.counters().items() if name.endswith("_failed")}
    assert ours == {}
