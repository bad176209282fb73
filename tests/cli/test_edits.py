"""Facts are asked for and changed by hand on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sampling import sample
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.cli import main

CHAT = [
    {"role": "user", "content": "We use SQLite for storage. Never push to main without a review."},
    {"role": "user", "content": "Switch from SQLite to PostgreSQL because of concurrent writes."},
]

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on a store with the session "shop"; gives what it printed."""
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    monkeypatch.setenv("TOKENMIZER_STORE", address)
    with SessionMemory.open(address) as memory:
        memory.record("shop", CHAT)

    def call(*arguments: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(list(arguments)) == status
        printed = capsys.readouterr()
        return printed.out if status == 0 else printed.err

    return call


def test_recall_and_search(run: Run) -> None:
    assert "PostgreSQL" in run("recall", "shop", "Which database do we use?")
    assert json.loads(run("recall", "shop", "database", "--budget", "40", "--json"))["tokens"] <= 40
    assert "review" in run("search", "shop", "push to main").splitlines()[0]
    assert len(run("search", "shop", "database", "--limit", "1").splitlines()) == 1
    assert "no fact" in run("search", "shop", "zebras")


def test_remember_and_where_it_is_told(run: Run) -> None:
    assert "stored" in run("remember", "shop", "Never log emails", "--reason", "privacy")
    assert "Never log emails" in run("resume", "shop")
    assert "'new'" in run("remember", "new", "Answer in French", status=2)
    run("remember", "new", "Answer in French", "--create")
    assert "Answer in French" in run("resume", "new")


def test_remember_tells_what_it_replaced_and_what_is_similar(run: Run) -> None:
    shown = run("remember", "shop", "Database: MariaDB").splitlines()
    assert shown[1].startswith("  replaced decision-") and "PostgreSQL" in shown[1]
    told = json.loads(run("remember", "shop", "Push to main on Mondays", "--json"))
    assert (told["replaced"], len(told["similar"])) == ([], 1)
    assert "similar, still in force" in run("remember", "shop", "Push to main on Tuesdays")


def test_undo_takes_back_what_was_remembered(run: Run) -> None:
    run("pin", "shop", "PostgreSQL")
    assert run("remember", "shop", "Never log emails").startswith("change 2: stored ")
    assert "known already" in run("remember", "shop", "Never push to main without a review")
    assert run("edits", "shop").splitlines()[1].endswith("  added Never log emails")
    assert "change 2 is undone" in run("undo", "shop")
    assert "Never log emails" not in run("resume", "shop")
    assert "change 1 is undone" in run("undo", "shop")
    assert json.loads(run("remember", "shop", "Never log emails", "--json"))["change"] == 5
    run("remember", "shop", "Database: MariaDB")
    first, again = run("undo", "shop").splitlines()
    assert first.startswith("change 6 is undone: ") and "(archived, " in first
    assert again.startswith("  in force again: decision-") and "PostgreSQL" in again
    run("pin", "shop", "PostgreSQL")
    undone = json.loads(run("undo", "shop", "--json"))
    assert (undone["undone"], undone["change"]) == (8, 9)
    assert (undone["before"], undone["restored"]) == ({"pinned": True}, [])


def test_edits_are_listed_as_old_and_new(run: Run) -> None:
    assert run("edits", "shop") == ""
    run("correct", "shop", "Never push to main without a review", "--text", "Ask for a review", "--reason", "shorter")
    run("archive", "shop", "Ask for a review")
    run("undo", "shop")
    lines = [line.partition("decision-")[2].partition("  ")[2] for line in run("edits", "shop").splitlines()]
    assert lines == [
        "label: Never push to main without a review -> Ask for a review: shorter",
        "status: active -> archived; Ask for a review (undone)",
        "undo of change 2: status: archived -> active; Ask for a review",
    ]
    listed = json.loads(run("edits", "shop", "--json"))
    assert listed[0]["after"] == {"label": "Ask for a review"}
    assert (listed[2]["undoes"], listed[2]["before"]) == (2, {"status": "archived"})


def test_why_tells_a_correction_and_finds_the_old_words(run: Run) -> None:
    run("correct", "shop", "Never push to main without a review", "--text", "Open a merge request", "--reason", "new")
    changed = run("correct", "shop", "Open a merge request", "--text", "Ask for a review")
    assert changed.startswith("change 2: corrected the rule decision-")
    assert ": Open a merge request -> Ask for a review (active, message 1)\n" in changed
    assert json.loads(run("undo", "shop", "--json"))["undone"] == 2
    told = run("why", "shop", "push to main")
    assert "corrected by hand (change 1) from Never push to main without a review: new" in told


@pytest.mark.parametrize(
    ("command", "more", "shows"),
    [
        ("correct", ["--text", "CockroachDB", "--because", "regions"], "CockroachDB - regions"),
        ("correct", ["--text", "CockroachDB"], "corrected the decision decision-"),
        (
            "invalidate",
            ["--reason", "nobody said so"],
            "list it under Rejected; if it never was true, add --never-true",
        ),
        ("invalidate", ["--reason", "misread", "--never-true"], "no model is shown it any more"),
        ("archive", [], "archived"),
        ("pin", [], "change 1: pinned the decision decision-"),
    ],
)
def test_changes_name_a_fact_by_its_words_and_are_undone(command: str, more: list[str], shows: str, run: Run) -> None:
    before = json.loads(run("search", "shop", "PostgreSQL", "--limit", "1", "--json"))[0]
    changed = run(command, "shop", "PostgreSQL", *more)
    assert changed.startswith("change 1: ")
    assert shows in changed
    assert before["id"] in run("edits", "shop")
    assert "change 1 is undone" in run("undo", "shop")
    after = json.loads(run("search", "shop", "PostgreSQL", "--limit", "1", "--json"))[0]
    assert {**after, "score": 0} == {**before, "score": 0}
    assert "no change by hand" in run("undo", "shop", status=2)


def test_a_task_is_completed_and_that_undone(run: Run) -> None:
    run("remember", "shop", "Get the weather data of July", "--kind", "task")
    changed = run("complete", "shop", "weather data", "--reason", "it arrived")
    assert changed.startswith("change 2: completed the task task-")
    assert "status: pending -> completed; Get the weather data of July: it arrived" in run("edits", "shop")
    assert "(pending, by hand)" in run("undo", "shop")
    assert "is no task, error or goal" in run("complete", "shop", "PostgreSQL", status=2)


def test_a_change_as_json_has_its_effects(run: Run) -> None:
    run("pin", "shop", "PostgreSQL")
    assert run("pin", "shop", "PostgreSQL", "--off").startswith("change 2: unpinned the decision decision-")
    done = json.loads(run("correct", "shop", "PostgreSQL", "--text", "cache: Redis", "--json"))
    (effect,) = done["effects"]
    assert effect.startswith("it now holds the place of the cache, and a later one replaces it; ")


def test_a_wrong_fact_that_cannot_be_rejected_is_no_longer_stated(run: Run) -> None:
    run("remember", "shop", "Python 3.11 on the server", "--kind", "environment")
    changed = run("invalidate", "shop", "environment-1", "--reason", "it is 3.12")
    assert changed.startswith("change 2: invalidated the environment environment-1: Python 3.11 on the server ")
    assert "blocks no longer state it" in changed
    assert "Python 3.11" not in run("resume", "shop")


def test_what_cannot_be_done_is_one_line(run: Run) -> None:
    for arguments in (
        ["pin", "shop", "zebras of the north"],
        ["correct", "shop", "PostgreSQL"],
        ["undo", "shop", "7"],
        ["pin", "nobody", "x"],
    ):
        assert len(run(*arguments, status=2).strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.json", '{"title"'), ("x.JSON", '{"title"'), ("x.jsonl", '{"tokenmizer'), ("x.ndjson", '{"tok')],
)
def test_the_ending_of_a_file_says_its_format(name: str, begins: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / name
    run("export", "shop", "-o", str(path))
    assert path.read_text(encoding="utf-8").startswith(begins)


@pytest.mark.parametrize("name", ["x.docx", "x", "x.html.bak"])
def test_an_unknown_ending_is_an_error(name: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / name
    assert "which format" in run("export", "shop", "-o", str(path), status=2)
    assert not path.exists()
    run("export", "shop", "-o", str(path), "--format", "log")
    assert path.exists()


@pytest.mark.parametrize("budget", sample([6, 10, 14, 20], 2))
def test_a_small_digest_never_ends_within_a_word(budget: int, tmp_path: Path) -> None:
    table = tmp_path / "orders.csv"
    table.write_text("id,total\n" + "".join(f"{number},{number * 1_234_567}\n" for number in range(4_000)))
    command = [sys.executable, "-m", "tokenmizer_mw", "analyze", str(table)]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    whole = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    short = subprocess.run(
        [*command, "--budget", str(budget)], capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()
    words = whole.replace(",", " ").replace(":", " ").split()
    assert all(word in words for word in short.replace(",", " ").replace(":", " ").split())


def test_a_file_of_which_nothing_is_said_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "orders.csv"
    table.write_text("id,total\n" + "".join(f"{number},{number * 7}\n" for number in range(400)))
    for more, status, says in (
        (["--budget", "1"], 2, "tokenmizer-mw: error: a budget of 1 token is too small to describe orders.csv"),
        (["--find", "zebra"], 0, "no line of orders.csv holds"),
    ):
        assert main(["analyze", str(table), *more]) == status
        printed = capsys.readouterr()
        assert printed.out == ""
        assert says in printed.err


def test_the_help_of_resume_says_which_time_and_budget(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["resume", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "as it is now" in shown and "--recorded-at" in shown
    assert "block_tokens, 600" in shown


def test_a_fact_that_was_added_has_no_message(run: Run) -> None:
    assert "by hand" in run("remember", "shop", "Never log emails")
    assert "message 1" in run("search", "shop", "push to main")


def test_a_change_that_changes_nothing_says_so(run: Run) -> None:
    run("pin", "shop", "PostgreSQL")
    run("pin", "shop", "PostgreSQL")
    assert len(run("edits", "shop").splitlines()) == 1


def test_a_block_without_a_fact_is_explained(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for budget in ("0", "63"):
        assert f"at least 64 tokens, not {budget}" in run("resume", "shop", "--budget", budget, status=2)
    assert "PostgreSQL" in run("resume", "shop", "--budget", "64")
    run("remember", "plain", "words " * 33, "--create")
    capsys.readouterr()
    assert main(["resume", "plain", "--budget", "64"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and "no fact fits" in printed.err


def test_a_backup_makes_the_directory_that_it_is_written_to(run: Run, tmp_path: Path) -> None:
    assert "verified" in run("backup", f"{tmp_path}/backups/new/")
    assert len(list((tmp_path / "backups" / "new").iterdir())) == 1
    (tmp_path / "file").touch()
    assert "cannot be created" in run("backup", f"{tmp_path}/file/new/", status=2)


def test_a_replaced_fact_is_kept_beside_the_one_that_replaced_it(run: Run) -> None:
    (step,) = json.loads(run("graph", "shop", "--json"))["transitions"]
    assert f"pass the one that it replaced: {step['old']}" in run("separate", "shop", step["new"], status=2)
    assert run("separate", "shop", step["old"], "--reason", "for the tests").startswith("change 1: ")
    assert f"kept beside {step['new']}" in run("edits", "shop")
    assert json.loads(run("graph", "shop", "--json"))["transitions"] == []
    run("undo", "shop")
    assert f"replaced by {step['new']}" in run("edits", "shop")
    assert json.loads(run("graph", "shop", "--json"))["transitions"] == [step]
