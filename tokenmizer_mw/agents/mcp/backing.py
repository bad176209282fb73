"""What the MCP tools read: sessions in a store or of a running server, and files below folders that the user named.

Sessions are reached by the same REST routes (docs/rest.md) in both cases, so that both return the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import quote

import anyio
import httpx2
from mcp.server.mcpserver.exceptions import ToolError

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.runtime.collection import uncollected_imports
from tokenmizer_mw.runtime.offload import CALLS, offload

from . import KEY_VARIABLE, SERVER_VARIABLE

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory
    from tokenmizer_mw.settings import Settings

QUIET_SECONDS: Final = 0.5
"""Seconds after the start before the store is opened in the background, so that the client's first messages are
answered quickly."""

_SECONDS: Final = 30.0
_REPLY_MAX: Final = 32 * 1024 * 1024
Source = tuple[httpx2.AsyncClient, "SessionMemory | None"]


class Backing:
    """Access to sessions by the REST routes of this package, called through the HTTP client ``client``.

    ``place``: where the sessions are, for error messages, such as "The server at http://127.0.0.1:8787".
    """

    def __init__(self, client: httpx2.AsyncClient, place: str) -> None:
        self.place = place
        self._client = client

    async def get(self, *path: str, **query: Any) -> dict[str, Any]:
        """Call the route "/api/<path>" with the parameters ``query`` and return its JSON response.

        ``path``: its segments, not yet percent-encoded. A parameter that is ``None`` is left out; an underscore at the
        end of a parameter's name is removed ("from_"). Raises ``ToolError`` for an error response or none: its text is
        a sentence that says what is wrong and what to do.
        """
        params = {name.rstrip("_"): value for name, value in query.items() if value is not None}
        return await self._request("GET", path, params=params)

    async def post(self, *path: str, **body: Any) -> dict[str, Any]:
        """Call the route "/api/<path>", which changes something, with the JSON ``body``, and return its JSON response.
        Raises as ``get`` does."""
        return await self._request("POST", path, json=body)

    async def delete(self, *path: str) -> dict[str, Any]:
        """Call the route "/api/<path>", which erases something, and return its JSON response. Raises as ``get``
        does."""
        return await self._request("DELETE", path)

    async def _request(self, method: str, path: tuple[str, ...], **how: Any) -> dict[str, Any]:
        url = "/api/" + "/".join(map(_segment, path))
        client, memory = await self._source()
        try:
            reply = await client.request(method, url, **how)
            result = reply.json() if len(reply.content) <= _REPLY_MAX else None
        except httpx2.TimeoutException:
            raise ToolError(f"{self.place} took too long to answer: try again, or ask for less.") from None
        except (httpx2.HTTPError, OSError):
            raise ToolError(
                f"{self.place} does not answer: ask the user to start it, or to unset {SERVER_VARIABLE} to work on the "
                "store itself."
            ) from None
        except ValueError:
            result = None
        if not isinstance(result, dict):
            raise ToolError(f"{self.place} answers with something else than JSON: is it tokenmizer-mw?")
        if reply.status_code >= 400:
            raise ToolError(await _sentence(reply.status_code, result, memory))
        return result

    async def _source(self) -> Source:
        """Return the HTTP client to use now, and the memory behind it (``None`` if that is in another process)."""
        return self._client, None


class InstallationBacking(Backing):
    """Access to sessions in the store of this installation. Its address can change when a server starts or stops.

    ``resolve``: returns the store's current address; called in a worker thread before each call. Each store that was
    used stays open until ``stack`` is closed.
    """

    def __init__(self, resolve: Callable[[], str], settings: Settings, stack: AsyncExitStack) -> None:
        self.place = "The store itself"
        self._resolve = resolve
        self._settings = settings
        self._stack = stack
        self._sources: dict[str, Source] = {}
        self._lock = anyio.Lock()

    async def _source(self) -> Source:
        try:
            address = await offload(self._resolve, CALLS)
            async with self._lock:
                if address not in self._sources:
                    self._sources[address] = await self._open_source(address)
                return self._sources[address]
        except TokenMizerError as error:
            raise ToolError(_as_sentence(error)) from None

    async def open(self) -> None:
        """Open the current store, unless it is open already. Raises ``ToolError`` if that fails."""
        await self._source()

    async def _open_source(self, address: str) -> Source:
        memory = await offload(partial(_open_memory, address, self._settings), CALLS)
        self._stack.push_async_callback(memory.aclose)
        return await self._stack.enter_async_context(_client_of(memory)), memory


def _open_memory(address: str, settings: Settings) -> SessionMemory:
    """Open a memory without importing what only some tools need, such as extraction; they import it themselves."""
    with uncollected_imports():
        from tokenmizer_mw.memory import SessionMemory  # takes most of the time of a start, while the host waits
        from tokenmizer_mw.store.open import open_log

        log = open_log(address)
        try:
            log.secret()  # an unusable store is reported now
            return SessionMemory(log, settings, url=address)
        except TokenMizerError:
            log.close()
            raise


async def _sentence(status: int, values: Mapping[str, Any], memory: SessionMemory | None) -> str:
    """Return a sentence for the model from an error response: what is wrong, and what to do about it."""
    error = values.get("error")
    error = error if isinstance(error, dict) else {}
    code, message = str(error.get("code", status)), str(error.get("message", "It was refused."))
    if status == 503 and (better := await _fault_of_the_store(memory)):
        return better
    message = f"{message[:1].upper()}{message[1:]}" if message.partition(" ")[0].isalpha() else message
    return f"{message.rstrip('.')}: {_ADVICE[code]}" if code in _ADVICE else message


async def _fault_of_the_store(memory: SessionMemory | None) -> str:
    """Return the error of the store itself; "" if it has none, or is in another process."""
    if memory is None:
        return ""
    try:
        await offload(memory.sessions, CALLS)
    except TokenMizerError as error:
        return _as_sentence(error)
    return ""


def _as_sentence(error: TokenMizerError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _segment(part: str) -> str:
    """Return a part of a path percent-encoded, so that it stays one part."""
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")


_ADVICE: Final = {
    "unknown_session": "list_sessions names those that there are; remember without session_id adds to this project's.",
    "unauthorized": f"ask the user to put a key of that server into {KEY_VARIABLE}.",
    "forbidden": "ask the user for a key that may do it.",
    "store_unavailable": "try again in a moment.",
    "internal": "the server's log says what.",
}
"""What the model should do about an error, by the error's code."""


@asynccontextmanager
async def on_installation(resolve: Callable[[], str], settings: Settings) -> AsyncIterator[Backing]:
    """Give access to the sessions in the store of this installation (an async context manager).

    ``resolve`` returns the current address of the store. It is called in a worker thread before each call.

    The store is opened in the background or at the first call. If it cannot be opened, the context manager does not
    fail: each call then raises ``ToolError``. Opened stores are closed at exit.
    """
    async with AsyncExitStack() as stack:
        backing = InstallationBacking(resolve, settings, stack)
        async with anyio.create_task_group() as group:
            group.start_soon(_open_soon, backing, settings.tokenizer_dir)
            yield backing
            group.cancel_scope.cancel()


async def _open_soon(backing: InstallationBacking, tokenizer_dir: str | None) -> None:
    """Open the store after ``QUIET_SECONDS``, then import what tools need later. An error is reported by the first
    call."""
    await anyio.sleep(QUIET_SECONDS)
    with suppress(ToolError):
        await backing.open()
        await anyio.to_thread.run_sync(
            load_parts, tokenizer_dir, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
        )


def load_parts(tokenizer_dir: str | None) -> None:
    """Import in advance what the first call would otherwise wait for: extraction of facts, and the tokenizer in the
    directory ``tokenizer_dir`` (``None``: the default one). This takes most of a second."""
    with uncollected_imports():
        import tokenmizer_mw.extract.derive  # noqa: F401
        from tokenmizer_mw.context.tokens import counter_for

        counter_for("", tokenizer_dir).count("loaded")


def _client_of(memory: SessionMemory) -> httpx2.AsyncClient:
    from tokenmizer_mw.server.api import api  # with the memory, not at the start
    from tokenmizer_mw.server.api.requests import local

    transport = httpx2.ASGITransport(app=api(memory, authorize=local))
    return httpx2.AsyncClient(transport=transport, base_url="http://store", timeout=None)


@asynccontextmanager
async def on_server(url: str, key: str = "") -> AsyncIterator[Backing]:
    """Give access to the sessions of the server at ``url`` (an async context manager). ``key``: its API key, "" for
    none."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=_SECONDS, trust_env=False) as client:
        yield Backing(client, f"The server at {url}")


ROOTS_VARIABLE: Final = "TOKENMIZER_ROOTS"


@contextmanager
def open_file(path: str, roots: Sequence[str]) -> Iterator[BinaryIO]:
    """Open the regular file at ``path`` (relative to the first of ``roots``) for reading bytes, while the ``with``
    block runs.

    Raises ``ToolError`` if the file is not below one of ``roots`` after all links are resolved, if it cannot be opened,
    or if it is not a regular file.
    """
    if "\0" in path:
        raise ToolError("That is not a path.")
    real = os.path.realpath(os.path.join(roots[0], os.path.expanduser(path)))
    if not any(os.path.commonpath((real, root)) == root for root in map(os.path.realpath, roots)):
        raise ToolError(
            f"{path} lies outside of what may be read ({', '.join(roots)}): ask the user to allow its folder."
        )
    try:
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ToolError(f"{path} cannot be opened: {error.strerror or error}.") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode) or os.path.realpath(real) != real:
        os.close(handle)
        raise ToolError(f"{path} is not a file.")
    with os.fdopen(handle, "rb") as file:
        yield file
