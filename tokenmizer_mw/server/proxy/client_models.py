"""Refinement with the API key of a client's own call. In refinement, a model reads a recorded session again to find
facts that were missed; here it is a model of the provider that the client called.

A call's key is used only if the call succeeded, was not translated, and went to the provider whose API its path belongs
to. No other provider is asked, and nothing is asked before the client has received its whole response. The request of
the refinement does not pass the middleware, so it is not recorded as a chat.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlencode

from tokenmizer_mw.errors import ModelFailed
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.usage import Completion
from tokenmizer_mw.server.translate.chat import AnswerFormat, ChatCall, ChatTurn, Sampling, Text
from tokenmizer_mw.server.translate.translation import ProviderRequest, ProviderSide, dump
from tokenmizer_mw.session.refinement.client import LentModel, ReplyTooLong, is_transient
from tokenmizer_mw.session.refinement.reply import SCHEMA
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.http import CREDENTIALS, Header

from .api_paths import DIALECTS
from .credentials import query_for, with_credentials
from .forwarding import ClientCall, json_headers, provider_side
from .routing import Target
from .upstream import Upstream, UpstreamTimeouts, escaped_place

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

_FORWARDED_HEADERS: Final = frozenset({*CREDENTIALS, b"openai-organization", b"openai-project", b"user-agent"})
"""Headers of the client's call that the request to the refining model repeats: API key, account, and user agent."""

_GRACE: Final = 5.0
"""Seconds that the waiting thread allows in addition to the setting ``llm_timeout``, within which the provider has to
answer."""


class ClientModels:
    """Lets the sessions of ``memory`` be refined with the API keys of clients: a model of the provider that the client
    calls reads the recorded session for facts that were missed.

    ``models``: name of a provider -> model that refines the sessions of clients that call this provider. A session for
    which the memory settings name no model waits until such a call provides one. Call ``offer`` on the event loop after
    each completed call, and ``aclose`` at the end. ``connect_seconds``, ``ca_file``: as in ``UpstreamSettings``.
    """

    def __init__(
        self, models: Mapping[str, str], memory: SessionMemory, *, connect_seconds: float, ca_file: str | None
    ) -> None:
        self._models = dict(models)
        self._memory = memory
        seconds = memory.settings.llm_timeout
        self._upstream = Upstream(
            UpstreamTimeouts(connect_seconds, seconds, seconds), ca_file=ca_file
        )  # none of the chats'
        self._secret = secrets.token_bytes(32)
        memory.service.refinement.borrow()

    def offer(self, call: ClientCall, target: Target) -> None:
        """Let the session of ``call`` be refined with the call's API key: the model that is configured for the provider
        ``target`` reads the session for facts that were missed.

        Call it only for a successful ``call`` whose response the client has received; this is not checked. It does
        nothing

        - if the call is not recorded in a session;
        - if no model is configured for the provider;
        - if the call was translated, or went to another provider than the one whose API its path belongs to;
        - if the session is not due for refinement.

        Call it on the event loop. It never blocks and never raises; an error is logged and counted as ``lend_failed``.
        """
        try:
            if call.session is not None and (lent := self._lend_model(call, target)) is not None:
                self._memory.service.refinement.lend(call.session, lent)
        except Exception as error:
            self._memory.service.report_failure("lend_failed", error)

    async def aclose(self) -> None:
        """Close the connections to the providers."""
        await self._upstream.aclose()

    def _lend_model(self, call: ClientCall, target: Target) -> LentModel | None:
        """Return the model that the call's key may be used for, together with the key. ``None`` if there is none (see
        ``offer``)."""
        server, model = target.server, self._models.get(target.server.name)
        side = provider_side(server.row)
        if model is None or side is None or not (target.addressed and server.takes(call.api_path.dialect)):
            return None
        headers = [pair for pair in with_credentials(target, call.headers) if pair[0].lower() in _FORWARDED_HEADERS]
        query = _only_key(query_for(target, call.query))
        complete = ClientModel(
            side,
            DIALECTS[server.row.dialect].name,
            server.row.base_url,
            model,
            headers,
            query,
            self._memory.settings,
            self._upstream,
            asyncio.get_running_loop(),
        )
        return LentModel(complete, self._digest_of_key(server.name, headers, query))

    def _digest_of_key(self, provider: str, headers: Sequence[Header], query: bytes) -> bytes:
        """Return a digest that identifies provider and key without revealing the key."""
        keys = [value for name, value in headers if name.lower() in CREDENTIALS]
        return blake2b(repr((provider, keys, query)).encode(), key=self._secret, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class ClientModel:
    """Function that asks a provider's model with a client's key, for refinement (a model reads a recorded session for
    facts that were missed).

    Call it in a worker thread; the request runs on ``loop``, the event loop of the connections.

    - ``side``, ``dialect``: translator and name of the provider's format of chat calls.
    - ``headers``, ``query``: contain the client's key.
    - ``upstream``: HTTP client. ``settings``: settings of the memory, such as ``llm_timeout``.
    """

    side: ProviderSide
    dialect: str
    base_url: str
    model: str
    headers: Sequence[Header] = field(repr=False)
    query: bytes = field(repr=False)
    settings: Settings = field(repr=False)
    upstream: Upstream
    loop: asyncio.AbstractEventLoop

    def __call__(self, messages: list[dict[str, str]]) -> Completion:
        """Send ``messages`` and return the model's reply, which may be cut off at the token limit. Raises
        ``ModelFailed`` if the provider's status is not 200 or its reply cannot be read, ``ReplyTooLong`` for a reply of
        more than ``settings.llm_reply_max`` bytes, ``TimeoutError``, and connection errors."""
        question = self._ask_provider(self.side.outgoing(self._call(messages)))
        try:
            asking = asyncio.run_coroutine_threadsafe(question, self.loop)
        except RuntimeError:  # the server has ended
            question.close()
            raise
        try:
            status, body = asking.result(self.settings.llm_timeout + _GRACE)
        finally:
            asking.cancel()
        return self._read_completion(status, body)

    def _call(self, messages: Sequence[Mapping[str, str]]) -> ChatCall:
        turns = [ChatTurn("system" if one["role"] == "system" else "user", (Text(one["content"]),)) for one in messages]
        wanted = AnswerFormat(SCHEMA, "session_record", True) if self.settings.llm_schema else None
        sampling = Sampling(max_tokens=self.settings.llm_output_tokens)
        return ChatCall(self.model, tuple(turns), sampling=sampling, format=wanted)

    async def _ask_provider(self, outgoing: ProviderRequest) -> tuple[int, bytes]:
        """Send the request; return status and body of the response. Raises ``TimeoutError`` after ``llm_timeout``
        seconds."""
        headers = [*json_headers(outgoing), *self.headers]
        place = escaped_place(self.base_url, outgoing.path.encode("ascii"), self.query)
        async with asyncio.timeout(self.settings.llm_timeout):
            answer = await self.upstream.open("POST", place, headers, dump(outgoing.body))
            try:
                return answer.status, await answer.read(self.settings.llm_reply_max, ReplyTooLong(self.model))
            finally:
                await answer.aclose()

    def _read_completion(self, status: int, body: bytes) -> Completion:
        if status != 200:
            raise ModelFailed(f"the provider answered {status}", again=is_transient(status))
        reply = DIALECTS[self.dialect].collect(body, stream=False)
        if reply.message is None or reply.outcome is Outcome.ERROR:
            raise ModelFailed("the provider's reply cannot be read")
        return Completion(reply.message.text, self.model, reply.usage)


def _only_key(query: bytes) -> bytes:
    """Return the part "key=..." of a query, in which Google's clients send their API key; b"" if there is none."""
    if b"key=" not in query:
        return b""
    pairs = parse_qsl(query.decode("latin-1"))
    return urlencode([pair for pair in pairs if pair[0] == "key"]).encode("latin-1")
