"""Which addresses lead to which store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.model.event import Derived
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.store.memory import MemoryLog
from tokenmizer_mw.store.open import find_missing, open_log
from tokenmizer_mw.store.sqlite import SqliteLog

KEY = SessionKey("tenant", "session")


@pytest.mark.parametrize(
    "url", ["memory://", "MEMORY://", "sqlite://", "sqlite:///:memory:", "sqlite://?synchronous=full"]
)
def test_addresses_in_memory(url: str) -> None:
    assert isinstance(open_log(url), MemoryLog)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("sqlite:///log.db", "log.db"),
        ("sqlite:///below/log.db", "below/log.db"),
        ("SQLite:///log%20 ü.db", "log%20 ü.db"),
        ("sqlite:///log.db?synchronous=full", "log.db"),
        ("sqlite:////{root}/absolute.db", "absolute.db"),
    ],
)
def test_addresses_of_files(url: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = open_log(url.format(root=str(tmp_path).removeprefix("/")), clock=lambda: 5.0)
    assert isinstance(log, SqliteLog)
    assert not (tmp_path / place).exists()
    assert log.append(KEY, [Derived(1)], expected_seq=0)[0].recorded_at == 5.0
    log.close()
    assert (tmp_path / place).exists()


def test_a_tilde_is_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    log = open_log("sqlite:///~/log.db")
    log.append(KEY, [Derived(1)], expected_seq=0)
    log.close()
    assert (tmp_path / "log.db").exists()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "memory://, sqlite:///"),
        ("log.db", "memory://, sqlite:///"),
        ("/var/log.db", "memory://, sqlite:///"),
        ("memory:", "memory://, sqlite:///"),
        ("sqlite:log.db", "memory://, sqlite:///"),
        ("mysql://user:hunter2@host/db", "memory://, sqlite:///"),
        ("memory://somewhere", "takes no path"),
        ("sqlite://log.db", "three slashes"),
        ("sqlite://host/log.db", "three slashes"),
        ("sqlite:///", "three slashes"),
        ("sqlite:///a\0b", "three slashes"),
        ("sqlite:///log.db?mode=ro", "synchronous, not mode"),
        ("sqlite:///log.db?synchronous=off", "normal, full"),
        ("sqlite://?bogus=1", "synchronous, not bogus"),
        ("sqlite:///:memory:?synchronous=off", "normal, full"),
    ],
)
@pytest.mark.parametrize("call", [open_log, find_missing])
def test_other_addresses_are_refused_in_one_clear_line(call: Callable[[str], object], url: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call(url)
    assert sentence in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_missing_of_a_store(tmp_path: Path) -> None:
    file = tmp_path / "log.db"
    assert find_missing(f"sqlite:///{file}") == "no such file"
    assert not file.exists()
    file.touch()
    assert [find_missing(url) for url in (f"sqlite:///{file}", "memory://", "sqlite://")] == ["", "", ""]
