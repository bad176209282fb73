"""Findings from ``git`` and ``gh`` commands: commits, branches, pushes, pull requests, and files that differ from the
last commit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import re2

from tokenmizer_mw.extract.finding import Finding
from tokenmizer_mw.model.node import Status

from . import certain
from .commands import Command
from .effects import move, parse_kept_path, remove, select_kept_paths
from .results import Output
from .tools import PATHS_MAX

_COMMIT_FAILURES: Final = ("nothing to commit", "no changes added", "nothing added to commit", "did not match any file")
_CHANGED: Final = re2.compile(
    r"(?m)^ ?(?:([MAU?])[MU?]?|\t?(modified|new file):) +([^\s\"][^\n\"]*?)\r?$",
)
_CREATED: Final = ("?", "A", "new file")
_PUSHED: Final = re2.compile(
    r"(?m)^ *(?:[*+] \[(?:new branch|new tag|forced update)\]|[+ ]*[0-9a-f]{7,}\.{2,3}[0-9a-f]{7,}) +\S+ *-> *(\S+)"
)
_BRANCHED: Final = re2.compile(r"Switched to a new branch '([^'\n]{1,100})'")
_PULL: Final = re2.compile(r"https?://\S+/(?:pull|merge_requests)/(\d{1,9})\b")
_NAME: Final = re2.compile(r"[\w][\w./#@+-]{0,99}")
_MAKES_BRANCH: Final = {"checkout": ("-b", "-B"), "switch": ("-c", "-C", "--create"), "worktree": ("-b",)}


def read_git(command: Command, output: Output, quote: str) -> Iterator[Finding]:
    """Iterate over the findings of a successful ``git`` or ``gh`` command, read from its words and its ``output``.
    ``quote``: the words of the command, as evidence of the findings."""
    if command.program == "gh":
        yield from _read_hosted_actions(command, output, quote)
        return
    action = next(iter(command.operands), "")
    if action in ("rm", "mv"):
        inner = Command(words=[action, *command.words[2:]], program=action)
        yield from (remove if action == "rm" else move)(inner, quote)
    elif action == "add":
        for path in select_kept_paths(command.operands[1:]):
            yield certain.file(path, "edited", quote)
    elif action == "status":
        yield from _work_tree(output, quote)
    else:
        yield from (certain.make_step_done(label, detail, quote) for label, detail in _steps(action, command, output))
        if action == "commit" and any(mark in output.text for mark in _COMMIT_FAILURES):
            yield certain.task(find_begun_step(command), Status.ARCHIVED, quote=quote)


def find_begun_step(command: Command) -> str:
    """Return the step that a command begins, as a label: "commit: add login" for a commit with that message; "" for any
    other command. It is recorded before the result is known, because it would matter if the result got lost."""
    commits = command.program == "git" and next(iter(command.operands), "") == "commit"
    message = commit_message(command) if commits else ""
    return f"commit: {message}" if message else ""


def _steps(action: str, command: Command, output: Output) -> Iterator[tuple[str, str]]:
    """Label and detail of each step that a command finished, such as ("branch login pushed", "pushed")."""
    if action == "commit" and not any(mark in output.text for mark in _COMMIT_FAILURES):
        if message := commit_message(command):
            yield message, "committed"
    elif action == "push" and "[rejected]" not in output.text:
        names = [match.group(1) for match in islice(_PUSHED.finditer(output.text), 3)]
        named = _branch(command.operands[2:])
        for name in names or [named] * bool(named):
            yield f"branch {name} pushed", "pushed"
    elif action in _MAKES_BRANCH and (name := _new_branch(action, command, output)):
        yield f"branch {name} created", "branch"
    elif action == "tag" and len(command.operands) > 1 and _NAME.fullmatch(command.operands[1]):
        yield f"tag {command.operands[1]} created", "tag"
    elif action == "merge" and "CONFLICT" not in output.text and (name := _branch(command.operands[1:])):
        yield f"branch {name} merged", "merged"


def _branch(words: list[str]) -> str:
    """The branch that the last of the words names ("HEAD:login" names "login"); "" for none."""
    word = words[-1].rpartition(":")[2] if words else ""
    return word if _NAME.fullmatch(word) and word not in ("HEAD", "origin") else ""


def _new_branch(action: str, command: Command, output: Output) -> str:
    told = _BRANCHED.search(output.text)
    if told:
        return str(told.group(1))
    words = command.words
    for index, word in enumerate(words[:-1]):
        flag = f"-{word[-1]}" if word[:1] == "-" and word[:2] != "--" else word
        if flag in _MAKES_BRANCH[action]:
            return words[index + 1] if _NAME.fullmatch(words[index + 1]) else ""
    return ""


def _read_hosted_actions(command: Command, output: Output, quote: str) -> Iterator[Finding]:
    """Findings of what ``gh`` did to pull requests and releases."""
    words = command.operands
    if words[:2] == ["pr", "create"] and (told := _PULL.search(output.text)):
        title = _title(command)
        yield certain.make_step_done(f"pull request {told.group(1)} created", title, quote)
    elif words[:2] == ["pr", "merge"] and (number := _branch(words[2:])):
        yield certain.make_step_done(f"pull request {number} merged", "merged", quote)
    elif words[:2] == ["release", "create"] and len(words) > 2 and _NAME.fullmatch(words[2]):
        yield certain.make_step_done(f"release {words[2]} created", "released", quote)


def _title(command: Command) -> str:
    words = command.words
    return next((words[index + 1] for index, word in enumerate(words[:-1]) if word in ("--title", "-t")), "")


def _work_tree(output: Output, quote: str) -> Iterator[Finding]:
    """Findings of files that differ from the last commit, as ``git status`` lists them."""
    for match in islice(_CHANGED.finditer(output.text), PATHS_MAX):
        letter, word, path = match.groups()
        if path := parse_kept_path(path):
            yield certain.file(path, "created" if (letter or word) in _CREATED else "edited", quote)


def commit_message(command: Command) -> str:
    """Return the first line of the commit message that is in the command line or in its here-document; "" if there is
    none (an editor or a file provides it)."""
    words = command.words
    for index, word in enumerate(words):
        if word.startswith("--message="):
            return _first_line(word.partition("=")[2])
        short = word[:1] == "-" and word[:2] != "--" and word.endswith("m")
        if (short or word == "--message") and index + 1 < len(words):
            return _first_line(words[index + 1])
    return _first_line(command.documents[0]) if command.documents and "-F" in words else ""


def _first_line(message: str) -> str:
    return next((line.strip() for line in message.split("\n") if line.strip()), "")
