"""Find the values that a user assigns ("the port is 8081"), with the reason and the sentences around them.

The values are added to the findings of a message: to the choice that a rule found in the same sentence, or as a finding
of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import BETWEEN_SENTENCES, Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.value_assignments import AGAINST, Assignment, find_assignments, strip_first_part
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.graph.values import equal
from tokenmizer_mw.model.category import MEMBERS
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .reasons import find_reason_beside

SENTENCES_READ: Final = 12
"""Most sentences of a message that values are read in; a longer one is a document."""
SENTENCE_LONG: Final = 240
BEFORE_MAX: Final = 2
"""Number of sentences before a value that may say why it changes."""
_CONFIDENCE: Final = 0.7
_OBSERVED: Final = PatternSet(
    r"(?s).*\b(?:prints?|printed|reports?|reported|shows?|showed|took|opens?|opened|returns?|returned|gives?|gave|says?"
    r"|said|fails?|failed|went|green|red|passes|passed|crashes|crashed|measured|noticed|saw|seen)\b"
)
"""Matches sentences that report an observation, which nobody chose."""
_KEEPS: Final = PatternSet(r".*\b(?:stays?|remains?|keeps?|must|should|shall|has to|have to|needs? to)\b")
"""Matches words that decide a value rather than report it."""
_CHOSEN: Final = frozenset({Move.NOTE, Move.REPLACE, Move.ADOPT})


def add_values(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return ``found`` with the values that the sentences of a user's message assign. ``spoken``: its sentences; with
    more than ``SENTENCES_READ`` of them, ``found`` is returned as it is."""
    made = list(found)
    if len(spoken) > SENTENCES_READ:
        return made
    for index, segment in enumerate(spoken):
        if len(segment.text) <= SENTENCE_LONG:
            _read(index, spoken, situation, made)
    return made


def _read(index: int, spoken: Sequence[Segment], situation: Situation, made: list[Finding]) -> None:
    segment = spoken[index]
    span = (segment.start, segment.end)
    given = (
        find_assignments(segment.text) if segment.kind is SegmentKind.PROSE and not _is_bare_name(segment.text) else []
    )
    made[:] = [finding for finding in made if finding.span != span or not _is_misread(finding, given)]
    places = [at for at, finding in enumerate(made) if finding.span == span and _is_choice(finding)]
    around = [at for at, finding in enumerate(made) if finding.span == span and _is_bare_version(finding)]
    if not (given or places or around):
        return
    near = _sentences_around(index, spoken)
    why = find_reason_beside(index, spoken)
    for at in around:
        made[at] = replace(made[at], why=strip_first_part(segment.text) or why)
    for at in places:
        said = next((one for one in given if one.value in made[at].label), None)
        made[at] = _annotate_finding(made[at], said, near, why)
    if any(finding.span == span and finding.move is Move.REJECT and finding.label for finding in made):
        return
    wanted = any(finding.span == span and finding.type is NodeType.GOAL for finding in made)
    if wanted and not situation.has_goal:
        return
    known = [made[at] for at in places]
    after = index > 0 and AGAINST.any(spoken[index - 1].text)
    for said in given:
        if not _is_covered(said, known):
            given_so = replace(said, single=said.single or after, alone=said.alone and not wanted)
            made.append(
                _make_finding(
                    given_so,
                    segment,
                    near,
                    _choose_reason(said.reason, why),
                    chosen=not _is_background(given_so, situation),
                )
            )


def _is_bare_name(text: str) -> bool:
    """Whether a line is only an address or a file pattern, as in a pasted file."""
    bare = text.strip(" .!")
    return " " not in bare and "." in bare and not bare[:1].isdigit()


def _choose_reason(said: str, why: str) -> str:
    """The reason for a value: that of its own sentence (``said``); the neighbouring sentence (``why``) if only that
    speaks against the old value."""
    return why if not said or (why and AGAINST.any(why) and not AGAINST.any(said)) else said


def _is_misread(finding: Finding, given: Sequence[Assignment]) -> bool:
    """Whether a rejection or an error was read in words that only assign a value."""
    otherwise = finding.move is Move.REJECT
    if finding.type is NodeType.ERROR:
        otherwise = not _OBSERVED.any(finding.quote)
    before = [said.target for said in given if said.target]
    if finding.type is NodeType.DECISION and any(equal(finding.label.removeprefix("not "), old) for old in before):
        return True
    return otherwise and any(said.value in finding.label for said in given)


def _is_covered(said: Assignment, known: Sequence[Finding]) -> bool:
    """Whether a finding already has the assigned value."""
    return any(
        equal(said.value, finding.value)
        or said.value in finding.label
        or finding.label in said.value
        or (said.target and equal(said.target, finding.target))
        for finding in known
    )


def _is_background(said: Assignment, situation: Situation) -> bool:
    """Whether a value only describes how things are: it was observed, or stated in the session's first message. A later
    value may still replace it."""
    if said.changes or not said.alone:
        return False
    return _OBSERVED.any(said.label) or (situation.asked is None and situation.turn == 1 and not _KEEPS.any(said.label))


def _is_choice(finding: Finding) -> bool:
    return finding.type is NodeType.DECISION and finding.status is Status.ACTIVE and finding.move in _CHOSEN


def _is_bare_version(finding: Finding) -> bool:
    return finding.type is NodeType.ENVIRONMENT and not finding.reason


def _annotate_finding(finding: Finding, said: Assignment | None, near: str, why: str) -> Finding:
    if said is None:
        return replace(finding, near=near, why=why)
    return replace(
        finding,
        near=near,
        about=said.about,
        value=finding.value or _normal(said.value),
        target=finding.target or said.target,
        single=said.single,
        move=Move.REPLACE if said.changes else finding.move,
        why=_choose_reason(said.reason, why),
    )


def _make_finding(said: Assignment, segment: Segment, near: str, reason: str, *, chosen: bool) -> Finding:
    changing = Move.REPLACE if said.changes else Move.NOTE
    return Finding(
        NodeType.DECISION if chosen else NodeType.CONCEPT,
        said.label,
        Status.ACTIVE,
        Trust.STATED,
        _CONFIDENCE,
        changing if said.alone else Move.SET,
        target=said.target,
        why=reason,
        kind=DecisionKind.CHOICE if chosen else None,
        value=_normal(said.value),
        quote=segment.text,
        span=(segment.start, segment.end),
        about=said.about,
        near=near,
        single=said.single,
    )


def _normal(value: str) -> str:
    member = MEMBERS.get(value.casefold())
    return member[1] if member is not None else value.casefold()


def _sentences_around(index: int, spoken: Sequence[Segment]) -> str:
    near = spoken[max(0, index - BEFORE_MAX) : index + 2]
    return BETWEEN_SENTENCES.join(segment.text for segment in near)
