"""Sessions named by how they begin or end, lists that say what they are about, and hints that can be pasted."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.uncertain import CERTAIN, NEW, OLD, UNCERTAIN

Run = Callable[..., tuple[int, str, str]]


def say(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps([{"role": "user", "content": text}]), encoding="utf-8")
    return str(path)


@pytest.fixture
def several(run: Run, tmp_path: Path) -> Run:
    """``run`` on a store with four sessions of two projects."""
    file = say(tmp_path, "one", "We use Redis for the queue.")
    for name in ("shop-1f/monday", "shop-1f/tuesday", "blog-2c/monday", "notes"):
        assert run("import", file, "--session", name)[0] == 0
    return run


@pytest.mark.parametrize("name", ["shop-1f/t", "tuesday", "/tuesday", "tue", "Tuesday", "SHOP-1F/t"])
def test_a_session_is_named_by_its_beginning_or_its_end(several: Run, name: str) -> None:
    status, out, err = several("why", name, "Redis")
    assert (status, err) == (0, "")
    assert out.startswith("Redis")
    assert several("remember", name, "never push to main")[0] == 0
    assert "never push to main" in several("graph", "shop-1f/tuesday")[1]


def test_a_whole_name_goes_before_the_names_that_it_begins(several: Run, tmp_path: Path) -> None:
    several("import", say(tmp_path, "two", "We use SQLite."), "--session", "notes/2")
    assert several("resume", "notes")[2] == ""
    assert "SQLite" not in several("resume", "notes")[1]
    assert "SQLite" in several("resume", "notes/")[1]


def test_any_part_of_a_name_is_taken_where_no_name_begins_or_ends_so(several: Run, tmp_path: Path) -> None:
    several("import", say(tmp_path, "plan", "We use SQLite."), "--session", "garden-planner-2026")
    assert "SQLite" in several("resume", "garden")[1]
    assert "SQLite" in several("resume", "Planner")[1]
    status, _, err = several("resume", "gardenplanner")
    assert status == 2
    assert "no session 'gardenplanner' (nearest: garden-planner-2026)" in err


def test_a_name_of_several_sessions_lists_them(several: Run) -> None:
    status, out, err = several("resume", "monday")
    assert (status, out) == (2, "")
    assert "'monday' names 2 sessions in " in err
    assert "tuesday" not in err
    listed = re.findall(r"(\S+) \(\d{4}-\d\d-\d\d \d\d:\d\d, ([^)]+)\)", err)
    assert dict(listed) == dict.fromkeys(("shop-1f/monday", "blog-2c/monday"), "We use Redis for the queue.")


def test_nothing_is_erased_without_a_question_by_part_of_a_name(several: Run) -> None:
    status, _, err = several("forget", "tuesday", "--yes")
    assert status == 2
    assert "pass 'shop-1f/tuesday'" in err
    assert several("forget", "shop-1f/tuesday", "--yes")[0] == 0


def test_options_name_sessions_the_same_way(several: Run) -> None:
    assert several("redact", "--stored", "--session", "tuesday")[0] == 0
    assert several("stats", "--session", "tuesday")[0] == 0
    assert several("stats", "--session", "monday")[0] == 2


def test_a_new_session_is_begun_under_the_name_that_was_given(several: Run) -> None:
    assert several("remember", "shop", "never push to main", "--create")[0] == 0
    assert "shop" in [row["session"] for row in json.loads(several("sessions", "--json")[1])]


def test_the_hint_of_a_command_keeps_the_store(several: Run, store: str, tmp_path: Path) -> None:
    err = several("resume", "nobody")[2]
    hint = err.split("`")[1]
    assert shlex.split(hint) == ["tokenmizer-mw", "sessions", "--store", store]
    assert several(*shlex.split(hint)[1:2])[0] == 0


def test_lists_say_what_sessions_are_about(several: Run, tmp_path: Path) -> None:
    several("import", say(tmp_path, "goal", "Build a booking service for the village hall."), "--session", "hall")
    several("import", say(tmp_path, "none", "Hello there."), "--session", "onion")
    several("remember", "shop-1f/monday", "write the tests for retry", "--kind", "task")
    rows = {row["session"]: row for row in json.loads(several("sessions", "--json")[1])}
    assert "booking service" in rows["hall"]["goal"] and rows["hall"]["title"].lower() == rows["hall"]["goal"].lower()
    assert (rows["onion"]["goal"], rows["onion"]["title"]) == ("", "Hello there.")
    assert (rows["shop-1f/monday"]["project"], rows["shop-1f/monday"]["open_work"]) == ("shop-1f", 1)
    shown = several("sessions")[1]
    assert "Hello there." in shown and "shop-1f/monday" in shown


def test_more_sessions_than_are_listed_are_mentioned(several: Run) -> None:
    status, out, err = several("sessions", "--limit", "2")
    assert (status, len(out.splitlines())) == (0, 3)
    assert err == "these are the 2 most recent ones; --limit N shows more\n"
    assert several("sessions", "--limit", "4")[2] == ""


def test_why_of_a_replaced_fact_names_what_took_its_place(filled: Run) -> None:
    out = filled("why", "hall", "SQLite, it is one file")[1]
    assert "(decision, replaced)" in out and "message 7, " in out and "SQLite -> PostgreSQL" in out
    told = json.loads(filled("why", "hall", "SQLite, it is one file", "--json")[1])
    assert [step["to"]["status"] for step in told["successors"]] == ["active"]
    assert json.loads(filled("why", "hall", "PostgreSQL", "--json")[1])["successors"] == []


@pytest.mark.parametrize(("chat", "said"), [(UNCERTAIN, f"{OLD} (perhaps replaced) -> {NEW}"), (CERTAIN, f"{OLD} -> ")])
def test_why_says_whether_a_replacement_is_uncertain(run: Run, tmp_path: Path, chat: object, said: str) -> None:
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(chat), encoding="utf-8")
    assert run("import", str(path))[0] == 0
    assert said in run("why", "shop", "Hetzner")[1]
    (step,) = json.loads(run("why", "shop", "Hetzner", "--json")[1])["chain"]
    assert step["replaces_perhaps"] is (chat is UNCERTAIN)
    assert ("perhaps replaced " in run("graph", "shop")[1]) is (chat is UNCERTAIN)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_lines_that_fit(filled: Run, store: str) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "tokenmizer_mw", "sessions", "--store", store]
    subprocess.run(command, stdout=theirs, env={**os.environ, "COLUMNS": "60"}, check=True, timeout=60)
    os.close(theirs)
    head, row = os.read(ours, 4_096).decode().splitlines()
    os.close(ours)
    assert head.split() == ["session", "updated", "open", "about"]
    assert row.endswith("Build a booking service...") and len(row) <= 60
