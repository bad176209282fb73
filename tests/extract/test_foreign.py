from __future__ import annotations

import time
from itertools import pairwise

import pytest

from tokenmizer_mw.extract.foreign import foreign, lies_in

PLACES = [
    ("We use Redis.", "Redis", False),
    ("<document>\nWe use Redis.\n</document>", "Redis", True),
    ('<file path="a.md">\nWe use Redis.\n</file>\nWe use Kafka.', "Redis", True),
    ('<file path="a.md">\nWe use Redis.\n</file>\nWe use Kafka.', "Kafka", False),
    ("<document>\nno end, and Redis", "Redis", True),
    ("  <search_results>\nRedis\n</search_results>", "Redis", True),
    ("<user_query>\nWe use Redis.\n</user_query>", "Redis", False),
    ("<documentation>\nRedis", "Redis", False),
    ("a <document> in a line, and Redis", "Redis", False),
    ('It says: "We met. We use Redis." So?', "We use", True),
    ("It says: \u201cWe met. We use Redis.\u201d So?", "We use", True),
    ('It says: "We met." We use Redis.', "We use", False),
    ('"Redis" it is.', "Redis", False),
    ('A screen of 24" is enough. We use Redis.', "We use", False),
    ('An open " here.\nWe use "Redis".', "We use", False),
]


@pytest.mark.parametrize(("text", "word", "elsewhere"), PLACES)
def test_whose_words_these_are(text: str, word: str, elsewhere: bool) -> None:
    assert lies_in(foreign(text), text.index(word)) is elsewhere


@pytest.mark.parametrize("unit", ["<document>\n", "<file>\n</file>\n", '"', '"a" ', "\u201c", "<"])
def test_time_is_linear(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        start = time.process_time()
        foreign(text)
        return time.process_time() - start

    assert min(cost(200_000) for _ in range(3)) <= 8 * min(cost(50_000) for _ in range(3)) + 5e-3


def test_places_are_in_order_without_overlaps() -> None:
    spans = foreign('"a b" <x>\n<doc>\n"c d"\n<doc>\n</doc>\n"e f" \u201cg "h" i\u201d\n' * 3)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
