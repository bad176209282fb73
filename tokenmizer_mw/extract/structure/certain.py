"""Functions that make findings of tool calls and their results. Such findings are certain, because the tool call
happened; only a step that a call begins is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.text.pattern import compile_lazily
from tokenmizer_mw.extract.text.prose import one_line
from tokenmizer_mw.extract.text.similar import split_words
from tokenmizer_mw.model.node import LABEL_MAX, NodeType, Status, Trust

QUOTE_MAX: Final = 160
"""Longest quote of such a finding, in characters."""

_LOOKING: Final = split_words(
    "inspect review analyze analyse explore understand investigate examine read look study research check assess survey"
    " identify locate find gather examine discover scan inspecting reviewing analyzing exploring understanding"
    " investigating reading looking researching checking gathering"
)
"""First words of steps that only look at something ("inspect the logs")."""

_CHECKS: Final = compile_lazily(
    r"(?:run|re-?run|execute|verify|validate|confirm|ensure|lint|test|double-?check|make sure)\b.{0,60}?\b"
    r"(?:tests?|suite|specs?|lint(?:er|ers|ing)?|build|type-?checks?|checks?|verification|everything|passe?s?|works?|compiles?)\b.*"
)
"""Matches steps that only check whether the other ones came out well ("run the tests")."""

_READ_CONFIDENCE: Final = 0.55
_DELETED: Final = ("deleted", "moved to")


def file(path: str, detail: str, quote: str = "") -> Finding:
    """Make the finding of a file. ``detail``: what happened to it, such as "created", "read" or "moved to b.py"; a file
    that was deleted or moved to another path is archived. ``quote``: the text that shows it, "" for none."""
    gone = detail.startswith(_DELETED)
    return Finding(
        NodeType.FILE,
        path,
        Status.ARCHIVED if gone else Status.ACTIVE,
        Trust.STRUCTURE,
        _READ_CONFIDENCE if detail == "read" else 0.95,
        move=Move.ARCHIVE if gone else Move.NOTE,
        detail=detail,
        quote=one_line(quote, QUOTE_MAX),
    )


def task(label: str, status: Status, *, order: int | None = None, detail: str = "", quote: str = "") -> Finding:
    """Make the finding of a task from a plan or a commit. ``order``: its position in the plan; ``detail``: such as its
    number ("task #3") or "committed"; ``quote``: the text that shows it, "" for the label."""
    return Finding(
        NodeType.TASK,
        one_line(label, LABEL_MAX),
        status,
        Trust.STRUCTURE,
        0.95,
        move=Move.ARCHIVE if status is Status.ARCHIVED else Move.NOTE,
        detail=detail,
        order=order,
        quote=one_line(quote or label, QUOTE_MAX),
    )


def make_plan_task(label: str, status: Status, *, order: int | None = None, detail: str = "") -> Finding:
    """Make the finding of a task from a plan. A completed task that only looks at or checks something ("run the tests")
    gets the status archived. ``order``, ``detail``: as in ``task``."""
    opening = label.strip().split(" ", 1)[0].casefold()
    looks = status is Status.COMPLETED and (opening in _LOOKING or _CHECKS.match(label) is not None)
    return task(label, Status.ARCHIVED if looks else status, order=order, detail=detail)


def make_step_done(label: str, detail: str, quote: str) -> Finding:
    """Make the finding of a finished step. With the ``detail`` "committed" the finding closes the task that its label
    names; with other details, such as "pushed", it only adds the step as a completed task. ``quote``: the text that
    shows it."""
    step = task(label, Status.COMPLETED, detail=detail, quote=quote)
    return replace(step, move=Move.CLOSE) if detail == "committed" else step


def make_step_begun(label: str) -> Finding:
    """Make the finding of a step that a tool call begins, such as a commit. It counts as claimed, not as certain, until
    the result of the call completes it."""
    label = one_line(label, LABEL_MAX)
    return Finding(NodeType.TASK, label, Status.IN_PROGRESS, Trust.CLAIMED, 0.9, quote=one_line(label, QUOTE_MAX))


def error(label: str, command: str, confidence: float) -> Finding:
    """Make the finding of an error that a command or tool showed. ``command``: the command's key (see ``Command.key``)
    or the tool's name, by which a later success closes the error; "" for none. ``confidence``: 0 to 1."""
    detail = f"$ {command}" if command else ""
    return Finding(
        NodeType.ERROR,
        label,
        Status.ACTIVE,
        Trust.STRUCTURE,
        confidence,
        detail=detail,
        quote=one_line(label, QUOTE_MAX),
    )


def make_success(command: str) -> Finding:
    """Make the finding of a command or tool that succeeded. It closes the errors that this command or tool showed
    before. ``command``: as in ``error``."""
    quote = f"$ {command}"
    return Finding(
        NodeType.ERROR, "", Status.COMPLETED, Trust.STRUCTURE, 0.9, move=Move.CLOSE, target=quote, quote=quote
    )


def test(label: str, *, failed: bool, counts: str, quote: str) -> Finding:
    """Make the finding of a test run. ``label``: the command; ``counts``: such as "2 failed, 9 passed"; ``quote``: the
    line that shows it."""
    status = Status.FAILED if failed else Status.COMPLETED
    return Finding(NodeType.TEST, label, status, Trust.STRUCTURE, 0.95, detail=counts, quote=one_line(quote, QUOTE_MAX))


def dependency(name: str, version: str, quote: str, *, removed: bool) -> Finding:
    """Make the finding of a package that was installed or ``removed``. ``version``: "" if it is not named; ``quote``:
    the text that shows it."""
    return Finding(
        NodeType.DEPENDENCY,
        name,
        Status.ARCHIVED if removed else Status.ACTIVE,
        Trust.STRUCTURE,
        0.9,
        move=Move.ARCHIVE if removed else Move.NOTE,
        detail=version,
        quote=one_line(quote, QUOTE_MAX),
    )
