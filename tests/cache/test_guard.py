"""What two questions may differ in and share an answer, and what keeps them apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.saving.cache.guard import differs, is_of_the_moment, read
from tokenmizer_mw.saving.cache.guard.comparing import CHECKS, align
from tokenmizer_mw.saving.cache.guard.reading import CHARACTERS_MAX

TOLD = yaml.load(Path(__file__).with_name("pairs.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
CORPUS = Path(__file__).parents[2] / "benchmarks" / "corpus"
HITS = {
    "cache_pairs": 52,
    "cache_pairs_second": 12,
    "cache_pairs_coding": 47,
    "cache_pairs_support": 34,
    "cache_pairs_third": 24,
    "cache_pairs_last": 25,
}


def pairs(name: str, kind: str) -> list[Any]:
    return list(json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))[kind])


def apart(first: str, second: str) -> bool:
    return is_of_the_moment(first) or is_of_the_moment(second) or bool(differs(first, second))


@pytest.mark.parametrize("name", HITS)
def test_pairs_that_must_differ(name: str) -> None:
    rows = [(row["first"], row["second"]) for row in pairs(name, "differ")]
    assert [pair for pair in rows if not apart(*pair) or not apart(*reversed(pair))] == []


@pytest.mark.parametrize("name", HITS)
def test_pairs_of_one_meaning(name: str) -> None:
    rows = pairs(name, "same")
    assert sum(not apart(row["first"], row["second"]) for row in rows) >= HITS[name]


def test_each_rule_refuses_something_that_no_other_does() -> None:
    """But for `empty`, which keeps questions apart in which there is nothing to compare."""
    rows = [pair for name in HITS for row in pairs(name, "differ") for pair in [(row["first"], row["second"])]]
    refused = [found for pair in [*rows, *TOLD["traps"], *TOLD["turned"]] if len(found := _refusals(*pair)) == 1]
    assert {name for name, _ in CHECKS} - {"empty"} <= set().union(*refused)


def _refusals(first: str, second: str) -> set[str]:
    one, other = read(first), read(second)
    if one is None or other is None or is_of_the_moment(first) or is_of_the_moment(second):
        return set()
    return {name for name, alike in CHECKS if not alike(one, other, align(one, other))}


def test_traps_and_paraphrases() -> None:
    assert [pair for pair in TOLD["traps"] if not apart(*pair)] == []
    assert sum(not apart(*pair) for pair in TOLD["paraphrases"]) >= 74


def test_words_in_another_order_are_another_question() -> None:
    """Who does it to whom, which belongs to which, and all that one letter or one word turns about."""
    assert [pair for pair in TOLD["turned"] if not (differs(*pair) and differs(*reversed(pair)))] == []


DIFFERENT = {
    "literal": [
        ("What does config.yaml do?", "What does config.yml do?"),
        ("What is in `user_id`?", "What is in `user_ids`?"),
        ("Explain `a == b`", "Explain `a === b`"),
        ('What does "affect" mean?', 'What does "effect" mean?'),
        ("Write hello world in C", "Write hello world in C++"),
        ("Translate 'we paid' into French.", "Translate 'we pay' into French."),
        ("What is 2 + 3 * 4?", "What is (2 + 3) * 4?"),
        ("What is the square of (-2)?", "What is the square of (2)?"),
        ("what does a && b do in bash", "what does a || b do in bash"),
        ("What does docker run -d do?", "What does docker run -i do?"),
        ("What is at https://a.example/x", "What is at https://a.example/y"),
    ],
    "number": [
        ("How do I boil 2 eggs?", "How do I boil 12 eggs?"),
        ("Is Python 3.11 fast?", "Is Python 3.12 fast?"),
        ("Give me three ideas", "Give me four ideas"),
        ("What is 3,5 in percent?", "What is 35 in percent?"),
    ],
    "amount": [("Add 2 cups of milk to 2 eggs", "Add 2 eggs to 2 cups of milk and 2 eggs")],
    "negation": [
        ("Which foods should dogs eat?", "Which foods should dogs not eat?"),
        ("I don't want to use pandas, use polars", "I don't want to use polars, use pandas"),
        ("Can I fly with a passport?", "Can I fly without a passport?"),
    ],
    "question": [
        ("When was it built?", "Where was it built?"),
        ("How do I make bread?", "Why do I make bread?"),
        ("List the steps of mitosis", "Explain the steps of mitosis"),
        ("write a cover letter", "how to write a cover letter"),
    ],
    "person": [("Should I text him?", "Should I text her?"), ("What is my name?", "What is your name?")],
    "tense": [("Who was the CEO of Nokia?", "Who will be the CEO of Nokia?")],
    "word": [
        ("How do I enable dark mode?", "How do I disable dark mode?"),
        ("How far is 10 miles?", "How far is 10 km?"),
        ("Delete all files", "Delete some files"),
        ("What is the capital of Niger?", "What is the capital of Nigeria?"),
        ("the fastest train", "the slowest train"),
        ("Who directed Alien?", "Who directed Aliens?"),
    ],
    "modal": [
        ("Can I freeze milk?", "Should I freeze milk?"),
        ("Must I wear a helmet?", "May I wear a helmet?"),
    ],
    "direction": [
        ("Convert PDF to Word", "Convert Word to PDF"),
        ("flights from Berlin to Munich", "flights from Munich to Berlin"),
        ("import data from Excel", "import data to Excel"),
        ("Is Java faster than Go?", "Is Go faster than Java?"),
        ("Can I drive in Peru if I learned it in Chile?", "Can I drive in Chile if I learned it in Peru?"),
        ("What is on the box?", "What is in the box?"),
        ("who was killed by Caesar", "who killed Caesar"),
    ],
    "order": [
        ("What is 17 minus 5?", "What is 5 minus 17?"),
        ("Did Brutus kill Caesar?", "Did Caesar kill Brutus?"),
        ("Can my landlord sue me?", "Can I sue my landlord?"),
        ("who killed Caesar", "who did Caesar kill"),
        ("the big dog bit the small man", "the small man bit the big dog"),
        ("Do sharks eat?", "Are sharks eaten?"),
        ("Are all squares rectangles?", "Are all rectangles squares?"),
        ("My neighbor's dog bit me", "I bit my neighbor's dog"),
        ("I lent him money", "he lent me money"),
        ("sort by name then by date", "sort by date then by name"),
    ],
    "language": [
        ("Kann ich das Gerät einschalten?", "Kann ich das Gerät ausschalten?"),
        ("Wie kündige ich mein Abo?", "Wie kann ich mein Abo kündigen?"),
        ("Как отменить подписку?", "Как мне отменить подписку?"),
        ("x" * CHARACTERS_MAX, "x" * CHARACTERS_MAX + " the"),
    ],
    "empty": [("Who are you?", "Who am I?"), ("what is it", "what was that")],
}


@pytest.mark.parametrize(
    ("reason", "first", "second"), [(why, *pair) for why, row in DIFFERENT.items() for pair in row]
)
def test_what_keeps_questions_apart(reason: str, first: str, second: str) -> None:
    found = differs(first, second)
    assert found, "these must not share an answer"
    assert bool(differs(second, first))
    if reason not in ("amount", "empty", "direction", "order", "person"):
        assert found == ("word" if reason in ("literal", "number") else reason)


ALIKE = [
    ("How do I reverse a list in Python?", "what's the way to reverse a python list"),
    ("What is the capital of Australia?", "Tell me Australia's capital"),
    ("How do I delete a branch in git?", "How can I remove a git branch?"),
    ("Why doesn't my sourdough rise?", "Why is my sourdough not rising?"),
    ("How tall is Mount Everest?", "What is the height of Mount Everest?"),
    ("docker: how do I remove all stopped containers", "How to delete all stopped Docker containers?"),
    ("How do I recieve notifications by email?", "How do I receive notifications via email?"),
    ("In Texas, is it legal to record a phone call?", "Is it legal to record a phone call in Texas?"),
]


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_what_may_differ(first: str, second: str) -> None:
    assert differs(first, second) == "" == differs(second, first)


@pytest.mark.parametrize(
    "text",
    [
        "What's the weather like today?",
        "Who is the prime minister of Japan?",
        "what time is it",
        "latest version of numpy",
        "Wie ist das Wetter heute?",
        "¿Qué tiempo hace hoy?",
        "какая сегодня погода",
        "今天天气怎么样",
        "Quelle heure est-il maintenant ?",
        "What happened 3 days ago?",
        "Is GitHub down?",
        "Hi, is api.example.com up?",
        "Is the deploy finished?",
        "Did the build pass?",
        "Has the backup finished",
        "Has Apple released it yet?",
        "Who won the election?",
        "Who's the CEO of Apple?",
        "When is the next train to Bonn?",
        "When does the shop open?",
        "How old is Biden?",
        "How many stars does the repo have?",
        "Roll a dice",
        "Give me a random number",
    ],
)
def test_questions_of_the_moment(text: str) -> None:
    assert is_of_the_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is the time complexity of quicksort?",
        "How do I know my password?",
        "Wer war Goethe?",
        "nowhere man",
        "How do I shut it down?",
        "Why is my phone slow?",
        "When is the best time to visit Iceland?",
        "How do I check if a port is open in Python?",
        "Who wrote Faust?",
    ],
)
def test_questions_of_all_times(text: str) -> None:
    assert not is_of_the_moment(text)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_compared(first: str, second: str) -> None:
    assert differs(first, first) == ""
    assert bool(differs(first, second)) == bool(differs(second, first))
    is_of_the_moment(first)
    read(first)


WORDS = [
    "how",
    "do",
    "i",
    "delete",
    "the",
    "old",
    "file",
    "from",
    "my",
    "folder",
    "to",
    "backup",
    "without",
    "not",
    "all",
    "3",
    "two",
    "who",
    "is",
    "in",
    "on",
]


@given(st.lists(st.sampled_from(WORDS), max_size=14), st.lists(st.sampled_from(WORDS), max_size=14))
def test_comparing_is_symmetric(first: list[str], second: list[str]) -> None:
    one, other = " ".join(first), " ".join(second)
    assert bool(differs(one, other)) == bool(differs(other, one))


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=10), st.integers(0, 9), st.sampled_from(["not", "7", "red"])
)
def test_a_word_of_weight_more_is_another_question(words: list[str], place: int, more: str) -> None:
    one = " ".join(words)
    other = " ".join([*words[:place], more, *words[place:]])
    assert differs(one, other)
