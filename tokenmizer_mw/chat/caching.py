"""Connect chat calls with the response cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tokenmizer_mw.chat.content_checks import ContentRedaction
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.settings import Settings

if TYPE_CHECKING:
    from tokenmizer_mw.saving.cache.answers import Answers


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
