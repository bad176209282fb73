"""Read what a tool returned: its text without a JSON envelope, its exit code, and whether the tool refused to do its
work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import re2

from tokenmizer_mw.extract.text.cut_marks import CUT, replace_cut_marks
from tokenmizer_mw.extract.text.prose import replace_surrogates
from tokenmizer_mw.model.message import ToolResult

HEAD_MAX: Final = 20_000
TAIL_MAX: Final = 40_000
"""Number of characters of a long result that are kept at its end (``HEAD_MAX``: at its start)."""

_JSON_MAX: Final = 1_000_000
_CODE_MAX: Final = 2**31
_EDGE: Final = 300


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a tool call as read.

    - ``text``: what the tool returned, without a JSON envelope and terminal colours, and with ``CUT`` in place of left
      out text. It is "" for a refusal that says nothing about the work (the user rejected the call).
    - ``code``: the exit code, ``None`` if the result names none.
    - ``refused``: whether the tool says that it could not do what it was asked to.
    - ``flagged``: whether it says so by an error flag or in its envelope. If only the text says so, that may be the
      content of a file.
    """

    text: str
    code: int | None = None
    refused: bool = False
    flagged: bool = False

    @property
    def failed(self) -> bool:
        """Whether the tool refused, or the exit code is not 0."""
        return self.refused or self.code not in (None, 0)


_EXIT: Final = re2.compile(
    r"(?i)(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|<returncode|return ?code|^exit)\"?[ :=>]{1,3}(-?\d{1,10})\b"
)
_ANSI: Final = re2.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_REFUSALS: Final = (
    "<tool_use_error>",
    "Error",
    "error:",
    "ERROR",
    "apply_patch verification failed",
    "String to replace not found",
    "No replacement was performed",
    "Your proposed edit has introduced",
    "failed in sandbox",
    "Failed to ",
    "Permission denied",
    "ENOENT",
    "EACCES",
    "File does not exist",
    "File not found",
    "No such file",
    "Tool execution failed",
    "The tool call failed",
    "Invalid ",
    "No exact match",
)
_NO_FAULT: Final = ("Sibling tool call errored", "was rejected", "Request interrupted", "user doesn't want")
"""Beginnings of refusals that say nothing about the work, such as that the user rejected the call."""

_PAYLOADS: Final = ("output", "stdout", "stderr", "content", "result")
_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code")


def read_output(result: ToolResult) -> Output:
    """Read the result of a tool call. Of a long text, only the beginning (``HEAD_MAX`` characters) and the end
    (``TAIL_MAX``) are kept. Never raises."""
    text = replace_surrogates(result.text)
    code: int | None = None
    refused = result.is_error
    if text[:1] == "{" and len(text) <= _JSON_MAX:
        text, code, denied = _unwrap_envelope(text)
        refused = refused or denied
    if len(text) > HEAD_MAX + TAIL_MAX:
        text = text[:HEAD_MAX] + f"\n{CUT}\n" + text[-TAIL_MAX:]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = replace_cut_marks(text)
    start = text[:200].lstrip(" \t\r\n[")
    if any(mark in start for mark in _NO_FAULT):
        return Output("", code, refused=True)
    if code is None and ("xit" in text or "eturn" in text):
        code = _exit_code(text)
    return Output(text, code, refused or start.startswith(_REFUSALS), refused)


def _unwrap_envelope(text: str) -> tuple[str, int | None, bool]:
    """The text, the exit code and the refusal in a JSON object with a tool's output; any other text is returned as it
    is."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text, None, False
    meta = data.get("metadata")
    code = _code_in(data)
    if code is None and isinstance(meta, dict):
        code = _code_in(meta)
    parts = [data[name] for name in _PAYLOADS if isinstance(data.get(name), str)]
    error = data.get("error")
    if isinstance(error, str) and error:
        parts.append(error)
    payload = "\n".join(part for part in parts if part) if parts or code is not None else text
    return replace_surrogates(payload), code, data.get("success") is False or (isinstance(error, str) and bool(error))


def _code_in(data: dict[str, Any]) -> int | None:
    for name in _CODES:
        value = data.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _CODE_MAX:
            return value
    return None


def _exit_code(text: str) -> int | None:
    """The exit code that a tool writes above or below its output; ``None`` for none."""
    for edge in (text[:_EDGE], text[-_EDGE:]) if len(text) > _EDGE else (text,):
        match = _EXIT.search(edge)
        if match:
            return int(match.group(1))
    return None
