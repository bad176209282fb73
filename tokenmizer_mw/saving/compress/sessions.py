"""Compression for the sessions of one process: caches the previous result, so that only new messages are processed."""

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
    """Compresses the requests of many sessions. Thread-safe if a ``lock`` is passed.

    It caches the result of each session's last request only to save time. ``failed``: called with the name of a stage
    that raised an error.
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
        """Compress the request of session ``key``, for sending after the cut ``rewrite`` (``None``: no cut).

        Returns the name of a counter instead if the request is not compressed; "" if there was nothing to shorten.
        """
        if why := refusal(request, marked=self._marked):
            return why
        with self._lock:
            before = self._take_known(key)
        start, cut = (None, None) if rewrite is None else (rewrite.keep_from, rewrite.through)
        found = condense_request(request, self._options, counter, start=start, before=before, cut=cut)
        with self._lock:
            self._keep(key, found.state)
        return found if found.request is not request else ""

    def compression_shares(
        self, key: Hashable, request: ChatRequest, start: int | None = None, cut: int | None = None
    ) -> Sequence[float]:
        """Return the share of each message's text that compression removes; empty if the request is not compressed.

        ``start``: index of the first message that is sent (``None``: all after the prefix). ``cut``: index of the
        newest message when the cut was made (``None``: no cut).
        """
        if refusal(request, marked=self._marked):
            return ()
        known = (key, "spared", cut)
        with self._lock:
            before = self._take_known(known)
        placed = read(request.messages, request.prefix if start is None else start)
        state = condense(texts(placed), self._options, before, cut=cut)
        with self._lock:
            self._keep(known, state)
        return shares(state, len(request.messages))

    def spared_results(
        self, key: Hashable, messages: Sequence[Message], start: int, cut: int | None = None
    ) -> Sequence[float]:
        """Return the share of each message's tokens that compression removes (0 to 1) when only results of tools are
        compressed and the bytes of the request are not known.

        ``start``: index of the first message that is sent. ``cut``: index of the newest message when the cut was made
        (``None``: no cut).
        """
        _, state = self._results(key, messages, range(start, len(messages)), cut)
        return shares(state, len(messages))

    def shorter_results(
        self, key: Hashable, messages: Sequence[Message], places: Sequence[int], cut: int | None = None
    ) -> dict[int, tuple[str, ...]]:
        """Return the tool result texts of each message at ``places`` in which one was shortened, by message index.

        ``cut``: index of the newest message when the cut was made (``None``: no cut).
        """
        return results(*self._results(key, messages, places, cut))

    def _results(
        self, key: Hashable, messages: Sequence[Message], places: Sequence[int], cut: int | None
    ) -> tuple[list[PlacedPassage], Condensed]:
        known = (key, "results", cut)
        with self._lock:
            before = self._take_known(known)
        placed = read_results(messages, places)
        state = condense(texts(placed), self._options, before, cut=cut)
        with self._lock:
            self._keep(known, state)
        return placed, state

    @property
    def held(self) -> int:
        """Characters of requests in the compression cache."""
        return self._held

    def forget(self) -> None:
        """Clear the compression cache."""
        with self._lock:
            self._known.clear()
            self._held = 0

    def _take_known(self, key: Hashable) -> Condensed | None:
        """What is known of a session. It is used up: another thread begins anew meanwhile."""
        known = self._known.pop(key, None)
        self._held -= known.size if known is not None else 0
        return known

    def _keep(self, key: Hashable, state: Condensed) -> None:
        self._take_known(key)
        self._known[key] = state
        self._held += state.size
        while self._held > self._known_max:
            self._take_known(next(iter(self._known)))
