"""A relay between clients and the scripted upstream that translates: a translation, and nothing around it.

The name of a model says which provider it is of: "gemini/fake-n3".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Final, Self

import httpx2

from tests.translate.clients.served import HttpServed
from tokenmizer_mw.errors import PeerError
from tokenmizer_mw.server.translate.chat import ChatCall
from tokenmizer_mw.server.translate.clients.anthropic import AnthropicClient
from tokenmizer_mw.server.translate.clients.openai_chat import OpenAIChatClient
from tokenmizer_mw.server.translate.clients.openai_responses import OpenAIResponsesClient
from tokenmizer_mw.server.translate.table import PROVIDERS, Provider
from tokenmizer_mw.server.translate.translation import ClientReply, ClientSide, ProviderRequest, Translation

CREATED: Final = 1_790_000_000
CLIENTS: Final[Mapping[str, ClientSide]] = {
    "/chat/completions": OpenAIChatClient(),
    "/responses": OpenAIResponsesClient(),
    "/messages": AnthropicClient(),
}


class Relayed(HttpServed):
    """While the context lasts, the relay at ``url`` to the upstream at ``upstream``."""

    protocol = "HTTP/1.1"

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream

    def __enter__(self) -> Self:
        self._http = httpx2.Client(trust_env=False, timeout=30)
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._http.close()

    def do_post(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer one request, and close its connection."""
        handler.close_connection = True
        client = next(side for ending, side in CLIENTS.items() if handler.path.endswith(ending))
        request = json.loads(body)
        name, _, request["model"] = request["model"].partition("/")
        row = PROVIDERS[name]
        translation = Translation(client, row.side())
        try:
            outgoing, call = translation.request(json.dumps(request).encode())
        except PeerError as error:
            _answer(handler, translation.refuse(error), {})
            return
        if call.stream:
            self._stream(handler, translation, self._url(row, outgoing), outgoing, call)
        else:
            response = self._http.post(self._url(row, outgoing), json=outgoing.body, headers=outgoing.headers)
            reply = translation.reply(call, response.status_code, response.content, created=CREATED)
            _answer(handler, reply, response.headers)

    def _url(self, row: Provider, outgoing: ProviderRequest) -> str:
        base = "/v1" if row.base_url.endswith("/v1") else ""
        return f"{self._upstream}{base}{outgoing.path}"

    def _stream(
        self,
        handler: BaseHTTPRequestHandler,
        translation: Translation,
        url: str,
        outgoing: ProviderRequest,
        call: ChatCall,
    ) -> None:
        """A stream goes out piece by piece; what breaks off there breaks off here."""
        with self._http.stream("POST", url, json=outgoing.body, headers=outgoing.headers) as response:
            if response.status_code != 200:
                reply = translation.reply(call, response.status_code, response.read(), created=CREATED)
                _answer(handler, reply, response.headers)
                return
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.send_header("transfer-encoding", "chunked")
            handler.send_header("connection", "close")
            handler.end_headers()
            stream = translation.stream(call, created=CREATED)
            try:
                for piece in response.iter_raw():
                    _send(handler, stream.feed(piece))
            except httpx2.TransportError:
                return
            _send(handler, stream.end())
            handler.wfile.write(b"0\r\n\r\n")


def _send(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    if data:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()


def _answer(handler: BaseHTTPRequestHandler, reply: ClientReply, headers: Mapping[str, str]) -> None:
    handler.send_response(reply.status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(reply.body)))
    handler.send_header("connection", "close")
    if "retry-after" in headers:
        handler.send_header("retry-after", headers["retry-after"])
    handler.end_headers()
    handler.wfile.write(reply.body)
