"""What holds for every chat, whatever it says: the same beginning, nothing longer, nobody's words changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.saving.compress import compress, lingua
from tokenmizer_mw.saving.compress.chat import MessageReader, PassageKind, read, texts
from tokenmizer_mw.saving.compress.neural import is_faithful
from tokenmizer_mw.saving.compress.pipeline import STAGES, Options, condense
from tokenmizer_mw.saving.compress.tool_results import pruned_before
from tokenmizer_mw.settings import COMPRESSION, COMPRESSION_ASKED, Settings
from tokenmizer_mw.wire.messages import history

from .chats import agent_chat, call, listing, printed_by_pytest, result, source

SETTINGS = Settings(compress="all,comments", compress_keep=2, compress_step=300, compress_result_max=400)
NO_HISTORY = SETTINGS.with_(compress=",".join({*COMPRESSION, "comments"} - {"history"}))

LINES = st.sampled_from(
    [
        "def compute_total(rows):",
        "    return sum(row.amount for row in rows)  # cents",
        "INFO 2026-11-03T10:00:01 request 17 took 30 ms",
        "ERROR 2026-11-03T10:00:02 request 18 failed: KeyError 'amount'",
        "tests/test_a.py::test_one PASSED",
        "-rw-r--r-- 1 dev staff 120 Nov  3 10:00 invoice_2024.py",
        "src/billing/invoice.py:12:    total = 3.50",
        "src/billing/invoice.py:13:    return total",
        '{"id": 7, "name": "Ünal", "paid": false}',
        "│   ├── rounding.py",
        "\x1b[32mok\x1b[0m   ",
        "",
        "}",
        "The invoice of 12.34 EUR is not paid, see `docs/refunds.md`.",
    ]
)
OUTPUTS = st.one_of(
    st.lists(LINES, max_size=60).map("\n".join),
    st.integers(1, 60).map(lambda lines: source("src/billing/invoice.py", lines)),
    st.integers(1, 30).map(printed_by_pytest),
    st.integers(1, 30).map(listing),
    st.text(max_size=300),
    st.dictionaries(st.text(max_size=8), st.integers() | st.floats(allow_nan=False) | st.text(max_size=80)).map(
        lambda value: json.dumps(value, indent=2)
    ),
)
TOOLS = st.sampled_from(
    [
        ("read_file", {"path": "src/billing/invoice.py"}),
        ("bash", {"command": "pytest -v"}),
        ("bash", {"command": "ls -la"}),
        ("grep", {"pattern": "total"}),
        ("fetch", {"url": "https://example.com/a"}),
    ]
)
SAID = st.sampled_from(
    [
        "Sure! It is 3.50.",
        "Done. Hope this helps!",
        "No.",
        "",
        "Great question! `a_b` is not x/y.py.\n\nLet me know if you need anything else.",
    ]
)
SAID_FACTS = ("Sure!", "It is 3.50.", "Done.", "No.", "`a_b` is not x/y.py.")


@st.composite
def chats(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    number = 0
    for _ in range(draw(st.integers(1, 6))):
        messages.append({"role": "user", "content": draw(OUTPUTS)})
        for _ in range(draw(st.integers(0, 4))):
            number += 1
            name, arguments = draw(TOOLS)
            messages += [call(number, name, **arguments), result(number, draw(OUTPUTS))]
        messages.append({"role": "assistant", "content": draw(SAID)})
    return messages


def ends_of_calls(messages: list[dict[str, Any]]) -> list[int]:
    """Where a request of the chat would end: behind a question, or behind the output of a tool."""
    return [at + 1 for at, message in enumerate(messages) if message["role"] in ("user", "tool")]


@settings(max_examples=40)
@given(chats())
def test_what_becomes_of_a_message_follows_from_what_stands_before_it(messages: list[dict[str, Any]]) -> None:
    whole = compress(messages, NO_HISTORY).messages
    for end in ends_of_calls(messages):
        assert compress(messages[:end], NO_HISTORY).messages == whole[:end]


@settings(max_examples=40)
@given(chats())
def test_between_two_steps_of_the_history_the_beginning_stays(messages: list[dict[str, Any]]) -> None:
    before: list[Any] = []
    step = 0
    for end in ends_of_calls(messages):
        place = pruned_before(texts(read(history(messages[:end]))), keep=2, step=300)
        sent = compress(messages[:end], SETTINGS).messages
        assert place >= step
        if place == step:
            assert sent[: len(before)] == before
        before, step = sent, place


@given(chats())
def test_only_outputs_and_pleasantries_change_and_nothing_grows(messages: list[dict[str, Any]]) -> None:
    done = compress(messages, SETTINGS)
    assert not done.failed
    assert len(done.messages) == len(messages)
    for before, after in zip(messages, done.messages, strict=True):
        assert {**after, "content": None} == {**before, "content": None}
        if before["role"] == "user" or before["content"] is None:
            assert after is before
        else:
            assert len(after["content"]) <= len(before["content"])
    assert done.tokens_after <= done.tokens_before


@given(chats())
def test_what_an_assistant_says_keeps_its_facts(messages: list[dict[str, Any]]) -> None:
    for before, after in zip(messages, compress(messages, SETTINGS).messages, strict=True):
        if before["role"] == "assistant" and before["content"]:
            assert after["content"].strip()
            assert after["content"] in before["content"]
            assert all(fact in after["content"] for fact in SAID_FACTS if fact in before["content"])


@settings(max_examples=40)
@given(chats())
def test_it_goes_on_from_the_call_before_as_it_would_from_the_beginning(messages: list[dict[str, Any]]) -> None:
    options = Options.of(SETTINGS)
    state = None
    for end in ends_of_calls(messages):
        passages = texts(read(history(messages[:end])))
        state = condense(passages, options, state)
        assert state.texts == condense(passages, options).texts


@given(chats())
def test_a_second_run_changes_nothing_that_the_first_one_left(messages: list[dict[str, Any]]) -> None:
    once = compress(messages, NO_HISTORY).messages
    assert compress(once, NO_HISTORY).messages == once


def test_results_that_came_together_are_never_pruned_before_they_were_seen() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read all of them."}]
    calls = [call(number, "read_file", path=f"src/file_{number}.py")["tool_calls"][0] for number in range(8)]
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages += [result(number, source(f"src/file_{number}.py")) for number in range(8)]
    settings = Settings(compress="history", compress_keep=1, compress_step=1)
    assert compress(messages, settings).messages == messages
    messages += [call(9, "bash", command="make"), result(9, "made")]
    later = compress(messages, settings).messages
    assert [len(m["content"]) < len(o["content"]) for m, o in zip(later[2:10], messages[2:10], strict=True)] == [
        True
    ] * 8


def test_stages_are_those_that_the_settings_know() -> None:
    assert {*STAGES, "history"} == {*COMPRESSION, *COMPRESSION_ASKED}


def test_nothing_happens_when_no_stage_is_named() -> None:
    messages = agent_chat(3)
    done = compress(messages, Settings())
    assert all(one is other for one, other in zip(done.messages, messages, strict=True))
    assert done.savings == ()
    assert done.tokens_before == done.tokens_after > 0


def test_stage_that_fails_leaves_the_text_and_is_named() -> None:
    def broken(text: str) -> str:
        raise ValueError("no model")

    prose = "The invoice is paid by the customer within a month of its date. " * 50
    messages = [
        {"role": "user", "content": "Look it up."},
        call(1, "fetch", url="https://example.com"),
        result(1, prose),
    ]
    done = compress(messages, Settings(compress="neural"), shrink=broken)
    assert done.messages == messages
    assert done.failed == ("neural",)


@pytest.mark.parametrize(
    ("shorter", "kept"),
    [
        ("Paid within 30 days, not later, see `terms.md`.", True),
        ("Paid within 60 days, not later, see `terms.md`.", False),
        ("Paid within 30 days, later, see `terms.md`.", False),
        ("Paid within 30 days, not later.", False),
        ("Paid within 30 days, not later, see `terms.md` and `a.md`.", False),
    ],
)
def test_words_of_a_model_pass_only_when_no_fact_was_lost_or_made_up(shorter: str, kept: bool) -> None:
    prose = (
        "The invoice is to be paid within 30 days and not later, for which see the file `terms.md`." + " Well." * 400
    )
    messages = [call(1, "fetch", url="https://example.com"), result(1, prose)]
    done = compress(messages, Settings(compress="neural"), shrink=lambda text: shorter)
    assert done.messages[1]["content"] == (shorter if kept else prose)


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("It runs `x` while a > b holds", "It runs `x` while a < b holds"),
        ("The rest is a - b of the whole", "The rest is a + b of the whole"),
        ("Then a-b is what is left", "Then a+b is what is left"),
        ("Each of them costs -5 euros", "Each of them costs 5 euros"),
        ("Each takes 30 ms at most", "Each takes 30 s at most"),
        ("Each takes 30 ms at most", "Each takes 30 at most"),
        ("Ben says that the job fails", "Anna says that the job passes"),
        ("it is the job of Ben that fails", "it is the job of Ben that passes"),
        ("it is the job of Ben that fails", "it is the job that fails"),
        ("Ben calls Anna", "Anna calls Ben"),
        ("it hardly ever fails", "it ever fails"),
        ("so:\n    if a: go(b)\nand on", "so:\n    if a: go(c)\nand on"),
    ],
)
def test_gate_is_shut_for_signs_code_and_names(said: str, other: str) -> None:
    assert is_faithful(f"{said}, as it was clearly said.", f"{said}, as said.")
    assert not is_faithful(f"{said}, as it was clearly said.", f"{other}, as said.")


def test_code_in_fences_is_handed_to_nobody() -> None:
    code = "```python\n" + "if a > b: x = a - b\n" * 20 + "\nif a < b: x = b - a\n" + "x = 1\n" * 60 + "```"
    prose = "The invoice is to be paid in full. " * 20
    messages = [call(1, "fetch", url="https://example.com"), result(1, f"{prose}\n\n{code}\n\n{prose}")]
    seen: list[str] = []

    def shrink(text: str) -> str:
        seen.append(text)
        return text

    compress(messages, Settings(compress="neural"), shrink=shrink)
    assert seen == [prose, prose]


def test_paragraphs_pass_the_gate_one_by_one() -> None:
    first = "The invoice is to be paid within 30 days. " + "Well. " * 60
    second = "The second invoice is not to be paid. " + "Well. " * 60
    messages = [call(1, "fetch", url="https://example.com"), result(1, f"{first}\n\n{second}\n\nShort.")]
    done = compress(messages, Settings(compress="neural"), shrink=lambda text: "Paid within 30 days.")
    assert done.messages[1]["content"] == f"Paid within 30 days.\n\n{second}\n\nShort."


def test_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no directory"):
        lingua(tmp_path / "nothing")


def test_calls_without_ids_are_answered_in_order() -> None:
    reading = MessageReader()
    told = history(
        [
            {"role": "assistant", "content": "", "tool_calls": [{"name": "bash", "arguments": {"command": "make"}}]},
            {"role": "tool", "content": "made"},
        ]
    )
    found = [one.passage for at in range(2) for one in reading.message(at, told[at], told.sent[at])]
    assert [(one.kind, one.command) for one in found] == [(PassageKind.FIXED, "make"), (PassageKind.RESULT, "make")]
