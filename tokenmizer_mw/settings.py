"""Settings: one frozen object, read once at the edge and passed in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from tokenmizer_mw.errors import ConfigError

ENVIRONMENT_PREFIX: Final = "TOKENMIZER_"

_Role = Literal["user", "system", "developer"]
_Guard = Literal["off", "flag", "fence", "block"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be tuned, with the defaults that suit most applications. Sizes are bytes unless named.

    Reading a request
        ``session_header`` and ``session_field`` name where a session id is looked for (the field in the request's
        JSON body; "" switches one off); ``keep_session_field`` leaves the field for the inner application.
        ``request_max``: larger requests pass untouched. ``capture_max``: of a response, more is not remembered.
        ``known_requests_max``: characters of recent requests kept so that a history that is sent again is not read
        again, which takes several times as many bytes; 0 keeps none.
    When to cut
        ``context_window``: tokens that the model takes in; ``None`` looks the model up in a table and falls back to
        ``default_window``. ``cut_at`` is the share of it at which the old transcript is replaced, ``cut_to`` the
        share that it is brought down to. ``block_tokens`` is the budget of the resume block that takes its place,
        ``block_role`` the role of the message that carries it.
    What is believed
        ``confidence_floor``: facts below it are not kept. ``nodes_max``: cap of the nodes that may be pruned.
        ``message_max``: characters of one message that extraction reads. ``labels_max``: new facts per message.
    What is taken out
        ``redact``: secrets become placeholders before anything else sees a request, and in replies before they are
        kept; ``redact_pii``: e-mail addresses, phone, card and account numbers too; ``redact_rules``: a YAML file with
        rules of your own and what to let through.
    What is suspected
        ``guard``: what is done about words of users and tools that read like an attempt to take over the model. "flag"
        counts them and keeps their facts out of the smallest resume; "fence" draws nothing from their prose;
        "block" refuses a request that brings such words for the first time; "off" looks at nothing.
    Counting
        ``tokenizer_dir``: a directory with tiktoken's tables; ``None`` looks in tiktoken's own cache and in the
        copies that installed packages carry. Nothing is ever downloaded.
    Work in the background
        ``queue_max``: sessions waiting for extraction and turns that were broken off, ``queue_bytes``: what those
        turns hold; ``drain_seconds``: how long closing waits for them.
        ``sessions_cached``: folded sessions kept in process.
    """

    session_header: str = "x-session-id"
    session_field: str = "session_id"
    keep_session_field: bool = False
    request_max: int = 8 * 1024 * 1024
    capture_max: int = 2 * 1024 * 1024
    known_requests_max: int = 8 * 1024 * 1024
    context_window: int | None = None
    default_window: int = 128_000
    cut_at: float = 0.85
    cut_to: float = 0.40
    block_tokens: int = 600
    block_role: _Role = "user"
    confidence_floor: float = 0.50
    nodes_max: int = 5_000
    message_max: int = 200_000
    labels_max: int = 200
    redact: bool = True
    redact_pii: bool = False
    redact_rules: str | None = None
    guard: _Guard = "flag"
    tokenizer_dir: str | None = None
    queue_max: int = 1_000
    queue_bytes: int = 64 * 1024 * 1024
    drain_seconds: float = 5.0
    sessions_cached: int = 256

    def __post_init__(self) -> None:
        self._check_numbers()
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}")
        if not 0.0 < self.cut_to < self.cut_at <= 1.0:
            raise ConfigError("cut_to and cut_at are shares of the window: 0 < cut_to < cut_at <= 1")
        if not 0.0 <= self.confidence_floor <= 1.0:
            raise ConfigError("confidence_floor lies between 0 and 1")
        if self.drain_seconds < 0:
            raise ConfigError("drain_seconds cannot be negative")

    def _check_numbers(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"{name} is a whole number of at least {least}, not {value!r}")
        for name in _NUMBERS:
            if not isinstance(getattr(self, name), int | float) or isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is a number, not {getattr(self, name)!r}")

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
        """Settings from a YAML file (``None``: no file), then from ``TOKENMIZER_<NAME>`` variables, which win.

        Raises ``ConfigError`` that names the file and the setting when one is unknown or has the wrong type.
        """
        given = _read_file(Path(path)) if path is not None else {}
        variables = os.environ if environ is None else environ
        for name in (field.name for field in fields(cls)):
            if (text := variables.get(ENVIRONMENT_PREFIX + name.upper())) is not None:
                given[name] = None if text == "" else text
        return cls._validated(given, where=str(path) if path is not None else "environment")

    def with_(self, **changes: Any) -> Settings:
        """A copy with some settings changed. Raises ``ConfigError`` for a value out of range."""
        return replace(self, **changes)

    @classmethod
    def _validated(cls, given: dict[str, Any], where: str) -> Settings:
        from pydantic import TypeAdapter, ValidationError  # a third of the package's import time: only where used

        if unknown := sorted(given.keys() - {field.name for field in fields(cls)}):
            raise ConfigError(f"{where}: unknown setting {', '.join(map(str, unknown))}")
        try:
            return TypeAdapter(cls).validate_python(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = ".".join(map(str, first["loc"])) or "settings"
            raise ConfigError(f"{where}: {name}: {first['msg']}") from None


_LEAST: Final = {
    "request_max": 1,
    "capture_max": 1,
    "context_window": 1,
    "default_window": 1,
    "block_tokens": 40,
    "nodes_max": 1,
    "message_max": 1,
    "labels_max": 1,
    "queue_max": 1,
    "queue_bytes": 1,
    "sessions_cached": 1,
    "known_requests_max": 0,
}
_OPTIONAL: Final = frozenset({"context_window"})
_NUMBERS: Final = ("cut_at", "cut_to", "confidence_floor", "drain_seconds")
_CHOICES: Final = {"block_role": get_args(_Role), "guard": get_args(_Guard)}


def _read_file(path: Path) -> dict[str, Any]:
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not readable as YAML: {error}") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: expected a mapping of settings")
    return loaded
