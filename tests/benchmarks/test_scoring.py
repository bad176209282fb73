"""Labels held against labels: what covers what, each label once, sums over sessions."""

from __future__ import annotations

import pytest

from benchmarks.scoring import (
    FREE,
    RESEARCH,
    Tally,
    by_session,
    count_open,
    free_covers,
    free_tokens,
    interval,
    macro,
    research_covers,
    research_tokens,
    same_file,
    score,
    states,
    summary,
    tally,
)


@pytest.mark.parametrize(
    ("label", "gold", "quote", "expected"),
    [
        ("use Postgres", "Postgres for orders", "", True),
        ("use Redis", "Postgres for orders", "", False),
        ("let us take Postgres then", "database choice", "take Postgres then", True),
        ("", "Postgres", "", False),
        ("使用数据库", "数据库", "", True),
        ("重新命名文件", "数据库", "", False),
        ("перенести витрину", "перенести витрину завтра", "", True),
    ],
)
def test_free_covers(label: str, gold: str, quote: str, expected: bool) -> None:
    assert free_covers(label, gold, quote) is expected


@pytest.mark.parametrize(
    ("label", "gold", "expected"),
    [
        ("wrote src/app/pool.py", "src/app/pool.py", True),
        ("worker pool bounded", "a worker pool bounded at 32 goroutines", True),
        ("worker", "a worker pool bounded at 32 goroutines", False),
        ("", "pool", False),
    ],
)
def test_research_covers(label: str, gold: str, expected: bool) -> None:
    assert research_covers(label, gold) is expected


def test_tokens() -> None:
    assert free_tokens("The file ./src/a.py, 数据库 と") == {"file", "src/a.py", "数据", "据库", "と"}
    assert research_tokens("src/a1.py in the x") == {"src/a1.py", "src", "a1", "py"}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("/home/x/src/a.py", "src/a.py", True), ("b.py", "src/b.py", True), ("ab.py", "b.py", False), ("", "a", False)],
)
def test_same_file(one: str, other: str, expected: bool) -> None:
    assert same_file(one, other) is expected
    assert same_file(other, one) is expected


GOLD = [("add retries to the client", ""), ("add retries to the worker", "")]


def test_leniently_one_label_may_stand_for_two() -> None:
    assert tally(["add retries", "tea"], GOLD, free_covers, strict=False) == Tally(2, 2, 2, 1, (), ("tea",))


def test_strictly_each_label_is_used_once_and_as_often_as_can_be() -> None:
    found = tally(["add retries", "add retries to the client"], GOLD, free_covers, strict=True)
    assert (found.found, found.right) == (2, 2)
    assert tally(["add retries"], GOLD, free_covers, strict=True).missed == ("add retries to the worker",)


def test_strictly_a_label_may_not_be_a_page() -> None:
    page = "add retries to the client and rename all of these things before somebody else finds them at night"
    relation = FREE.relation("tasks_done", strict=True)
    assert free_covers(page, "add retries to the client")
    assert not relation(page, "add retries to the client", "")


def test_paths_are_no_words() -> None:
    assert FREE.relation("files", strict=True) is same_file
    assert RESEARCH.relation("files", strict=False) is research_covers


@pytest.mark.parametrize(
    ("counts", "scores"),
    [
        (Tally(2, 4, 1, 1), (0.25, 0.5, 1 / 3)),
        (Tally(0, 0, 0, 0), (1.0, 1.0, 1.0)),
        (Tally(0, 2, 0, 0), (0.0, 0.0, 0.0)),
        (Tally(2, 0, 0, 0), (0.0, 0.0, 0.0)),
    ],
)
def test_precision_recall_f1(counts: Tally, scores: tuple[float, float, float]) -> None:
    assert counts.scores == pytest.approx(scores)


def test_states_are_ignored_for_matching_and_counted_apart() -> None:
    flags = {"timeout of the import": True, "E0425 in main.rs": False}
    labels = ["[open] timeout of the import", "[open] E0425 in main.rs", "[resolved] something else"]
    assert states(labels, flags) == (1, 1)
    row = score({"errors": labels}, {"errors": [(flag, "") for flag in flags]}, FREE, strict=True)
    assert (row["errors"].found, row["errors"].got) == (2, 3)


def test_errors_told_as_open_are_compared_with_open_ones_only() -> None:
    flags = {"timeout of the import": True, "E0425 in main.rs": False}
    labels = [
        "[open] timeout of the import",
        "[open] E0425 in main.rs",
        "[open] tea",
        "[resolved] timeout of the import",
    ]
    gold = [(flag, "") for flag in flags]
    assert count_open(labels, gold, flags, FREE.covers) == (1, 3)
    assert count_open([], gold, flags, FREE.covers) == (0, 0)


def test_sums_over_sessions() -> None:
    rows = [
        score({"goal": ["ship the shop"]}, {"goal": [("ship the shop", "")]}, FREE, strict=False),
        score({"goal": ["tea"], "files": ["a.py"]}, {"goal": [("ship the shop", "")]}, FREE, strict=False),
    ]
    assert macro(rows) == pytest.approx(0.5)  # nobody wanted files: they are no category
    found = summary(rows, samples=50)
    assert found["categories"]["goal"] == {
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "want": 2, "got": 2, "found": 1, "right": 1
    }  # fmt: skip
    assert found["by_session"] == pytest.approx(0.5)
    bounds = interval(rows, samples=50)
    assert bounds is not None
    assert bounds[0] <= 0.5 <= bounds[1]
    assert interval(rows[:1]) is None
    assert by_session([]) == 0.0
