"""Makers of findings from tool traffic, which are certain because it happened."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.text.pattern import compile_lazily
from tokenmizer_mw.extract.text.prose import one_line
from tokenmizer_mw.extract.text.similar import split_words
from tokenmizer_mw.model.node import LABEL_MAX, NodeType, Status, Trust

QUOTE_MAX: Final = 160
"""Longest quote of a finding, in characters."""

_LOOKING: Final = split_words(
    "inspect review analyze analyse explore understand investigate examine read look study research check assess survey"
    " identify locate find gather examine discover scan inspecting reviewing analyzing exploring understanding"
    " investigating reading looking researching checking gathering"
)
"""First words of steps that only look."""

_CHECKS: Final = compile_lazily(
    r"(?:run|re-?run|execute|verify|validate|confirm|ensure|lint|test|double-?check|make sure)\b.{0,60}?\b"
    r"(?:tests?|suite|specs?|lint(?:er|ers|ing)?|build|type-?checks?|checks?|verification|everything|passe?s?|works?|compiles?)\b.*"
)
"""Steps that only see whether the others came out well."""

_READ_CONFIDENCE: Final = 0.55
_DELETED: Final = ("deleted", "moved to")


def file(path: str, detail: str, quote: str = "") -> Finding:
    """A file that was created, edited, read, deleted or moved, as ``detail`` says."""
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
    """A task of a plan, a checklist argument or a commit."""
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
    """A task of a plan. One that only looks at something is archived when done."""
    opening = label.strip().split(" ", 1)[0].casefold()
    looks = status is Status.COMPLETED and (opening in _LOOKING or _CHECKS.match(label) is not None)
    return task(label, Status.ARCHIVED if looks else status, order=order, detail=detail)


def make_step_done(label: str, detail: str, quote: str) -> Finding:
    """A finished step, which closes the task that it names."""
    step = task(label, Status.COMPLETED, detail=detail, quote=quote)
    return replace(step, move=Move.CLOSE) if detail == "committed" else step


def make_step_begun(label: str) -> Finding:
    """A step that a call begins; its result completes it."""
    label = one_line(label, LABEL_MAX)
    return Finding(NodeType.TASK, label, Status.IN_PROGRESS, Trust.CLAIMED, 0.9, quote=one_line(label, QUOTE_MAX))


def error(label: str, command: str, confidence: float) -> Finding:
    """An error that a command showed; ``command`` is its key."""
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
    """A command that succeeded, which closes its earlier errors."""
    quote = f"$ {command}"
    return Finding(
        NodeType.ERROR, "", Status.COMPLETED, Trust.STRUCTURE, 0.9, move=Move.CLOSE, target=quote, quote=quote
    )


def test(label: str, *, failed: bool, counts: str, quote: str) -> Finding:
    """A test run; ``label`` is the command."""
    status = Status.FAILED if failed else Status.COMPLETED
    return Finding(NodeType.TEST, label, status, Trust.STRUCTURE, 0.95, detail=counts, quote=one_line(quote, QUOTE_MAX))


def dependency(name: str, version: str, quote: str, *, removed: bool) -> Finding:
    """A package that was installed or removed."""
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
