"""Which passages a message is reminded of: a question of what shares its words, an order of what holds most of them."""

from __future__ import annotations

import json

import pytest

from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.session.reminder.content import select_relevant
from tokenmizer_mw.session.reminder.question import asks, content_terms, read_question
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat

PASSAGES = (
    "Please implement the warehouse index.",
    "Use Redis for the triage renderer because it keeps memory flat.",
    "The tax router is documented in docs/tax.md.",
    "Please look at the flat index of the router.",
)


def found(message: str) -> list[str]:
    index = PassageIndex()
    for number, text in enumerate(PASSAGES, 1):
        index.add(number, "user", text)
    return [hit.text for hit in select_relevant(message, index.rank(message), asks=asks(message)).hits]


def test_an_order_in_the_usual_words_about_something_else_is_reminded_of_nothing() -> None:
    assert found("Please implement the tax router.") == []
    assert found("Use Redis for the index because it keeps the router flat.") == []


def test_an_order_is_reminded_of_what_holds_most_of_its_words() -> None:
    assert found("Implement the index of the warehouse.") == [PASSAGES[0]]


def test_a_question_is_reminded_of_what_shares_its_words() -> None:
    assert PASSAGES[2] in found("Where is the tax router documented?")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use MinIO because the team already runs it.", False),
        ("Delete what still fails.", False),
        ("Do it as we agreed.", True),
        ("Use the same port as before.", True),
        ("We had that error before, fix it the same way.", True),
        ("Use the parser like before in the tests.", True),
        ("Faz como antes.", True),
        ("From now on, please run cargo clippy before each commit.", False),
        ("Please run go vet before you tell me that something is finished.", False),
        ("Roda os testes antes de cada commit.", False),
    ],
)
def test_taking_something_up_is_told_from_ordering_something_new(text: str, expected: bool) -> None:
    assert asks(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Why Postgres?", ["postgres", "post*"]),
        ("Which should there be, between those?", []),
        ("parseURL", ["parseurl", "pars*", "parse", "url"]),
    ],
)
def test_question_words_and_their_beginnings_are_no_search_terms(text: str, expected: list[str]) -> None:
    assert content_terms(text) == expected


@pytest.mark.parametrize(
    ("text", "takes_up"),
    [
        ("Continue.", True),
        ("Go on.", True),
        ("Why Go?", True),
        ("Why Postgres?", False),
        ("Continue the orders.", False),
    ],
)
def test_a_text_with_one_word_takes_up_what_was_said_right_before_it_unless_it_asks(text: str, takes_up: bool) -> None:
    said = ("Which database?", "Postgres, because it locks rows.", text)
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": one} for role, one in zip(roles, said, strict=True)]
    request = OpenAIChat().read(json.dumps({"model": "m", "messages": messages}).encode())
    question = read_question(request, 0)
    assert question is not None
    assert question.text == (f"{text}\n{said[1]}" if takes_up else text)
