"""Sentence embeddings by a model in a directory: BERT in numpy, with the weights mapped into memory from the disk.

The directory is one that sentence-transformers writes for a small BERT model such as MiniLM: ``model.safetensors``,
``config.json`` and ``tokenizer.json``. Nothing is ever downloaded.

Needs the extra ``semantic``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tokenmizer_mw.errors import ConfigError

WEIGHTS: Final = "model.safetensors"
TOKENS_MAX: Final = 128
"""Number of tokens of a sentence that are read."""

HEADER_MAX: Final = 8 * 1024 * 1024
"""Largest header of a file of weights, in bytes; it lists the file's tensors."""

Matrix = NDArray[np.float32]

_KINDS: Final = {"F32": np.float32, "F16": np.float16}
_PREFIXES: Final = ("bert.", "model.", "0.auto_model.")


Adapter = Mapping[str, tuple[Matrix, Matrix]]
"""Changes of a model's matrices that training found (LoRA, Hu and others 2021): maps the name of a matrix to a tall and
a wide matrix, whose product is added to it."""


class Tokens(Protocol):
    """Protocol of a sentence model: splits texts into tokens, and computes the last layer for given tokens."""

    def tokens(self, text: str) -> Sequence[int]:
        """Return the numbers of a text's tokens, without special tokens such as "[CLS]" at the ends."""

    def number(self, token: str) -> int:
        """Return the number of a special token such as "[SEP]". Raises ``ConfigError`` if the model has none."""

    def read(self, tokens: Sequence[int], kinds: Sequence[int]) -> Matrix:
        """Return the output of the last layer for some tokens, one row per token. ``kinds``: for each token 0 if it is
        of the first text, 1 if it is of the second."""


class Encoder:
    """Embeds texts as vectors of ``width`` numbers: the mean of the last layer over a text's tokens, scaled to length
    one.

    ``directory``: where the model is; ``adapter``: changes of the model's matrices, ``None`` for none. Raises
    ``ConfigError`` if the directory has no such model, or the adapter belongs to another one.
    """

    def __init__(self, directory: Path, adapter: Adapter | None = None) -> None:
        try:
            config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
            self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
            self._weights = _tensors(directory / WEIGHTS)
            self._heads = int(config["num_attention_heads"])
            self._layers = int(config["num_hidden_layers"])
            self._epsilon = float(config.get("layer_norm_eps", 1e-12))
            self.width = int(config["hidden_size"])
            longest = min(TOKENS_MAX, int(config["max_position_embeddings"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"{directory} holds no sentence model: {error}") from None
        except Exception as error:  # tokenizers raises the bare class for a file that it cannot read
            raise ConfigError(f"{directory} holds no tokenizer: {error}") from None
        if config.get("hidden_act", "gelu") != "gelu" or self.width % self._heads:
            raise ConfigError(f"{directory}: only models of BERT's build with gelu are read")
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self._longest = longest
        self(["a"])
        if adapter:
            self._weights = {**self._weights, **_adapt(self._weights, adapter)}

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of ``texts``: a matrix with one row per text and ``width`` columns."""
        rows = [self._vector(self._tokenizer.encode(text).ids) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.width), np.float32)

    def _vector(self, tokens: Sequence[int]) -> Matrix:
        if not tokens:
            return np.zeros(self.width, np.float32)
        mean = self.read(tokens, [0] * len(tokens)).mean(axis=0)
        length = float(np.linalg.norm(mean))
        return np.asarray(mean / length if length else mean, np.float32)

    def tokens(self, text: str) -> Sequence[int]:
        """Return the numbers of a text's tokens, without special tokens such as "[CLS]" at the ends."""
        tokens: Sequence[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def number(self, token: str) -> int:
        """Return the number of a special token such as "[SEP]". Raises ``ConfigError`` if the tokenizer has none."""
        number = self._tokenizer.token_to_id(token)
        if number is None:
            raise ConfigError(f"the tokenizer has no {token}")
        return int(number)

    def read(self, tokens: Sequence[int], kinds: Sequence[int]) -> Matrix:
        """Return the output of the last layer for the first ``TOKENS_MAX`` of ``tokens``, one row per token. ``kinds``:
        for each token 0 if it is of the first text, 1 if it is of the second. Raises ``ConfigError`` if the weights do
        not fit the model's description."""
        try:
            hidden = self._embed_tokens(tokens[: self._longest], kinds[: self._longest])
            for layer in range(self._layers):
                hidden = self._layer(hidden, f"encoder.layer.{layer}")
        except (KeyError, IndexError, ValueError) as error:
            raise ConfigError(f"weights that do not fit the model's description: {error}") from None
        return hidden

    def _embed_tokens(self, tokens: Sequence[int], kinds: Sequence[int]) -> Matrix:
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][np.asarray(tokens)]
        places = weights["embeddings.position_embeddings.weight"][: len(tokens)]
        kind = weights["embeddings.token_type_embeddings.weight"][np.asarray(kinds)]
        return self._normal(words + places + kind, "embeddings.LayerNorm")

    def _layer(self, hidden: Matrix, name: str) -> Matrix:
        mixed = self._linear(self._attend(hidden, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self._normal(hidden + mixed, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        return self._normal(hidden + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attend(self, hidden: Matrix, name: str) -> Matrix:
        count, size = len(hidden), self.width // self._heads
        query, key, value = (
            self._linear(hidden, f"{name}.{part}").reshape(count, self._heads, size).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(size**0.5)
        raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (raised / raised.sum(axis=-1, keepdims=True)) @ value
        return np.asarray(mixed.transpose(1, 0, 2).reshape(count, self.width), np.float32)

    def _linear(self, hidden: Matrix, name: str) -> Matrix:
        return hidden @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, hidden: Matrix, name: str) -> Matrix:
        apart = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.sqrt((apart * apart).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        return np.asarray(apart / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"], np.float32)


def _adapt(weights: Mapping[str, Matrix], adapter: Adapter) -> dict[str, Matrix]:
    """The matrices that an adapter changes, with its changes added. Raises ``ConfigError`` if it belongs to another
    model."""
    try:
        return {name: weights[name] + tall @ wide for name, (tall, wide) in adapter.items()}
    except (KeyError, ValueError) as error:
        raise ConfigError(f"an adapter of another model: {error}") from None


def digest_of(directory: Path) -> str:
    """Return the SHA-256 of the file of weights in ``directory``, as hexadecimal digits. Raises ``ConfigError`` if
    there is no such file."""
    try:
        with (directory / WEIGHTS).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{directory} holds no sentence model: {error}") from None


def _gelu(hidden: Matrix) -> Matrix:
    """GELU: x times the share of a standard normal distribution below x. The error function is approximated by
    Abramowitz and Stegun 7.1.26, with an error of at most 1.5e-7."""
    size = np.abs(hidden) * np.float32(0.5**0.5)
    part = 1 / (1 + np.float32(0.3275911) * size)
    series = (
        (((1.061405429 * part - 1.453152027) * part + 1.421413741) * part - 0.284496736) * part + 0.254829592
    ) * part
    error = np.sign(hidden) * (1 - series * np.exp(-size * size))
    return np.asarray(0.5 * hidden * (1 + error), np.float32)


def _tensors(path: Path) -> Mapping[str, Matrix]:
    """The tensors of a safetensors file, by name. Raises ``ValueError`` if the file is cut off or has another
    format."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    size = int.from_bytes(data[:8].tobytes(), "little")
    if len(data) < 8 or size > min(HEADER_MAX, len(data) - 8):
        raise ValueError("its weights are no safetensors file")
    header = json.loads(data[8 : 8 + size].tobytes())
    body = data[8 + size :]
    return {_plain(name): _tensor(body, one) for name, one in header.items() if name != "__metadata__"}


def _tensor(body: NDArray[np.uint8], entry: Mapping[str, Any]) -> Matrix:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(body):
        raise ValueError("its weights are cut off")
    if entry["dtype"] not in _KINDS:
        return np.zeros(0, np.float32)
    values = body[start:end].view(_KINDS[entry["dtype"]]).reshape(entry["shape"])
    return values if values.dtype == np.float32 else values.astype(np.float32)


def _plain(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name
