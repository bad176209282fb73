"""The inner ASGI application of the proxy: forwards each call to its provider, and the response to the client."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import time
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from tokenmizer_mw.asgi import GUARD
from tokenmizer_mw.server.access.caller import below_root
from tokenmizer_mw.server.access.requests import linger
from tokenmizer_mw.server.translate.table import PROVIDERS
from tokenmizer_mw.wire.http import NOT_SENT, Header, forwarded_headers
from tokenmizer_mw.wire.reply import refusal

from .api_paths import api_path_of, model_of, run_where_it_fits
from .attempts import ProviderOutcomes, Retrying, open_upstream
from .client_models import ClientModels
from .connection import BrokenResponse
from .credentials import OWN_HEADER, missing_key
from .forwarding import ClientCall, Forwarder, RefusedCall, forwarder_of, refuse_call
from .model_lists import LIST_MAX, ModelListing, NamedModel, list_models, listing, model_body, named_in_path
from .request_bodies import read_ahead, run_while_connected, send_body, send_refusal
from .routing import Routes, Target
from .upstream import GATEWAY_TIMEOUT, Unreachable, Upstream, UpstreamResponse

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

BODY_MAX: Final = 16 * 1024 * 1024
"""Default maximum size of a request body, in bytes."""

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""HTTP methods that are forwarded. TRACE is not, because its response would show the client the server's key (RFC 9110,
section 9.3.8)."""

_NOWHERE: Final = (
    "nothing is served at this path: base URLs end in /v1 for clients of OpenAI's API, and are the bare address of this"
    " server for those of Anthropic, Gemini, Cohere, Mistral and Ollama"
)


class Relay:
    """ASGI application that forwards calls to providers.

    - ``routes``: selects the provider of a call. ``upstream``: sends the call. ``outcomes``: counts how calls end.
    - ``retrying``: ``None`` for no retries.
    - ``body_max``: maximum size of a request body in bytes; a longer one is answered with status 413.
    - ``own_headers``: lower-case names of headers that are only for this server and are not forwarded.
    - ``client_models``: gets each successful call, whose API key may then be used to ask a model for facts that were
      missed in the session (refinement); ``None`` for no such refinement.
    """

    def __init__(
        self,
        routes: Routes,
        upstream: Upstream,
        outcomes: ProviderOutcomes | None = None,
        *,
        retrying: Retrying | None = None,
        body_max: int = BODY_MAX,
        own_headers: frozenset[bytes] = frozenset(),
        client_models: ClientModels | None = None,
    ) -> None:
        self._routes = routes
        self._upstream = upstream
        self._outcomes = outcomes or ProviderOutcomes()
        self._retrying = retrying or Retrying()
        self._body_max = body_max
        self._client_models = client_models
        self._not_sent = NOT_SENT | own_headers | {OWN_HEADER}
        since = int(time())
        self._own = {name: NamedModel(name, owner, since) for name, owner in routes.aliases.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward one request to a provider and its response to the client, or answer with an error. Raises
        ``BrokenResponse`` if the provider's response broke off, so that the server cuts the client's connection,
        too."""
        headers: list[Header] = scope["headers"]
        if scope["method"] not in METHODS:
            await send_refusal(send, "", 405, "method_not_allowed", "this method is not relayed")
            return
        api_path = api_path_of(below_root(scope), headers)
        if api_path is None:
            await send_refusal(send, "", 404, "not_found", _NOWHERE)
            return
        read = await read_ahead(receive, self._body_max)
        if read[-1]["type"] != "http.request":  # the client left
            return
        body = b"".join(part.get("body", b"") for part in read)
        if len(body) > self._body_max:
            await _too_large(
                receive if read[-1].get("more_body") else None, send, api_path.error_dialect, self._body_max
            )
            return
        model = await model_of(api_path, body)
        passed = forwarded_headers(headers, self._not_sent)
        query = scope.get("query_string", b"")
        escaped, session = _escaped_path(scope, api_path.path), scope.get(GUARD)
        address = str((scope.get("client") or ("",))[0])
        call = ClientCall(api_path, scope["method"], query, passed, body, model, escaped, session, address)
        await run_while_connected(receive, self._answer_call(call, send))

    async def _answer_call(self, call: ClientCall, send: Send) -> None:
        if self._own and call.method == "GET":
            body = await self._answer_model_list(call)
            if body is not None:
                await send_body(send, 200, body)
                return
        await self._relay_call(call, send)

    async def _answer_model_list(self, call: ClientCall) -> bytes | None:
        """Return the response body for a request for the list of models, or for one model that the configuration
        defines. ``None`` for any other request, which is forwarded."""
        found = named_in_path(call.api_path)
        if found is not None and found[0] in self._own:
            return model_body(found[1], self._own[found[0]])
        wanted = listing(call.api_path, call.query)
        return await self._all_models(call, wanted) if wanted is not None else None

    async def _all_models(self, call: ClientCall, wanted: ModelListing) -> bytes:
        """Return the list of models: those that the configuration defines, followed by the provider's. If the provider
        returns no list, those of the configuration alone."""
        plain = [pair for pair in call.headers if pair[0].lower() != b"accept-encoding"]
        call = replace(call, headers=[*plain, (b"accept-encoding", b"identity")])
        listed = await self._providers_list(call)
        return await run_where_it_fits(partial(list_models, wanted, list(self._own.values()), listed), listed)

    async def _providers_list(self, call: ClientCall) -> bytes:
        """Return the body of the provider's list of models; b"" if it returns none or cannot be asked."""
        targets = [each for each in self._routes.targets(call.api_path, call.model) if not missing_key(each)]
        if not targets:
            return b""
        try:
            answer = await open_upstream(targets, self._retrying, _Relayed(self._upstream, call, self._outcomes).open)
            try:
                return await answer.read(LIST_MAX) if answer.status == 200 else b""
            finally:
                await answer.aclose()
        except (RefusedCall, Unreachable, BrokenResponse):
            return b""

    async def _relay_call(self, call: ClientCall, send: Send) -> None:
        relayed = _Relayed(self._upstream, call, self._outcomes)
        try:
            answer = await open_upstream(self._targets(call), self._retrying, relayed.open)
            await relayed.hand_on(answer, send)
            if self._client_models is not None and answer.status == 200:
                self._client_models.offer(call, relayed.target)
        except RefusedCall as refused:
            await send_body(send, refused.status, refused.body)
        except Unreachable as error:
            await send_refusal(send, call.api_path.error_dialect, error.status, "provider_unreachable", str(error))

    def _targets(self, call: ClientCall) -> list[Target]:
        """Return the targets (provider and model) to ask, in order, without those for which there is no API key. Raises
        ``RefusedCall`` if none is left."""
        if named := self._routes.not_configured(call.api_path, call.model):
            variable = PROVIDERS[named].key_variable or "nothing"
            message = f"{named} is not configured: add it to providers, and set {variable} in this server's environment"
            raise refuse_call(call.api_path, 401, "no_key", message)
        targets = self._routes.targets(call.api_path, call.model)
        if not targets:
            message = f"no provider is configured for {call.api_path.family} at this path"
            raise refuse_call(call.api_path, 404, "no_provider", message)
        lacks = [missing_key(target) for target in targets]
        for target, lack in zip(targets, lacks, strict=True):
            if lack:
                self._outcomes.note_missing_key(target.server.name, call.client, lack)
        if all(lacks):
            raise refuse_call(call.api_path, 401, "no_key", lacks[0])
        return [target for target, lack in zip(targets, lacks, strict=True) if not lack]


class _Relayed:
    """Sends one call to one or more targets (provider and model) in turn, and the response that was accepted to the
    client. ``target``: the target asked last."""

    target: Target
    _way: Forwarder
    _provider: str

    def __init__(self, upstream: Upstream, call: ClientCall, outcomes: ProviderOutcomes) -> None:
        self._upstream = upstream
        self._call = call
        self._outcomes = outcomes

    async def open(self, target: Target) -> UpstreamResponse:
        """Send the call to ``target`` (a provider and a model). Return when status and headers of the response have
        arrived, whatever the status is.

        The outcome is counted for the provider. Raises ``RefusedCall`` if the call cannot be sent to this target, and
        ``Unreachable`` if no response came.
        """
        self.target = target
        self._provider = target.server.name
        self._way = forwarder_of(self._call, target)
        outbound = await self._way.outbound()
        try:
            answer = await self._upstream.open(*outbound)
        except Unreachable as error:
            late = error.status == GATEWAY_TIMEOUT
            self._outcomes.note_failure(self._provider, "late" if late else "unreachable", str(error))
            raise error.of(self._provider) from None
        self._outcomes.note_answer(self._provider, answer.status)
        return answer

    async def hand_on(self, answer: UpstreamResponse, send: Send) -> None:
        """Send the provider's response to the client, and close the provider's response. Raises ``BrokenResponse`` if
        it breaks off, or ``Unreachable`` if it breaks off before the client has received anything."""
        try:
            await self._way.hand_on(answer, send)
        except (BrokenResponse, Unreachable) as error:
            self._outcomes.note_failure(self._provider, "broken", str(error))
            if isinstance(error, Unreachable):
                raise error.of(self._provider) from None
            raise
        finally:
            await answer.aclose()


def _escaped_path(scope: Scope, path: str) -> bytes:
    """Return the part of the request's path that ``path`` is decoded from, percent-encoded as the client sent it. b""
    if the client's path has no escapes, or if that part does not decode to ``path``."""
    raw: bytes = (scope.get("raw_path") or b"").partition(b"?")[0]
    if b"%" not in raw:
        return b""
    end = raw[below_root(scope).find(path) :]
    return end if unquote_to_bytes(end) == path.encode() else b""


async def _too_large(receive: Receive | None, send: Send, dialect: str, most: int) -> None:
    """Send a response with status 413 and close the connection. ``most``: the limit in bytes that the message names.
    ``receive``: reads the rest of the request, which is discarded; ``None`` if the whole request was read."""
    body = refusal(dialect, 413, "request_too_large", f"at most {most} bytes are taken")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if receive is not None:
        await linger(receive)
    await send({"type": "http.response.body", "body": b""})
