"""Transports that remember the chats they carry, for httpx."""

from __future__ import annotations

import httpx

from tokenmizer_mw.transports.faces import AsyncFace, AsyncWatchedStream, Replayed, SyncFace, WatchedStream


class HttpxWatchedByteStream(WatchedStream, httpx.SyncByteStream):
    """The body of a response that is remembered."""


class AsyncHttpxWatchedByteStream(AsyncWatchedStream, httpx.AsyncByteStream):
    """The body of a response that is remembered."""


class HttpxReplayedByteStream(Replayed, httpx.SyncByteStream):
    """The body of an answer that is given again."""


class AsyncHttpxReplayedByteStream(Replayed, httpx.AsyncByteStream):
    """The body of an answer that is given again."""


class HttpxTransport(SyncFace[httpx.Request, httpx.Response, httpx.BaseTransport], httpx.BaseTransport):
    """For ``httpx.Client``; inside is an ``httpx.HTTPTransport`` unless another one is given."""

    _wrap = HttpxWatchedByteStream
    _default = httpx.HTTPTransport
    _whole = httpx.ByteStream
    _response = httpx.Response
    _body = HttpxReplayedByteStream


class AsyncHttpxTransport(AsyncFace[httpx.Request, httpx.Response, httpx.AsyncBaseTransport], httpx.AsyncBaseTransport):
    """For ``httpx.AsyncClient``; inside is an ``httpx.AsyncHTTPTransport`` unless another one is given."""

    _wrap = AsyncHttpxWatchedByteStream
    _default = httpx.AsyncHTTPTransport
    _whole = httpx.ByteStream
    _response = httpx.Response
    _body = AsyncHttpxReplayedByteStream
