"""Writes ``docs/settings.md`` from the docstring and the defaults of ``Settings``: ``make pages``."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from tokenmizer_mw.settings import ENVIRONMENT_PREFIX, Settings, describe_type

_FIELDS: Final = {field.name: field for field in fields(Settings)}
_HINTS: Final = get_type_hints(Settings, include_extras=True)
PAGE: Final = Path(__file__).parent.parent / "docs" / "settings.md"

_HEAD: Final = """\
# All settings

<!-- Written by `make pages` from tokenmizer_mw/settings.py: edit it there. -->

A setting can be given in three ways:

| where | how |
|---|---|
| Python | `SessionMemory.open("sqlite:///memory.db", Settings(context_window=32_000))`, or `Settings.load("settings.yaml")` |
| the proxy's file | under `memory:`, such as `memory: {context_window: 32000}`; the rest of that file is in [proxy.md](proxy.md#the-configuration) |
| the environment | `TOKENMIZER_CONTEXT_WINDOW=32000`, for the proxy, the commands, hooks, MCP and `Settings.load`; it wins over files |

`SessionMemory.open(address)` without settings uses the defaults and reads no variable.

- An unknown name in a file, and an invalid value anywhere, raise `ConfigError`, which names it. An unknown variable is
  ignored.
- An empty variable sets a setting that may be "none" to none, and a text to the empty text. For other settings it is
  invalid.
- "yes or no" is `true` or `false`, in a variable also `1` or `0`, `yes` or `no`, `on` or `off`.
- Sizes are in bytes and times in seconds, unless the text says otherwise.
"""

_VARIABLES: Final = """\
## Variables that are no settings

| variable | what it names |
|---|---|
| `TOKENMIZER_STORE` | the store: [one store for all parts](proxy.md#one-store-for-the-proxy-hooks-mcp-and-commands) |
| `TOKENMIZER_CONFIG` | the proxy's configuration file |
| `TOKENMIZER_HOST`, `_PORT`, `_WORKERS`, `_LOOP`, `_AUTH`, `_DASHBOARD` | parts of that file: [proxy.md](proxy.md#the-configuration) |
| `TOKENMIZER_ACCESS_KEYS` | the server's keys: [access.md](access.md#keys) |
| `TOKENMIZER_SERVER`, `TOKENMIZER_KEY`, `TOKENMIZER_ROOTS` | what the MCP server asks and may read: [mcp.md](mcp.md) |
| `TOKENMIZER_HOOKS`, `TOKENMIZER_HOOK_...` | the hooks of coding agents: [coding-agents.md](coding-agents.md#what-is-kept-and-where) |
| `TOKENMIZER_DASHBOARD_TOKEN` | the token of the dashboard: [dashboard.md](dashboard.md) |
"""


def page() -> str:
    """The page as it should be."""
    parts, shown = [_HEAD], set[str]()
    for heading, text in _groups():
        names = [name for name in _named(text) if name not in shown]
        shown.update(names)
        parts += [f"## {heading}\n", _table(names), _prose(text)]
    return "\n".join([*parts, _VARIABLES])


def _groups() -> list[tuple[str, str]]:
    """Heading and text of each group of the docstring: a line without a margin, and the indented lines below it."""
    lines = inspect.cleandoc(Settings.__doc__ or "").splitlines()
    groups: list[tuple[str, str]] = []
    for line in lines[2:]:
        if line.startswith(" "):
            heading, text = groups.pop()
            groups.append((heading, f"{text} {line.strip()}".strip()))
        elif line:
            groups.append((line, ""))
    return groups


def _named(text: str) -> list[str]:
    return [name for name in dict.fromkeys(re.findall(r"``(\w+)``", text)) if name in _FIELDS]


def _table(names: list[str]) -> str:
    rows = ["| setting | default | type | variable |", "|---|---|---|---|"]
    for name in names:
        rows.append(f"| `{name}` | {_default(_FIELDS[name])} | {_kind(name)} | `{ENVIRONMENT_PREFIX}{name.upper()}` |")
    return "\n".join([*rows, ""])


def _kind(name: str) -> str:
    hint = _HINTS[name]
    kinds = [kind for kind in get_args(hint) if kind is not NoneType] if NoneType in get_args(hint) else [hint]
    if get_origin(kinds[0]) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kinds[0]))
    words = describe_type(kinds[0]).removeprefix("a ").replace("true or false", "yes or no")
    return f"{words} or none" if kinds[0] is not hint else words


def _default(field: Any) -> str:
    value = field.default
    assert value is not MISSING
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, str):
        return f"`{value}`" if value else "empty"
    return f"`{value}`"


_ITEM: Final = re.compile(r"(?<=[.:;]) (?=`[a-z]\w+`(?: and `[a-z]\w+`)?(?::| names? | leaves | hold))")
"""Where the text about the next setting begins: a sentence that begins with its name."""


def _prose(text: str) -> str:
    """The text of a group: what is said of all its settings, then a list with an item for each."""
    plain = re.sub(r"``([^`]+)``", r"`\1`", text).replace("`docs/compression.md`", "[compression.md](compression.md)")
    head, *items = [one.rstrip(";") for one in _ITEM.split(f". {plain}")]
    about = head.removeprefix(".").strip()
    lines = [*_wrapped(about), ""] if about else []
    for item in items:
        first, *more = _wrapped(item, width=118)
        lines += [f"- {first}", *(f"  {line}" for line in more)]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, width: int = 120) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
