"""Compression for the sessions of one process: what went out last is known, so that only what is new is looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest

from .chat import PlacedPassage, read, read_results, texts
from .neural import Shrink
from .pipeline import Condensed, Options, condense
from .requests import CondensedRequest, condense_request, refusal, results, shares


class Compression:
    """Condenses the requests of many sessions. Threads may share it when they bring a ``lock``.

    What is known of a session is a matter of speed alone: without it the outcome is the same. ``failed`` is told the
    names of stages that raised.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        shrink: Shrink | None = None,
        failed: Callable[[str], None] = lambda stage: None,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._options = Options.of(settings, shrink, failed)
        self._marked = settings.compress_marked
        self._known_max = settings.compress_known_max
        self._known: OrderedDict[Hashable, Condensed] = OrderedDict()
        self._held = 0
        self._lock = lock if lock is not None else nullcontext()

    def condense(
        self, key: Hashable, request: ChatRequest, counter: TokenCounter, rewrite: Rewrite | None = None
    ) -> CondensedRequest | str:
        """The request of session ``key`` with shorter texts, where ``rewrite`` says what is left out of it anyway; why
        it passes as it is, as the name of a counter, "" when there was nothing to make shorter."""
        if why := refusal(request, marked=self._marked):
            return why
        with self._lock:
            before = self._taken(key)
        start, cut = (None, None) if rewrite is None else (rewrite.keep_from, rewrite.through)
        found = condense_request(request, self._options, counter, start=start, before=before, cut=cut)
        with self._lock:
            self._keep(key, found.state)
        return found if found.request is not request else ""

    def spared(
        self, key: Hashable, request: ChatRequest, start: int | None = None, cut: int | None = None
    ) -> Sequence[float]:
        """The share of each message's text that is not sent, where all from message ``start`` on are sent (``None``:
        all behind the prefix), behind a cut that was made when message ``cut`` was the newest (``None``: behind none);
        none where nothing may change."""
        if refusal(request, marked=self._marked):
            return ()
        known = (key, "spared", cut)
        with self._lock:
            before = self._taken(known)
        placed = read(request.messages, request.prefix if start is None else start)
        state = condense(texts(placed), self._options, before, cut=cut)
        with self._lock:
            self._keep(known, state)
        return shares(state, len(request.messages))

    def spared_results(
        self, key: Hashable, messages: Sequence[Message], start: int, cut: int | None = None
    ) -> Sequence[float]:
        """``spared`` where only the results of tools give way, of ``messages`` that were never bytes."""
        _, state = self._results(key, messages, range(start, len(messages)), cut)
        return shares(state, len(messages))

    def shorter_results(
        self, key: Hashable, messages: Sequence[Message], places: Sequence[int], cut: int | None = None
    ) -> dict[int, tuple[str, ...]]:
        """The texts of the results in each of the messages at ``places`` of which one is made shorter, where these are
        sent behind a cut that was made when message ``cut`` was the newest (``None``: behind none)."""
        return results(*self._results(key, messages, places, cut))

    def _results(
        self, key: Hashable, messages: Sequence[Message], places: Sequence[int], cut: int | None
    ) -> tuple[list[PlacedPassage], Condensed]:
        known = (key, "results", cut)
        with self._lock:
            before = self._taken(known)
        placed = read_results(messages, places)
        state = condense(texts(placed), self._options, before, cut=cut)
        with self._lock:
            self._keep(known, state)
        return placed, state

    @property
    def held(self) -> int:
        """Characters that are kept of requests."""
        return self._held

    def forget(self) -> None:
        """Keep nothing of any session."""
        with self._lock:
            self._known.clear()
            self._held = 0

    def _taken(self, key: Hashable) -> Condensed | None:
        """What is known of a session. It is used up: another thread begins anew meanwhile."""
        known = self._known.pop(key, None)
        self._held -= known.size if known is not None else 0
        return known

    def _keep(self, key: Hashable, state: Condensed) -> None:
        self._taken(key)
        self._known[key] = state
        self._held += state.size
        while self._held > self._known_max:
            self._taken(next(iter(self._known)))
