"""Applications that the routes are mounted into, two prefixes deep, and how to ask them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
from django.core.handlers.asgi import ASGIHandler
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.asgi.django_settings import django_with
from tokenmizer_mw.server.access.caller import Caller

App = Any
PREFIX = "/desk/memory"

CHAT = [
    {"role": "user", "content": "Let's build a booking service for the village hall. We use SQLite, it is one file."},
    {"role": "assistant", "content": "SQLite it is. Shall I write the schema first?"},
    {"role": "user", "content": "Yes. Never delete a booking without asking me first."},
    {"role": "assistant", "content": "The schema is in hall/schema.sql."},
    {"role": "user", "content": "SQLite locks under load. We switch to PostgreSQL instead of SQLite."},
]

CALLERS: dict[str, Caller] = {
    "a": Caller("tenant-a", "key-a", frozenset({"read", "write", "erase"})),
    "b": Caller("tenant-b", "key-b", frozenset({"read", "write", "erase"})),
    "chat": Caller("tenant-a", "key-chat", frozenset({"chat"})),
    "admin": Caller("tenant-a", "key-admin", frozenset({"admin"})),
}


def who(scope: Mapping[str, Any]) -> Caller | None:
    """The caller by the bearer token, as an application would look it up."""
    given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    return CALLERS.get(given.removeprefix("Bearer ")) if given.startswith("Bearer ") else None


async def who_later(scope: Mapping[str, Any]) -> Caller | None:
    await asyncio.sleep(0)
    return who(scope)


def starlette(app: App) -> App:
    return Starlette(routes=[Mount("/desk", Starlette(routes=[Mount("/memory", app)]))])


def fastapi(app: App) -> App:
    outer, inner = FastAPI(), FastAPI()
    inner.mount("/memory", app)
    outer.mount("/desk", inner)
    return outer


urlpatterns: list[Any] = []


def django(app: App) -> App:
    """Django's own handler for the rest, and a dispatcher in front of it, as its documentation tells."""
    with django_with(__name__):
        handler = ASGIHandler()

    async def dispatch(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/"):
            await app({**scope, "root_path": PREFIX}, receive, send)
        else:
            await handler(scope, receive, send)

    return dispatch


def stripped(app: App) -> App:
    """A host that takes the prefix off the path, and keeps it in root_path as older servers did."""

    async def dispatch(scope: Any, receive: Any, send: Any) -> None:
        below = {"root_path": PREFIX, "path": scope["path"].removeprefix(PREFIX)} if "path" in scope else {}
        await app({**scope, **below}, receive, send)  # a lifespan has no path

    return dispatch


HOSTS: dict[str, Callable[[App], App]] = {
    "starlette": starlette,
    "fastapi": fastapi,
    "django": django,
    "stripped": stripped,
}


def ask(
    app: App,
    method: str,
    path: str,
    *,
    token: str | None = "a",
    body: object = None,
    raw: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    prefix: str = PREFIX,
) -> httpx2.Response:
    """One request to ``path`` below the prefix; ``body`` goes as JSON, ``raw`` as it is."""
    told = {"authorization": f"Bearer {token}"} if token else {}
    if body is not None:
        told["content-type"] = "application/json"
    content = raw if body is None else json.dumps(body).encode()

    async def asking() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://desk.test") as client:
            return await client.request(method, prefix + path, content=content, headers={**told, **(headers or {})})

    return asyncio.run(asking())
