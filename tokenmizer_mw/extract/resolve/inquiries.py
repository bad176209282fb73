"""Completes tasks that wait for somebody's answer, when the user passes that answer on:
"Ines says the hall is free in May" completes the task "ask Ines whether the hall is free" and becomes its detail."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Move, Segment
from tokenmizer_mw.extract.read.layout import Span
from tokenmizer_mw.extract.rules.inquiry_words import ASKS_SOMEBODY, NO_ANSWER, REPORTS_ANSWER, YES_AND_NO
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, is_supposition, strip_lead
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import LABEL_MAX, Node, NodeType, Status, Trust

from .ledger import Ledger
from .node_search import find_nearest

SENTENCES_READ: Final = 12
"""Number of sentences of a message that are searched for answers, from its beginning."""

_CONFIDENCE: Final = 0.7
_ANSWER: Final = compile_lazily(REPORTS_ANSWER)
_ASKS: Final = PatternSet(ASKS_SOMEBODY)
_NO_ANSWER: Final = PatternSet(NO_ANSWER)


def close_answered_inquiries(ledger: Ledger, segments: Iterable[Segment]) -> set[Span]:
    """Complete open tasks of earlier messages that wait for somebody's answer, if a sentence among ``segments`` passes
    that answer on. Returns the spans (start, end) of these sentences in the message."""
    answers = set()
    for _, segment in zip(range(SENTENCES_READ), segments, strict=False):
        line = strip_lead(bound_sentence(segment.text)).rstrip(" .!")
        answer = _ANSWER.match(line)
        if answer is None or is_question(line) or is_supposition(line) or _NO_ANSWER.any(line):
            continue
        task = _find_inquiry(ledger, answer.group("who"), answer.group("what"))
        if task is not None:
            _complete(ledger, task, segment, line)
            answers.add((segment.start, segment.end))
    return answers


def _complete(ledger: Ledger, task: Node, segment: Segment, line: str) -> None:
    span = (segment.start, segment.end)
    finding = Finding(
        NodeType.TASK,
        task.label,
        Status.COMPLETED,
        Trust.STATED,
        _CONFIDENCE,
        quote=segment.text,
        span=span,
        move=Move.CLOSE,
        detail=line[:LABEL_MAX],
    )
    if ledger.move(task, Status.COMPLETED, finding):
        ledger.merge(task, finding)


def _find_inquiry(ledger: Ledger, who: str, what: str) -> Node | None:
    """The newest open task to ask ``who`` that shares a word with ``what``, the content of the answer; ``None`` if
    there is none. If the answer says only yes or no, the task must be the only one to ask that person."""
    name = content(who) or frozenset({who.casefold()})
    tasks = find_nearest(ledger.graph, lambda node: _is_inquiry(ledger, node, name))
    said = content(what) - name - YES_AND_NO
    if not said:
        return tasks[0] if len(tasks) == 1 else None
    return next((task for task in tasks if said & (content(task.label) - name)), None)


def _is_inquiry(ledger: Ledger, node: Node, name: frozenset[str]) -> bool:
    earlier = node.type is NodeType.TASK and node.source.turn < ledger.turn
    return earlier and name <= content(node.label) and _ASKS.any(node.label)
