from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenmizer_mw.agents.hooks.events import project_named
from tokenmizer_mw.cli import main
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey

Run = Callable[..., tuple[int, str, str]]


def test_import_names_the_session_after_the_file_and_counts(run: Run, chat: Path) -> None:
    status, out, err = run("import", str(chat), "--json")
    assert (status, err.count("\n")) == (0, 1)
    assert err.startswith("created the folder ")
    told = json.loads(out)
    assert told["session"] == "hall"
    assert (told["messages"], told["new"]) == (8, 8)
    assert told["facts"] > 0


def test_a_second_import_adds_nothing(filled: Run, chat: Path) -> None:
    assert json.loads(filled("import", str(chat), "--json")[1])["new"] == 0


def test_import_in_many_steps_is_import_at_once(run: Run, tmp_path: Path, store: str) -> None:
    turns = [
        {"role": role, "content": text} for _ in range(300) for role, text in (("user", "on"), ("assistant", "ok"))
    ]
    long = tmp_path / "long.json"
    long.write_text(json.dumps(turns))
    assert json.loads(run("import", str(long), "--json")[1])["new"] == 600


def test_import_under_another_name_and_tenant(run: Run, chat: Path) -> None:
    assert run("import", str(chat), "--session", "other", "--tenant", "acme")[0] == 0
    assert run("sessions")[1] == ""
    [info] = json.loads(run("sessions", "--tenant", "acme", "--json")[1])
    assert (info["session"], info["tenant"]) == ("other", "acme")


def test_counts_of_one_are_said_as_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps([{"role": "user", "content": "ok"}]))
    assert run("import", str(tmp_path / "one.json"))[1] == "session one: 1 message, 1 new, 0 facts\n"


def test_an_empty_list_says_where_it_looked(run: Run, chat: Path) -> None:
    for command in (["sessions"], ["sessions", "--json"], ["stats"]):
        status, out, err = run(*command)
        assert (status, out) == (2, "")
        assert "there is no store in " in err
        assert err.endswith("chat.db (no such file)\n")
    run("import", str(chat))
    assert "chat.db; other tenants have sessions here" in run("sessions", "--tenant", "acme")[2]


def test_who_names_no_store_is_told_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TOKENMIZER_STORE", "TOKENMIZER_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert main(["sessions"]) == 0
    hint = "if your application uses another store, name it: --store sqlite:///memory.db\n"
    assert capsys.readouterr().err.endswith(f"(no such file); {hint}")


def test_sessions(filled: Run) -> None:
    status, out, _ = filled("sessions")
    assert status == 0
    assert out.splitlines()[1].startswith("hall  ")
    assert out.endswith("   -  Build a booking service for the village hall\n")
    [info] = json.loads(filled("sessions", "--json")[1])
    assert info["events"] > 8
    assert info["created_at"] <= info["updated_at"]


def test_the_most_recent_sessions(filled: Run, chat: Path) -> None:
    filled("import", str(chat), "--session", "later")
    assert [info["session"] for info in json.loads(filled("sessions", "--json")[1])] == ["later", "hall"]
    assert [info["session"] for info in json.loads(filled("sessions", "--limit", "1", "--json")[1])] == ["later"]
    for wrong in ("0", "-1", "x"):
        status, _, err = filled("sessions", "--limit", wrong)
        assert (status, "whole number of at least 1" in err) == (2, True)


@pytest.mark.parametrize("level", ["critical", "standard", "full"])
def test_resume(filled: Run, level: str) -> None:
    status, out, _ = filled("resume", "hall", "--level", level)
    assert status == 0
    assert out.strip()
    told = json.loads(filled("resume", "hall", "--level", level, "--json")[1])
    assert told["level"] == level
    assert told["text"].strip() == out.strip()
    assert told["tokens"] > 0


def test_resume_within_a_budget(filled: Run) -> None:
    told = json.loads(filled("resume", "hall", "--budget", "150", "--query", "PostgreSQL", "--json")[1])
    assert told["tokens"] <= 150


def test_graph(filled: Run) -> None:
    status, out, _ = filled("graph", "hall")
    assert status == 0
    assert "PostgreSQL" in out
    assert "hall/schema.sql" in out
    graph = json.loads(filled("graph", "hall", "--json")[1])
    assert graph.keys() == {"nodes", "edges", "transitions"}


def test_graph_as_believed_before_the_session(filled: Run) -> None:
    assert json.loads(filled("graph", "hall", "--recorded-at", "1970-01-02", "--json")[1])["nodes"] == []
    assert filled("graph", "hall", "--recorded-at", "1000000000")[1] == "nothing is known of this session yet\n"


def test_graph_after_a_message(filled: Run) -> None:
    first = filled("graph", "hall", "--message", "1", "--json")[1]
    assert "PostgreSQL" not in first and "SQLite" in first
    status, _, err = filled("graph", "hall", "--recorded-at", "6")
    assert status == 2 and "before the year 2000: pass the number of a message as message" in err


def test_why(filled: Run) -> None:
    status, out, _ = filled("why", "hall", "PostgreSQL")
    assert status == 0
    assert "PostgreSQL" in out
    told = json.loads(filled("why", "hall", "PostgreSQL", "--json")[1])
    assert "PostgreSQL" in told["node"]["label"]


def test_checkpoint(filled: Run) -> None:
    status, out, _ = filled("checkpoint", "hall")
    assert (status, out.split()[0]) == (0, "checkpoint-1")
    second = json.loads(filled("checkpoint", "hall", "--json")[1])
    assert second["id"] == "checkpoint-2"
    assert second["diff"]["added"] == []
    assert "no fact has changed" in filled("checkpoint", "hall")[1]


def test_forget(filled: Run) -> None:
    answer = filled("forget", "hall", "--yes")[1]
    assert answer.startswith("erased hall: ")
    assert "still open is recorded again" in answer
    assert filled("sessions")[1] == ""


def test_forget_asks_first(filled: Run) -> None:
    status, out, err = filled("forget", "hall")
    assert (status, out) == (2, "")
    assert "--yes" in err
    assert filled("sessions")[1] != ""


def test_forget_of_an_unknown_session_says_so_before_it_asks(filled: Run) -> None:
    for more in ([], ["--yes"]):
        status, _, err = filled("forget", "nosuch", *more)
        assert status != 0
        assert "no session 'nosuch'" in err
        assert "confirm" not in err


def test_export_and_import_are_exact(filled: Run, tmp_path: Path) -> None:
    first = tmp_path / "out.jsonl"
    assert filled("export", "hall", "-o", str(first))[0] == 0
    assert filled("forget", "hall", "--yes")[0] == 0
    status, out, _ = filled("import", str(first))
    assert status == 0
    assert out.startswith("session hall: ")
    assert filled("export", "hall")[1] == first.read_text()


def test_export_leaves_the_old_file_when_it_cannot_write(filled: Run, tmp_path: Path) -> None:
    target = tmp_path / "missing" / "out.jsonl"
    status, _, err = filled("export", "hall", "-o", str(target))
    assert status == 1
    assert err.startswith("tokenmizer-mw: error: ")
    assert not target.exists()


def test_what_a_label_holds_does_not_steer_the_terminal(run: Run, tmp_path: Path, store: str) -> None:
    path = tmp_path / "evil.json"
    text = "Never print \x1b[2J\x1b]0;pwned\x07 on \u202eproduction without asking me."
    path.write_text(json.dumps([{"role": "user", "content": text}]))
    assert run("import", str(path))[0] == 0
    for command in (["graph", "evil"], ["graph", "evil", "--json"], ["resume", "evil"], ["export", "evil"]):
        out = run(*command)[1]
        assert not set(out) & {"\x1b", "\x07", "\u202e"}


def test_the_store_may_come_from_the_environment(
    filled: Run, store: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tokenmizer_mw.cli import main

    monkeypatch.setenv("TOKENMIZER_STORE", store)
    assert main(["sessions"]) == 0
    assert "\nhall " in capsys.readouterr().out


def test_the_same_sessions_are_seen_by_a_program(filled: Run, store: str) -> None:
    memory = SessionMemory.open(store)
    try:
        assert [info.key.id for info in memory.sessions()] == ["hall"]
    finally:
        memory.close()


def test_an_agents_transcript_belongs_to_the_project_of_its_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "shop" / "src"
    folder.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    agents_id = "6f1d2c3b-8a41-4c0e-9d55-2b7f3e61c904"
    line = {
        "type": "user",
        "sessionId": agents_id,
        "cwd": str(folder),
        "timestamp": "2026-10-05T21:14:00Z",
        "message": {"role": "user", "content": "Never push to main."},
    }
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(line) + "\n")
    expected = f"{project_named(str(tmp_path / 'shop'))}/{agents_id}"
    status, out, _ = run("import", str(path))
    assert (status, out) == (0, f"session {expected}: 1 message, 1 new, 1 fact\n")
    assert f"session {expected}: 1 message, 0 new" in run("import", str(path))[1]
    assert run("import", str(path), "--session", "mine")[1].startswith("session mine: 1 message, 1 new")


def test_a_log_that_differs_says_what_to_pass(filled: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    filled("export", "hall", "-o", str(path))
    filled("remember", "hall", "Answer in French")
    status, _, said = filled("import", str(path))
    assert status == 2
    assert "into another session (on the command line --session NAME), or into another store" in said
    assert filled("import", str(path), "--session", "other")[0] == 0


def test_what_a_cut_lost(filled: Run, store: str) -> None:
    uncut = filled("loss", "hall")[1]
    assert uncut.startswith("no request of this session was cut by the middleware or the proxy;") and "resume" in uncut
    assert filled("loss", "nobody")[0] == 2
    key = SessionKey(LOCAL_TENANT, "hall")
    with SessionMemory.open(store) as memory:
        seq = memory.log.read(key)[-1].seq
        memory.log.append(key, [Checkpointed("checkpoint-1", 8, 40, "block", "digest", 5, 4, ())], expected_seq=seq)
    status, out, _ = filled("loss", "hall")
    assert (status, out.splitlines()[0]) == (0, "checkpoint-1: a block took the place of 4 messages")
    assert "[3] decision: Never delete a booking" in out
    assert json.loads(filled("loss", "hall", "--json")[1])["dropped"] == 4
