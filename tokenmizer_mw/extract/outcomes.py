"""What a reply reports of work in few words: "done, saves in 21 ms instead of 400", "did that, the cert is Ready".

Such sentences name no order and often no thing; who reads them knows what was to do. They count in answers only, and
are told with what the message before advised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding import Finding, Move, Segment, SegmentKind
from .hollow import is_hollow
from .pattern import PatternSet, PatternTable, compiled
from .phrases import SENTENCES_KEPT, asks, bounded, supposes, without_lead
from .rules import Speaker
from .rules.outcomes import OUTCOMES
from .similar import content
from .situation import TOLD_MAX, Situation

SENTENCES_READ: Final = 10
"""Sentences of a reply that may report."""

RESULTS_READ: Final = 4
"""Sentences of an assistant's message that may tell what tools showed."""

REPORT_MAX: Final = 110
"""Characters of a report's label."""

LEAD_MAX: Final = 60
"""Characters that may stand before the clause that tells what came of work."""

JOINED_MAX: Final = 90
"""Characters up to which sentences that follow one another are one report."""

CONFIDENCE: Final = 0.65

_ROWS: Final = PatternTable(f"(?:{row.pattern})$" for row in OUTCOMES)
_UNLESS: Final = tuple(PatternSet(*filter(None, (row.unless,))) for row in OUTCOMES)
_CUT: Final = compiled(r"[,;:!] |\. |\s(?:--?|–|—|→|->|=>)\s| and | \(")
_CONFIRMS: Final = PatternSet(r"(?:yes|yep|yeah|yup)\b")
"""Answers to a question of how things are, which tell of no work done since."""

_ARROWS: Final = frozenset({"→", "->", "=>"})
"""Signs before what something came to: "the page cache → 40 ms"."""

_MARKED: Final = PatternSet(
    r"(?:decision|decided|status|todo|rule|remaining|open|left|leftovers|next|later|tbd|adr[\w-]*|note|question"
    r"|missing|pending|plan|goal|consequence)\b[^:]{0,20}: ",
    r".*\boptions?\b",
    r"(?:(?:yes|yep|yeah|yup|nope)\b|no,)",
    r"(?:.*[,:;] )?(?:what|what's|which|how|why|where|who|anyone|any) ",
)
"""Sentences that say themselves what they are, answer a question or ask one."""
_OPEN: Final = PatternSet(
    r".*(?:n't\b|\?|\bnot (?:a(?:ny)?[^ ]|[^a])|\b(?:never|still|fails?|failed|failing|errors?|broken?|wrong|crash\w*"
    r"|stuck|should|would|could"
    r"|will|'ll|must|needs? to|wants?|please|if|once|until|maybe|perhaps|probably|tomorrow|tonight|later|next|todo"
    r"|left (?:is|are|to|over|open|for)"
    r"|going to|gonna|let's|can you|can we|almost|nearly|half|yet|but|only|except|however|though|wip|pending|every"
    r"|always|often|sometimes|usually)\b)"
)
"""Clauses that leave something open, or tell how things are as a rule."""


@lru_cache(maxsize=SENTENCES_KEPT)
def report_in(sentence: str, *, more: bool = False, aloud: bool = False) -> str:
    """The clauses of a sentence that tell what came of work, with those beside them; "" where none does. ``more``: the
    sentence before it told so."""
    text = bounded(sentence)
    if asks(text) or _MARKED.any(text):
        return ""
    told: list[str] = []
    done = inside = arrow = False
    for clause, sign in _clauses(text):
        said = without_lead(clause) or clause
        if "=" in said or (not told and _is_lead(clause)):
            continue
        if _OPEN.any(said) or supposes(said):
            if done:
                break
            return ""
        plain = said.partition(")")[2] if inside else said
        measured = arrow and any(map(str.isdigit, said)) and not aloud
        if not done and (measured or _is_outcome(plain, more, aloud)):
            done, told = True, told if sum(map(len, told)) <= LEAD_MAX else []
        told += (clause if told else said, sign)
        inside, arrow = sign.endswith("("), sign.strip() in _ARROWS
    return "".join(told[:-1]).strip(" ,;:(") if done else ""


def _is_lead(clause: str) -> bool:
    """Whether a clause only opens what follows: "nice", "ok", but not "done"."""
    return without_lead(f"{clause}, x") == "x" and not _is_outcome(clause, more=False)


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    while (border := _CUT.search(text)) is not None:
        yield text[: border.start()].strip(), text[border.start() : border.end()]
        text = text[border.end() :]
    yield text.strip(" .!…"), ""


def _is_outcome(clause: str, more: bool = False, aloud: bool = False) -> bool:
    bare = clause.strip(" .!…)")
    return any(
        (more or not OUTCOMES[number].adds) and (OUTCOMES[number].speaks or not aloud) and not _UNLESS[number].any(bare)
        for number in _ROWS.matching(bare)
    )


def with_reports(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """``found`` with the reports of a user's reply; what was guessed of the same sentences gives way."""
    if situation.speaker is Speaker.ASSISTANT:
        return _with_results(found, spoken, situation) if situation.tooled else list(found)
    if situation.told is None:
        return list(found)
    wrong = {finding.span for finding in found if _speaks_against(finding)}
    first = 1 if asks(situation.offers.ending) else 0
    asked = "?" in situation.told[1].text[-TOLD_MAX:]
    told: list[tuple[Segment, str]] = []
    for segment in spoken[first:SENTENCES_READ]:
        more = bool(told) and _follows(told[-1][0], segment)
        if _may_report(segment, wrong) and (label := report_in(segment.text, more=more)):
            told.append((segment, label))
    spans = {(segment.start, segment.end) for segment, _ in told}
    kept = [
        _told_full(finding, situation)
        for finding in found
        if not (_is_claim(finding) and asked and _CONFIRMS.any(finding.quote))
        and (finding.span not in spans or not _gives_way(finding))
    ]
    return [*kept, *(_report(label, segment, situation) for segment, label in _joined(told))]


def _with_results(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """``found`` with what an assistant tells first of what tools showed."""
    wrong = {finding.span for finding in found if _speaks_against(finding)}
    read = {finding.span for finding in found if finding.type is NodeType.TASK}
    told: list[tuple[Segment, str]] = []
    for segment in spoken[:RESULTS_READ]:
        fresh = segment.kind is SegmentKind.PROSE and (segment.start, segment.end) not in read
        if fresh and _may_report(segment, wrong) and (label := report_in(segment.text, aloud=True)):
            told.append((segment, label))
    made = [replace(_report(label, segment, situation), trust=Trust.CLAIMED) for segment, label in _joined(told)]
    return [*found, *made]


def _may_report(segment: Segment, wrong: Set[tuple[int, int] | None]) -> bool:
    plain = segment.kind is SegmentKind.PROSE or not segment.heading
    return plain and (segment.start, segment.end) not in wrong


def _is_claim(finding: Finding) -> bool:
    return finding.type is NodeType.TASK and finding.move is Move.CLOSE and not finding.certain


def _told_full(finding: Finding, situation: Situation) -> Finding:
    """A claim that a rule reads, told with its sentence where it says little, and with what was advised."""
    if not _is_claim(finding):
        return finding
    said = without_lead(bounded(finding.quote)).rstrip(" .!。！")
    full = said if len(content(finding.label)) <= 1 and len(said) <= JOINED_MAX else finding.label
    return replace(finding, label=full, about=situation.offers.headline)


def _joined(told: Sequence[tuple[Segment, str]]) -> list[tuple[Segment, str]]:
    """Reports that follow one another as one, as long as it stays short."""
    made: list[tuple[Segment, str]] = []
    for segment, label in told:
        before = made[-1] if made else None
        if before is not None and _follows(before[0], segment) and len(before[1]) + len(label) < JOINED_MAX:
            made[-1] = (replace(before[0], end=segment.end), f"{before[1]}, {label}")
        else:
            made.append((segment, label))
    return made


def _follows(one: Segment, other: Segment) -> bool:
    return 0 <= other.start - one.end <= 2


def _report(label: str, segment: Segment, situation: Situation) -> Finding:
    advised = situation.offers.headline
    if advised and is_hollow(label):
        label = f"{advised}: {label}"
    return Finding(
        NodeType.TASK,
        label[:REPORT_MAX],
        Status.COMPLETED,
        Trust.STATED,
        CONFIDENCE,
        Move.CLOSE,
        quote=segment.text,
        span=(segment.start, segment.end),
        about=advised,
    )


def _speaks_against(finding: Finding) -> bool:
    wrong = finding.type is NodeType.ERROR and finding.status is Status.ACTIVE
    return wrong and finding.confidence >= CONFIDENCE


def _gives_way(finding: Finding) -> bool:
    if finding.type is NodeType.TASK:
        return finding.move is Move.CLOSE
    if finding.type is NodeType.CONCEPT:
        return True
    guessed = finding.confidence <= CONFIDENCE
    chosen = finding.type is NodeType.DECISION and finding.kind is DecisionKind.CHOICE
    return guessed and (chosen or finding.type is NodeType.ERROR)
