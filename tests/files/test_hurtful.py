"""Files made to hurt: what is told of them is told soon, in little memory, and says where it ends."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tokenmizer_mw.saving.files import analyze
from tokenmizer_mw.saving.files.records import NESTED_MAX, TEXT_MAX
from tokenmizer_mw.saving.files.table import COLUMNS_MAX, ROW_MAX


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


def _wide_lines() -> Iterator[bytes]:
    yield from [b"1,2," * 300_000 + b"\n"] * 2


def _wide_rows() -> Iterator[bytes]:
    """Rows of many short values, that are looked at together."""
    yield from [b"1," * 20_000 + b"1\n"] * 150


def _long_rows() -> Iterator[bytes]:
    """Rows of long values, that are looked at together."""
    yield from [b",".join([b"x" * 5_000] * 100) + b"\n"] * 150


def _one_row() -> Iterator[bytes]:
    """Each line ends within quotation marks that close on the next: the row does not end."""
    yield b"a,b\n1,2\n"
    yield from [b'"x\n",' * 10_000] * 100


def _long_values() -> Iterator[bytes]:
    yield b"["
    yield from [b'"' + b"y" * 200_000 + b'",'] * 200
    yield b"1]"


HEAVY: list[tuple[str, Callable[[], Iterator[bytes]], str]] = [
    ("lines.csv", _wide_lines, "1,048,576 characters cut"),
    ("wide.csv", _wide_rows, "150 rows x 20,001 columns"),
    ("long.csv", _long_rows, "150 rows x 100 columns"),
    ("row.csv", _one_row, f"a row is longer than {ROW_MAX:,} characters"),
    ("values.json", _long_values, "200 x string"),
]


@pytest.mark.parametrize("name, pieces, told", HEAVY, ids=[name for name, _, _ in HEAVY])
def test_memory_stays_bounded(tmp_path: Path, name: str, pieces: Callable[[], Iterator[bytes]], told: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.writelines(pieces())
    tracemalloc.start()
    try:
        digest = analyze(tmp_path / name)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert told in digest.text
    assert peak < 40_000_000


def test_further_columns_are_counted(tmp_path: Path) -> None:
    names = [f"name{number}x" for number in range(COLUMNS_MAX + 25)]
    (tmp_path / "t.csv").write_text(f"{','.join(names)}\n" + ("v," * (len(names) - 1) + "v\n") * 3)
    digest = analyze(tmp_path / "t.csv", budget=20_000)
    assert f"3 rows x {len(names)} columns" in digest.text and "another number of values" not in digest.text
    assert (
        f"further columns: name{COLUMNS_MAX}x, name{COLUMNS_MAX + 1}x" in digest.text and " and 15 more" in digest.text
    )
    assert len(digest.facts["columns"]) == COLUMNS_MAX and digest.facts["further_columns"] == 25
