"""Connect a chat call with the answer cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.redaction import ContentRedaction
from tokenmizer_mw.chat.reports import FailureReports
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.http import Headers

if TYPE_CHECKING:
    from tokenmizer_mw.saving.cache.answers import Answers, CacheLookup


class CacheHost:
    """What the cache asks of the service around it."""

    def __init__(self, redaction: ContentRedaction, background: BackgroundQueue, count: Callable[..., None]) -> None:
        self._redaction = redaction
        self._background = background
        self.count = count

    def later(self, work: Callable[[], object], size: int) -> bool:
        """Do ``work`` in the background; false when there is no room for it."""
        return self._background.put(object(), work, size)

    def clean(self, text: str) -> bool:
        """Whether there is no secret in ``text``, as far as secrets are looked for."""
        return self._redaction.redact_text(text) is text


def open_cache(
    settings: Settings, host: CacheHost, embed: Callable[[list[str]], Any] | None, url: str
) -> Answers | None:
    """The cache, where the settings switch it on. Raises ``ConfigError`` where it cannot be used."""
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
    """What the exchange asks of the cache, which observes its reply from now on; ``None`` where that is nothing, and
    where the client passes the cache by. ``headers``: all of them, as they came."""
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
