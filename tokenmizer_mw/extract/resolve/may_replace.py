"""Decides whether a sentence may replace a fact at all, before probabilities are compared. Sentences that repeat the
fact, deny something else or are about another thing may not."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.match.slots import find_member
from tokenmizer_mw.extract.match.stated_values import read_stated
from tokenmizer_mw.extract.score.contrast import (
    Claim,
    answers_another,
    are_of_other_things,
    has_change_words,
    has_no_other_value,
    is_denial,
    is_of_another,
)
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import has_digit
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType


def may_replace(claim: Claim, node: Node) -> bool:
    """Whether a sentence may replace the fact ``node``: it is about the same thing and says something else about it.
    Several kinds of sentences are excluded, such as repetitions and answers to a question about something else."""
    again = _are_of_numbered_things(node.label, claim.line) or _is_repetition(claim.line, node.label)
    again = again or (not claim.last and _is_bare_denial(claim, node))
    other = are_of_other_things(node, claim) or is_of_another(node, claim) or has_no_other_value(node, claim)
    other = other or _denies_another(claim, node) or _gives_task_a_value(claim, node)
    other = other or (claim.question != "" and answers_another(node.label, claim.said, claim.question))
    return not (again or other) and _may_concern_node(node, claim)


def _may_concern_node(node: Node, claim: Claim) -> bool:
    """Whether a sentence may change a fact of this kind. There is a condition for three kinds:

    - a task: the sentence or its neighbours share a word with it
    - a rule: they share a word with it, or the sentence has words of change ("from now on")
    - a note in which people introduce themselves or say what they want: both
    """
    ordinary = node.type is not NodeType.TASK and not (node.is_note and _INTRODUCES.any(node.label))
    if ordinary and (node.kind is not DecisionKind.RULE or has_change_words(claim.line)):
        return True
    if node.is_note and not has_change_words(claim.line):
        return False
    matter = content(node.label)
    return not (matter.isdisjoint(content(claim.beside)) and matter.isdisjoint(content(claim.line)))


_INTRODUCES: Final = PatternSet(
    r"(?:i|we) (?:run|own|work|live|teach|study|lead|organi[sz]e|want|have a|need a|am|are)\b|(?:i'm|we're|my name)\b",
    r"(?:ich|wir) (?:bin|sind|arbeite\pL*|wohne\pL*|leite\pL*|betreibe\pL*|habe\pL* ein)\b",
    r"(?:je (?:suis|travaille|dirige|gère)|nous sommes|(?:yo )?(?:soy|trabajo|dirijo)|sono|lavoro|gestisco|(?:eu )?sou"
    r"|trabalho)\b",
)
"""Matches notes in which speakers introduce themselves or say what they want ("we run a small bakery")."""


def _is_repetition(line: str, old: str) -> bool:
    """Whether a sentence only repeats a fact or part of it: it has no other words, and both or neither are denials. A
    sentence that repeats only a part must have no words of change."""
    said, known = content(line), content(old)
    if not said or not said <= known or is_denial(line) != is_denial(old):
        return False
    return said == known or not has_change_words(line)


def _is_bare_denial(claim: Claim, node: Node) -> bool:
    """Whether a sentence denies a fact and names nothing besides what the fact names. A later sentence then names the
    replacement."""
    old, said = read_stated(node.label), claim.stated
    known = old.values | old.names
    named = said.values | said.names
    return bool(named) and named <= known and is_denial(claim.line) and not is_denial(node.label)


def _gives_task_a_value(claim: Claim, node: Node) -> bool:
    """Whether a sentence states a value, and the fact is a task that names no value: "PostgreSQL holds the schema now"
    does not replace "write the schema"."""
    old, said = read_stated(node.label), claim.stated
    return node.type is NodeType.TASK and bool(said.values) and not old.values | old.names


def _denies_another(claim: Claim, node: Node) -> bool:
    """Whether a sentence rejects something that the fact does not name, and the rest of the sentence names nothing:
    "not MySQL" does not replace "we use SQLite"."""
    old, said = read_stated(node.label), read_stated(claim.parts[0])
    named = said.values | said.names
    if not named or not _TURNS_DOWN.any(claim.said) or not named.isdisjoint(old.values | old.names):
        return False
    return not any((one := read_stated(part)).values | one.names for part in claim.parts[1:])


_TURNS_DOWN: Final = PatternSet(
    r"(?:please |but |and )?(?:not|no|never|without|nicht|keine?\w*|ohne|pas d[e']|sans|sin|nada de|niente|senza|sem) "
)


_NUMBERED_THING: Final = compile_lazily(
    r"(?:the |our |my )?(?P<thing>\pL+) (?P<number>\d{1,4}) \pL|.* for (?:the )?(?P<what>\pL+) (?P<which>\d{1,4})$"
)


def _are_of_numbered_things(old: str, line: str) -> bool:
    """Whether two texts are about two things that differ in their number: "service 1 runs ...",
    "service 2 runs ..."."""
    one, other = _numbered_thing(old), _numbered_thing(line)
    return one[0] != "" and one[0] == other[0] and one[1] != other[1] and find_member(one[0]) is None


@lru_cache(maxsize=512)
def _numbered_thing(text: str) -> tuple[str, str]:
    """Noun and number with which a text begins ("service 1 runs ..." gives "service" and "1"), or with which it ends
    after "for"; ("", "") for none."""
    match = _NUMBERED_THING.match(text) if has_digit(text) else None
    if match is None:
        return "", ""
    thing, number = (
        (match.group("thing"), match.group("number"))
        if match.group("thing")
        else (match.group("what"), match.group("which"))
    )
    return thing.casefold(), number
