"""``tokenmizer-mw cache``: what is held, and emptying it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tokenmizer_mw.cli import main
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.saving.cache.stores import Entry
from tokenmizer_mw.saving.cache.stores.sqlite import SqliteAnswers


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "answers.db"
    store = SqliteAnswers(str(path), 1_000_000)
    for number, (tenant, session) in enumerate([("local", "one"), ("local", "two"), ("acme", "one")]):
        store.put(Entry(b"%032d" % number, SessionKey(tenant, session), b"x" * 10, time.time() + 1_000))
    store.close()
    monkeypatch.setenv("TOKENMIZER_STORE", f"sqlite:///{tmp_path}/sessions.db")
    monkeypatch.setenv("TOKENMIZER_CACHE", "semantic")
    monkeypatch.setenv("TOKENMIZER_CACHE_URL", f"sqlite:///{path}")
    return path


def test_what_is_held_and_forgotten(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> dict[str, object]:
        assert main(["cache", *arguments, "--json"]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    assert told()["answers"] == 2 and told("--tenant", "acme")["answers"] == 1
    assert main(["cache"]) == 0
    assert "2 answers" in capsys.readouterr().out
    assert told("--purge", "--session", "one") == {"purged": 1}
    assert told("--purge") == {"purged": 1}
    assert told()["answers"] == 0 and told("--tenant", "acme")["answers"] == 1


def test_a_cache_that_no_command_can_reach(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("TOKENMIZER_CACHE_URL", "memory://"), ("TOKENMIZER_CACHE", "off")):
        monkeypatch.setenv(name, value)
        assert main(["cache"]) == 1 or main(["cache"]) == 2
        assert "server's process" in capsys.readouterr().err
