"""Find tiktoken's tables on this machine and load them. Uses no network.

tiktoken itself downloads a table that it does not find, and its loader writes to a cache directory. Therefore the files
are read here, checked against the digests that tiktoken pins, and passed to ``tiktoken.Encoding``.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from binascii import a2b_base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tiktoken import Encoding

from tokenmizer_mw.runtime.forking import make_lock

_TABLE_MAX: Final = 16 * 1024 * 1024

_loading: Final = make_lock()
"""Held while a table is read, which takes a second of CPU: threads that need it at the same time wait for one of
them."""

_GPT2_WORDS: Final = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K_WORDS: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K_WORDS: Final = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


@dataclass(frozen=True, slots=True)
class VocabularyTable:
    """A published tokenizer table: its URL (cached copies are named after it), the SHA-256 of the file in hexadecimal,
    and the regular expression that splits a text into words before they become tokens."""

    url: str
    sha256: str
    pattern: str

    @property
    def file_name(self) -> str:
        """The file name of a copy in a cache directory: the SHA-1 of the URL in hexadecimal, as tiktoken names it."""
        return hashlib.sha1(self.url.encode(), usedforsecurity=False).hexdigest()


_SITE: Final = "https://openaipublic.blob.core.windows.net/encodings"

TABLES: Final[dict[str, VocabularyTable]] = {
    "o200k_base": VocabularyTable(
        f"{_SITE}/o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", _O200K_WORDS
    ),
    "cl100k_base": VocabularyTable(
        f"{_SITE}/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        _CL100K_WORDS,
    ),
    "p50k_base": VocabularyTable(
        f"{_SITE}/p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", _GPT2_WORDS
    ),
    "r50k_base": VocabularyTable(
        f"{_SITE}/r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", _GPT2_WORDS
    ),
}
SAME_TABLE: Final = {"o200k_harmony": "o200k_base", "p50k_edit": "p50k_base", "gpt2": "r50k_base"}
"""Encodings that differ in their special tokens only, which plain text never uses."""

_CARRIERS: Final = (
    ("llama_index", ("core", "_static", "tiktoken_cache")),
    ("litellm", ("litellm_core_utils", "tokenizers")),
)
"""Packages that carry copies of the tables, and where inside."""


def directories(given: str | None, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the directories that may contain tables, the most explicit first: ``given`` (``None``: none), those that
    the variables TIKTOKEN_CACHE_DIR and DATA_GYM_CACHE_DIR in ``environ`` name, tiktoken's own cache, and those of
    installed packages that carry copies. They need not exist."""
    if given:
        yield Path(given)
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if environ.get(name):
            yield Path(environ[name])
    yield Path(tempfile.gettempdir()) / "data-gym-cache"
    for package, inside in _CARRIERS:
        for root in _roots(package):
            yield Path(root, *inside)


def _roots(package: str) -> list[str]:
    """Return the folders of an installed top-level package without importing it; ``[]`` if it is not installed."""
    try:
        spec = find_spec(package)
    except ValueError:  # somebody put a module without a spec into sys.modules
        return []
    return list(spec.submodule_search_locations or ()) if spec is not None else []


def find_encoding(name: str, directory: str | None = None) -> Encoding | None:
    """Load the encoding ``name``, such as "o200k_base", from the first intact copy of its table. Returns ``None`` if
    the name is unknown or there is no intact copy on this machine; a damaged copy is skipped.

    ``directory``: a directory to search before tiktoken's cache directories and those of installed packages; ``None``:
    none."""
    name = SAME_TABLE.get(name, name)
    table = TABLES.get(name)
    if table is None:
        return None
    for folder in directories(directory, os.environ):
        encoding = _load(name, str(folder / table.file_name))
        if encoding is not None:
            return encoding
    return None


def _load(name: str, path: str) -> Encoding | None:
    if not os.path.isfile(path):
        return None
    with _loading:
        return _load_encoding(name, path)


@lru_cache(maxsize=16)
def _load_encoding(name: str, path: str) -> Encoding | None:
    table = TABLES[name]
    raw = _read(path)
    if hashlib.sha256(raw).hexdigest() != table.sha256:
        return None
    ranks = {a2b_base64(token): int(rank) for token, rank in map(bytes.split, raw.splitlines())}
    return Encoding(name, pat_str=table.pattern, mergeable_ranks=ranks, special_tokens={})


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_TABLE_MAX)
    except OSError:
        return b""
