"""Split a sentence into its statements, and read its scope: the words at its beginning that say what it holds for ("for
the second flat")."""

from __future__ import annotations

from typing import Final

from .pattern import PatternSet, compile_lazily
from .phrases import strip_lead

_CUT: Final = compile_lazily(
    r"(?:[;:]\s+|[，；：]|,\s+(?:and |but |so |because |since |as |though |while |plus |considering |given )?"
    r"|\s+(?:--?|–|—)\s+|\s+(?:but|because|so that|so i|so we|and (?:i|we|the|my|our|it|he|she|they))\s+)"
)
_GOES_ON: Final = compile_lazily(r"(?:which|who|whose|where|\d{4})\b")
"""Matches what begins no new statement after a comma or another border: relative clauses, and years of dates."""
_SCOPE: Final = compile_lazily(
    r"(?:for|in|on|at|during|with|without|until|between|unlike|except|after|before|since|outside|für|bei|im|am|ab|nach"
    r"|pour|chez|para|en|per|con|durante|pendant)(?: [\w'’.-]+){1,5}$"
)
"""Matches a scope: a preposition with one to five words after it."""
_NO_SCOPE: Final = PatternSet(
    r"(?:for (?:now|example|instance|the record|me|us)|in (?:that|this|any) case|in (?:addition|general|fact|short"
    r"|the end|other words|my opinion|total)|on (?:the other hand|second thought|top of that)|at (?:first|least"
    r"|the moment|this point|the end)|with (?:that|this)(?: (?:said|in mind))?|after (?:that|all)"
    r"|before that|since then)$"
)
"""Phrases that begin like a scope but only lead in to the sentence ("for example")."""
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


def split_statements(text: str, *, scoped: bool = False) -> list[str]:
    """Return the statements of a sentence: its parts between commas, semicolons, colons, dashes and conjunctions, in
    order. A relative clause stays with its noun. Words that only lead in ("ok,", "I noticed that", "I'm worried about")
    and punctuation at the ends are removed, so a part may be "".

    ``scoped``: whether the first statement keeps its scope ("for the second flat, 15 minutes is too long"), or the
    short name before its colon ("working title: The Long Dash").
    """
    rest = strip_lead(text)
    ends: list[int] = []
    starts = [0]
    for start, end in _CUT.find_spans(rest):
        if scoped and not ends and (_is_scope(rest[:start]) or _is_name(rest, start)):
            continue
        if end < len(rest) and _GOES_ON.match(rest[end:]) is None:
            ends.append(start)
            starts.append(end)
    return [_strip_statement(rest[start:end]) for start, end in zip(starts, (*ends, len(rest)), strict=True)]


def read_scope(text: str) -> str:
    """Return the scope at the beginning of a sentence: the words before its first comma, other border or conjunction
    that say what it holds for, such as "for the second flat"; "" for none."""
    match = _CUT.search(text)
    return text[: match.start()] if match is not None and _is_scope(text[: match.start()]) else ""


def _is_scope(before: str) -> bool:
    return _SCOPE.match(before) is not None and not _NO_SCOPE.any(before)


def _is_name(text: str, end: int) -> bool:
    """Whether ``end`` is the position of a colon, and the part of ``text`` before it, at most ``NAME_WORDS`` words,
    only names what follows: "working title: The Long Dash"."""
    return text[end] == ":" and text.count(" ", 0, end) < NAME_WORDS


NAME_WORDS: Final = 3


def _strip_statement(part: str) -> str:
    text = strip_lead(part).strip(" .,;:!?")
    for opening in (_FEELS, _SAID_SO):
        match = opening.match(text) if text[:1] in "iIwW" else None
        text = text[match.end() :] if match is not None else text
    return text
