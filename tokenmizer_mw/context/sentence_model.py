"""Turn texts into vectors for search by meaning: a sentence-transformers model, or a function of the host.

Needs the extra ``embeddings`` (for a function of the host: numpy alone).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Final

from tokenmizer_mw.context.recall.vectors import Matrix, unit_rows
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.installing import install_hint

Embed = Callable[[list[str]], Any]
"""Texts to vectors, a text a row; rows of numbers of any kind."""

BATCH: Final = 4
"""Texts that are embedded at once: a question waits for no more than these."""


class SentenceModel:
    """Vectors of length one, one text after the other or a few at once. Safe for threads.

    ``name`` tells whose vectors they are: those of one model are never compared with those of another. ``open`` is
    called when the first vector is wanted: a model takes seconds to load.
    """

    def __init__(self, name: str, open: Callable[[], Embed]) -> None:
        self.name = name
        self._open = open
        self._embed: Embed | None = None
        self._lock = make_lock()

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """The vectors of ``texts``, a row each. Raises what the model raises, and ``ValueError`` where it gives
        something else than vectors."""
        with self._lock:
            if self._embed is None:
                self._embed = self._open()
            return unit_rows(self._embed(list(texts)), len(texts))


def find_model(named: str) -> SentenceModel:
    """The sentence-transformers model in the directory ``named``, or of that name where it is installed; nothing is
    downloaded, and nothing loaded yet. Raises ``ConfigError`` where the package is missing."""
    if find_spec("sentence_transformers") is None:
        raise ConfigError(f"embeddings needs sentence-transformers: {install_hint('embeddings')}")
    return SentenceModel(named, lambda: _load(named))


def host_model(embed: Embed) -> SentenceModel:
    """The callable of a host; ``embed.identity`` (a text) names its model."""
    named = getattr(embed, "identity", None)
    return SentenceModel(named if isinstance(named, str) else "host", lambda: embed)


def _load(named: str) -> Embed:
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(named, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{named} is no sentence model that is installed here: {error}") from None

    def embed(texts: list[str]) -> Any:
        return model.encode(texts, show_progress_bar=False)

    return embed
