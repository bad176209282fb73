"""The kinds of tools that agents call: a table with the names of each kind; and functions that read the arguments of a
call.

A new agent needs new names in a row, or a new row. Code changes only for a new kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tokenmizer_mw.model.message import ToolCall

ARGUMENTS_MAX: Final = 2_000_000
"""Longest arguments of a call, in characters, that are read."""

PATH_MAX: Final = 200
PATHS_MAX: Final = 50
"""Most files, and most items of a plan, that are taken from one call."""


class ToolKind(StrEnum):
    """What a tool does.

    - ``WRITE``, ``EDIT``, ``DELETE``, ``MOVE``, ``READ``: writes, edits, deletes, moves or reads a file.
    - ``EDITOR``: does one of these, as its argument "command" says. ``PATCH``: applies a patch.
    - ``SHELL``: runs a command. ``COMMIT``: makes a commit.
    - ``PLAN``: writes a whole plan; ``PLAN_ITEM``: adds one item to a plan; ``PLAN_MOVE``: changes one item.
    - ``AGENT``: gives an errand to a sub-agent. ``FIND``: searches files by name.
    """

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
    """One kind of tool.

    - ``names``: the names of such tools, in lower case without "_", "-" and namespaces.
    - ``words``: groups of words. A tool with an unknown name is of this kind if its name has a word of each group and
      the call has the arguments that this kind needs. (): never.
    """

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
    """The arguments of a call.

    - ``members``: the members of their JSON object; {} if they are no object or cannot be parsed.
    - ``raw``: their text if it is not a JSON object, as for a tool that takes free text; else "".
    """

    members: Mapping[str, Any]
    raw: str = ""

    def first(self, names: tuple[str, ...]) -> Any:
        """Return the value of the first of the members ``names`` that is there and not empty; ``None`` for none."""
        for name in names:
            value = self.members.get(name)
            if value is not None and value != "":
                return value
        return None

    def text(self, names: tuple[str, ...]) -> str:
        """Return the value of the first of the members ``names`` that is a text and not empty; "" for none."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, str) and value:
                return value
        return ""


def read_arguments(call: ToolCall) -> Arguments:
    """Return the arguments of a call. If they are longer than ``ARGUMENTS_MAX``, or their JSON is cut off or invalid,
    the result is empty. Never raises."""
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
    """Return the kind of the tool ``name``, by its name or by the words in it; ``None`` if it is unknown, or if such
    tools do not matter for the session, as web searches and browsers."""
    kind = _KIND_OF.get(normalise_tool_name(name))
    return kind if kind is not None else _kind_by_words(_bare(name), arguments)


def normalise_tool_name(name: str) -> str:
    """Return a tool's name as the table writes it: in lower case, without its namespace, "_", "-" and spaces."""
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
    """The words of a name in lower case: "run" and "sql" of ``run_sql``, ``run-sql`` and ``runSql``."""
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
    """Return the files that a call names, as ``clean_path`` returns them, at most ``PATHS_MAX``; [] for none. If an
    argument names a single file, only that one is returned; else the files in lists."""
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
    """Return the old and the new path of a call that moves a file; "" for one that it does not name."""
    return clean_path(arguments.text(_OLD_PATHS)), clean_path(arguments.text(_NEW_PATHS))


def clean_path(value: Any) -> str:
    """Return ``value`` as a path to show, without "./", quotation marks and "file://"; "" if it is no path of a file or
    folder: not a text, several lines, a glob, ".", "/", a device, or too long."""
    if not isinstance(value, str):
        return ""
    path = value.strip().strip("'\"`").removeprefix("file://")
    while path.startswith("./"):
        path = path[2:]
    if not path or len(path) > PATH_MAX or not path.isprintable() or any(char in path for char in "*?<>|$\n"):
        return ""
    return "" if path in (".", "..", "/", "-", "~") or path.startswith("/dev/") else path.rstrip("/")


def command_of(arguments: Arguments) -> str:
    """Return the command line that a shell tool runs; "" for none. A list of words is joined with blanks, a list of
    commands with line breaks. If the words call a shell ("bash", "-c", ...), only the last word is returned."""
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
    """Return the text of the patch in a call; "" for none."""
    return arguments.text(_PATCHES) or arguments.raw


def commit_message_of(arguments: Arguments) -> str:
    """Return the commit message in a call; "" for none."""
    return arguments.text(_MESSAGES)


def errand_of(arguments: Arguments) -> str:
    """Return the first line of what a sub-agent is asked to do; "" for none."""
    return arguments.text(_ERRANDS).strip().split("\n", 1)[0]


def plan_of(arguments: Arguments) -> list[tuple[str, str]] | str:
    """Return the items of a plan as pairs of text and state as written ("" for no state), or the plan's text if it is
    Markdown; [] for none."""
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
    """Return the text of one plan item, its state as written, and its id; "" for each of these that the call does not
    name."""
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
