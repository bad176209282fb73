"""Handles one call that asks for a compaction or contains one: parses it, makes the compaction, and answers or forwards
the call. A compaction is a short text (a block) that replaces the old messages of a conversation. This code blocks, so
it runs in a worker thread."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from tokenmizer_mw.context.compaction.clearing import clear_thinking, clear_tool_uses
from tokenmizer_mw.context.compaction.contract import (
    MARK,
    CompactionResult,
    CompactionWish,
    Native,
    ReducedRequest,
    SealedContent,
)
from tokenmizer_mw.context.compaction.request import CompactAbove, CompactionRequest, CompactNow, without_prompt
from tokenmizer_mw.errors import MalformedRequest, StoreError, UnknownSession
from tokenmizer_mw.model.session import SessionKey, is_usable_id
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.reply import refusal
from tokenmizer_mw.wire.request import Dialect
from tokenmizer_mw.wire.spans import decode_body, read_object
from tokenmizer_mw.wire.unparsed import has_bytes

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

_CHAINS: Final = ("previous_response_id", "conversation")
_NOTHING: Final = "there is nothing in this conversation that a compaction could stand for"


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """The response to a call that the proxy answers itself, without a provider. ``stream``: whether ``body`` is a
    stream of server-sent events; else it is JSON."""

    status: int
    body: bytes
    stream: bool = False


@dataclass(frozen=True, slots=True)
class ForwardedCall:
    """A call to forward to the provider, after changes.

    - ``body``: the new request body.
    - ``block``: the text that replaces earlier messages; the memory middleware adds it to the request. "" for none.
    - ``session``: id of the call's session; ``None`` leaves the session as it was found before.
    - ``added``: object that adds something to the response, see ``ResponseEditing``; ``None`` for nothing.
    - ``checkpoint``: id of the session's checkpoint that was made together with the block. With "", the middleware
      appends no reminders (facts that the block left out) to the newest message.
    """

    body: bytes
    block: str = ""
    session: str | None = None
    added: Any = None
    checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class CompactionCall:
    """One call that asks for a compaction (a short text that replaces old messages) or contains one.

    - ``contract``: the module of ``context.compaction`` that reads and writes compactions in the format of the call's
      API.
    - ``tenant``: owner of the sessions. ``session``: a pair of the session id (``None`` if unknown) and whether the
      client named it.
    - ``body``: the request body, JSON.
    - ``now``: whether the call's path asks for a compaction and nothing else, as the paths in ``STANDALONE`` do.
    - ``native``: whether the provider can make such compactions itself. ``leaves``: whether it is to do so for this
      call.
    - ``created``: creation time to write into responses, in seconds since the epoch.
    """

    memory: SessionMemory
    contract: ModuleType
    dialect: Dialect
    tenant: str
    session: tuple[str | None, bool]
    body: bytes
    now: bool = False
    leaves: bool = False
    native: bool = False
    created: int = 0

    def process(self) -> AnsweredCall | ForwardedCall | None:
        """Do what the call asks for: make a compaction (a short text that replaces old messages), or use the one that
        it contains. Returns the response, or the changed call to forward; ``None`` if the call is to be forwarded
        unchanged.

        Raises ``MalformedRequest`` for an invalid body, ``SealBroken`` if a compaction in the call was not made with
        this store and tenant, and ``RequestBlocked`` if the guard refuses the request because a message reads like an
        attack.
        """
        try:
            given = read_object(decode_body(self.body)).values
        except MalformedRequest:
            if self.leaves:
                return None  # the provider refuses it
            raise
        native: Native | None = self.contract.find_native(given)
        if native is not None:
            return None if self.now else self._follow_native(given, native)
        if (self.leaves or self._is_chained(given)) and not has_bytes(self.body, MARK.encode("ascii")):
            return None
        wanted = CompactionRequest(CompactNow()) if self.now else self.contract.read_wishes(given)
        if wanted is None:
            return None
        seal = self.memory.service.compaction.seal()
        behind: ReducedRequest = self.contract.reduce_request(given, partial(seal.open, self.tenant))
        key = self._key(given, behind.content)
        changes = behind.content is not None or behind.emptied or wanted.anything
        if key is None or not changes:
            return None
        if self.leaves:
            return self._left_to_provider(given, behind, key)
        cleared, edits = self._clear_parts(behind, wanted)
        if isinstance(wanted.compact, CompactNow):
            return self._at_once(cleared, wanted.compact, key)
        return self._forward(cleared, wanted.compact, key, edits)

    def _is_chained(self, given: Mapping[str, Any]) -> bool:
        """Return whether the provider stores the earlier messages of this call, so that the body has only the new ones.
        The provider then compacts the stored messages itself."""
        return self.native and any(given.get(name) for name in _CHAINS)

    def _follow_native(self, given: Mapping[str, Any], native: Native) -> ForwardedCall | None:
        """Handle a request with a compaction (text that replaces old messages) that the provider made: add a block with
        what the session knows, placed after that compaction. Returns ``None`` to forward the request unchanged: without
        a session, if there is nothing to add, and if the store fails, because that must not delay a chat."""
        key = self._key(given, None)
        if key is None:
            return None
        try:
            block = self.memory.service.compaction.follow_native(
                key, self.dialect.read(self.body, self.memory.service.known), native
            )
        except StoreError as error:
            self.memory.service.report_failure("compaction_failed", error)
            return None
        if not block:
            return None
        self.memory.service.count("native_compaction_followed")
        body, front = self.contract.follow(self.body, native, block)
        return ForwardedCall(body, front, key.id)

    def sum_up(self) -> AnsweredCall | ForwardedCall | None:
        """Handle a coding agent's request to summarise its own chat.

        Returns the resume block (a short text with the session's facts) as the response. If the setting
        ``agent_compaction`` is "both", returns the call to forward, with the block as an addition to the model's
        summary. ``None`` if the model is to answer the unchanged request. Raises ``MalformedRequest`` for an invalid
        body.
        """
        given = read_object(decode_body(self.body)).values
        body = without_prompt(given, self.contract.MESSAGES)
        key = self._key(given, None)
        if body is None or key is None:
            return None
        request = self.dialect.read(_dump_body({name: body[name] for name in body if name not in self.contract.ASKING}))
        beside = self.memory.settings.agent_compaction == "both"
        self._refine(key)
        made = self._make_compaction(key, request, CompactionWish(beside=beside))
        if made is None:
            return None
        if beside:
            self.memory.service.count("agent_compaction_followed")
            return ForwardedCall(self.body, added=self.contract.Following(made.block))
        self.memory.service.count("agent_compaction_answered")
        whole = self.contract.make_answer(request.model, made.block, self.created)
        return self._answer(whole, stream=request.stream)

    def _key(self, given: Mapping[str, Any], content: SealedContent | None) -> SessionKey | None:
        """Return the key of the session that the call belongs to; ``None`` if none is known. The id that the client
        named comes first, then the id in the call's compaction (text of this server that replaces old messages), then a
        derived id. ``content``: the content of that compaction, ``None`` if the call has none."""
        found, named = self.session
        in_field = given.get(self.memory.settings.session_field)
        if found is None and is_usable_id(in_field):
            found, named = in_field, True
        if content is not None and not named:
            found = content.session
        key = SessionKey(self.tenant, found or "")
        return key if key.valid() else None

    def _left_to_provider(self, given: Mapping[str, Any], behind: ReducedRequest, key: SessionKey) -> ForwardedCall:
        """Return the request to forward with its compaction replaced by the text in it, because the compaction was made
        by this server and the provider cannot read it. Further compactions are left to the provider."""
        body = _dump_body(self.contract.restore_trigger(behind.body, given))
        if behind.content is None:
            return ForwardedCall(body, "", key.id)
        return ForwardedCall(body, behind.content.text, key.id, checkpoint=behind.content.checkpoint)

    def _clear_parts(
        self, behind: ReducedRequest, wanted: CompactionRequest
    ) -> tuple[ReducedRequest, list[Mapping[str, Any]]]:
        """Remove the old tool results or reasoning that the client wants cleared. Returns the request without them, and
        a description of each removal for the response (an empty list if nothing was removed)."""
        edits: list[Mapping[str, Any]] = []
        messages = behind.body.get("messages")
        if not isinstance(messages, list) or not (wanted.clear_thinking or wanted.clear_tool_uses):
            return behind, edits
        request = self._read(behind)
        counter = self.memory.service.access.counters.of(request.model)
        if wanted.clear_thinking is not None:
            cleared = clear_thinking(messages, wanted.clear_thinking, counter.text)
            messages, edits = cleared.messages, [cleared.edit] if cleared.edit else []
        if wanted.clear_tool_uses is not None:
            held = behind.content.text if behind.content is not None else ""
            taken = counter.text(request.overhead) + sum(counter.request_counts(request)) + counter.text(held)
            cleared = clear_tool_uses(messages, wanted.clear_tool_uses, counter.text, taken)
            messages = cleared.messages
            edits += [cleared.edit] if cleared.edit else []
        return replace(behind, body={**behind.body, "messages": messages}) if edits else behind, edits

    def _read(self, behind: ReducedRequest, *, whole: bool = True) -> ChatRequest:
        """Parse the request without the fields that ask for a compaction (a text that replaces old messages). With
        ``whole``, all its other bytes stay as the client sent them if the request contains no compaction; else it is
        parsed from ``behind``, the request without the replaced messages."""
        if whole and behind.content is None and not behind.emptied:
            asking = self.dialect.read(self.body, self.memory.service.known)
            if not any(name in asking.fields for name in self.contract.ASKING):
                return asking
            return self.dialect.read(self.dialect.rewrite(asking, drop=self.contract.ASKING), self.memory.service.known)
        return self.dialect.read(_dump_body(behind.body), self.memory.service.known)

    def _at_once(self, behind: ReducedRequest, wanted: CompactNow, key: SessionKey) -> AnsweredCall:
        """Return a response that is a compaction of the whole conversation: a text that replaces all its messages. If
        the call has nothing but a compaction, that one is returned again. If the store fails, the response has status
        503. Raises ``MalformedRequest`` if there is nothing to compact."""
        request = self._read(behind)
        if behind.content is not None and behind.bare:
            return self._alone(
                request, behind.content, self.memory.service.compaction.seal().close(self.tenant, behind.content)
            )
        self._refine(key)
        try:
            made = self.memory.service.compaction.compact(key, request, _wish(behind, None, wanted.instructions))
        except StoreError as error:
            self.memory.service.report_failure("compaction_failed", error)
            return AnsweredCall(503, refusal(self.dialect.name, 503, "store_unavailable", "the store does not answer"))
        if made is None:
            raise MalformedRequest(_NOTHING)
        return self._alone(request, *self._seal_content(key, made))

    def _refine(self, key: SessionKey) -> None:
        """Let the configured model refine the session (find facts that were missed) before the compaction, if the
        setting ``llm_at_compaction`` is on. An error is counted and logged, not raised."""
        if not self.memory.settings.llm_at_compaction:
            return
        try:
            self.memory.refine(key.id, tenant=key.tenant)
        except UnknownSession:
            return
        except Exception as error:
            self.memory.service.report_failure("compaction_not_refined", error)

    def _forward(
        self, behind: ReducedRequest, wanted: CompactAbove | None, key: SessionKey, edits: Sequence[Mapping[str, Any]]
    ) -> AnsweredCall | ForwardedCall:
        """Return the request to forward, in which a new compaction replaces old messages if one is due. If the client
        wants to pause at a compaction, return the compaction as the response instead. ``edits``: descriptions of what
        was cleared."""
        request = self._read(behind, whole=not edits)
        held = behind.content.text if behind.content is not None else ""
        wish = _wish(behind, wanted.tokens, wanted.instructions) if wanted is not None else None
        made = self._make_compaction(key, request, wish) if wish is not None else None
        if made is None or wanted is None:
            added = self.contract.Addition(None, "", edits) if edits else None
            checkpoint = behind.content.checkpoint if behind.content is not None else ""
            return ForwardedCall(request.text.encode(), held, key.id, added, checkpoint)
        content, sealed = self._seal_content(key, made)
        if wanted.pause:
            return self._alone(request, content, sealed)
        body = self.dialect.rewrite(request, keep_from=made.keep_from)
        return ForwardedCall(body, made.now, key.id, self.contract.Addition(content, sealed, edits))

    def _make_compaction(self, key: SessionKey, request: ChatRequest, wish: CompactionWish) -> CompactionResult | None:
        """Return the compaction (a text that replaces old messages). ``None`` if none is due, and if the store fails,
        because that must not delay a chat."""
        try:
            return self.memory.service.compaction.compact(key, request, wish)
        except StoreError as error:
            self.memory.service.report_failure("compaction_failed", error)
            return None

    def _seal_content(self, key: SessionKey, made: CompactionResult) -> tuple[SealedContent, str]:
        content = SealedContent(key.id, made.checkpoint, made.text, made.open, made.tokens)
        return content, self.memory.service.compaction.seal().close(self.tenant, content)

    def _alone(self, request: ChatRequest, content: SealedContent, sealed: str) -> AnsweredCall:
        """Return a response that contains the compaction and nothing else. ``sealed``: the encrypted compaction that
        the client keeps."""
        self.memory.service.count("compaction_answered")
        whole = self.contract.alone(request.model, content, sealed, self.created, standalone=self.now)
        return self._answer(whole, stream=request.stream and not self.now)

    def _answer(self, whole: Mapping[str, Any], *, stream: bool) -> AnsweredCall:
        return AnsweredCall(200, self.contract.make_stream(whole) if stream else _dump_body(whole), stream)


def _wish(behind: ReducedRequest, above: int | None, query: str) -> CompactionWish:
    content = behind.content
    return (
        CompactionWish(above, content.text, content.open, query)
        if content is not None
        else CompactionWish(above, query=query)
    )


def _dump_body(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
