"""Backups, restoring and retention from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tokenmizer_mw.cli import main

from .conftest import Run


def test_back_up_and_restore(filled: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = filled("backup", str(tmp_path))
    assert status == 0
    assert "1 sessions, verified" in out
    (made,) = tmp_path.glob("tokenmizer-*.db")
    other = f"sqlite:///{tmp_path / 'other' / 'chat.db'}"
    assert main(["restore", str(made), "--store", other, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["sessions"], told["differ"]) == (1, [])
    assert main(["graph", "hall", "--store", other, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(filled("graph", "hall", "--json")[1])


def test_a_portable_backup(filled: Run, tmp_path: Path) -> None:
    told = json.loads(filled("backup", str(tmp_path / "all.jsonl"), "--portable", "--json")[1])
    assert (told["form"], told["sessions"], told["there"]) == ("lines", 1, True)
    assert filled("restore", told["path"])[1].startswith("1 sessions, 0 new events")


def test_backups_on_record(filled: Run, tmp_path: Path) -> None:
    filled("backup", str(tmp_path / "a.db"))
    filled("backup", str(tmp_path / "b.db"))
    (tmp_path / "a.db").unlink()
    listed = filled("backup", "--list")[1]
    assert "a.db  (not there)" in listed
    status, out, err = filled("forget", "hall", "--yes")
    assert status == 0
    assert out.startswith("erased hall")
    assert err.count("may still be in the backup") == 2
    assert all(str(tmp_path / name) in err for name in ("a.db", "b.db"))
    filled("backup", "--drop", str(tmp_path / "a.db"))
    told = json.loads(filled("backup", "--list", "--json")[1])
    assert [Path(one["path"]).name for one in told] == ["b.db"]
    assert filled("backup", "--drop", str(tmp_path / "a.db"))[0] == 2


@pytest.mark.usefixtures("filled")
def test_an_answer_from_a_pipe_erases_a_session_that_is_named_in_full(store: str) -> None:
    def forget(id_: str, answer: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tokenmizer_mw", "forget", id_, "--store", store]
        return subprocess.run(command, input=answer, text=True, capture_output=True, timeout=60, check=False)

    for id_, answer, complaint in (
        ("hall", "", "nobody is there to confirm: pass --yes"),
        ("hall", "n\n", "nothing was erased"),
        ("hal", "y\n", "'hal' is not the whole name: with --yes or a piped answer, pass 'hall'"),
    ):
        ended = forget(id_, answer)
        assert (ended.returncode, complaint in ended.stderr) == (2, True)
    assert forget("hall", "y\n").stdout.startswith("erased hall")


def test_retain(filled: Run) -> None:
    status, out, err = filled("retain", "--older-than", "0h", "--dry-run")
    assert (status, out, err) == (0, "hall (local)\n", "would erase 1 sessions\n")
    assert filled("retain", "--older-than", "90d", "--all-tenants")[2] == "erased 0 sessions\n"
    told = json.loads(filled("retain", "--older-than", "0d", "--json")[1])
    assert told["sessions"] == [{"session": "hall", "tenant": "local"}]
    assert filled("sessions", "--json")[1].strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("backup",), "say where to"),
        (("restore", "absent.db"), "No such file"),
        (("retain", "--older-than", "soon"), "is not an age"),
    ],
)
def test_misuse(arguments: tuple[str, ...], told: str, filled: Run) -> None:
    status, _, err = filled(*arguments)
    assert status == 2
    assert told in err


def test_a_store_that_is_not_there_is_not_backed_up(run: Run, tmp_path: Path) -> None:
    status, _, err = run("backup", str(tmp_path / "x.db"))
    assert status == 2
    assert "nothing to back up" in err
    assert not (tmp_path / "x.db").exists()
