"""What the calling code gets wrong is said where it is wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tokenmizer_mw import SessionMemory, Settings, TokenMizerMiddleware
from tokenmizer_mw.errors import CallerError, ConfigError, InvalidMessage, InvalidSession, StoreUnavailable

CHAT = [{"role": "user", "content": "Use SQLite for storage."}, {"role": "assistant", "content": "Understood."}]


@pytest.fixture
def memory() -> Iterator[SessionMemory]:
    with SessionMemory.open("memory://", Settings(context_window=1_000)) as made:
        made.record("s", CHAT)
        yield made


@pytest.mark.parametrize("settings", [{"block_tokens": 300}, "settings.yaml"])
def test_settings_are_an_object(settings: Any) -> None:
    with pytest.raises(ConfigError, match=r"Settings\.load"):
        SessionMemory.open("memory://", settings)


def test_a_configuration_of_the_proxy_is_recognised(tmp_path: Any) -> None:
    path = tmp_path / "proxy.yaml"
    path.write_text("memory:\n  block_tokens: 300\n")
    with pytest.raises(ConfigError, match="configuration of the proxy"):
        Settings.load(path, {})


@pytest.mark.parametrize("message", [{"role": "user"}, {"role": "assistant", "name": "ann"}])
def test_a_message_without_content_is_none(memory: SessionMemory, message: dict[str, str]) -> None:
    with pytest.raises(InvalidMessage, match="message 3 has neither"):
        memory.record("s", [*CHAT, message])
    calls = [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    assert memory.record("s", [*CHAT, {"role": "assistant", "tool_calls": calls}]) == 1
    assert memory.record("t", [{"role": "assistant", "content": None}]) == 1


def test_a_time_is_seconds_a_date_or_its_text(memory: SessionMemory) -> None:
    assert len(memory.graph("s", recorded_at="2020-01-31")) == len(memory.graph("s", recorded_at=datetime(2020, 1, 31)))
    for wrong in ("yesterday", 1_764_000_000_000, [1], 6, 0.0, -1):
        with pytest.raises(CallerError, match="time"):
            memory.graph("s", recorded_at=wrong)  # type: ignore[arg-type]


def test_one_message_is_restored_by_its_number(memory: SessionMemory) -> None:
    assert memory.restore("s", 1) == memory.restore("s", [1]) != []


def test_a_callable_of_the_middleware_is_not_async(memory: SessionMemory) -> None:
    async def name(scope: object) -> str:
        return "s"

    class Named:
        async def __call__(self, scope: object) -> str:
            return "s"

    for given in (name, Named()):
        for argument in ("session", "tenant"):
            with pytest.raises(ConfigError, match="async"):
                TokenMizerMiddleware(None, memory=memory, **{argument: given})  # type: ignore[arg-type]


def test_why_chats_pass_is_logged_once_for_each_cause(memory: SessionMemory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="tokenmizer_mw"):
        for _ in range(3):
            memory.service.count("no_session")
            memory.service.count("session_invalid")
            memory.service.count("reminder_sent")
    assert [record.getMessage().rpartition("; ")[2] for record in caplog.records] == ["no_session)", "session_invalid)"]


def test_a_message_larger_than_the_window_is_counted_and_logged(
    memory: SessionMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="tokenmizer_mw"):
        for _ in range(2):
            memory.shorten("s", [*CHAT, {"role": "user", "content": "word " * 3_000}])
            memory.shorten("s", CHAT)
    assert memory.counters()["window_exceeded"] == 2
    assert ["larger than the model's window" in record.getMessage() for record in caplog.records] == [True]


def test_a_block_gets_the_room_that_a_long_system_prompt_leaves(caplog: pytest.LogCaptureFixture) -> None:
    """Without room for one, that is logged once per session, and counted as what it is."""
    chat = [
        {"role": role, "content": "We use Postgres, because it locks rows. " * 5} for role in ("user", "assistant") * 20
    ]
    chat.append({"role": "user", "content": "Which database?"})
    with SessionMemory.open("memory://") as memory, caplog.at_level(logging.WARNING, logger="tokenmizer_mw"):
        some = memory.shorten("s", chat, window=2_000, overhead="You are careful. " * 380)
        assert some is not None and "Postgres" in some.block and len(some.kept) == 1
        assert not caplog.records and "cut_without_block" not in memory.counters()
        for _ in range(2):
            none = memory.shorten("t", chat, window=2_000, overhead="You are careful. " * 480)
            assert none is not None and not none.block and len(none.kept) == 1
        (line,) = [record.getMessage() for record in caplog.records]
        assert "of a window of 2000 tokens" in line and "take 1921, the newest messages 7" in line
        counters = memory.counters()
        assert counters["cut_without_block"] == 2 and counters["request_rewritten"] == 1
        assert memory.shorten("u", chat, window=100) is not None
        assert "cut_not_worth_it" not in memory.counters() and memory.counters()["cut_without_block"] == 3


def test_a_listed_session_has_the_id_that_methods_take(memory: SessionMemory) -> None:
    (listed,) = memory.sessions()
    assert listed.id == "s"
    for wrong in (listed, listed.key):
        with pytest.raises(InvalidSession, match="pass its id"):
            memory.resume(wrong)  # type: ignore[arg-type]


def test_a_number_of_tokens_is_no_level(memory: SessionMemory) -> None:
    with pytest.raises(CallerError, match=r"not an int: .*budget=300"):
        memory.resume("s", 300)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("hello", "message 1 is a str, not an object with a role: pass {'role'"),
        ({"role": "user", "content": None}, "message 1, of role 'user', has content None"),
    ],
)
def test_what_is_no_message_is_named(memory: SessionMemory, message: object, says: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        memory.record("t", [message])  # type: ignore[list-item]
    assert says in str(refused.value)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    memory = SessionMemory.open(f"sqlite:///{tmp_path / 'm.db'}")
    memory.close()
    with pytest.raises(StoreUnavailable, match=r"m\.db is closed$"):
        memory.sessions()


def test_a_correction_needs_new_words_and_an_explanation_a_question(memory: SessionMemory) -> None:
    with pytest.raises(CallerError, match="label="):
        memory.correct("s", "SQLite")
    with pytest.raises(CallerError, match="empty"):
        memory.why("s", " ")


def test_a_store_that_cannot_be_opened_is_raised_and_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="tokenmizer_mw"), pytest.raises(StoreUnavailable):
        SessionMemory.open(f"sqlite:///{tmp_path / 'none' / 'there' / 'memory.db'}")
    assert not caplog.records
