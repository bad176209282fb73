from __future__ import annotations

import time
from itertools import pairwise

import pytest

from tests.sampling import sample
from tokenmizer_mw.extract.read.documents import MARKS_MAX
from tokenmizer_mw.extract.read.other_speakers import find_foreign, is_in_spans, is_introducing_quotation
from tokenmizer_mw.extract.rules.handover_phrases import HANDED

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
    ("Er sagt: „Gut. We use Redis.“ Und?", "We use", True),
    ("Er sagt: „Gut. We use Redis.” Und?", "We use", True),
    ("Il dit : « Bon. We use Redis. » Et ?", "We use", True),
    ("Er sagt: »Gut. We use Redis.« Und?", "We use", True),
    ("彼は「はい。We use Redis。」と言いました。", "We use", True),
    ("彼は『はい。We use Redis。』と言いました。", "We use", True),
    ("彼は\uff62はい。We use Redis。\uff63と言いました。", "We use", True),
    ("彼は「We use Redis。」と書きました。", "彼は", True),
    ("はい。彼は「We use Redis。」と書きました。", "はい", False),
    ("ボタンに「We use Redis」と書いてください。", "ボタン", False),
    ('그는 "We use Redis."라고 썼습니다. 네.', "그는", True),
    ('"We met."라고 했다. We use Redis.', "We use", False),
    ("「Redis」にします。", "Redis", False),
    ("« Redis » est choisi. We use Redis.", "We use", False),
    ("5 »Nägel. We use Redis.", "We use", False),
    ('An open " here.\nWe use "Redis".', "We use", False),
]


@pytest.mark.parametrize(("text", "word", "elsewhere"), PLACES)
def test_whose_words_these_are(text: str, word: str, elsewhere: bool) -> None:
    assert is_in_spans(find_foreign(text), text.index(word)) is elsewhere


@pytest.mark.parametrize(
    ("text", "words", "announced"),
    [
        ('The wiki says: "We use Redis." So?', "The wiki says", True),
        ("Sie schrieb : „Ja.“", "schrieb", True),
        ("彼の返事：「はい」", "返事", True),
        ("The wiki says: we use Redis.", "The wiki says", False),
        ('Call it "Redis".', "Call it", False),
    ],
)
def test_what_only_says_where_a_quotation_comes_from(text: str, words: str, announced: bool) -> None:
    assert is_introducing_quotation(text, text.index(words) + len(words)) is announced


TEXT = "We met on Monday. We use Redis from now on.\n\nAnd never push to main."


@pytest.mark.parametrize("introduction", [example for row in HANDED for example in row.examples])
def test_a_text_that_is_handed_over_is_not_the_speakers(introduction: str) -> None:
    spans = find_foreign(introduction + TEXT, handed=True)
    assert spans == [(len(introduction), len(introduction + TEXT))]
    assert find_foreign(introduction + TEXT) == []


@pytest.mark.parametrize("start", [counter for row in HANDED for counter in row.counters])
def test_what_only_sounds_like_it_is_the_speakers(start: str) -> None:
    assert find_foreign(start + TEXT, handed=True) == []


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("これを要約してください：\n今後は必ず毎回MySQLを使う。", True),
        ("これを翻訳してください：\nデータベース", False),
        ("Translate this:\na short remark", False),
    ],
)
def test_what_is_handed_over_has_more_than_a_word(text: str, whole: bool) -> None:
    start = text.index("\n") + 1
    assert find_foreign(text, handed=True) == ([(start, len(text))] if whole else [])


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        (f"Translate this:\n\n```\n{TEXT}\n```\nWe use Kafka.", True),
        (f"Translate this:\n---\n{TEXT}\n---\nWe use Kafka.", True),
        (f"Translate this:\n“{TEXT}”\nWe use Kafka.", True),
        (f'Translate this: "{TEXT}" We use Kafka.', True),
        ("Summarise this article: https://example.org/2026/11/a-long-article.html\nWe use Kafka.", True),
        ("Summarise this:\nnotes/2026-11-21-meeting-notes.md\nWe use Kafka.", True),
        (f"We use Kafka. Translate this:\n{TEXT}", True),
        (f"Translate this:\n{TEXT}\nWe use Kafka.", False),
        (f"Translate this:\n```\n{TEXT}\nWe use Kafka.", False),
        (f"<doc>\nHere is the mail:\n{TEXT}\n</doc>\nWe use Kafka.", False),
    ],
)
def test_where_a_text_that_is_handed_over_ends(text: str, speaks: bool) -> None:
    spans = find_foreign(text, handed=True)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert is_in_spans(spans, text.index("Kafka")) is not speaks
    assert TEXT not in text or is_in_spans(spans, text.index("Redis"))


@pytest.mark.parametrize("unit", ["Translate this:\n", "here is the mail: ", "following ", "translate ```\n"])
def test_time_is_linear_in_texts_that_are_handed_over(unit: str) -> None:
    test_time_is_linear(unit)


@pytest.mark.parametrize(
    "unit", sample(["„", "「a」", "「ab」と言った", "<document>\n", "<file>\n</file>\n", '"', '"a" ', "\u201c", "<"], 3)
)
def test_time_is_linear(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        start = time.process_time()
        find_foreign(text, handed=True)
        return time.process_time() - start

    assert min(cost(200_000) for _ in range(3)) <= 8 * min(cost(50_000) for _ in range(3)) + 5e-3


@pytest.mark.parametrize("unit", sample(['{"a":{"b":[', "<a>\n", '"""\n', "[1] a\n", '"a" ', "A: b\nB: c\n"], 2))
def test_marks_are_counted_before_they_cost(unit: str) -> None:
    def cost(unit: str, size: int) -> float:
        text = (unit * size)[:size]
        start = time.process_time()
        find_foreign(text, handed=True)
        return time.process_time() - start

    size = len(unit) * MARKS_MAX
    plain = min(cost("a b\n", 8 * size) for _ in range(3))  # to read a text without marks
    assert min(cost(unit, 8 * size) for _ in range(3)) <= 5 * min(cost(unit, size) for _ in range(3)) + 2 * plain


def test_places_are_in_order_without_overlaps() -> None:
    spans = find_foreign('"a b" <x>\n<doc>\n"c d"\n<doc>\n</doc>\n"e f" \u201cg "h" i\u201d\n' * 3)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@pytest.mark.parametrize(
    "text",
    [
        "Here's what the vendor's page says: use Kafka and drop Redis.",
        "Das schreibt der Verein: nehmt Kafka statt Redis.",
        "Voici ce que dit la notice : prenez Kafka, pas Redis.",
    ],
)
def test_words_that_somebody_else_says_in_the_same_line(text: str) -> None:
    spans = find_foreign(f"Good morning.\n{text}\nWhat do you think?", handed=True)
    assert is_in_spans(spans, len("Good morning.\n") + text.index("Kafka"))
    assert not is_in_spans(spans, 0)
