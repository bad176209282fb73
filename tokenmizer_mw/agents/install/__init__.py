"""Installation into the configuration files of coding agents: the MCP server, and the hooks (commands that the agent
runs at events of a session). Changes of files are planned, shown, applied, and removed again."""

from __future__ import annotations

import difflib
import glob
import os
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import CallerError

from . import json_text
from .json_text import NotPlain, value_of
from .toml_text import with_section, without_section

NAME: Final = "tokenmizer"
"""Name of the MCP server in an agent's configuration."""

OWN: Final = "tokenmizer-mw"
HOOKS: Final = "hooks"
SERVER: Final = "MCP server"
_TIMEOUT: Final = 30


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """Where to install. ``project`` false: into the configuration of the user, whose home directory is ``home``.
    ``project`` true: into that of the project in ``folder``."""

    home: Path
    folder: Path
    project: bool

    @property
    def command(self) -> str:
        """The command that starts this package: the path of the program, if it is found. For a project it is the name
        alone, because people share such files."""
        if self.project:
            return OWN
        beside = Path(sys.executable).parent / OWN
        return str(beside) if beside.exists() else shutil.which(OWN) or OWN


@dataclass(frozen=True, slots=True)
class Edit:
    """How one configuration file of a coding agent is changed.

    - ``add``, ``drop``: functions that get the file's text and return it with, or without, this package's part.
    - ``part``: which part that is, ``HOOKS`` or ``SERVER`` (the MCP server).
    """

    path: Path
    add: Callable[[str], str]
    drop: Callable[[str], str]
    part: str = SERVER


def _server(path: Path, key: str, place: InstallTarget, **more: Any) -> Edit:
    """Return the edit for the MCP server in a JSON file. ``key``: the member that holds the servers; ``more``: further
    members of the entry."""
    values = {**more, "command": place.command, "args": ["mcp"]}

    def add(text: str) -> str:
        servers = json_text.value_of(text).get(key)
        known = servers.get(NAME) if isinstance(servers, dict) else None
        if not isinstance(known, dict):
            return json_text.put(text, [key, NAME], values)
        if all(known.get(name) == values[name] for name in ("command", "args")):
            return text
        for name in (
            name for name in values if known.get(name) != values[name]
        ):  # what else its user wrote there stays
            text = json_text.put(text, [key, NAME, name], values[name])
        return text

    return Edit(path, add, lambda text: json_text.take(text, [key, NAME]))


def _hooks(path: Path, place: InstallTarget, host: str, events: tuple[str, ...], *, nested: bool, **head: Any) -> Edit:
    """Return the edit for the hooks in a JSON file, one for each event. ``nested``: true if the host groups hooks;
    ``head``: top-level members that the file must have."""

    def command(event: str) -> str:
        return f"{shlex.quote(place.command)} hook {event}" + ("" if host == "claude-code" else f" --host {host}")

    def entry(event: str) -> dict[str, Any]:
        if not nested:
            return {"command": command(event)}
        return {"hooks": [{"type": "command", "command": command(event), "timeout": _TIMEOUT}]}

    def add(text: str) -> str:
        missing = [name for name in head if name not in json_text.value_of(text)]
        for name in missing:
            text = json_text.put(text, [name], head[name])
        for event in events:
            if any(_is_ours(known, event) for known in _entries(text, event)):
                text = _renew_command(text, event, command(event))
            else:
                text = json_text.append(text, ["hooks", event], entry(event))
        return text

    def drop(text: str) -> str:
        for event in events:
            text = _drop_entries(text, event)
        return text

    return Edit(path, add, drop, HOOKS)


def _entries(text: str, event: str) -> list[Any]:
    hooks = json_text.value_of(text).get("hooks")
    entries = hooks.get(event) if isinstance(hooks, dict) else None
    return entries if isinstance(entries, list) else []


def _renew_command(text: str, event: str, command: str) -> str:
    """Return ``text`` with the current command in this package's hooks for ``event``. Their other members stay, and of
    equal hooks only the first is kept."""
    for number, known in enumerate(_entries(text, event)):
        if _is_ours(known, event) and known.get("hooks", [known])[0]["command"] != command:
            way: list[str | int] = ["hooks", 0, "command"] if "hooks" in known else ["command"]
            text = json_text.put(text, ["hooks", event, number, *way], command)
    entries = _entries(text, event)
    for number in range(len(entries) - 1, 0, -1):
        if _is_ours(entries[number], event) and entries.index(entries[number]) < number:
            text = json_text.take(text, ["hooks", event, number])
    return text


def _drop_entries(text: str, event: str) -> str:
    """Return ``text`` without this package's hooks for ``event``, whatever path their commands have."""
    entries = _entries(text, event)
    for index in range(len(entries) - 1, -1, -1):
        if _is_ours(entries[index], event):
            text = json_text.take(text, ["hooks", event, index])
    return text


def _is_ours(entry: Any, event: str) -> bool:
    """Return whether a hook entry contains this package's hook for ``event`` and no other."""
    if not isinstance(entry, dict):
        return False
    hooks = entry.get("hooks", [entry])
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], dict):
        return False
    command = hooks[0].get("command")
    return isinstance(command, str) and _is_own(command, event)


def _is_own(command: str, event: str) -> bool:
    """Return whether a command is this package's hook for ``event`` and nothing else."""
    try:
        program, *words = shlex.split(command)
    except ValueError:
        return False
    name = program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    return (
        name == OWN
        and words[:2] == ["hook", event]
        and (len(words) == 2 or (words[2:3] == ["--host"] and len(words) == 4))
    )


def _claude_code(place: InstallTarget) -> list[Edit]:
    events = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
    settings = (place.folder if place.project else place.home) / ".claude" / "settings.json"
    servers = place.folder / ".mcp.json" if place.project else place.home / ".claude.json"
    return [
        _hooks(settings, place, "claude-code", events, nested=True),
        _server(servers, "mcpServers", place, type="stdio"),
    ]


def _codex(place: InstallTarget) -> list[Edit]:
    folder = (place.folder if place.project else place.home) / ".codex"
    events = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact")
    section = f'[mcp_servers.{NAME}]\ncommand = {_toml(place.command)}\nargs = ["mcp"]\n'
    return [
        _hooks(folder / "hooks.json", place, "codex", events, nested=True),
        Edit(
            folder / "config.toml",
            lambda text: with_section(text, f"mcp_servers.{NAME}", section),
            lambda text: without_section(text, f"mcp_servers.{NAME}"),
        ),
    ]


def _cursor(place: InstallTarget) -> list[Edit]:
    folder = (place.folder if place.project else place.home) / ".cursor"
    events = ("sessionStart", "beforeSubmitPrompt", "preCompact", "stop")
    return [
        _hooks(folder / "hooks.json", place, "cursor", events, nested=False, version=1),
        _server(folder / "mcp.json", "mcpServers", place),
    ]


def _vs_code(place: InstallTarget) -> list[Edit]:
    if not place.project:
        return [_server(_user_folder(place.home) / "mcp.json", "servers", place, type="stdio")]
    events = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")
    return [
        _hooks(place.folder / ".github" / "hooks" / f"{NAME}.json", place, "vscode", events, nested=True),
        _server(place.folder / ".vscode" / "mcp.json", "servers", place, type="stdio"),
    ]


def _user_folder(home: Path) -> Path:
    """Return the folder of VS Code's settings of the user."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "Code" / "User"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code" / "User"


def _toml(text: str) -> str:
    """Return a text as TOML: as a literal string if possible, because paths of Windows are full of backslashes."""
    if "'" not in text:
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


HOSTS: Final[dict[str, Callable[[InstallTarget], list[Edit]]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "vscode": _vs_code,
}
"""For each coding agent, by its name: a function that gets an ``InstallTarget`` and returns the edits of the agent's
configuration files."""


BACKUP: Final = ".before-tokenmizer"
"""Ending that the name of a file gets for the backup of its old content."""


class LeftAlone(CallerError):
    """Raised if a file cannot be changed safely; no file is written then.

    ``sentence``: the message. ``by_hand``: for each file of the agent that still needs a change or cannot be changed
    safely, by its path, the text that the user should add to that file. Empty if this package was to be removed.
    """

    def __init__(self, sentence: str, by_hand: Mapping[Path, str]) -> None:
        super().__init__(sentence)
        self.by_hand = by_hand


_NOTHING: Final[tuple[dict[str, object], ...]] = ({}, {"version": 1}, {"version": 1, "hooks": {}})


@dataclass(frozen=True, slots=True)
class Change:
    """The planned change of a file. ``before``, ``after``: its text now and then; ``None`` if the file does not, or
    shall not, exist. ``own``: whether the file contains only what this package wrote, so that no backup is needed."""

    path: Path
    before: str | None
    after: str | None
    own: bool = False

    @property
    def diff(self) -> str:
        """The change of the file as a unified diff, to show to the user; "" if nothing changes."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        was, is_ = (str(self.path) if text is not None else os.devnull for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, was, is_)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def carry_out(self) -> Path | None:
        """Write the new text, or delete the file if that is ``None``. Call it only if ``before`` and ``after`` differ.
        Returns the path of a backup of the old content; ``None`` if there was no file, or if the content was this
        package's own.

        Raises ``CallerError`` if the file has changed since the change was planned.
        """
        path = self.path.resolve()  # people link such files from elsewhere
        if _text(path) != self.before:
            raise CallerError(f"{self.path} has changed meanwhile: run this again")
        backup = _back_up(path) if self.before is not None and not self.own else None
        if self.after is None:
            path.unlink()
            return backup
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(self.after)
            if self.before is not None:
                shutil.copymode(path, name)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        return backup


def plan_changes(host: str, home: Path, folder: Path, *, project: bool = False, remove: bool = False) -> list[Change]:
    """Return the changes of files that install this package for the coding agent ``host`` (a key of ``HOSTS``), one for
    each of its files. Writes nothing. ``before`` and ``after`` of a change are equal if the file stays as it is.

    - ``home``: the user's home directory. ``folder``: the directory of the project.
    - ``project``: whether to change the files of the project instead of those of the user.
    - ``remove``: whether to remove this package instead.

    Raises ``CallerError`` for a file that cannot be read, ``LeftAlone`` for a file that cannot be changed safely, and
    ``KeyError`` for an unknown ``host``.
    """
    edits = HOSTS[host](InstallTarget(home, folder, project))
    try:
        return [_change(edit, remove) for edit in edits]
    except LeftAlone as left:
        raise LeftAlone(str(left), {} if remove else _list_missing(edits)) from None


def find_registered(host: str, home: Path, folder: Path) -> dict[str, list[Path]]:
    """Return the configuration files of ``host`` in which this package is registered, for the user or for the project
    in ``folder``. The keys are ``HOOKS`` and ``SERVER`` (the MCP server); a part that is in no file is missing.
    Unreadable files are ignored."""
    found: dict[str, list[Path]] = {}
    for project in (False, True):
        for edit in HOSTS[host](InstallTarget(home, folder, project)):
            if _has_part(edit) and edit.path not in found.get(edit.part, ()):
                found.setdefault(edit.part, []).append(edit.path)
    return found


def find_missing_programs(path: Path) -> list[str]:
    """Return the programs of this package that the configuration file ``path`` starts but that cannot be run, because
    the path or the name does not exist. Empty if there is none, and for a file that cannot be read or parsed."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text) if path.suffix == ".toml" else value_of(text)
    except (OSError, ValueError, NotPlain):
        return []
    return [program for program in dict.fromkeys(_find_programs(values)) if shutil.which(program) is None]


def _find_programs(value: Any) -> Iterator[str]:
    """Yield the programs of this package in all members ``command``, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _find_programs(item)
    elif isinstance(value, dict):
        command = value.get("command")
        program = _program_of(command) if isinstance(command, str) else ""
        if program:
            yield program
        for item in value.values():
            yield from _find_programs(item)


def _program_of(command: str) -> str:
    """Return the program in a command if it is this package's; else "". The command of an MCP server is a path alone,
    which may contain spaces."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return next((program for program in (command, *words[:1]) if _is_own_program(program)), "")


def _is_own_program(program: str) -> bool:
    return program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe") == OWN


def _has_part(edit: Edit) -> bool:
    """Return whether a file has this package's part, even if its user has changed it."""
    try:
        text = _text(edit.path) or ""
        return edit.drop(text) != text
    except NotPlain:
        return OWN in text
    except CallerError:
        return False


def _list_missing(edits: Sequence[Edit]) -> dict[Path, str]:
    """Return what to add by hand to each file that lacks this package's part or cannot be changed safely."""
    found = {}
    for edit in edits:
        try:
            change = _change(edit, remove=False)
        except LeftAlone:
            found[edit.path] = edit.add("")
        else:
            found |= {edit.path: edit.add("")} if change.before != change.after else {}
    return found


def _change(edit: Edit, remove: bool) -> Change:
    before = _text(edit.path)
    try:
        after: str | None = edit.drop(before or "") if remove else edit.add(before or "")
    except NotPlain as error:
        raise LeftAlone(f"nothing was written: {edit.path} is left alone: {error}", {}) from None
    if remove and (before is None or (after != before and _is_nothing(after or ""))):
        after = None
    return Change(edit.path, before, after, own=remove and before == edit.add(""))


def _is_nothing(text: str) -> bool:
    """Return whether a file has no content except what this package needs around its own."""
    try:
        return not text.strip() or value_of(text) in _NOTHING
    except NotPlain:
        return False


def _text(path: Path) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CallerError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def find_backups(path: Path) -> list[Path]:
    """Return the backups of the configuration file ``path`` that ``Change.carry_out`` has left beside it, sorted by
    name; ``[]`` for none."""
    path = path.resolve()
    return sorted(path.parent.glob(f"{glob.escape(path.name + BACKUP)}*")) if path.parent.is_dir() else []


def _back_up(path: Path) -> Path:
    """Copy the file to a name that does not exist yet, and return that path."""
    number = 0
    while True:
        copy = path.with_name(f"{path.name}{BACKUP}{f'-{number}' if number else ''}")
        if not copy.exists():
            shutil.copy2(path, copy)
            return copy
        number += 1
