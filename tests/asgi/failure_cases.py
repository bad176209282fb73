"""Conformance: exceptions, cancellation, tasks and context variables."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import anyio

from .driving import EVENTS, App, Message, Surface, piece, read_body, start, streaming, turn_of_the_loop
from .suite import case

MARK: ContextVar[str] = ContextVar("mark", default="unset")


class Crash(Exception):
    """An application's own error."""


async def _raises(surface: Surface, app: App, expected: BaseException) -> list[Message]:
    connection = surface.connection()
    try:
        await surface.call(app, connection)
    except BaseException as error:
        assert error is expected
    else:
        raise AssertionError("swallowed")
    return connection.sent


@case()
async def exception_before_start_propagates(surface: Surface) -> None:
    crash = Crash()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        raise crash

    assert await _raises(surface, app, crash) == []


@case()
async def exception_after_start_propagates(surface: Surface) -> None:
    crash = Crash()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        await send(piece(EVENTS[0]))
        raise crash

    assert await _raises(surface, app, crash) == [start(), piece(EVENTS[0])]


@case()
async def exception_group_not_introduced(surface: Surface) -> None:
    for raised in (Crash(), ExceptionGroup("mine", [Crash(), ValueError()]), KeyError("x")):

        async def app(scope: Any, receive: Any, send: Any, raised: Exception = raised) -> None:
            await read_body(receive)
            await send(start())
            raise raised

        await _raises(surface, app, raised)


@case()
async def cancellation_propagates_and_cleans(surface: Surface) -> None:
    cleaned: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        await send(piece(EVENTS[0]))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cleaned.append("cancelled")
            raise
        finally:
            cleaned.append("finally")

    calling = asyncio.ensure_future(surface.call(app))
    await turn_of_the_loop()
    calling.cancel()
    try:
        await calling
    except asyncio.CancelledError:
        pass
    else:
        raise AssertionError("swallowed")
    assert cleaned == ["cancelled", "finally"]


@case()
async def anyio_move_on_after_around(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        await anyio.sleep_forever()

    for delay in (0, 0.01):
        with anyio.move_on_after(delay) as limit:
            await surface.call(app)
        assert limit.cancelled_caught


@case("S")
async def server_send_oserror_reaches_app(surface: Surface) -> None:
    broken, seen = OSError("peer is gone"), []

    async def refuse(message: Message) -> None:
        if message["type"] == "http.response.body":
            raise broken

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        for part in (EVENTS[0], EVENTS[-1]):
            try:
                await send(piece(part))
            except OSError as error:
                seen.append(error)

    await surface.call(app, surface.connection(on_send=refuse))
    assert seen == [broken, broken]


@case()
async def no_task_leak_after_errors(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send(start())
        await send(piece(EVENTS[0]))
        raise Crash

    for _ in range(5):
        try:
            await surface.call(app)
        except Crash:
            continue
    await surface.call(streaming())
    assert asyncio.all_tasks() == {asyncio.current_task()}


@case()
async def contextvars_flow_in(surface: Surface) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(MARK.get())
        await streaming()(scope, receive, send)

    token = MARK.set("outer")
    await surface.call(app)
    MARK.reset(token)
    assert seen == ["outer"]


@case("S")
async def contextvars_flow_out(surface: Surface) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await streaming()(scope, receive, send)
        MARK.set("inner")

    await surface.call(app)
    assert MARK.get() == "inner"


@case("S")
async def contextvar_set_in_app_visible_in_send(surface: Surface) -> None:
    seen: list[str] = []

    async def note(message: Message) -> None:
        seen.append(MARK.get())

    async def app(scope: Any, receive: Any, send: Any) -> None:
        MARK.set("set in app")
        await streaming()(scope, receive, send)

    await surface.call(app, surface.connection(on_send=note))
    assert seen == ["set in app"] * (len(EVENTS) + 2)


@case("I")
async def same_task(surface: Surface) -> None:
    tasks: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        tasks.append(asyncio.current_task())
        await streaming()(scope, receive, send)

    await surface.call(app)
    assert tasks == [asyncio.current_task()]


@case()
async def background_exception_propagates(surface: Surface) -> None:
    crash = Crash()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await streaming()(scope, receive, send)
        raise crash

    sent = await _raises(surface, app, crash)
    assert sent[-1] == piece(more=False)
