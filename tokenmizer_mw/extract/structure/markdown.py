"""Findings from the Markdown of a user's or an assistant's text: checklists, files named by code blocks and diffs, and
errors in logs that the user pastes. Quoted text (">") states nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokenmizer_mw.extract.finding import Finding, Segment, SegmentKind
from tokenmizer_mw.extract.rules.verbs import DONE_VERBS
from tokenmizer_mw.extract.text.cut_marks import replace_cut_marks
from tokenmizer_mw.extract.text.names import as_path
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.prose import one_line
from tokenmizer_mw.extract.text.similar import content, split_words
from tokenmizer_mw.model.message import Role
from tokenmizer_mw.model.node import LABEL_MAX, NodeType, Status, Trust

from .certain import QUOTE_MAX
from .failures import find_exceptions, find_failing_tests, find_files_of_tests, find_telling_line
from .patches import read_patched_files
from .testruns import read_tests, runner_of

_PASTED: Final = split_words("text txt log logs console output plaintext traceback stacktrace shell sh bash terminal")
_STATES: Final = {"~": Status.IN_PROGRESS, "/": Status.IN_PROGRESS, "-": Status.IN_PROGRESS}
_TRUST: Final = {Role.USER: Trust.STATED, Role.ASSISTANT: Trust.CLAIMED}
_COMMENTS: Final = ("#", "//", "--", "/*", "<!--", ";", "%", '"""', "{/*")
_LEAD_MAX: Final = 60
_SHOWING: Final = content(
    "error errors log logs output console terminal trace traceback stack result results message says said see look"
    " following below ci build test tests shows browser server prints happens"
)
"""Words of a heading that only announce what is shown below it."""

_FIRST_LINE_MAX: Final = 160
_WORK_DONE: Final = PatternSet(rf"(?:.{{0,60}}\b)?(?:{DONE_VERBS}|passed|passes|working|ran|done)\b")


def read_markdown(role: Role, segments: Sequence[Segment]) -> list[Finding]:
    """Return the findings in the ``segments`` of a message by a user or an assistant. Those in pasted logs come
    last."""
    trust = _TRUST[role]
    found: list[Finding] = []
    pasted: list[Segment] = []
    order = 0
    for index, segment in enumerate(segments):
        if segment.kind is SegmentKind.CHECKBOX and not _is_praise(role, segment):
            found.append(_task(segment, trust, order))
            order += 1
        elif segment.kind is SegmentKind.CODE:
            found += _code(segment, segments[index - 1] if index else None, trust)
        elif segment.kind is SegmentKind.DIFF:
            found += _diff(segment, segments[index - 1] if index else None, trust)
        if role is Role.USER and _is_pasted(segment):
            pasted.append(segment)
    return found + list(_read_shown_logs(pasted)) if pasted else found


def _is_praise(role: Role, segment: Segment) -> bool:
    """Whether a check mark of an assistant praises a property ("✅ Clear structure") rather than marks finished work.
    This is only judged in English, for which pure ASCII is taken as the sign."""
    ticked = role is Role.ASSISTANT and not segment.info.endswith("]") and segment.text.isascii()
    return ticked and segment.checked is True and not _WORK_DONE.any(segment.text[:_FIRST_LINE_MAX])


def _is_pasted(segment: Segment) -> bool:
    if segment.kind is SegmentKind.CODE:
        return segment.info.split(" ", 1)[0].lower() in ("", *_PASTED)
    return segment.kind is SegmentKind.LOG


def _task(segment: Segment, trust: Trust, order: int) -> Finding:
    mark = segment.info[-2:-1]
    status = Status.COMPLETED if segment.checked else _STATES.get(mark, Status.PENDING)
    sure = 0.85 if trust is Trust.STATED else 0.75 if segment.checked else 0.65
    return _finding(NodeType.TASK, one_line(segment.text, LABEL_MAX), status, trust, sure, segment, order=order)


def _code(segment: Segment, before: Segment | None, trust: Trust) -> Iterator[Finding]:
    path = _file_of_code(segment) or _file_above(segment, before)
    if path:
        yield _finding(NodeType.FILE, path, Status.ACTIVE, trust, 0.7, segment)


def _file_of_code(segment: Segment) -> str:
    """The file that the info string of a code block ("python a.py") or the comment in its first line names; "" for
    none."""
    for word in segment.info.split():
        for part in (word, word.partition("=")[2], word.partition(":")[2]):
            if path := as_path(part):
                return path
    line = segment.text.lstrip("\n").split("\n", 1)[0].strip()
    if len(line) > _FIRST_LINE_MAX:
        return ""
    for sign in _COMMENTS:
        if line.startswith(sign):
            words = line[len(sign) :].rstrip('*/->}" ').strip().removeprefix("File:").removeprefix("file:").strip()
            return as_path(words.split(" ", 1)[0]) if words.count(" ") < 3 else ""
    return ""


def _file_above(segment: Segment, before: Segment | None) -> str:
    """The file, if the segment before a block consists of its path alone; else ""."""
    if before is None or before.kind in (SegmentKind.CODE, SegmentKind.DIFF):
        return ""
    return as_path(before.text)


def _diff(segment: Segment, before: Segment | None, trust: Trust) -> Iterator[Finding]:
    touched = read_patched_files(segment.text)
    if not touched and (path := _file_above(segment, before) or as_path(segment.text.split("\n", 1)[0])):
        touched = {path: "edited"}
    for path, detail in touched.items():
        gone = detail.startswith(("deleted", "moved to"))
        status = Status.ARCHIVED if gone else Status.ACTIVE
        yield _finding(NodeType.FILE, path, status, trust, 0.8, segment, detail=detail)


def _read_shown_logs(pasted: list[Segment]) -> Iterator[Finding]:
    """Findings of the logs that the user pastes: test runs, errors, and files whose tests fail."""
    text = replace_cut_marks("\n".join(segment.text for segment in pasted))
    outcome = read_tests(text)
    if outcome is not None:
        status = Status.FAILED if outcome.failed else Status.COMPLETED
        yield _finding(NodeType.TEST, runner_of(text), status, Trust.QUOTED, 0.8, pasted[-1], detail=outcome.counts)
    failing = find_failing_tests(text) if outcome is None or outcome.failed else []
    for label in failing or find_exceptions(text) or [line for line in [find_telling_line(text)] if line]:
        segment = next((segment for segment in pasted if label in segment.text), pasted[0])
        yield _finding(NodeType.ERROR, _prefix_heading(segment, label), Status.ACTIVE, Trust.QUOTED, 0.8, segment)
    for path in find_files_of_tests(text) if failing else ():
        yield _finding(NodeType.FILE, path, Status.ACTIVE, Trust.QUOTED, 0.8, pasted[-1], detail="failing")


def _prefix_heading(segment: Segment, label: str) -> str:
    """The label of an error with the heading above its log before it, if that says what fails ("fails for March:")."""
    lead = segment.heading
    said = content(lead) - _SHOWING if len(lead) <= _LEAD_MAX else ()
    return one_line(f"{lead}: {label}", LABEL_MAX) if len(said) > 1 else label


def _finding(
    type: NodeType,
    label: str,
    status: Status,
    trust: Trust,
    confidence: float,
    segment: Segment,
    *,
    detail: str = "",
    order: int | None = None,
) -> Finding:
    quote = one_line(segment.text, QUOTE_MAX)
    span = (segment.start, segment.end)
    return Finding(type, label, status, trust, confidence, detail=detail, order=order, quote=quote, span=span)
