"""A chat backend with session memory on Django (ASGI). Run: python integrations/examples/django_app.py"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from relay import Answer, Upstream, serve

from tokenmizer_mw import SessionMemory, TokenMizerMiddleware
from tokenmizer_mw.errors import UnknownSession

# One file stands for a whole project here; in yours this is settings.py and urls.py.
if not settings.configured:
    settings.configure(ALLOWED_HOSTS=["localhost", "127.0.0.1"], ROOT_URLCONF=__name__)
    django.setup()


@csrf_exempt
@require_POST
async def chat(request: HttpRequest) -> HttpResponseBase:
    """Relay a chat call. Django cancels this view, and the stream it returns, when the client disconnects."""
    scope: Mapping[str, Any] = request.scope
    answer = await scope["upstream"].open(scope, request.body)
    response = StreamingHttpResponse(_pieces(answer), status=answer.status, content_type=None)
    for name, value in answer.headers:
        response[name.decode("latin-1")] = value.decode("latin-1")
    return response


async def _pieces(answer: Answer) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.body:
            yield piece
    finally:
        await answer.aclose()


async def remembered(request: HttpRequest, session_id: str) -> HttpResponse:
    """Return the resume block of a session, as the model gets it when the context is full.

    A real application must authenticate the caller here, because session ids are not secret.
    """
    memory: SessionMemory = request.scope["memory"]
    try:
        resume = await memory.aresume(session_id, "full")
    except UnknownSession:
        return HttpResponse("no such session\n", status=404, content_type="text/plain")
    return HttpResponse(resume.text + "\n", content_type="text/plain; charset=utf-8")


urlpatterns = [path("sessions/<session_id>", remembered), re_path("^.*$", chat)]


def create_app(memory: SessionMemory, upstream: Upstream) -> Any:
    """Return the application. The caller must close ``memory``. Django has no lifespan, so this adds a small one."""
    inner = get_asgi_application()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(upstream, receive, send)
        else:
            await inner({**scope, "memory": memory, "upstream": upstream}, receive, send)

    return TokenMizerMiddleware(application, memory=memory)  # this line is all that the memory needs


async def _lifespan(upstream: Upstream, receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.shutdown":
            await upstream.aclose()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


if __name__ == "__main__":
    serve(create_app)
