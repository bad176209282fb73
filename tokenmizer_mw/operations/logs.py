"""Log formatting: one line per record, as text or JSON, without secrets and without chat content.

This package's own records name kinds and places only. Records of servers and libraries pass the same formatter:
secrets, query strings, and session ids in request paths are removed; line breaks and escape sequences are escaped; an
exception is reported by type and position, never by its text, which may quote data.
"""

from __future__ import annotations

import json
import logging
import logging.config
import re
import sys
import traceback
from datetime import UTC, datetime
from functools import cached_property
from pathlib import PurePath
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from tokenmizer_mw.errors import ConfigError

if TYPE_CHECKING:
    from tokenmizer_mw.safety.redact import Redactor

Form = Literal["text", "json"]

LINE_MAX: Final = 4_000
"""Number of characters of a log message that are shown."""

PLACES_MAX: Final = 8
"""Number of an exception's innermost places (file, line, function) that are shown."""

_QUERY: Final = re.compile(r"(?<=[^\s?])\?[^\s\"'?][^\s\"']*")
_SESSION: Final = re.compile(r"(?<=/)(sessions?|graph|resume|checkpoints)/[^\s/?\"']+")
"""Paths of the REST interface and the dashboard that contain a session id, in log lines of servers."""
_OWN_ID: Final = re.compile(
    r"(?<=\bsession )(?:conversation-[0-9a-f]{32}|(?:(?P<project>[^\s/:]{1,64})-[0-9a-f]{8}/)?"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![^\s,;:.)])"
)
"""Session ids in this package's own lines that the redactor would mistake for secrets: those that the proxy and the
hooks make (``conversation-<digest>``, ``<project>-<digest>/<UUID>``), and UUIDs."""
_UNSHOWN: Final = "(not shown: it could not be redacted)"


def configure_logging(form: Form = "text", level: str = "INFO", stream: TextIO | None = None) -> None:
    """Make all loggers of the process write to ``stream`` (``None``: standard error) in this format only.

    For a process of this package, such as a server; a host application adds ``formatter`` to its own handler instead.
    Raises ``ConfigError`` for an unknown format or level.
    """
    values = log_config(form, level)
    values["handlers"]["out"]["stream"] = stream or sys.stderr
    logging.config.dictConfig(values)


def log_config(form: Form = "text", level: str = "INFO") -> dict[str, Any]:
    """Return the logging configuration that ``configure_logging`` sets up, as a dictionary for
    ``logging.config.dictConfig`` (for example as uvicorn's ``log_config``).

    Raises ``ConfigError`` for an unknown format or level.
    """
    levels = logging.getLevelNamesMapping()
    if level.upper() not in levels:
        raise ConfigError(f"the level of the log is one of {', '.join(levels)}, not {level!r}")
    formatter(form)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"clean": {"()": f"{__name__}.{formatter.__name__}", "form": form}},
        "handlers": {"out": {"class": "logging.StreamHandler", "formatter": "clean", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["out"], "level": level.upper()},
        "loggers": {name: {"handlers": [], "propagate": True, "level": level.upper()} for name in _SERVERS},
    }


def formatter(form: Form = "text") -> logging.Formatter:
    """Return a ``logging.Formatter`` that writes one line per record, without secrets and chat content, for any
    handler. Raises ``ConfigError`` for an unknown format."""
    if form not in _FORMATTERS:
        raise ConfigError(f"the form of the log is one of {', '.join(_FORMATTERS)}, not {form!r}")
    return _FORMATTERS[form]()


class _Clean(logging.Formatter):
    """Base of the formatters: removes secrets, query strings and session ids from records."""

    @cached_property
    def _redactor(self) -> Redactor:
        from tokenmizer_mw.safety.redact import Redactor  # most processes log no line

        return Redactor(pii=True, key=token_bytes(32))

    def describe_record(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return what a log line shows of ``record``: "time" (UTC, ISO 8601), "level", "logger" and "message"
        (redacted); for an exception also "error", its type, and "at", the places that it passed through."""
        result: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._message(record),
        }
        if record.exc_info and record.exc_info[1] is not None:
            result["error"] = type(record.exc_info[1]).__name__
            result["at"] = _places(record.exc_info[1])
        return result

    def _message(self, record: logging.LogRecord) -> str:
        try:
            text = _QUERY.sub("?...", record.getMessage()[:LINE_MAX])
            if record.name in _SERVERS:
                text = _SESSION.sub(r"\1/...", text)
            return self._redact_own(text) if record.name.startswith(_OWN) else self._redactor.redact(text)
        except Exception:  # a log line is never worth a failure, nor a leak
            return _UNSHOWN

    def _redact_own(self, text: str) -> str:
        """Redact a line of this package, but leave session ids that are made of digests. An id is redacted whole if the
        project's name in it, which people choose, reads like a secret."""
        redact = self._redactor.redact
        parts, end = list[str](), 0
        for match in _OWN_ID.finditer(text):
            if redact(match["project"] or "") == (match["project"] or ""):
                parts += [redact(text[end : match.start()]), match.group()]
                end = match.end()
        return "".join([*parts, redact(text[end:])])


class _Text(_Clean):
    def format(self, record: logging.LogRecord) -> str:
        values = self.describe_record(record)
        line = f"{values['time']} {values['level']} {values['logger']}: {values['message']}"
        if "error" in values:
            line += f" [{values['error']} at {', '.join(values['at'])}]"
        return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in line)


class _Json(_Clean):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self.describe_record(record), separators=(",", ":"))


_OWN: Final = "tokenmizer_mw"
"""Beginning of the names of this package's loggers."""

_SERVERS: Final = ("uvicorn", "uvicorn.access", "uvicorn.error", "gunicorn.access", "gunicorn.error")
"""Loggers to which servers attach their own handlers, which ``log_config`` removes."""

_FORMATTERS: Final[dict[str, type[_Clean]]] = {"text": _Text, "json": _Json}


def _places(error: BaseException) -> list[str]:
    """Return the innermost ``PLACES_MAX`` places that an exception passed through, each as "file.py:12 function", the
    innermost one last."""
    frames = traceback.extract_tb(error.__traceback__)[-PLACES_MAX:]
    return [f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
