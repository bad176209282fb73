"""Findings from the structure of messages, which is certain in any language: tool calls and their results, checklists,
code blocks and diffs.

The result of a tool is evidence of files, errors, tests and the like. Text from a file, a page or a command never makes
a task, a decision or a goal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Segment
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.text.names import as_path
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.model.node import Status

from . import certain
from .changes import find_open_file, make_refusal, read_changes
from .commands import commands_of
from .editlog import read_edit_log
from .failures import find_exceptions, find_telling_line
from .faults import find_faults
from .git import find_begun_step
from .markdown import read_markdown
from .patches import read_patched_files
from .plans import read_created_item, read_moved_item, read_plan
from .results import Output, read_output
from .shell import TEST_PROGRAMS, read_shell
from .testruns import read_tests, runner_of
from .tools import (
    Arguments,
    ToolKind,
    command_of,
    commit_message_of,
    errand_of,
    kind_of,
    moved_paths,
    patch_of,
    paths_of,
    read_arguments,
)

FINDINGS_MAX: Final = 200
"""Greatest number of findings of one message."""

_FOUND_MAX: Final = 3
"""If a search by file name finds at most this many files, each counts as looked for and read."""

_NAME_MAX: Final = 60
_SAID_MAX: Final = 2_000
"""How many characters at the start of a tool's output are read for why it failed."""

_STRUCTURE_MARKS: Final = ("```", "~~~", "[ ] ", "[x] ", "[X] ", "diff --git", "+++ ", "*** ", "Error", "Traceback")
_MORE_MARKS: Final = ("☐", "☑", "✅", "✔", "⬜", "Exception", "FAIL", "panic", "rror:", "<<<<<<< ", "[~] ", "[-] ", "✓")


def read_structure(
    turn: int, message: Message, pending: Mapping[str, ToolCall], *, segments: Sequence[Segment] | None = None
) -> list[Finding]:
    """Return the findings of message number ``turn`` that need no understanding of its words.

    - ``pending``: the unanswered tool calls of earlier messages by id, oldest first (see ``open_calls``). Results
      without an id answer them in order. Results may also answer calls of the same message, which the provider itself
      carried out.
    - ``segments``: the segments of the message's text; ``None``: they are computed if needed.

    Never raises; [] for system messages. At most ``FINDINGS_MAX`` findings are returned.
    """
    if message.role is Role.SYSTEM:
        return []
    found: list[Finding] = []
    own = {call.id: call for call in message.tool_calls if call.id} if message.tool_results else {}
    for call, result in pair_results(message.tool_results, {**pending, **own} if own else pending):
        found += read_result(call, result)
    for call in message.tool_calls:
        found += _read_announcements(call)
    if message.text and message.role in (Role.USER, Role.ASSISTANT):
        if segments is None and _may_have_structure(message.text):
            segments = segment(message.text)
        found += read_markdown(message.role, segments or ())
        if message.role is Role.USER:
            found += read_edit_log(message.text)
    return _distinct(found)[:FINDINGS_MAX]


def _distinct(findings: list[Finding]) -> list[Finding]:
    """The findings without repetitions: of several with equal type, label, move, status, target and detail, the first
    one is kept, at the place of the last one. So an error that was shown, fixed and shown again is open at the end."""
    if len(findings) < 2:
        return findings
    kept = {(f.type, f.label, f.move, f.status, f.target, f.detail): f for f in reversed(findings)}
    return list(reversed(kept.values()))


def _may_have_structure(text: str) -> bool:
    return any(mark in text for mark in _STRUCTURE_MARKS) or any(mark in text for mark in _MORE_MARKS)


def open_calls(messages: Iterable[Message]) -> dict[str, ToolCall]:
    """Return the tool calls in ``messages`` (oldest first) that no result among them answers, by id, oldest first. A
    call without an id gets a key that cannot be an id."""
    waiting: dict[str, ToolCall] = {}
    for index, message in enumerate(messages):
        for position, call in enumerate(message.tool_calls):
            waiting[call.id or f"\0{index}.{position}"] = call
        done = {id(call) for call, _ in pair_results(message.tool_results, waiting)}
        waiting = {key: call for key, call in waiting.items() if id(call) not in done}
    return waiting


def pair_results(
    results: Sequence[ToolResult], pending: Mapping[str, ToolCall]
) -> Iterator[tuple[ToolCall | None, ToolResult]]:
    """Yield each result with the call that it answers, ``None`` if that call is unknown.

    ``pending``: the unanswered calls by id, oldest first; it is not changed. A result with an id answers the call of
    that id. Results without an id answer the other calls, in the order of ``pending``.
    """
    named = {result.call_id for result in results if result.call_id in pending}
    unnamed = iter([call for key, call in pending.items() if key not in named])
    for result in results:
        if result.call_id in pending:
            yield pending[result.call_id], result
        else:
            yield (next(unnamed, None) if not result.call_id else None), result


def is_covering(target: str, detail: str) -> bool:
    """Whether the command ``target`` ("$ pytest") includes the command ``detail`` ("$ pytest tests/api"): both are
    equal, or ``detail`` begins with the words of ``target``, or with its folder. False if ``target`` is "".

    A program without arguments includes others only if it is a test runner: ``make`` does not include ``make test``.
    """
    if not target or not detail.startswith(target):
        return False
    if len(detail) == len(target) or target.endswith("/"):
        return True
    program = target.removeprefix("$ ")
    return detail[len(target)] == " " and (" " in program or program in TEST_PROGRAMS)


def read_result(call: ToolCall | None, result: ToolResult) -> list[Finding]:
    """Return the findings of a tool result. ``call``: the call that it answers; if that is unknown (``None``), only
    findings that follow from the result alone."""
    output = read_output(result)
    if call is None:
        return _read_unpaired_output(output)
    arguments = read_arguments(call)
    kind = kind_of(call.name, arguments)
    if kind is ToolKind.FIND:
        return _read_found_files(call.name[:_NAME_MAX], output)
    reader = _READERS.get(kind) if kind is not None else None
    return reader(arguments, output) if reader is not None else _read_tool_outcome(call.name[:_NAME_MAX], output)


def _read_unpaired_output(output: Output) -> list[Finding]:
    outcome = read_tests(output.text)
    found = read_edit_log(output.text)
    if outcome is not None:
        label = runner_of(output.text)
        found.append(certain.test(label, failed=outcome.failed, counts=outcome.counts, quote=outcome.quote))
    if output.failed or "Traceback (most recent call last)" in output.text:
        found += [certain.error(label, "", 0.7) for label in find_exceptions(output.text)]
    else:
        found += [certain.error(label, "", 0.7) for label in find_faults(output.text)]
    return found


def _read_announcements(call: ToolCall) -> list[Finding]:
    """The findings of a call before its result is known: items of a plan, and a step that it begins, such as a
    commit."""
    name = call.name.lower()
    if "commit" in call.arguments or "agent" in name or "task" in name or "delegate" in name:
        arguments = read_arguments(call)
        kind = kind_of(call.name, arguments)
        if kind is ToolKind.SHELL:
            return [
                certain.make_step_begun(step)
                for command in commands_of(command_of(arguments))
                if (step := find_begun_step(command))
            ]
        if kind is ToolKind.AGENT:
            return [certain.make_step_begun(errand) for errand in [errand_of(arguments)] if errand]
    return read_plan(call)


# -- results, by kind of tool ------------------------------------------------------------------------------------


def _make_file_reader(detail: str) -> Callable[[Arguments, Output], list[Finding]]:
    def read(arguments: Arguments, output: Output) -> list[Finding]:
        paths = paths_of(arguments)
        if detail == "read":
            return [finding for path in paths for finding in _read_file_result(path, output)]
        paths = paths or [path for path in [find_open_file(output.text)] if path]
        return read_changes(dict.fromkeys(paths, detail), output, refused=output.refused)

    return read


def _read_file_result(path: str, output: Output) -> list[Finding]:
    if output.flagged:
        return make_refusal(path, f"read {path}", output)
    return [] if output.refused else [certain.file(path, "read", f"read {path}"), certain.make_success(f"read {path}")]


def _read_found_files(name: str, output: Output) -> list[Finding]:
    """The findings of a search by file name: its outcome, and the files that it found, if they are few."""
    lines = output.text[:_SAID_MAX].strip().split("\n")[: _FOUND_MAX + 2]
    paths = [path for line in lines if (path := as_path(line))]
    if output.failed or len(paths) > _FOUND_MAX:
        return _read_tool_outcome(name, output)
    return [*_read_tool_outcome(name, output), *(certain.file(path, "read", f"found {path}") for path in paths)]


def _read_tool_outcome(name: str, output: Output) -> list[Finding]:
    """Success or error of a tool that shows nothing else about the session."""
    if not output.flagged:
        return [certain.make_success(name)]
    line = find_telling_line(output.text[:_SAID_MAX])
    return [certain.error(f"{name}: {line}", name, 0.7)] if line else []


_EDITOR_COMMANDS: Final = {
    "create": "created",
    "write": "created",
    "str_replace": "edited",
    "insert": "edited",
    "undo_edit": "edited",
    "edit": "edited",
    "append": "edited",
    "delete": "deleted",
    "view": "read",
    "read": "read",
}


def _read_editor(arguments: Arguments, output: Output) -> list[Finding]:
    command = arguments.text(("command",))
    if command == "rename":
        return _read_move(arguments, output)
    detail = _EDITOR_COMMANDS.get(command, "edited")
    return _make_file_reader(detail)(arguments, output)


def _read_move(arguments: Arguments, output: Output) -> list[Finding]:
    old, new = moved_paths(arguments)
    if output.refused or not old or not new:
        return []
    return [certain.file(old, f"moved to {new}"), certain.file(new, f"moved from {old}")]


_OPERATIONS: Final = {"create_file": "created", "delete_file": "deleted"}


def _read_patch(arguments: Arguments, output: Output) -> list[Finding]:
    operation = arguments.members.get("operation")
    kind = operation.get("type") if isinstance(operation, dict) else None
    detail = _OPERATIONS.get(kind, "edited") if isinstance(kind, str) else "edited"
    touched = read_patched_files(patch_of(arguments)) or dict.fromkeys(paths_of(arguments), detail)
    return read_changes(touched, output, refused=output.failed)


def _read_shell_call(arguments: Arguments, output: Output) -> list[Finding]:
    return read_shell(command_of(arguments), output)


def _read_commit(arguments: Arguments, output: Output) -> list[Finding]:
    message = commit_message_of(arguments).strip().split("\n", 1)[0]
    if output.failed or not message:
        return []
    return [certain.make_step_done(message, "committed", f"git commit: {message}")]


def _read_errand(arguments: Arguments, output: Output) -> list[Finding]:
    """The errand of a sub-agent that has finished, as an archived task."""
    errand = errand_of(arguments)
    return [certain.task(errand, Status.ARCHIVED)] if errand else []


_READERS: Final[dict[ToolKind, Callable[[Arguments, Output], list[Finding]]]] = {
    ToolKind.WRITE: _make_file_reader("written"),
    ToolKind.EDIT: _make_file_reader("edited"),
    ToolKind.DELETE: _make_file_reader("deleted"),
    ToolKind.READ: _make_file_reader("read"),
    ToolKind.EDITOR: _read_editor,
    ToolKind.MOVE: _read_move,
    ToolKind.PATCH: _read_patch,
    ToolKind.SHELL: _read_shell_call,
    ToolKind.COMMIT: _read_commit,
    ToolKind.AGENT: _read_errand,
    ToolKind.PLAN_ITEM: read_created_item,
    ToolKind.PLAN_MOVE: read_moved_item,
}
