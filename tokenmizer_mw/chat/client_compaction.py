"""Answer a client's request for compaction: replace its whole transcript by a resume block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.request_guard import RequestGuard
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.context.compaction.contract import (
    CompactionResult,
    CompactionWish,
    Native,
    Seal,
    format_compaction,
    keep_from,
    open_words,
)
from tokenmizer_mw.context.resume import STANDING, STANDING_AND_WORK
from tokenmizer_mw.context.window import budget_for
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.truncation import BlockOrder, CutDecision, Truncation
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.bounded_log import patience
from tokenmizer_mw.wire.dialect import ChatRequest

COMPACTION_SECONDS: Final = 5.0
"""How long a compaction waits for the store: clients that ask for one expect a call of a model."""

_COMPACTION_SHARE: Final = 0.2
"""Share of a client's threshold that the block of a compaction may take."""


@dataclass(eq=False, slots=True)
class ClientCompaction:
    """Carries out compactions that clients request through the provider's API: the transcript is replaced by a resume
    block.
    """

    _settings: Settings
    _access: SessionAccess
    _redaction: ContentRedaction
    _guard: RequestGuard
    _count: Callable[..., None]

    def seal(self) -> Seal:
        """Return the object that encrypts and decrypts compactions. A compaction is a text that replaces a client's
        history; clients store it and send it back, but cannot read it.

        The key is derived from the store's secret. The secret is read from the store at the first call and then kept.
        Raises ``ConfigError`` if the package for encryption is missing, and ``StoreError`` if the store fails.
        """
        return Seal(self._redaction.secret)

    def compact(self, key: SessionKey, request: ChatRequest, wish: CompactionWish) -> CompactionResult | None:
        """Replace the transcript of a request by a resume block, as the client asked for, and record that together with
        the session's new messages.

        ``wish``: what the client asked for: a threshold in tokens (``None``: compact in any case), and what to keep.

        Returns ``None``, and the request stays as it is, when it has no more tokens than the threshold, when the
        compaction would not make it small enough, when the model's reasoning is valid only behind the unchanged history
        (the last two only with a threshold), or when the session has no facts to state. Reads the store. Raises
        ``RequestBlocked`` when the guard (the check for prompt injection) refuses the request.
        """
        clean = request.messages.through(self._redaction.remove_echoes).through(self._redaction.redact_message)
        request = replace(request, messages=clean)
        if self._guard.blocks:
            self._guard.refuse_suspicious(key, request)
        with span("compact", messages=len(clean)), patience(COMPACTION_SECONDS):
            counter, settings = self._access.counters.of(request.model), self._settings
            counts, overhead = counter.request_counts(request), counter.text(request.overhead)
            taken = overhead + sum(counts) + counter.text(wish.held)
            start: int | None = len(counts)
            budget = settings.compaction_tokens
            if wish.above is not None:
                above = min(wish.above, budget_for(request.model, settings) * settings.cut_at)
                if taken <= above:
                    return None
                if request.binds:  # what the model thinks next is valid only behind this very history
                    self._count("compaction_bound")
                    return None
                budget = min(budget, int(above * _COMPACTION_SHARE))
                room = above - overhead - sum(counts[: request.prefix]) - 2 * budget
                start = keep_from(request, counts, room)
            if start is None:
                self._count("compaction_no_room")
                return None
            truncation = Truncation(
                self._access.derivation, key, request, counter, read_sentences=self._access.sentence_reader(key)
            )
            sections = STANDING_AND_WORK if wish.beside else None
            made = self._compact_session(key, truncation, BlockOrder(budget, wish.query, sections))
        if made is None:
            return None
        words = open_words(request, budget, wish.open)
        text = format_compaction(made.block, words)
        goes_on = start < len(counts) and request.messages[start].opens_turn
        return CompactionResult(made.id, made.block, text, words, made.block if goes_on else text, start, taken)

    def follow_native(self, key: SessionKey, request: ChatRequest, native: Native) -> str:
        """Return the resume block to add after a compaction that a provider made (``native``); the same in every
        request with that compaction. The first time, it is built and recorded, together with the session's new
        messages; later it is read from the store. "" when the session does not exist yet or has no facts, and when the
        model's reasoning is only valid without an added block.
        """

        def read(state: SessionState) -> tuple[int, str | None]:
            made = state.checkpoint_at(native.checkpoint)
            return state.seq, made.block if made is not None else None

        seq, block = self._access.sessions.read(key, read)
        if block is not None:
            return block
        if seq == 0:
            self._access.sessions.drop(key)
            return ""
        if request.bound > native.place:
            self._count("compaction_bound")
            return ""
        clean = request.messages.through(self._redaction.remove_echoes).through(self._redaction.redact_message)
        request, settings = replace(request, messages=clean), self._settings
        whole = settings.compaction == "both"
        budget = settings.compaction_tokens if whole else settings.block_tokens
        order = BlockOrder(budget, sections=STANDING_AND_WORK if whole else STANDING, id=native.checkpoint)
        with span("compact", messages=len(clean)), patience(settings.store_wait_seconds):
            counter = self._access.counters.of(request.model)
            self._compact_session(key, Truncation(self._access.derivation, key, request, counter), order)
            return self._access.sessions.read(key, read)[1] or ""

    def _compact_session(self, key: SessionKey, truncation: Truncation, order: BlockOrder) -> Checkpointed | None:
        def decide(state: SessionState) -> CutDecision:
            known = bool(order.id) and state.checkpoint_at(order.id) is not None
            return CutDecision() if known else truncation.compact(state, order)

        decision = self._access.propose_cut(key, decide)
        for name in decision.counted:
            self._count(name)
        last = decision.events[-1] if decision.events else None
        return last if isinstance(last, Checkpointed) else None
