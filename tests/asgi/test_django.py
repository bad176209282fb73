"""Django's ASGI applications inside: its own streaming responses, views of both colours, its own middlewares."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.store.memory import MemoryLog

from .django_settings import django_with
from .driving import CHAT_BODY, EVENTS, REPLY, STREAM, Connection, Surface, request
from .recorded import ASKED, closed, said

USER, ASSISTANT = ("user", ASKED), ("assistant", REPLY)
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]


async def _events() -> AsyncIterator[bytes]:
    for part in EVENTS:
        yield part
        await asyncio.sleep(0)


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield EVENTS[0]
        await asyncio.sleep(0)


@csrf_exempt
async def streamed(asked: HttpRequest) -> HttpResponseBase:
    json.loads(asked.body)
    return StreamingHttpResponse(_events(), content_type="text/event-stream")


@csrf_exempt
async def endless(asked: HttpRequest) -> HttpResponseBase:
    return StreamingHttpResponse(_endless(), content_type="text/event-stream")


@csrf_exempt
def whole(asked: HttpRequest) -> HttpResponse:
    json.loads(asked.body)
    message = {"role": "assistant", "content": REPLY}
    return JsonResponse({"choices": [{"message": message, "finish_reason": "stop"}], "pad": "x" * 600})


@csrf_exempt
async def failing(asked: HttpRequest) -> HttpResponse:
    raise LookupError("the model's own error")


def protected(asked: HttpRequest) -> HttpResponse:
    return HttpResponse("never")


urlpatterns = [
    path(f"{view.__name__}/chat/completions", view) for view in (streamed, endless, whole, failing, protected)
]


@pytest.fixture(autouse=True)
def configured() -> Iterator[None]:
    with django_with(__name__, MIDDLEWARE):
        yield


def _called(view: Callable[..., Any], memory: Any, connection: Connection | None = None) -> tuple[Connection, ...]:
    """The same call without us and with us."""

    async def call(ours: bool, connection: Connection) -> Connection:
        app: Any = ASGIHandler()
        surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory) if ours else inner)
        headers = surface.headers((b"accept-encoding", b"gzip"))
        return await surface.call(app, connection, headers=headers, path=f"/{view.__name__}/chat/completions")

    without = asyncio.run(call(False, Connection(request(CHAT_BODY)))) if connection is None else connection
    return without, asyncio.run(call(True, connection or Connection(request(CHAT_BODY))))


def test_streaming_response_through_djangos_own_gzip(memory: Any, log: MemoryLog) -> None:
    without, with_us = _called(streamed, memory)
    assert gzip.decompress(with_us.body) == gzip.decompress(without.body) == STREAM
    assert with_us.sent[0] == without.sent[0]
    assert len(with_us.sent) == len(without.sent)
    assert said(log) == [USER, ASSISTANT]
    assert closed(log) == [("complete", "stop")]


def test_view_that_is_not_async(memory: Any, log: MemoryLog) -> None:
    without, with_us = _called(whole, memory)
    assert gzip.decompress(with_us.body) == gzip.decompress(without.body)
    assert said(log) == [USER, ASSISTANT]


def test_client_that_leaves_ends_the_stream(memory: Any, log: MemoryLog) -> None:
    with django_with(__name__):
        _called(endless, memory, Connection(request(CHAT_BODY), leave_after=4))
    assert memory.flush()
    assert closed(log) == [("aborted", "")]
    assert said(log)[1][1].startswith("Ich ")


@pytest.mark.parametrize(("view", "status", "outcomes"), [(failing, 500, [("error", "")]), (protected, 403, [])])
def test_errors_are_djangos(
    view: Callable[..., Any], status: int, outcomes: list[tuple[str, str]], memory: Any, log: MemoryLog
) -> None:
    without, with_us = _called(view, memory)
    assert with_us.sent[0]["status"] == without.sent[0]["status"] == status
    assert closed(log) == outcomes


def test_our_field_is_gone_from_what_django_reads(memory: Any, log: MemoryLog) -> None:
    body = b'{"session_id": "by field", ' + CHAT_BODY[1:]

    async def call() -> Connection:
        surface = Surface("chat", lambda inner: TokenMizerMiddleware(inner, memory=memory))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        path = "/streamed/chat/completions"
        return await surface.call(ASGIHandler(), Connection(request(body)), headers=headers, path=path)  # type: ignore

    assert asyncio.run(call()).body == STREAM
    assert said(log, "by field") == [USER, ASSISTANT]


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``asgi.py`` of docs/middleware.md, as it stands there."""
    page = Path(__file__).parents[2] / "docs" / "middleware.md"
    (code,) = re.findall(r"```py\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "mysite.settings")
    names: dict[str, Any] = {}
    exec(code, names)
    surface = Surface("chat", lambda inner: inner)
    connection = Connection(request(CHAT_BODY))
    path = "/streamed/chat/completions"
    asyncio.run(surface.call(names["application"], connection, headers=surface.headers(), path=path))
    memory = names["memory"]
    assert memory.flush()
    assert [(one.message.role.value, one.message.text) for one in memory.messages(memory.sessions()[0].id)] == [
        USER,
        ASSISTANT,
    ]
    memory.close()
