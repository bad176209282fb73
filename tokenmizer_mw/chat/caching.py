"""Connect chat calls with the response cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tokenmizer_mw.chat.content_checks import ContentRedaction
from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.reports import FailureReports
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.http import Headers

if TYPE_CHECKING:
    from tokenmizer_mw.saving.cache.answers import Answers, CacheLookup


class CacheHost:
    """What the response cache needs from the memory's service: background work, a check for secrets, and counters."""

    def __init__(self, redaction: ContentRedaction, background: BackgroundQueue, count: Callable[..., None]) -> None:
        self._redaction = redaction
        self._background = background
        self.count = count

    def later(self, work: Callable[[], object], size: int) -> bool:
        """Run ``work``, which holds ``size`` bytes, in the background. Returns false when the queue is full."""
        return self._background.put(object(), work, size)

    def clean(self, text: str) -> bool:
        """Return whether ``text`` contains no secret; always true if redaction is off."""
        return self._redaction.redact_text(text) is text


def open_cache(
    settings: Settings, host: CacheHost, embed: Callable[[list[str]], Any] | None, url: str
) -> Answers | None:
    """Open the response cache; ``None`` if it is off. Raises ``ConfigError`` if it cannot be used."""
    if settings.cache == "off":
        return None
    from tokenmizer_mw.saving.cache.answers import Answers  # most applications have none

    return Answers(host, settings, beside=url, embed=embed)


def ask_cache(
    answers: Answers,
    exchange: ChatExchange,
    settings: Settings,
    reports: FailureReports,
    *,
    headers: Headers,
    host: str,
    query: bytes,
    count: Callable[..., None],
) -> CacheLookup | None:
    """Return the cache lookup for a chat call, and let it observe the call's reply. ``None`` if the request cannot be
    cached, or the client bypasses the cache.

    ``headers``: all request headers, as received.
    """
    from tokenmizer_mw.saving.cache.question import place_of  # most applications have no cache

    wish = exchange.headers.get(settings.cache_header.lower().encode("latin-1", "replace"), b"").strip().lower()
    if exchange.fixed:
        return None
    if wish == b"bypass":
        count("cache_bypassed")
        return None
    try:
        place = place_of(exchange.path, headers, settings, host=host, query=query)
        rewritten = exchange.rewrite is not None
        asking = answers.ask(exchange, exchange.key, place, rewritten=rewritten, looks=wish != b"refresh")
    except Exception as error:
        reports.report_failure("cache_failed", error)
        return None
    exchange.observer = asking
    return asking
