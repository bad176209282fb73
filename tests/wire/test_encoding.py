"""Content encodings are undone piece by piece, and never past the limit."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import random
import time
import tracemalloc
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.wire.http import DECODERS, Undecodable

DATA = random.Random(7).randbytes(20_000) + b"data: x\n\n" * 2_000
NO_LIMIT = 10_000_000


def _raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def _brotli(data: bytes) -> bytes:
    return bytes(importlib.import_module("brotli").compress(data))


def _zstd(data: bytes) -> bytes:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return bytes(importlib.import_module(name).compress(data))
        except ImportError:
            continue
    raise AssertionError("no zstd")


FORMS: list[tuple[str, Any]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("gzip", lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:])),
    ("gzip", lambda data: gzip.compress(data) + b"\0" * 10),
    ("deflate", zlib.compress),
    ("deflate", _raw_deflate),
    ("br", _brotli),
    ("zstd", _zstd),
    ("zstd", lambda data: _zstd(data[:100]) + _zstd(data[100:])),
]


def _decode(name: str, pieces: list[bytes], limit: int = NO_LIMIT) -> bytes:
    decoder, decoded = DECODERS[name](), b""
    for piece in pieces:
        if len(decoded) < limit:
            decoded += decoder.decode(piece, limit - len(decoded))
    return decoded


@pytest.mark.parametrize(("name", "encode"), FORMS)
@pytest.mark.parametrize("size", [1, 2, 100, 1_000_000])
def test_any_chunking_gives_the_data(name: str, encode: Any, size: int) -> None:
    if name not in DECODERS:
        pytest.skip(f"no library for {name}")
    encoded = encode(DATA)
    assert _decode(name, [encoded[at : at + size] for at in range(0, len(encoded), size)]) == DATA


@pytest.mark.parametrize("name", sorted(DECODERS))
@pytest.mark.parametrize("limit", [1, 1_000])
def test_bomb_is_not_unpacked(name: str, limit: int) -> None:
    encode = {"br": _brotli, "zstd": _zstd, "deflate": zlib.compress}.get(name, gzip.compress)
    bomb = encode(b"\0" * 20_000_000)
    tracemalloc.start()
    try:
        assert _decode(name, [bomb], limit) == b"\0" * limit
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_other_bytes_are_refused(name: str) -> None:
    with pytest.raises(Undecodable):
        _decode(name, [b"\xfe this is no compressed data at all", b" and never was"])


@given(st.sampled_from(sorted(DECODERS)), st.lists(st.binary(max_size=40), max_size=5))
def test_no_bytes_raise_anything_else(name: str, pieces: list[bytes]) -> None:
    with contextlib.suppress(Undecodable):
        _decode(name, pieces, 1_000)


def test_flushed_piece_can_be_read_at_once() -> None:
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    decoder = DECODERS["gzip"]()
    for piece in (b"data: one\n\n", b"data: [DONE]\n\n"):
        assert decoder.decode(compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH), NO_LIMIT) == piece


EMPTY_MEMBER = gzip.compress(b"")


@pytest.mark.parametrize("name", [name for name in ("gzip", "zstd") if name in DECODERS])
@pytest.mark.parametrize("size", [700, 256 * 1024, 30 * 1024 * 1024])
def test_bodies_of_endless_empty_members_are_given_up(name: str, size: int) -> None:
    """Without a bound 30 MB of them cost a decoder each, and a copy of all that stands behind each."""
    member = EMPTY_MEMBER if name == "gzip" else _zstd(b"")
    body = member * (30 * 1024 * 1024 // len(member))
    decoder = DECODERS[name]()
    started = time.process_time()
    with pytest.raises(Undecodable, match="more than 1024"):
        for at in range(0, len(body), size):
            assert decoder.decode(body[at : at + size], 1_000) == b""
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize("size", [1, 700, 100_000])
def test_many_members_are_one_body(size: int) -> None:
    body = b"".join(gzip.compress(b"%d," % number) for number in range(1_000))
    decoder = DECODERS["gzip"]()
    pieces = [decoder.decode(body[at : at + size], 100_000) for at in range(0, len(body), size)]
    assert b"".join(pieces) == b"".join(b"%d," % number for number in range(1_000))
