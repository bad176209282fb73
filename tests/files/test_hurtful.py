"""Files made to hurt: what is told of them is told soon, in little memory, and says where it ends."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenmizer_mw.files import analyze
from tokenmizer_mw.files.records import NESTED_MAX, TEXT_MAX


def _deep(path: Path) -> None:
    path.write_bytes(b"[" * (NESTED_MAX + 5_000))


def _swelling(path: Path) -> None:
    with gzip.open(path, "wb") as file:
        for _ in range(64):
            file.write(b"[" * (1 << 20))


def _long_text(path: Path) -> None:
    path.write_bytes(b'{"first": 1, "note": "' + b"a" * (TEXT_MAX + (1 << 20)) + b'", "last": 2}')


def _long_scalar(path: Path) -> None:
    path.write_bytes(b"first: 1\nnote: " + b"a" * (TEXT_MAX + (1 << 20)) + b"\nlast: 2\n")


MADE: list[tuple[str, Callable[[Path], None], str]] = [
    ("deep.json", _deep, "nested more than 10,000 deep"),
    ("swelling.json.gz", _swelling, "nested more than 10,000 deep"),
    ("text.json", _long_text, "a text in it is longer than 8,388,608 bytes"),
    ("scalar.yaml", _long_scalar, "a text in it is longer than 8,388,608 bytes"),
]


@pytest.mark.parametrize("name, make, told", MADE, ids=[name for name, _, _ in MADE])
def test_a_partial_digest_says_where_it_ends(
    tmp_path: Path, name: str, make: Callable[[Path], None], told: str
) -> None:
    make(tmp_path / name)
    digest = analyze(tmp_path / name)
    assert digest.partial
    assert told in digest.text
    assert digest.tokens <= 300


def test_many_long_texts_are_read_to_the_end(tmp_path: Path) -> None:
    text = b'"' + b"a" * (TEXT_MAX // 4) + b'"'
    (tmp_path / "many.json").write_bytes(b"[" + b",".join([text] * 6) + b"]")
    digest = analyze(tmp_path / "many.json")
    assert not digest.partial
