"""Embedding of texts: a sentence model in a directory, sentence-transformers, or any function of the host.

Needs the extra ``semantic``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.encoder import Encoder, digest_of

WIDTH_MAX: Final = 8_192
"""Numbers that a vector may have."""

Embed = Callable[[list[str]], Any]
"""Texts to vectors, a text a row; rows of numbers of any kind."""

Matrix = NDArray[np.float32]


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
        told = named.encode() if isinstance(named, str) else np.packbits(found[0] > 0).tobytes()
        self.identity = self.width.to_bytes(4, "little") + told

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
    """Load the sentence model in a directory. ``sha256``: the required digest of its weights, "" for any.

    Raises ``ConfigError`` if the directory has no model or another one.
    """
    folder = Path(directory)
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


def sentence_transformer(directory: str) -> Embed:
    """Load a model directory with the package sentence-transformers, for formats that ``model_in`` does not read.

    Downloads nothing. Raises ``ConfigError`` if the package or the model is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError:
        raise ConfigError("this needs the package sentence-transformers") from None
    try:
        model = SentenceTransformer(directory, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{directory} holds no sentence model: {error}") from None

    def embed(texts: Sequence[str]) -> Any:
        return model.encode(list(texts), show_progress_bar=False)

    return embed
