"""Where sessions are looked up: in the store, or with a server that has it open. Either way through the routes of
docs/rest.md, so that both give the same answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import quote

import httpx2
from anyio import to_thread
from mcp.server.mcpserver.exceptions import ToolError

from tokenmizer_mw.api import api
from tokenmizer_mw.api.callers import local
from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory

SERVER_VARIABLE: Final = "TOKENMIZER_SERVER"
KEY_VARIABLE: Final = "TOKENMIZER_KEY"

_SECONDS: Final = 30.0
_REPLY_MAX: Final = 32 * 1024 * 1024


class Backing:
    """Sessions through ``client``. ``place`` names where they are for people."""

    def __init__(self, client: httpx2.AsyncClient, place: str, memory: SessionMemory | None = None) -> None:
        self.place = place
        self._client = client
        self._memory = memory

    async def get(self, *path: str, **query: Any) -> dict[str, Any]:
        """What a route tells. Raises ``ToolError`` with a sentence that says what is wrong and what to do."""
        params = {name.rstrip("_"): value for name, value in query.items() if value is not None}
        return await self._asked("GET", path, params=params)

    async def post(self, *path: str, **body: Any) -> dict[str, Any]:
        """``get`` for what changes something."""
        return await self._asked("POST", path, json=body)

    async def delete(self, *path: str) -> dict[str, Any]:
        """``get`` for what erases something."""
        return await self._asked("DELETE", path)

    async def _asked(self, method: str, path: tuple[str, ...], **how: Any) -> dict[str, Any]:
        url = "/api/" + "/".join(map(_segment, path))
        try:
            reply = await self._client.request(method, url, **how)
            told = reply.json() if len(reply.content) <= _REPLY_MAX else None
        except httpx2.TimeoutException:
            raise ToolError(f"{self.place} took too long to answer: try again, or ask for less.") from None
        except (httpx2.HTTPError, OSError):
            raise ToolError(
                f"{self.place} does not answer: start it with `tokenmizer-mw serve`, or unset {SERVER_VARIABLE} to "
                "work on the store itself."
            ) from None
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise ToolError(f"{self.place} answers with something else than JSON: is it tokenmizer-mw?")
        if reply.status_code >= 400:
            raise ToolError(await self._sentence(reply.status_code, told))
        return told

    async def _sentence(self, status: int, told: Mapping[str, Any]) -> str:
        error = told.get("error")
        error = error if isinstance(error, dict) else {}
        code, message = str(error.get("code", status)), str(error.get("message", "It was refused."))
        if status == 503 and (better := await self._fault_of_the_store()):
            return f"{better[:1].upper()}{better[1:]}."
        return f"{message} {_ADVICE[code]}" if code in _ADVICE else message

    async def _fault_of_the_store(self) -> str:
        """What the store says by itself; "" when it is fine, or elsewhere."""
        if self._memory is None:
            return ""
        try:
            await to_thread.run_sync(self._memory.sessions)
        except TokenMizerError as error:
            return str(error)
        return ""


def _segment(part: str) -> str:
    """A part of a path, spelled so that nobody on the way takes it for something else."""
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


_ADVICE: Final = {
    "unknown_session": "list_sessions names those that there are.",
    "unknown_node": "search_session finds facts by their words.",
    "unauthorized": f"Put a key of that server into {KEY_VARIABLE}: `tokenmizer-mw keys create` makes one.",
    "forbidden": "`tokenmizer-mw keys create --scopes` makes a key that may do it.",
    "store_unavailable": "Try again in a moment; `tokenmizer-mw check` says what is wrong with a server.",
    "internal": "The server's log says what.",
}
"""What to do about an error, by its code."""


@asynccontextmanager
async def on_store(memory: SessionMemory, place: str) -> AsyncIterator[Backing]:
    """Sessions of a memory in this process; it stays the caller's to close."""
    transport = httpx2.ASGITransport(app=api(memory, authorize=local))
    async with httpx2.AsyncClient(transport=transport, base_url="http://store", timeout=None) as client:
        yield Backing(client, place, memory)


@asynccontextmanager
async def on_server(url: str, key: str = "") -> AsyncIterator[Backing]:
    """Sessions of a running server."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=_SECONDS, trust_env=False) as client:
        yield Backing(client, f"The server at {url}")
