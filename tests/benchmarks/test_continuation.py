"""The continuation exams: figures as the reference scorer gives them, on a small exam written for this test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import continuation
from benchmarks.continuation_requests import Requests, request_text
from benchmarks.exams import estimate_tokens, read_exams, score_text
from benchmarks.labelled import VARIABLE
from benchmarks.peer import message
from benchmarks.selections import SELECTIONS, Selections

_TALK = (
    ("user", "We build a booking page for the harbour ferry. Write dates as day-month-year everywhere, please."),
    (
        "assistant",
        "Understood.\n\nI read ferry/booking.py. The page keeps bookings in Redis, because the harbour office already"
        " runs one.\n\nThe seat count comes from the table `sailings`.",
    ),
    ("user", "Redis lost two bookings last night. Move the bookings to PostgreSQL."),
    (
        "assistant",
        "Done: bookings are in PostgreSQL now, in the table `bookings`. The cause of the loss was eviction: maxmemory"
        " was 64 MB.\n\nThe migration is ferry/migrate.py. Still open: the office has to delete the old Redis volume.",
    ),
    ("user", "The test of the timetable fails with KeyError: 'pier'."),
    ("assistant", "The timetable now reads the pier from the sailing. All 31 tests pass."),
    ("user", "Good. Next is the price list."),
    ("assistant", "I will start with the fares for bicycles."),
)
SESSION: dict[str, Any] = {
    "id": "ferry",
    "language": "en",
    "turns": [{"role": role, "content": content} for role, content in _TALK],
    "labels": {"goal": ["booking page for the harbour ferry"]},
}
EXAM: dict[str, Any] = {
    "session": "ferry",
    "tail_from": 6,
    "questions": [
        {
            "id": "ferry-1",
            "kind": "decision",
            "question": "Where are the bookings kept now, and why were they moved?",
            "answer": "PostgreSQL; Redis lost two bookings because of eviction.",
            "points": [["postgresql"], ["eviction", "maxmemory was 64"]],
        },
        {
            "id": "ferry-2",
            "kind": "rule",
            "question": "How are dates written?",
            "answer": "day-month-year",
            "points": [["day-month-year", "dd-mm-yyyy"]],
        },
        {
            "id": "ferry-3",
            "kind": "state",
            "question": "What is left to the harbour office?",
            "answer": "Deleting the old Redis volume.",
            "points": [["delete the old redis volume"], ["price list"]],
        },
    ],
}
BUDGET = 40
YOURS = "Bookings: “PostgreSQL”.\nDates:  Day-month-year. " + "x" * (4 * BUDGET - 53)
REFERENCE = {
    "yours": 0.667,
    "newest messages": 0.167,
    "tf-idf sentences": 0.333,
    "covering sentences": 0.167,
    "BM25 passages": 1.0,
    "whole head": 1.0,
}
"""What the reference scorer gives for YOURS, and for the baselines of as many tokens."""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for folder, name, content in (("continuation", "ferry", EXAM), ("set", "ferry", SESSION), ("other", "notes", {})):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def _scores(corpus: Path) -> dict[str, float]:
    (exam,) = read_exams([corpus])
    selections = Selections(exam.head)
    values: dict[str, list[float]] = {}
    for question in exam.questions:
        texts = {name: select(selections, estimate_tokens(YOURS), question.text) for name, select in SELECTIONS.items()}
        texts |= {"yours": YOURS, "whole head": continuation.whole_text(exam.head)}
        for name, text in texts.items():
            values.setdefault(name, []).append(score_text(f"{exam.tail}\n{text}", question.points))
    return {name: round(sum(found) / len(found), 3) for name, found in values.items()}


def test_figures_are_those_of_the_reference_scorer(corpus: Path) -> None:
    assert _scores(corpus) == REFERENCE


def _reference_scorer() -> Path | None:
    roots = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    paths = (root.parent / "tools" / "score_continuation.py" for root in roots)
    return next((path for path in paths if path.exists()), None)


@pytest.mark.skipif(_reference_scorer() is None, reason="the reference scorer is not at hand")
def test_the_reference_scorer_itself_agrees(corpus: Path) -> None:
    texts = corpus / "texts.jsonl"
    texts.write_text(json.dumps({"session": "ferry", "text": YOURS}) + "\n")
    scorer = [sys.executable, str(_reference_scorer()), str(corpus / "continuation"), str(corpus / "set"), str(texts)]
    ended = subprocess.run(scorer, capture_output=True, text=True, check=True, timeout=60)
    names = {"covering": "covering sentences"}
    rows = re.findall(r"(?m)^(\S.*?) +([01]\.\d{3})  ", ended.stdout)
    assert {names.get(name, name): float(value) for name, value in rows} == _scores(corpus)


def test_our_ways_are_measured_by_kind_and_language(corpus: Path) -> None:
    names = ["block300", "recall300", "block300+recall300", "request3000", "handover600"]
    results = continuation.run_exams(read_exams([corpus]), names, baselines=True)
    figures = results.figures()
    assert set(figures["ways"]) == {"whole head", *names[:4]}, "there is no recorded handover"
    request = figures["ways"]["request3000"]
    assert request["all"] == 1.0, "a short session goes out whole"
    assert set(request["by"]) == {"decision", "rule", "state", "English"}
    block = figures["baselines"]["block300"]["newest messages"]
    assert 0 < block["quarters"] <= figures["ways"]["block300"]["quarters"] + 1, "no more than the way beside it"


def test_a_recorded_reply_is_read_before_the_block(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (corpus / "llm_handover").mkdir()
    reply = json.dumps({"rules": ["Write dates as day-month-year everywhere."], "handover": "Bookings moved."})
    (corpus / "llm_handover" / "ferry.json").write_text(reply)
    monkeypatch.setenv(VARIABLE, str(corpus))
    figures = continuation.run("handover600,handover reply")["figures"]
    assert figures["ways"]["handover600"]["questions"] == 3
    assert figures["ways"]["handover reply"]["by"]["rule"] == 1.0


def test_without_exams_the_benchmark_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    result = continuation.run()
    assert (result["figures"], result["bars"]) == ({}, [])
    assert result["notes"].startswith("Not run")


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match="block600"):
        continuation.run("blocks")


def test_a_request_is_what_reaches_the_model() -> None:
    long = [
        {"role": role, "content": f"{number} " + "The ferry sails. " * 60}
        for number, role in enumerate(["user", "assistant"] * 8)
    ]
    requests = Requests([message(turn) for turn in long], 3_000, continuation.MODEL)
    texts = [requests.send(str(number), "Where does the ferry sail?") for number in range(2)]
    requests.close()
    assert texts[0] != texts[1] or "session-record" not in texts[0], "each has a session of its own"
    assert all("Where does the ferry sail?" not in text for text in texts)
    assert all(estimate_tokens(text) < 3_000 for text in texts), "the old messages were cut out"


def test_calls_are_part_of_a_request_and_the_question_is_not() -> None:
    call = {"function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    body = {
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "user", "content": [{"type": "text", "text": "Why?"}, {"type": "text", "text": "reminder"}]},
        ]
    }
    assert request_text(body, "Why?").split() == ["read", '{"path":', '"a.py"}', "reminder"]
