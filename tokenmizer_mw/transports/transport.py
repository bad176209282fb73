"""Transports for httpx2, the HTTP library of most SDKs, that record chat calls in a session memory."""

from __future__ import annotations

import httpx2

from .base import AsyncRecordingTransport, AsyncWatchedStream, RecordingTransport, Replayed, WatchedStream


class WatchedByteStream(WatchedStream, httpx2.SyncByteStream):
    """The response body of a recorded call."""


class AsyncWatchedByteStream(AsyncWatchedStream, httpx2.AsyncByteStream):
    """The response body of a recorded call."""


class ReplayedByteStream(Replayed, httpx2.SyncByteStream):
    """The response body of an answer from the cache."""


class AsyncReplayedByteStream(Replayed, httpx2.AsyncByteStream):
    """The response body of an answer from the cache."""


class Transport(RecordingTransport[httpx2.Request, httpx2.Response, httpx2.BaseTransport], httpx2.BaseTransport):
    """Transport for ``httpx2.Client`` that records chat calls in a memory and shortens requests that grow too long.

    It sends with ``inner``, by default a new ``httpx2.HTTPTransport``; calls that are no chat pass untouched.
    """

    _wrap = WatchedByteStream
    _default = httpx2.HTTPTransport
    _whole = httpx2.ByteStream
    _response = httpx2.Response
    _body = ReplayedByteStream


class AsyncTransport(
    AsyncRecordingTransport[httpx2.Request, httpx2.Response, httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport
):
    """Recording transport for ``httpx2.AsyncClient``. It sends with ``inner``, by default a new
    ``httpx2.AsyncHTTPTransport``.
    """

    _wrap = AsyncWatchedByteStream
    _default = httpx2.AsyncHTTPTransport
    _whole = httpx2.ByteStream
    _response = httpx2.Response
    _body = AsyncReplayedByteStream
