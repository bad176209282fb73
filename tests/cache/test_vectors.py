"""The nearest questions, found as if every number were looked at; and where vectors come from."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extract.test_semantic import _directory
from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.extract.score.encoder import digest_of
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.saving.cache.stores import Entry, ProcessAnswers
from tokenmizer_mw.saving.cache.vectors import NEAREST, BadVector, Embedder, Vectors, model_in

PART = b"p"


def filled(rows: np.ndarray, part: bytes = PART, store: ProcessAnswers | None = None) -> ProcessAnswers:
    store = store or ProcessAnswers(1 << 30)
    for row in rows:
        key = row.astype("<f4").tobytes()
        store.put(Entry(key + part, SessionKey("t", "s"), b"a", time.time() + 1e6, part, "?", key))
    return store


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.sampled_from([3, 96, 97, 130]), st.floats(0, 3), st.sampled_from([0.3, 0.9, 0.99]))
def test_nothing_is_missed(seed: int, width: int, alike: float, least: float) -> None:
    """As many questions as make a partition learn its axes, and some more."""
    made = np.random.default_rng(seed)
    rows = unit(made.standard_normal((560, width)) + alike * made.standard_normal(width))
    asked = unit(rows[0] + 0.05 * made.standard_normal(width))
    similar = {row.astype("<f4").tobytes() + PART: float(row @ asked) for row in rows}
    vectors = Vectors(filled(rows), width, 1 << 30)
    found = vectors.near(PART, asked, least)
    assert [one for one, _ in found] == sorted((one for one, _ in found), reverse=True)
    assert all(similar[key] == pytest.approx(one, abs=1e-4) for one, key in found)
    # what stands at the threshold, or at the end of the list, may fall on either side
    last = found[-1][0] + 1e-4 if len(found) == NEAREST else least + 1e-4
    told = {key for _, key in found}
    assert all(key in told for key, one in similar.items() if one >= max(last, least + 1e-4))


def test_partitions_are_apart_and_read_on() -> None:
    rows = unit(np.eye(4) + 0.01)
    store = filled(rows[:2])
    filled(rows[2:], b"q", store)
    vectors = Vectors(store, 4, 1 << 30)
    assert len(vectors.near(PART, rows[0], 0.9)) == 1
    assert vectors.near(PART, rows[2], 0.9) == []
    assert vectors.near(b"z", rows[0], 0.0) == []
    filled(rows[2:3], PART, store)
    assert len(vectors.near(PART, rows[2], 0.9)) == 1
    vectors.forget()
    assert len(vectors.near(PART, rows[2], 0.9)) == 1


def test_the_bound_on_memory_holds() -> None:
    rows = unit(np.random.default_rng(0).standard_normal((200, 8)))
    store = filled(rows)
    filled(rows, b"q", store)
    vectors = Vectors(store, 8, 10_000)
    for part in (PART, b"q", PART):
        assert vectors.near(part, rows[5], 0.999)
        assert len(vectors._partitions) == 1


def test_vectors_of_another_width_are_passed_over() -> None:
    store = filled(unit(np.ones((1, 5))))
    filled(unit(np.ones((1, 4))), PART, store)
    assert len(Vectors(store, 4, 1 << 30).near(PART, unit(np.ones(4)), 0.9)) == 1


def test_vectors_have_length_one() -> None:
    embedder = Embedder(lambda texts: [[3, 4] for _ in texts])
    assert embedder("x").tolist() == pytest.approx([0.6, 0.8])
    assert embedder.width == 2
    for broken in ([[0.0, 0.0]], [[float("nan"), 1.0]], [[1.0]], [1.0, 2.0]):
        answers = iter([[[1.0, 0.0]], broken])
        faulty = Embedder(lambda texts, answers=answers: next(answers))  # type: ignore[misc]
        with pytest.raises(BadVector):
            faulty("x")


def test_a_model_in_a_directory(tmp_path: Path) -> None:
    folder = _directory(tmp_path / "model")
    embedder = Embedder(model_in(str(folder), digest_of(folder).upper()))
    assert embedder("zebra stripes") == pytest.approx(embedder("zebra stripes"))
    with pytest.raises(ConfigError, match="cache_model_sha256"):
        model_in(str(folder), "0" * 64)
    with pytest.raises(ConfigError, match="no sentence model"):
        model_in(str(tmp_path / "nowhere"))
