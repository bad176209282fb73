"""Settings from a file and from the environment; what is wrong is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.settings import Settings


def test_defaults_file_and_environment(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("block_tokens: 300\ncontext_window: 8000\nsession_field: chat\n")
    read = Settings.load(path, {"TOKENMIZER_BLOCK_TOKENS": "200", "TOKENMIZER_KEEP_SESSION_FIELD": "true"})
    assert (read.block_tokens, read.context_window, read.session_field) == (200, 8000, "chat")
    assert read.keep_session_field is True
    assert Settings.load(path, {"TOKENMIZER_CONTEXT_WINDOW": ""}).context_window is None
    assert Settings.load(None, {}) == Settings()
    (tmp_path / "empty.yaml").write_text("")
    assert Settings.load(tmp_path / "empty.yaml", {}) == Settings()
    assert Settings().with_(cut_at=0.5, cut_to=0.3).cut_at == 0.5


def test_an_empty_variable_is_none_or_an_empty_text() -> None:
    names = ("SESSION_HEADER", "COMPRESS", "PRICES")
    read = Settings.load(None, {f"TOKENMIZER_{name}": "" for name in names})
    assert (read.session_header, read.compress, read.prices) == ("", "", None)
    with pytest.raises(ConfigError, match="environment: cut_at is a number, not ''"):
        Settings.load(None, {"TOKENMIZER_CUT_AT": ""})


WRONG = [
    ("blok_tokens: 3", "unknown setting blok_tokens; nearest: block_tokens"),
    ("block_tokens: many", r"settings\.yaml: block_tokens is a whole number of at least 64, not 'many'"),
    ("block_tokens: 0", "block_tokens"),
    ("known_requests_max: -1", "known_requests_max"),
    ("cut_at: 0.2", "cut_to"),
    ("block_role: narrator", "block_role is one of user, system, developer, not 'narrator'"),
    ("- a list", "mapping"),
    ("a: [", "YAML"),
    ("cache_url: {url: 'redis://:secret@host'}", "cache_url is text, not a dict$"),
    ("confidence_floor: 2", "confidence_floor"),
    ("stages: rules,guesses", "stages are dialogue, model, rules, structure, not guesses"),
]


@pytest.mark.parametrize(("text", "named"), WRONG)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=named):
        Settings.load(path, {})


IN_CODE = [
    ({"block_role": "alien"}, "block_role"),
    ({"block_tokens": 1}, "block_tokens is a whole number of at least 64"),
    ({"block_tokens": 63}, "block_tokens is a whole number of at least 64"),
    (
        {"context_window": 999},
        r"context_window is a whole number of at least 1000 \(block_tokens \+ reminder",
    ),
    ({"context_window": "8000"}, "context_window"),
    ({"cut_at": "0.5"}, "cut_at is a number"),
    ({"queue_max": True}, "queue_max"),
    ({"snapshot_max": None}, "snapshot_max is a whole number of at least 1, not None"),
    ({"confidence_floor": float("nan")}, "confidence_floor is a number from 0 to 1, not nan"),
    ({"known_requests_max": -1}, "known_requests_max"),
    ({"llm_timeout": 0}, "llm_timeout is a number above 0, not 0"),
    ({"llm_rest_seconds": -1}, "llm_rest_seconds is a number of at least 0, not -1"),
    ({"llm_input_tokens": 100}, "llm_input_tokens is a whole number of at least 4000"),
    ({"llm_attempts": 0}, "llm_attempts"),
]


@pytest.mark.parametrize(("given", "named"), IN_CODE)
def test_what_is_wrong_in_code_is_named(given: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Settings(**given)  # type: ignore[arg-type]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.yaml"):
        Settings.load(tmp_path / "absent.yaml", {})
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.yaml"):
        Settings.load(tmp_path / "binary.yaml", {})
    with pytest.raises(ConfigError, match="environment: block_tokens"):
        Settings.load(None, {"TOKENMIZER_BLOCK_TOKENS": "many"})


BY_VARIABLE = [
    ("", {"BLOCK_TOKENS": "many"}, "environment: block_tokens is a whole number of at least 64, not 'many'"),
    ("block_tokens: 300", {"BLOCK_TOKENS": "many"}, "environment: block_tokens is a whole number of at least 64"),
    ("", {"STAGES": "guesses"}, "environment: stages are"),
    ("cut_at: 0.6", {"CUT_TO": "0.7"}, "environment: cut_to and cut_at are shares"),
    ("cut_at: 0.6", {"SNAPSHOT_MAX": ""}, "environment: snapshot_max is a whole number of at least 1, not ''"),
    ("cut_at: 0.2", {"BLOCK_TOKENS": "300"}, r"settings\.yaml: cut_to and cut_at are shares"),
    ("blok_tokens: 3", {"BLOCK_TOKENS": "300"}, r"settings\.yaml: unknown setting blok_tokens"),
    ("queue_max: 0", {"BLOCK_TOKENS": "300"}, r"settings\.yaml: queue_max"),
]


@pytest.mark.parametrize(("text", "variables", "named"), BY_VARIABLE)
def test_a_wrong_variable_is_no_fault_of_the_file(
    tmp_path: Path, text: str, variables: dict[str, str], named: str
) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    environ = {f"TOKENMIZER_{name}": value for name, value in variables.items()}
    with pytest.raises(ConfigError) as raised:
        Settings.load(path, environ)
    assert re.match(named, str(raised.value).removeprefix(f"{tmp_path}/"))


def test_a_variable_replaces_a_wrong_value_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("block_tokens: many")
    assert Settings.load(path, {"TOKENMIZER_BLOCK_TOKENS": "300"}).block_tokens == 300


def test_a_call_may_name_a_smaller_window_than_the_settings() -> None:
    assert Settings(block_tokens=200, reminder_tokens=100, context_window=300).with_window(50).context_window == 50
    with pytest.raises(ConfigError, match="context_window is a whole number of at least 1, not 0"):
        Settings().with_window(0)
