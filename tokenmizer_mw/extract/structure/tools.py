"""The vocabulary of tools: a row says under which names a kind of tool is known, and where its arguments are.

New agents are new names in a row, or a new row; code changes only for a new kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tokenmizer_mw.model.message import ToolCall

ARGUMENTS_MAX: Final = 2_000_000
"""Longest arguments of a call that are read, in characters."""

PATH_MAX: Final = 200
PATHS_MAX: Final = 50
"""Files of one call that are taken."""


class ToolKind(StrEnum):
    """What a tool does to the work."""

    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    READ = "read"
    PATCH = "patch"
    EDITOR = "editor"
    SHELL = "shell"
    PLAN = "plan"
    PLAN_ITEM = "plan item"
    PLAN_MOVE = "plan move"
    COMMIT = "commit"
    AGENT = "agent"
    FIND = "find"


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One kind of tool. ``names`` are written without "_", "-" and namespaces. ``words``: an unknown name that has one
    word of each group and an argument that this kind needs is taken for this kind."""

    kind: ToolKind
    names: frozenset[str]
    words: tuple[frozenset[str], ...] = ()


def _row(kind: ToolKind, names: str, *words: str) -> ToolRow:
    return ToolRow(kind, frozenset(names.split()), tuple(frozenset(group.split()) for group in words))


TOOLS: Final = (
    _row(
        ToolKind.EDITOR,
        "strreplaceeditor strreplacebasededittool texteditor editor fileeditor edittool memory",
    ),
    _row(ToolKind.PATCH, "applypatch applydiff patch applypatchcall", "patch diff"),
    _row(
        ToolKind.PLAN,
        "todowrite writetodos updateplan updatetodolist todo todos plan setplan createplan tasktracker managetodolist"
        " todolist settodos writetodo",
        "todo todos plan tasks",
    ),
    _row(ToolKind.PLAN_ITEM, "taskcreate createtask addtask addtodo todoadd createtodo"),
    _row(ToolKind.PLAN_MOVE, "taskupdate updatetask"),
    _row(ToolKind.COMMIT, "gitcommit commit", "commit"),
    _row(ToolKind.FIND, "glob globfiles findfile findfiles filesearch searchfilesbyname findbyname"),
    _row(ToolKind.AGENT, "task agent delegate delegatetask newtask spawnagent subagent runsubagent dispatchagent"),
    _row(
        ToolKind.DELETE,
        "delete deletefile removefile rm unlink filedelete",
        "delete remove",
        "file path",
    ),
    _row(ToolKind.MOVE, "rename renamefile move movefile mv filemove", "rename move", "file path"),
    _row(
        ToolKind.EDIT,
        "edit editfile strreplace replace replaceinfile searchreplace searchandreplace multiedit notebookedit applyedit"
        " updatefile modifyfile editblock insert insertcontent appendtofile fileedit replacestringinfile"
        " inserteditintofile editnotebook codeedit patchfile editfiles",
        "edit replace insert update modify append",
    ),
    _row(
        ToolKind.WRITE,
        "write writefile create createfile writetofile savefile newfile filewrite addfile putfile createnewfile",
        "write create save",
    ),
    _row(
        ToolKind.SHELL,
        "bash shell run execute exec runcommand executecommand executebash runshellcommand execcommand shellcommand"
        " runterminalcmd runterminalcommand terminal runinterminal powershell localshell runcommands cmd command"
        " executeshell runbash shellexec",
        "run execute exec shell bash terminal command commands",
    ),
    _row(
        ToolKind.READ,
        "read readfile view viewfile open openfile cat getfile readtextfile readmanyfiles readmultiplefiles readfiles"
        " fileread viewimage getfilecontents",
        "read view open get show",
        "file files content contents",
    ),
)

_KIND_OF: Final = {name: row.kind for row in TOOLS for name in row.names}

_PATHS: Final = (
    "file_path",
    "filePath",
    "absolutePath",
    "absolute_path",
    "path",
    "target_file",
    "targetFile",
    "filename",
    "file_name",
    "fileName",
    "notebook_path",
    "relative_workspace_path",
    "file",
)
_PATH_LISTS: Final = ("paths", "files", "file_paths", "edits", "operations")
_OLD_PATHS: Final = ("source", "old_path", "oldPath", "from", "src", "old_name", *_PATHS)
_NEW_PATHS: Final = ("destination", "new_path", "newPath", "to", "target", "dest", "new_name")
_COMMANDS: Final = ("command", "cmd", "commands", "script", "input")
_PATCHES: Final = ("patch", "patchText", "input", "diff", "patch_text", "content")
_LISTS: Final = ("todos", "plan", "tasks", "items", "task_list", "steps", "todoList", "todo_list")
_ITEM_TEXTS: Final = ("content", "step", "title", "description", "task", "text", "subject", "name", "label")
_ITEM_STATES: Final = ("status", "state", "done", "completed", "checked")
_ITEM_IDS: Final = ("taskId", "task_id", "id", "todoId")
_ERRANDS: Final = ("description", "title", "task", "task_description", "message", "prompt")
_MESSAGES: Final = ("message", "commit_message", "msg", "title")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call: the members of its JSON object, or ``raw`` where it is none (a free-form tool)."""

    members: Mapping[str, Any]
    raw: str = ""

    def first(self, names: tuple[str, ...]) -> Any:
        """The first member that is there, ``None`` when none is."""
        for name in names:
            value = self.members.get(name)
            if value is not None and value != "":
                return value
        return None

    def text(self, names: tuple[str, ...]) -> str:
        """The first member that is text, else ""."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, str) and value:
                return value
        return ""


def read_arguments(call: ToolCall) -> Arguments:
    """The call's arguments; cut or malformed JSON gives no members. Never raises."""
    text = call.arguments
    if len(text) > ARGUMENTS_MAX:
        return Arguments({})
    if text.lstrip()[:1] != "{":
        return Arguments({}, text)
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return Arguments({})
    return Arguments(loaded)


def kind_of(name: str, arguments: Arguments) -> ToolKind | None:
    """What the tool of that name does, ``None`` when it does not matter (searches, browsers, sub-agents)."""
    kind = _KIND_OF.get(normalise_tool_name(name))
    return kind if kind is not None else _kind_by_words(_bare(name), arguments)


def normalise_tool_name(name: str) -> str:
    """A tool's name as the tables write it: without its namespace, in lower case, without signs between words."""
    return _bare(name).replace("_", "").replace("-", "").replace(" ", "").lower()


def _bare(name: str) -> str:
    return name.rsplit("__", 1)[-1].rsplit(".", 1)[-1].rsplit(":", 1)[-1]


def _kind_by_words(name: str, arguments: Arguments) -> ToolKind | None:
    parts = set(_parts(name))
    for row in TOOLS:
        if row.words and all(parts & group for group in row.words) and _NEEDS[row.kind](arguments):
            return row.kind
    return None


def _parts(name: str) -> Iterator[str]:
    """``run_sql``, ``run-sql`` and ``runSql`` as "run", "sql"."""
    word = ""
    for char in name[:100]:
        if not char.isalnum() or (char.isupper() and word[-1:].islower()):
            if word:
                yield word.lower()
            word = char if char.isalnum() else ""
        else:
            word += char
    if word:
        yield word.lower()


def paths_of(arguments: Arguments) -> list[str]:
    """The files that a call names, clean; [] for none."""
    found = [clean for name in _PATHS if (clean := clean_path(arguments.members.get(name)))][:1]
    if not found:
        for name in _PATH_LISTS:
            found += _paths_in(arguments.members.get(name))
    if not found:
        operation = arguments.members.get("operation")
        if isinstance(operation, dict):
            found = paths_of(Arguments(operation))
    return list(dict.fromkeys(found))[:PATHS_MAX]


def _paths_in(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    found = []
    for item in value[:PATHS_MAX]:
        path = clean_path(Arguments(item).text(_PATHS) if isinstance(item, dict) else item)
        if path:
            found.append(path)
    return found


def moved_paths(arguments: Arguments) -> tuple[str, str]:
    """Old and new path of a call that moves a file; "" where it does not say."""
    return clean_path(arguments.text(_OLD_PATHS)), clean_path(arguments.text(_NEW_PATHS))


def clean_path(value: Any) -> str:
    """``value`` as a path to show, "" when it is none: not text, several lines, a glob, or too long."""
    if not isinstance(value, str):
        return ""
    path = value.strip().strip("'\"`").removeprefix("file://")
    while path.startswith("./"):
        path = path[2:]
    if not path or len(path) > PATH_MAX or not path.isprintable() or any(char in path for char in "*?<>|$\n"):
        return ""
    return "" if path in (".", "..", "/", "-", "~") or path.startswith("/dev/") else path.rstrip("/")


def command_of(arguments: Arguments) -> str:
    """The command line that a shell tool runs; a list of words or of lines is joined, "" for none."""
    value = arguments.first(_COMMANDS)
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return arguments.raw
    words = [word for word in value if isinstance(word, str)]
    if len(words) > 2 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh", "powershell.exe", "powershell", "pwsh"):
        return words[-1]
    if len(words) == 2 and words[0] == "apply_patch":
        return f"apply_patch <<'PATCH'\n{words[1]}\nPATCH"
    return "\n".join(words) if "commands" in arguments.members else " ".join(words)


def patch_of(arguments: Arguments) -> str:
    """The text of a patch, "" for none."""
    return arguments.text(_PATCHES) or arguments.raw


def commit_message_of(arguments: Arguments) -> str:
    """The message of a call that commits, "" for none."""
    return arguments.text(_MESSAGES)


def errand_of(arguments: Arguments) -> str:
    """What a sub-agent is sent out for, in a line, "" for none."""
    return arguments.text(_ERRANDS).strip().split("\n", 1)[0]


def plan_of(arguments: Arguments) -> list[tuple[str, str]] | str:
    """The items of a plan with their states as written, or its Markdown."""
    value = arguments.first(_LISTS)
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return []
    items = []
    for item in value[:PATHS_MAX]:
        if isinstance(item, str):
            items.append((item, ""))
        elif isinstance(item, dict):
            state = Arguments(item).first(_ITEM_STATES)
            items.append((Arguments(item).text(_ITEM_TEXTS), "completed" if state is True else str(state or "")))
    return [(text, state) for text, state in items if text.strip()]


def item_of(arguments: Arguments) -> tuple[str, str, str]:
    """The text of one item of a plan, its state as written and the id by which it is known; "" where there is none."""
    named = arguments.first(_ITEM_IDS)
    state = arguments.first(_ITEM_STATES)
    text = arguments.text(("subject", *_ITEM_TEXTS))
    return text.strip(), str(state or ""), str(named) if isinstance(named, (str, int)) else ""


def _has_path(arguments: Arguments) -> bool:
    return bool(paths_of(arguments))


def _has_command(arguments: Arguments) -> bool:
    return isinstance(arguments.first(("command", "cmd", "commands")), (str, list))


_NEEDS: Final[dict[ToolKind, Callable[[Arguments], bool]]] = {
    ToolKind.WRITE: _has_path,
    ToolKind.EDIT: _has_path,
    ToolKind.DELETE: _has_path,
    ToolKind.MOVE: lambda arguments: all(moved_paths(arguments)),
    ToolKind.READ: _has_path,
    ToolKind.PATCH: lambda arguments: bool(patch_of(arguments)),
    ToolKind.SHELL: _has_command,
    ToolKind.PLAN: lambda arguments: bool(plan_of(arguments)),
    ToolKind.COMMIT: lambda arguments: bool(commit_message_of(arguments)),
}
