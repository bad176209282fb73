"""Transports that remember the chats they carry, for httpx2: the HTTP library of most SDKs."""

from __future__ import annotations

import httpx2

from tokenmizer_mw.transports.faces import AsyncFace, AsyncWatchedStream, Replayed, SyncFace, WatchedStream


class WatchedByteStream(WatchedStream, httpx2.SyncByteStream):
    """The body of a response that is remembered."""


class AsyncWatchedByteStream(AsyncWatchedStream, httpx2.AsyncByteStream):
    """The body of a response that is remembered."""


class ReplayedByteStream(Replayed, httpx2.SyncByteStream):
    """The body of an answer that is given again."""


class AsyncReplayedByteStream(Replayed, httpx2.AsyncByteStream):
    """The body of an answer that is given again."""


class Transport(SyncFace[httpx2.Request, httpx2.Response, httpx2.BaseTransport], httpx2.BaseTransport):
    """For ``httpx2.Client``; inside is an ``httpx2.HTTPTransport`` unless another one is given."""

    _wrap = WatchedByteStream
    _default = httpx2.HTTPTransport
    _whole = httpx2.ByteStream
    _response = httpx2.Response
    _body = ReplayedByteStream


class AsyncTransport(AsyncFace[httpx2.Request, httpx2.Response, httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport):
    """For ``httpx2.AsyncClient``; inside is an ``httpx2.AsyncHTTPTransport`` unless another one is given."""

    _wrap = AsyncWatchedByteStream
    _default = httpx2.AsyncHTTPTransport
    _whole = httpx2.ByteStream
    _response = httpx2.Response
    _body = AsyncReplayedByteStream
