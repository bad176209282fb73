"""Transports for httpx2, the HTTP library of most SDKs, that record chat calls in a session memory."""

from __future__ import annotations

import httpx2

from .base import AsyncRecordingTransport, AsyncWatchedStream, RecordingTransport, Replayed, WatchedStream


class WatchedByteStream(WatchedStream, httpx2.SyncByteStream):
    """The response body of a recorded call, for ``httpx2.Client``."""


class AsyncWatchedByteStream(AsyncWatchedStream, httpx2.AsyncByteStream):
    """The response body of a recorded call, for ``httpx2.AsyncClient``."""


class ReplayedByteStream(Replayed, httpx2.SyncByteStream):
    """The response body of a cached response, for ``httpx2.Client``."""


class AsyncReplayedByteStream(Replayed, httpx2.AsyncByteStream):
    """The response body of a cached response, for ``httpx2.AsyncClient``."""


class Transport(RecordingTransport[httpx2.Request, httpx2.Response, httpx2.BaseTransport], httpx2.BaseTransport):
    """Transport for ``httpx2.Client`` that records chat calls in a memory. In the requests of these calls it replaces
    secrets by placeholders, and if a request grows too long for the model, its old messages by a resume block: a short
    text with the facts of the session.

    It sends requests with ``inner``, by default a new ``httpx2.HTTPTransport``. Calls that are not chats, and chats
    that name no session (body field, header, or ``SessionMemory.session``), pass unchanged and are not recorded. A
    request that the guard (the check for prompt injection) blocks is not sent: its response has status 400. The
    arguments are those of ``RecordingTransport``.
    """

    _wrap = WatchedByteStream
    _default = httpx2.HTTPTransport
    _whole = httpx2.ByteStream
    _response = httpx2.Response
    _body = ReplayedByteStream


class AsyncTransport(
    AsyncRecordingTransport[httpx2.Request, httpx2.Response, httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport
):
    """Transport for ``httpx2.AsyncClient`` that records chat calls in a memory. In the requests of these calls it
    replaces secrets by placeholders, and if a request grows too long for the model, its old messages by a resume block:
    a short text with the facts of the session.

    It sends requests with ``inner``, by default a new ``httpx2.AsyncHTTPTransport``. Calls that are not chats, and
    chats that name no session (body field, header, or ``SessionMemory.session``), pass unchanged and are not recorded.
    A request that the guard (the check for prompt injection) blocks is not sent: its response has status 400. The
    arguments are those of ``RecordingTransport``.
    """

    _wrap = AsyncWatchedByteStream
    _default = httpx2.AsyncHTTPTransport
    _whole = httpx2.ByteStream
    _response = httpx2.Response
    _body = AsyncReplayedByteStream
