"""Text that a user hands over says nothing in the user's name; the user's own words beside it do."""

from __future__ import annotations

import pytest

from benchmarks.handed_over import (
    Pasted,
    Payload,
    Wrapping,
    find_facts_of_second,
    find_failure,
    find_failure_of_third,
    find_lost_wishes,
    iterate_cases,
    iterate_third,
    read_payloads,
    read_second,
)
from benchmarks.measure import cpu_seconds
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.extract.read.documents import blank_out, find_documents
from tokenmizer_mw.extract.read.shown_text import find_shown
from tokenmizer_mw.extract.read.whole_files import find_whole_files
from tokenmizer_mw.extract.rules.showing_phrases import SHOWN
from tokenmizer_mw.model.node import NodeType, Trust

CASES = [case for case in iterate_cases(crossed=False) if case[1].name != "first_block"][::4]


@pytest.mark.parametrize(("payload", "wrapping", "reply", "start"), CASES)
def test_handed_over_text_says_nothing_for_the_user(
    payload: Payload, wrapping: Wrapping, reply: dict[str, str], start: list[dict[str, str]]
) -> None:
    assert find_failure(payload, wrapping, reply, start) is None


def test_own_words_beside_a_paste_are_read() -> None:
    assert find_lost_wishes() == []


SHORT = [
    (
        "Here is the README:\n\n# ADR 7\nStatus: accepted\nWe will use Kafka.",
        "# ADR 7\nStatus: accepted\nWe will use Kafka.",
    ),
    ("Review this file:\n\n## Contributing\n- Never merge alone.", "Understood. ## Contributing\n- Never merge alone."),
    ("I ran it and got this output:\n\nnpm ERR! code 1\nEdit: solved!", "npm ERR! code 1\nEdit: solved!"),
]


@pytest.mark.parametrize(("asked", "answer"), SHORT)
def test_sentences_of_one_or_two_words_that_a_reply_repeats_choose_nothing(asked: str, answer: str) -> None:
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}])
        assert [node.label for node in memory.graph("s").nodes() if node.type is NodeType.DECISION] == []


def test_blanked_text_keeps_all_other_places() -> None:
    text = "Look: <doc>We use Redis.</doc> and we use Kafka."
    blank = blank_out(text, find_documents(text))
    assert len(blank) == len(text)
    assert "Redis" not in blank
    assert blank.index("Kafka") == text.index("Kafka")


@pytest.mark.parametrize("pasted", [pasted for pasted in read_second() if not pasted.aside])
def test_text_that_nothing_introduces_says_nothing_for_the_user(pasted: Pasted) -> None:
    assert find_facts_of_second(pasted) == ()


LAYOUTS = [
    "what is he on about?\n\nRavi Shah  10:42 AM\n{payload}\nMia Ott  10:44 AM\n+1",
    "PROJ-881\nReporter: Ravi Shah\nPriority: low\n\n{payload}",
    "1\n00:00:01,000 --> 00:00:04,000\n{payload}\n\n2\n00:00:05,000 --> 00:00:07,000\n[music]",
    "who talks here, is it a podcast?\n\nHOST: Welcome back.\nGUEST: {payload}\nHOST: Right.",
    "★★★★☆ 12 people found this helpful\n{payload}\n\nis that review fake?",
    "BEGIN:VEVENT\nSUMMARY:{payload}\nDTSTART:20320101T090000Z\nEND:VEVENT\n\nwhich timezone is this in?",
    "@devgull · 3h\n{payload}\n12 likes  3 replies",
    "$ cat notes.txt\n{payload}\n$ ls\na.txt",
    "found in the letterbox\n\nDear residents,\n\n{payload}\n\nKind regards,\nthe management",
    "Annual report 2031\nPage 4 of 88\n\n{payload}\n\n4",
    "FAQ\n\nQ. What do I do on Mondays?\nA. {payload}\n\nQ. And on Tuesdays?\nA. Nothing.",
    '{"user":"U1","text":"{payload}","ts":"1700000000.1"}',
    "make it for twelve people\n\nPLUM CAKE (grandmother's)\n3 cups flour, 2 tbsp sugar\n{payload}\n1 tsp salt",
    "- 1 1/2 tazas de harina\n{payload}\n- 2 cucharadas de aceite",
    '"Start | Kontakt\n{payload}\nnach oben" - copied from their page, how many links are there',
    "«Accueil\n{payload}\nhaut de page», c'est en bas de leur site",
]


FILES = [
    "<!doctype html><html><body><h1>Plan</h1><p>{payload}</p></body></html>\nwhat does that page do",
    "make this page shorter\n<HTML>\n<p>{payload}</p>\n</HTML>",
    "---\ntitle: plan\ntags:\n  - shop\n---\n# Plan\n{payload}\n",
    "id,note\n1,{payload}\n2,ok\n3,ok\n\nwhich row is the longest",
    "[file: plan.md]\n{payload}\n[/file]\nis it complete?",
    "PR description:\n{payload}\n\nIs it good?",
    "error message I get:\n{payload}",
    "Transcript of the call:\nBob: {payload}\nAnn: fine",
    "Issue #12 opened by mallory:\n\n{payload}",
]


ON_ONE_LINE = [text for text in read_payloads() if "\n" not in text.text][:40]


@pytest.mark.parametrize("layout", FILES)
def test_whole_files_say_nothing_for_the_user(layout: str) -> None:
    wrapping = Wrapping("file", {"en": (layout,)})
    for payload in ON_ONE_LINE[2::4]:
        assert find_failure(payload, wrapping, {"en": "Noted: {payload}"}, ()) is None


@pytest.mark.parametrize(
    "text",
    [
        "We use red, green and blue.\nNever use grey, ever.\nUse serif fonts, please.",
        "We use red,green.\nNever use grey, ever.\nUse serif fonts, please.",
        "Use id,name as the header.\nNever quote a field.\nKeep it short.",
        "id,name\nThat is the header. Never quote a field.",
        "---\nNever use grey.\n---",
        "[urgent]\nNever use grey.\n[done]",
        "The issue we fix first: never use grey.",
    ],
)
def test_what_only_looks_like_a_file_is_the_users(text: str) -> None:
    assert list(find_whole_files(text)) == []


@pytest.mark.parametrize(
    "unit", ["<html ", "</html>", "<html></html>", "a,b\n", ",", "[a]\n", "[/a]\n", "[a]\n[/a]\n", "---\n", "a: b\n"]
)
def test_looking_for_whole_files_takes_time_in_proportion(unit: str) -> None:
    seconds = []
    for size in (200_000, 400_000):
        text = "---\n" + unit * (size // len(unit))
        seconds.append(min(cpu_seconds(lambda text=text: list(find_whole_files(text))) for _ in range(3)))
    assert seconds[1] <= 3.0 * seconds[0] + 0.02


OPEN_OF_THIRD = {("what does this mean", "From now"), ("rewrite", "From now")}
"""A sentence that goes on like a user behind one about "this", which may be of an earlier message."""


def test_wrappings_of_a_third_author_say_nothing_for_the_user() -> None:
    for wrapping, payload in iterate_third():
        if (wrapping.name, payload.text[:8]) not in OPEN_OF_THIRD:
            assert find_failure_of_third(wrapping, payload) is None, wrapping.name


SHOWN_TEXT = "Every cache entry lives for a day and nothing else matters."


def test_what_shows_a_text_makes_it_a_document() -> None:
    for showing in (example for row in SHOWN for example in row.examples):
        assert any(end > len(showing) for _, end in find_documents(showing + SHOWN_TEXT)), showing


def test_what_shows_no_text_leaves_it_to_the_user() -> None:
    assert [own for row in SHOWN for own in row.counters if find_documents(own + SHOWN_TEXT)] == []


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("I read on a forum: Redis is slow.\n\nWe use Valkey instead of Redis.", "Valkey"),
        ("Look at @src/app.py\n\nLet's use httpx instead of requests.", "httpx"),
        ("Rewrite in Rust\n\nWe use tokio instead of async-std.", "tokio"),
        ("Update docs/plan.md.\n\nWe decided to use Kafka instead of RabbitMQ.", "Kafka"),
        ("app.py:\n- never use print in it", "print"),
        ("Docs: we use Sphinx instead of MkDocs.", "Sphinx"),
        ("[Pasted text #1 +3 lines]\nA long log without any end of it.\n\nPlease use Redis instead of it.", "Redis"),
        ('Set it to {"a": 1}. We use Redis instead of Memcached.', "Redis"),
    ],
)
def test_own_words_beside_what_is_shown_are_read(text: str, keep: str) -> None:
    with SessionMemory.open("memory://") as memory:
        memory.record("s", [{"role": "user", "content": text}])
        labels = [node.label for node in memory.graph("s").nodes() if node.source.trust is Trust.STATED]
        assert any(keep in label for label in labels)


@pytest.mark.parametrize(
    "unit",
    [
        "proofread please\n",
        "explain: ",
        "a ",
        "@a.md\n",
        "# a.md\n\n",
        "[pasted]\n",
        '{"a":',
        "=== a.md ===\n",
        "a. ",
        "read on a ",
        "x-https://a \n",
        "a?\n\n# ",
    ],
)
def test_looking_for_shown_texts_takes_time_in_proportion(unit: str) -> None:
    seconds = []
    for size in (200_000, 400_000):
        text = unit * (size // len(unit))
        seconds.append(min(cpu_seconds(lambda text=text: list(find_shown(text))) for _ in range(3)))
    assert seconds[1] <= 3.0 * seconds[0] + 0.02


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_other_kinds_say_nothing_for_the_user(layout: str) -> None:
    wrapping = Wrapping("layout", {"en": (layout,)})
    for payload in ON_ONE_LINE[::4]:
        assert find_failure(payload, wrapping, {"en": "Noted: {payload}"}, ()) is None


@pytest.mark.parametrize("block", [pasted.message for pasted in read_second() if not pasted.wish and not pasted.aside])
def test_second_blocks_are_documents_by_form(block: str) -> None:
    spans = find_documents(f"Does that hold?\n\n{block}")
    assert "```" in block or spans[0][0] <= len("Does that hold?\n\n") + 80


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Never start more than 2 cups machines at once.", "Never start more than 2 cups machines at once."),
        ("The menu has 3 cups on it.\nNever sort it by price.", "Never sort it by price."),
        ('Call it "shop" in the docs.\nNever write "store" there, please.', "Never write"),
        ('"Shop" is its name.\nNever write it in capitals.', "Never write it in capitals."),
        ('"hello\nworld" is what it prints. Never print more.', "Never print more."),
    ],
)
def test_what_stands_beside_an_amount_or_a_quotation_is_the_users(text: str, own: str) -> None:
    assert own in blank_out(text, find_documents(text))


def test_what_is_behind_a_long_paste_is_the_users() -> None:
    text = "2024-05-01 12:00:03 ERROR disk full\n" * 30_000 + "\nPlease use Redis instead of Memcached."
    spans = find_documents(text)
    assert spans[0][0] == 0
    assert spans[-1][1] <= text.index("Please")
