"""What people use instead of a resume block: texts of a given size made of the same messages without a model.

- ``last``: the last messages. ``ends``: the beginning and the end.
- ``extract``: the users' sentences that are nearest to the subject of the session, without near-repetitions (TF-IDF
  centroid with maximal marginal relevance).
- ``bm25``: the users' messages that match a question best.

Budgets are in tokens of ``CHARACTERS_A_TOKEN`` characters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from .probes import CHARACTERS_A_TOKEN, content, sentences

_RELEVANT: Final = 0.7
_POOL_MAX: Final = 3_000
_PICKED_MAX: Final = 200
_SENTENCE: Final = range(20, 321)
_SATURATION: Final = 1.2
_LENGTH: Final = 0.75

Turns = Sequence[Mapping[str, Any]]
Vector = Mapping[str, float]


def last(turns: Turns, budget: int) -> str:
    """Return the last messages that fit into ``budget`` tokens, else the end of the last one."""
    room = budget * CHARACTERS_A_TOKEN
    taken: list[str] = []
    for turn in reversed(turns):
        said = _said(turn)
        if len(said) + 1 > room:
            return "\n".join(reversed(taken)) if taken else said[-room:]
        taken.append(said)
        room -= len(said) + 1
    return "\n".join(reversed(taken))


def ends(turns: Turns, budget: int) -> str:
    """Return half of the budget from the beginning and half from the end of the messages; all of them if they fit."""
    half = (budget // 2) * CHARACTERS_A_TOKEN
    text = "\n".join(map(_said, turns))
    return text if len(text) <= 2 * half else f"{text[:half]}\n...\n{text[len(text) - max(0, half - 8) :]}"


def extract(turns: Turns, budget: int) -> str:
    """Return the users' sentences that are nearest to the whole, in their order, as many as fit into ``budget``
    tokens."""
    pool = [said for turn in turns if turn["role"] == "user" for said in sentences(str(turn.get("content") or ""))]
    pool = [said for said in pool if len(said) in _SENTENCE][-_POOL_MAX:]
    vectors = _vectors([content(said) for said in pool])
    near = _cosines(_mean(vectors), vectors)
    room, picked, like = budget * CHARACTERS_A_TOKEN, list[int](), [0.0] * len(pool)
    left = set(range(len(pool)))
    while left and len(picked) < _PICKED_MAX:
        best = max(left, key=lambda at: (_RELEVANT * near[at] - (1 - _RELEVANT) * like[at], -at))
        left.discard(best)
        if len(pool[best]) + 1 > room:
            break
        room -= len(pool[best]) + 1
        picked.append(best)
        like = [max(pair) for pair in zip(like, _cosines(vectors[best], vectors), strict=True)]
    return "\n".join(pool[at] for at in sorted(picked))


def bm25(turns: Turns, budget: int, question: str) -> str:
    """Return the users' messages that match ``question``, the best first, up to the first one that does not fit into
    ``budget`` tokens; "" if none matches."""
    said = [str(turn.get("content") or "") for turn in turns if turn["role"] == "user"]
    room, taken = budget * CHARACTERS_A_TOKEN, list[str]()
    for at in _ranked(said, set(content(question))):
        if len(said[at]) + 1 > room:
            break
        taken.append(said[at])
        room -= len(said[at]) + 1
    return "\n".join(taken)


RESUMES: Final[Mapping[str, Callable[[Turns, int], str]]] = {"last": last, "ends": ends, "extract": extract}
"""The methods that need no question, by name."""


def _said(turn: Mapping[str, Any]) -> str:
    return f"{turn['role']}: {turn.get('content') or ''}"


def _ranked(texts: Sequence[str], asked: set[str]) -> Iterator[int]:
    counted = [Counter(content(text)) for text in texts]
    mean = sum(map(len, counted)) / max(1, len(counted)) or 1.0
    holding = {word: sum(word in counts for counts in counted) for word in asked}
    scores = []
    for counts in counted:
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * len(counts) / mean)
        weights = ((math.log1p((len(texts) - n + 0.5) / (n + 0.5)), counts[word]) for word, n in holding.items())
        scores.append(sum(weight * n * (_SATURATION + 1) / (n + norm) for weight, n in weights if n))
    order = sorted(range(len(texts)), key=lambda at: -scores[at])
    return (at for at in order if scores[at] > 0)


def _vectors(bags: Sequence[Sequence[str]]) -> list[Vector]:
    holding = Counter(word for bag in bags for word in set(bag))
    return [
        _unit({w: (1 + math.log(n)) * math.log(len(bags) / holding[w] + 1) for w, n in Counter(bag).items()})
        for bag in bags
    ]


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
    return {word: value / length for word, value in vector.items()}


def _mean(vectors: Sequence[Vector]) -> Vector:
    total: Counter[str] = Counter()
    for vector in vectors:
        total.update(vector)
    return _unit(total)


def _cosines(one: Vector, others: Sequence[Vector]) -> list[float]:
    return [sum(value * one.get(word, 0.0) for word, value in other.items()) for other in others]
