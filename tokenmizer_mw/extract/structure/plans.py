"""Read the plans of agents: lists that one call writes as a whole, and items that calls create and change one by
one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import re2

from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.model.message import Role, ToolCall
from tokenmizer_mw.model.node import NodeType, Status

from . import certain
from .markdown import read_markdown
from .results import Output
from .tools import Arguments, ToolKind, item_of, kind_of, plan_of, read_arguments

ITEM: Final = "task #"
"""Beginning of the ``detail`` of a finding of a plan item. The number that the client gave the item follows; by it
later calls find the item."""

_PLAN_WORDS: Final = ("todo", "plan", "task")
_STATES: Final = {
    **dict.fromkeys(("completed", "complete", "done", "finished", "x", "true", "closed"), Status.COMPLETED),
    **dict.fromkeys(("in_progress", "inprogress", "doing", "active", "started", "current", "-"), Status.IN_PROGRESS),
    **dict.fromkeys(("cancelled", "canceled", "skipped", "dropped", "deleted", "wont_do"), Status.ARCHIVED),
    **dict.fromkeys(("failed", "error"), Status.FAILED),
}
_MADE: Final = re2.compile(r"(?i)\b(?:task|todo|item) #?(\w{1,20})\b")


def read_plan(call: ToolCall) -> list[Finding]:
    """Return the tasks of the plan that a call writes, as a list or as Markdown; [] for a call that writes none."""
    name = call.name.lower()
    if not any(word in name for word in _PLAN_WORDS) and "task_progress" not in call.arguments:
        return []
    arguments = read_arguments(call)
    if kind_of(call.name, arguments) is ToolKind.PLAN:
        plan = plan_of(arguments)
    else:
        progress = arguments.members.get("task_progress")
        plan = progress if isinstance(progress, str) else []
    if isinstance(plan, str):
        marked = read_markdown(Role.ASSISTANT, segment(plan)) if plan else []
        tasks = [found for found in marked if found.type is NodeType.TASK]
        return [certain.make_plan_task(found.label, found.status, order=found.order) for found in tasks]
    return [_make_plan_finding(text, state, order) for order, (text, state) in enumerate(plan)]


def read_created_item(arguments: Arguments, output: Output) -> list[Finding]:
    """Return, as a list of one, the finding of a new plan item, with the number that the client gave it in its output,
    if any; [] if the call failed or names no text."""
    text, state, _ = item_of(arguments)
    made = _MADE.search(output.text)
    if output.failed or not text:
        return []
    finding = _make_plan_finding(text, state, None)
    return [replace(finding, detail=f"{ITEM}{made.group(1)}") if made is not None else finding]


def read_moved_item(arguments: Arguments, output: Output) -> list[Finding]:
    """Return, as a list of one, the finding that changes the subject or the status of a plan item, which is named by
    its number; [] if the call failed, or names no number or no change."""
    text, state, named = item_of(arguments)
    if output.failed or not named or not (state or text):
        return []
    label = certain.task(text, Status.PENDING).label
    quote = f"{ITEM}{named} {state}" if state else ""
    moved = certain.task("", _state(state), quote=quote)
    return [replace(moved, move=Move.CLOSE, label=label, target=f"{ITEM}{named}")]


def _make_plan_finding(text: str, state: str, order: int | None) -> Finding:
    detail = "blocked" if state.strip().lower() == "blocked" else ""
    return certain.make_plan_task(text, _state(state), order=order, detail=detail)


def _state(written: str) -> Status:
    state = written.strip().lower()
    if state != "-":
        state = state.replace("-", "_").replace(" ", "_")
    return _STATES.get(state, Status.PENDING)
