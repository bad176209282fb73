"""What a user tells of the matter in hand by the way: dates, amounts, prices and the like, each with the words around
it. Such facts decide nothing; they are what a later question is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import re2

from tokenmizer_mw.graph.values import Value, values_in
from tokenmizer_mw.model.node import NodeType, Status, Trust

from .finding import Finding, Segment, SegmentKind
from .pattern import PatternSet, compile_lazily
from .phrases import asks, before_question, bound_sentence, has_digit, supposes, without_lead
from .similar import content

SENTENCES_READ: Final = 12
"""Sentences of a message that are read; longer messages are documents."""
SENTENCE_LONG: Final = 400
FACTS_MAX: Final = 4
"""Facts of one message."""
LABEL_MAX: Final = 140

_CONFIDENCE: Final = 0.6
_TELLING: Final = 1
"""Content words that a fact has beside its value."""
_TELLING_COUNT: Final = 2
"""The same beside a number of things, which is often said by the way."""
_COUNTS: Final = frozenset({"amount", "share", "duration"})
_KINDS: Final = frozenset({"date", "time", "money", "share", "duration", "size", "amount", "day"})

_CUT: Final = re2.compile(
    r"(?i:[;:]\s+|,\s+(?:and |but |so |because |since |as |though |while |plus |considering |given )?"
    r"|\s+(?:--?|–|—)\s+|\s+(?:but|because|so that|so i|so we|and (?:i|we|the|my|our|it|he|she|they))\s+)"
)
_GRANTED: Final = compile_lazily(
    r"(?:^|.*?\b)(?:the fact that|given(?: that)?|considering(?: that)?|now that|knowing that|seeing that"
    r"|especially (?:since|as)|since|because|after) (?P<given>(?:i|we|my|our|the|it|they|he|she|i'm"
    r"|i've|we've|we're)\b.{6,})"
)
_GOES_ON: Final = re2.compile(r"(?i:which|who|whose|where|\d{4})\b")
"""What stays with the words before a comma: relative clauses, and years of dates."""
_SCOPE: Final = compile_lazily(
    r"(?:for|in|on|at|during|with|without|until|between|unlike|except|after|before|since|outside|für|bei|im|am|ab|nach"
    r"|pour|chez|para|en|per|con|durante|pendant)(?: [\w'’.-]+){1,5}$"
)
"""What a statement holds for: said before it, up to a comma."""
_NO_SCOPE: Final = PatternSet(
    r"(?:for (?:now|example|instance|the record|me|us)|in (?:that|this|any) case|in (?:addition|general|fact|short"
    r"|the end|other words|my opinion|total)|on (?:the other hand|second thought|top of that)|at (?:first|least"
    r"|the moment|this point|the end)|with (?:that|this)(?: (?:said|in mind))?|after (?:that|all)"
    r"|before that|since then)$"
)
"""What only leads in."""
_FEELS: Final = compile_lazily(
    r"(?:(?:i'm|i am|we're|we are|i feel|i was|i've been) (?:also |just |still |really |kinda |kind of |a bit |a little"
    r"|pretty |quite |so |very |currently )*(?:worried|concerned|stuck|struggling|wondering|curious|excited|nervous"
    r"|unsure|confused|proud|happy|trying|planning|thinking|working|looking|hoping|aiming)"
    r"(?: (?:that|about|on|with|of|to|because|if|whether|for|out))* )"
)
_SAID_SO: Final = compile_lazily(
    r"(?:(?:i|we)(?:'ve| have|'m| am|'d| would)? (?:also |just |really |already |recently |now )*"
    r"(?:noticed|noted|found(?: out)?|realised|realized|heard|learned|read|been told|want(?:ed)?|like|need|know|think"
    r"|came across)(?: to(?: also)?(?: make sure| ensure| be sure| know| see)?| the fact)?(?: that)? )"
)
_TELLS: Final = PatternSet(
    r".*\b(?:i|we|my|our|me|us|i'm|i've|we're|we've|mine|ours)\b",
    r".*\b(?:is|are|was|were|has|have|had|will|costs?|starts?|ends?|takes?|runs?|needs?|reached|increased|dropped|moved"
    r"|rescheduled|scheduled|due|deadline|set|planned|booked|target(?:ing|s|ed)?|adjusted|extended|improved)\b",
)
_ARRIVES: Final = PatternSet(
    r".*\b(?:reached|increased|decreased|grew|grown|dropped|fell|rose|risen|total(?:s|ing)?|now|adjusted|updated|raised"
    r"|lowered|limit(?:ed)?|up|down|back) (?:to |at |is |are |of |has |have |a total of )*[\d$€£]"
)
"""A bare number is told where something arrives at it."""
_NUMBERED: Final = PatternSet(
    r"(?:.* )?(?:lines?|step|option|point|no\.?|number|version|part|chapter|question|task) \d+\b"
)


def told_in(spoken: Sequence[Segment], found: Sequence[Finding]) -> list[Finding]:
    """The facts with values in a user's message that ``found`` does not state already, in order."""
    if len(spoken) > SENTENCES_READ:
        return []
    made: list[Finding] = []
    for segment in spoken:
        if segment.kind is SegmentKind.PROSE and len(segment.text) <= SENTENCE_LONG:
            known = [finding.label for finding in found if finding.span == (segment.start, segment.end)]
            made += _of(segment, known)
    return made[:FACTS_MAX]


def _of(segment: Segment, known: Sequence[str]) -> list[Finding]:
    text = bound_sentence(segment.text)
    if not has_digit(text) or supposes(without_lead(text)):
        return []
    said, question = before_question(text)
    parts = parts_of(said, scoped=True) if question or not asks(text) else []
    parts += _find_presuppositions(question or (text if asks(text) else ""))
    made = []
    for part in parts:
        value = _value(part)
        if value is not None and not any(value.text in label for label in known):
            made.append(_finding(part, value, segment))
    return made


def parts_of(text: str, *, scoped: bool = False) -> list[str]:
    """What is said between commas and conjunctions; a relative clause stays with what it tells of. ``scoped``: what a
    statement holds for stays with it, too: "for the second flat, 15 minutes is too long"."""
    rest = without_lead(text)
    ends: list[int] = []
    starts = [0]
    for match in _CUT.finditer(rest):
        if scoped and not ends and _is_scope(rest[: match.start()]):
            continue
        if match.end() < len(rest) and not _GOES_ON.match(rest, match.end()):
            ends.append(match.start())
            starts.append(match.end())
    return [_strip_statement(rest[start:end]) for start, end in zip(starts, (*ends, len(rest)), strict=True)]


def _is_scope(before: str) -> bool:
    return _SCOPE.match(before) is not None and not _NO_SCOPE.any(before)


def _find_presuppositions(question: str) -> list[str]:
    """What a question takes for granted: "now that we have 40 seats, can we open?"."""
    match = _GRANTED.search(question)
    return parts_of(match.group("given")) if match is not None else []


def _strip_statement(part: str) -> str:
    text = without_lead(part).strip(" .,;:!?")
    for opening in (_FEELS, _SAID_SO):
        match = opening.match(text)
        text = text[match.end() :] if match is not None else text
    return text


def _value(part: str) -> Value | None:
    """The first value that is told in a part, ``None`` when nothing is told with it."""
    if not 0 < len(part) <= LABEL_MAX or not _TELLS.any(part) or _NUMBERED.any(part):
        return None
    kinds = _KINDS | {"number"} if _ARRIVES.any(part) else _KINDS
    value = next((value for value in values_in(part) if value.kind in kinds), None)
    if value is None:
        return None
    telling = _TELLING_COUNT if value.kind in _COUNTS else _TELLING
    return value if len(content(part.replace(value.text, " "))) >= telling else None


def _finding(part: str, value: Value, segment: Segment) -> Finding:
    return Finding(
        NodeType.CONCEPT,
        part,
        Status.ACTIVE,
        Trust.STATED,
        _CONFIDENCE,
        value=value.text.casefold(),
        quote=segment.text,
        span=(segment.start, segment.end),
    )
