"""Answers given again: which questions share one, and what looking up costs.

The guard is asked at any similarity (an oracle to which all pairs are alike, the worst case that an embedder can make)
and behind the similarity of words and their parts. No sentence model is on the machine that this ran on.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokenmizer_mw.chat.exchange import ChatExchange, open_exchange
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.saving.cache.answers import Answers
from tokenmizer_mw.saving.cache.guard import differs, of_the_moment
from tokenmizer_mw.saving.cache.port import Entry
from tokenmizer_mw.saving.cache.question import ComparableQuestion, RequestTarget, place_of
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects import ROUTES

from .measure import at_least, at_most

CORPUS: Final = Path(__file__).parent / "corpus"
THRESHOLD: Final = Settings().cache_similarity
ENTRIES: Final = 100_000
WIDTH: Final = 384
ROUNDS: Final = 15
_OWNER: Final = SessionKey("acme", "one")

Similarity = Callable[[str, str], float]
Matrix = NDArray[np.float32]


def run(entries: int = ENTRIES) -> dict[str, Any]:
    sets = {name: _read(CORPUS / f"{name}.json") for name in ("cache_pairs", "cache_pairs_second")}
    first, second = sets["cache_pairs"], sets["cache_pairs_second"]
    figures: dict[str, Any] = {"pairs": _scores(first)}
    bars = [
        at_most("false hits of the first set, every pair above the threshold", figures["pairs"]["oracle"]["false"], 0),
        at_least("hits of the first set, per 60 pairs", figures["pairs"]["oracle"]["hits_of_60"], 40),
    ]
    if second is not None:
        figures["second_first_look"] = FIRST_LOOK
        figures["second_after_mending"] = _scores(second)
        share = round(FIRST_LOOK["false"] / FIRST_LOOK["differ"], 4)
        bars.append(at_most("share of false hits, second set by another author, first look", share, 0.01))
    figures["exact_ms"] = {size: _exact(size) for size in (1_000, 10_000, 100_000)}
    figures["semantic_ms"] = {name: _semantic(entries, *crowd) for name, crowd in CROWDS.items()}
    figures["miss_ms"] = {kind: _miss(kind) for kind in ("exact", "semantic")}
    figures["guard_us"] = _guard(first)
    bars.append(at_most("CPU ms of an exact hit, request of 10 kB", figures["exact_ms"][10_000], 0.3))
    slowest = max(figures["semantic_ms"][name] for name in ("spread", "crowded"))
    bars.append(at_most(f"CPU ms of looking among {entries:,} questions, the slower of two crowds", slowest, 15.0))
    return {"figures": figures, "bars": bars, "notes": NOTES}


FIRST_LOOK: Final = {
    "commit": "452fced",
    "same": 64,
    "differ": 66,
    "hits": 4,
    "false": 3,
    "false_kinds": ["text", "sign", "swap"],
    "false_without_guard_lexical": 21,
}
"""What the guard made of the second set before anybody had seen it: the figures that count. It was mended since."""

CROWDS: Final = {"spread": (0.6, 0.5), "crowded": (2.0, 0.5), "without_structure": (2.0, 0.0)}
"""How much the vectors have in common, and the power with which their principal axes lose weight (0: they do not)."""

NOTES: Final = (
    "The first set (64 + 72 pairs) was written by the author of the guard before its tables. First run: 44 of 64"
    " hits and 3 of 72 false hits; the guard was then mended with the set in view, so that its figures are a"
    " ceiling. Lists of the same author, written after that, gave at first run 2 of 79 and 7 of 164 false hits on"
    " traps, 24 of 38 and 34 of 62 hits on paraphrases; they were mended, too, and are in tests/cache/pairs.yaml."
    " The second set (64 + 66 pairs), by an author who had seen neither guard nor pairs, gave 4 of 64 hits and 3 of"
    " 66 false hits at its first look, which is what the bar is held against: its paraphrases are freer than the"
    " guard's tables reach (sentences built anew), so that it errs on the side of asking the model. The three false"
    " hits (text in single quotation marks, a minus before a number, two places exchanged) were then mended, and a"
    " few reasons for missing (7 of 64 hits). A reviewer's 76 pairs that must differ then gave 16 false hits; since"
    " that was mended, words must stand in the same order, which cost hits: 55 to 47 of 64 in the first set, 7 to 4 in"
    " the second, 71 to 57 of 100 paraphrases. No sentence model is on this machine: what counts here is the"
    " guard. With the oracle every pair reaches the threshold, which no model can make worse; hits behind a real"
    " model are fewer by the pairs of one meaning that it puts below the threshold (words alone: the lexical"
    " column). Looking up is timed on vectors of 384 numbers whose principal axes lose weight as those of embeddings"
    " do, spread (mean cosine 0.26) and crowded (0.8), embedding not included; without any such structure, which has"
    " no bar, all numbers are multiplied."
)


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _scores(pairs: dict[str, Any]) -> dict[str, Any]:
    return {
        "same": len(pairs["same"]),
        "differ": len(pairs["differ"]),
        "oracle": _score(pairs, lambda one, other: 1.0),
        "lexical": _score(pairs, lexical),
        "lexical_without_guard": {
            "hits": sum(lexical(row["first"], row["second"]) >= THRESHOLD for row in pairs["same"]),
            "false": sum(lexical(row["first"], row["second"]) >= THRESHOLD for row in pairs["differ"]),
        },
        "missed_by": dict(Counter(_reason(row) for row in pairs["same"] if _reason(row))),
    }


def _score(pairs: dict[str, Any], similarity: Similarity) -> dict[str, Any]:
    def hits(rows: list[dict[str, str]]) -> list[str]:
        near = (row for row in rows if similarity(row["first"], row["second"]) >= THRESHOLD)
        return [row["id"] for row in near if not _reason(row)]

    same, wrong = hits(pairs["same"]), hits(pairs["differ"])
    return {
        "hits": len(same),
        "hits_of_60": round(60 * len(same) / len(pairs["same"]), 1),
        "false": len(wrong),
        "false_ids": wrong,
    }


def _reason(row: dict[str, str]) -> str:
    """Why the pair shares no answer; "" when it does."""
    if of_the_moment(row["first"]) or of_the_moment(row["second"]):
        return "moment"
    return differs(row["first"], row["second"])


def lexical(one: str, other: str) -> float:
    """Cosine of the counts of words and of their parts of three letters."""
    left, right = _parts(one), _parts(other)
    product = sum(count * right[part] for part, count in left.items())
    lengths = math.sqrt(sum(c * c for c in left.values()) * sum(c * c for c in right.values()))
    return product / lengths if lengths else 0.0


def _parts(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for word in text.casefold().split():
        padded = f"^{word.strip('.,?!')}$"
        found.update([padded, *(padded[at : at + 3] for at in range(len(padded) - 2))])
    return found


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
    """CPU milliseconds from the request to the answer that is given again."""
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
    """CPU milliseconds that a request of 10 kB costs that nobody has answered before, embedding not included."""
    answers = Answers(_Host(), Settings(cache=kind), embed=lambda texts: np.ones((len(texts), WIDTH)))
    answers.prepare()
    opened, place = _opened(10_000)

    def work() -> None:
        asking = answers.ask(opened.with_body(opened.body), _OWNER, place)
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
    """CPU milliseconds from a question's vector to the answer, among ``entries`` questions of one partition."""
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


def _guard(pairs: dict[str, Any] | None) -> float:
    """CPU microseconds for comparing two questions."""
    rows = [*pairs["same"], *pairs["differ"]] if pairs else []
    return round(_median(lambda: [differs(row["first"], row["second"]) for row in rows], 1) / len(rows) * 1_000, 1)
