"""Embedding of questions: a sentence model in a directory, sentence-transformers, or any function of the host gives
vectors of length one. Needs the extra ``semantic``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tokenmizer_mw.context.embedding import Embed, sentence_transformer
from tokenmizer_mw.context.recall.vectors import Matrix
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.score.encoder import Encoder, digest_of
from tokenmizer_mw.runtime.installing import model_directory

__all__ = ["BadVector", "Embedder", "model_in", "sentence_transformer"]

WIDTH_MAX: Final = 8_192
"""Numbers that a vector may have."""


class BadVector(ValueError):
    """Raised when an embedder returns anything but vectors of its width."""


class Embedder:
    """Returns unit vectors of texts, computed by ``embed``. Calls ``embed`` once at construction to learn their width.

    ``identity`` identifies the model, because vectors of different models must not be compared: the attribute
    ``identity`` of ``embed`` if it is a text, else the signs of the first vector's numbers, which hardly differ between
    builds and machines.

    Raises ``ConfigError`` if that call fails or returns no vector.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self.width = 0
        self.identity = b""
        try:
            found = np.asarray(embed(["How wide is a vector?"]), np.float32)
        except Exception as error:
            raise ConfigError(f"the embedder of the cache fails: {type(error).__name__}: {error}") from None
        if found.ndim != 2 or found.shape[0] != 1 or not 1 <= found.shape[1] <= WIDTH_MAX:
            raise ConfigError(f"the embedder of the cache gives an array of the shape {found.shape} for one text")
        self.width = int(found.shape[1])
        named = getattr(embed, "identity", None)
        model = named.encode() if isinstance(named, str) else np.packbits(found[0] > 0).tobytes()
        self.identity = self.width.to_bytes(4, "little") + model

    def __call__(self, text: str) -> Matrix:
        """Return the vector of a text. Raises ``BadVector``, and what ``embed`` raises."""
        found = np.asarray(self._embed([text]), np.float32)
        if found.shape != (1, self.width):
            raise BadVector(f"a vector of the shape {found.shape} where {self.width} numbers were expected")
        length = float(np.linalg.norm(found[0]))
        if not np.isfinite(length) or length == 0.0:
            raise BadVector("a vector without a direction")
        return np.asarray(found[0] / np.float32(length), np.float32)


def model_in(directory: str, sha256: str = "") -> Embed:
    """Load the sentence model in a directory or an installed package. ``sha256``: the required digest of its weights,
    "" for any.

    Raises ``ConfigError`` if the directory has no model or another one.
    """
    folder = model_directory(directory)
    digest = digest_of(folder)
    if sha256 and digest != sha256.casefold():
        raise ConfigError(f"{folder}: the digest of its weights is {digest}, not the one in cache_model_sha256")
    return _Named(Encoder(folder), f"sha256:{digest}")


@dataclass(frozen=True, slots=True)
class _Named:
    """An embedder that says which model it is."""

    embed: Embed
    identity: str

    def __call__(self, texts: list[str]) -> Any:
        return self.embed(texts)
