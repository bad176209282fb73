"""Transports for httpx that record chat calls in a session memory."""

from __future__ import annotations

import httpx

from .base import AsyncRecordingTransport, AsyncWatchedStream, RecordingTransport, Replayed, WatchedStream


class HttpxWatchedByteStream(WatchedStream, httpx.SyncByteStream):
    """The response body of a recorded call, for ``httpx.Client``."""


class AsyncHttpxWatchedByteStream(AsyncWatchedStream, httpx.AsyncByteStream):
    """The response body of a recorded call, for ``httpx.AsyncClient``."""


class HttpxReplayedByteStream(Replayed, httpx.SyncByteStream):
    """The response body of a cached response, for ``httpx.Client``."""


class AsyncHttpxReplayedByteStream(Replayed, httpx.AsyncByteStream):
    """The response body of a cached response, for ``httpx.AsyncClient``."""


class HttpxTransport(RecordingTransport[httpx.Request, httpx.Response, httpx.BaseTransport], httpx.BaseTransport):
    """Transport for ``httpx.Client`` that records chat calls in a memory. It sends requests with ``inner``, by default
    a new ``httpx.HTTPTransport``. Everything else is as with ``Transport``, which is for httpx2."""

    _wrap = HttpxWatchedByteStream
    _default = httpx.HTTPTransport
    _whole = httpx.ByteStream
    _response = httpx.Response
    _body = HttpxReplayedByteStream


class AsyncHttpxTransport(
    AsyncRecordingTransport[httpx.Request, httpx.Response, httpx.AsyncBaseTransport], httpx.AsyncBaseTransport
):
    """Transport for ``httpx.AsyncClient`` that records chat calls in a memory. It sends requests with ``inner``, by
    default a new ``httpx.AsyncHTTPTransport``. Everything else is as with ``AsyncTransport``, which is for httpx2."""

    _wrap = AsyncHttpxWatchedByteStream
    _default = httpx.AsyncHTTPTransport
    _whole = httpx.ByteStream
    _response = httpx.Response
    _body = AsyncHttpxReplayedByteStream
