"""Fuse several rankings into one: a weighted sum of scaled scores (Bruch, Gai and Ingber, ACM TOIS 2023). Pure.

Words rank long passages well. Chat messages are short and questions use other words, so meaning gets more weight there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Weights = tuple[float, float, float]
"""What ranking by words counts, by meaning, and by the meaning of a passage with its neighbours."""

LONG: Final[Weights] = (1.0, 0.3, 0.2)
SHORT: Final[Weights] = (0.5, 1.0, 0.4)
"""The weights where the passages of a session are long, and where they are short."""

DEPTH: Final = 40
"""Places of each ranking that count."""


def fuse(rankings: Sequence[Mapping[int, float]], weights: Sequence[float]) -> dict[int, float]:
    """The items of all rankings with their scores, the best first. A ranking has positive scores, the best first, and
    is scaled: its best item counts 1. Where it is longer than ``DEPTH``, the last item that counts has 0."""
    scores: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for item, share in _scale_scores(ranking).items():
            scores[item] = scores.get(item, 0.0) + weight * share
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def _scale_scores(ranking: Mapping[int, float]) -> dict[int, float]:
    """The first ``DEPTH`` items of a ranking with scores from 0 to 1."""
    counted = list(ranking.items())[:DEPTH]
    if not counted:
        return {}
    least = counted[-1][1] if len(ranking) > DEPTH else 0.0
    span = counted[0][1] - least
    return {item: (score - least) / span if span > 0 else 1.0 for item, score in counted}
