"""Find the goal of a session: what the first message that wants something asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Segment
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.match.slots import find_member, read_slot
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import split_enumeration
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, NodeType, Status, Trust

from .finding_makers import NAME_WORDS
from .opening import OpeningSentence, Rank, read_opening

_STACK: Final = compile_lazily(
    r".*?\b(?:with|using|in|on|based on|on top of|written in|powered by) (?P<stack>[^;:.()]{2,120})"
)
GOAL_ASKED: Final = 0.6
"""Confidence of a goal that is only a question or a wish to look at something. The first order with at least
``GOAL_WORDS`` content stems replaces such a goal."""

_GIVEN: Final = 0.8
_WRONG: Final = 0.8
"""Confidence of an error that the goal of the session is to fix."""

GOAL_WORDS: Final = 4
"""Fewest content stems of an order that replaces such a goal."""

SHORT: Final = 5
"""If the label of a goal has fewer content stems than this, the condition in a neighbouring sentence is added to it."""

THIN: Final = 3
"""Fewest content stems that a goal's label must keep when remarks are removed from it."""

LONG: Final = 140
"""Number of characters from which on a label is cut, at a comma or the like."""

CLEAR: Final = 5
"""If the label of a goal has at most this many content stems, the symptom (what fails) in the sentence before is added
to it."""

_CONDITION: Final = PatternSet(
    r".{2,60}?\b(?:must|should|has to|have to|needs to|shall|may not|cannot|can't|only|without|at most|at least"
    r"|before)\b"
)

_PASSING: Final = frozenset({Rank.CHORE, Rank.LOOK, Rank.BIT, Rank.POINTER, Rank.QUESTION})
"""Kinds of sentences that ask for something or look at something in passing, unless they have many words."""

_WONDERS: Final = PatternSet(
    r"(?:(?:[\w' -]{0,20}\b)?question(?: first)?[:,] )?(?:what|what's|who|which|when|where"
    r"|how (?:does|do|is|are|long|many|much|often)|does|is (?:it|this|that|the)|are|do)\b",
    r".{2,80}, (?:what|who|which|where) (?:should|do|does|is|are|can|would)\b",
)
"""Matches questions that only want to know something."""

_ASKED_FOR: Final = compile_lazily(
    r"(?:do you know |i wonder |any idea |(?:can|could) (?:you|anyone|somebody) (?:tell|show) (?:me|us) )?"
    r"(?:how (?:(?:do|can|could|should|would|might) (?:i|we|one|you) (?:best )?"
    r"|(?:i|we|one) (?:can|could|should|might) |(?:best )?to )"
    r"|is it (?:possible|feasible|hard|difficult) to "
    r"|is there (?:a|an|any) (?:[\w-]+ ){0,2}?way (?:to|for us to|for me to) "
    r"|what(?:'s| is| would be) the (?:[\w-]+ )?way to )(?P<label>\w.+)"
    r"|is there (?P<thing>(?:a|an|any) (?:[\w-]+ )?(?:fix|solution|workaround|remedy|alternative)\b.+)"
)
"""Matches a question that wants something done or found ("how do I ...?"), with what it wants. "How does X work?" only
wants to know something."""

_HEDGE: Final = compile_lazily(
    r" so (?:they|the|it|we|i|people|users)\b"
    r"|,? (?:but|since|because|although|aber|weil|mais|car|pero|porque|ma|perché|mas|но|потому что)\b|, (?:which|hab|so"
    r"|too|though|also|is|was|it's|that's|wobei)\b| - | – | — "
)
_BIT: Final = compile_lazily(r", (?:~?\d[\w.,]* [\w.-]+|[\w+#.-]+ v?\d[\w.]*)$")
_BORDERS: Final = (", ", "; ", ": ", " and ", " which ", " und ", " et ", " y ", " e ", "，", "、")
_ASIDE: Final = compile_lazily(r"\s*\([^()]{1,80}\)")


def read_goal(spoken: Sequence[Segment], situation: Situation, segments: Sequence[Segment] = ()) -> list[Finding]:
    """Return the findings for the goal that a message states: the goal, the technologies that it names, and the error
    that it wants fixed. [] if the message states no goal. ``spoken``: the sentences to read; ``segments``: all segments
    of the message."""
    sentences = read_opening(spoken, segments)
    at, best = max(enumerate(sentences), key=lambda one: (one[1].rank, -one[0]), default=(0, None))
    if best is None or best.rank < (Rank.CHORE if situation.asked is None else Rank.ORDER):
        return []
    label = _goal_label(at, sentences)
    if situation.goal_asked and len(content(label)) < GOAL_WORDS:
        return []
    made = Finding(
        NodeType.GOAL,
        label,
        Status.ACTIVE,
        Trust.STATED,
        GOAL_ASKED if _is_by_the_way(best) else _GIVEN,
        slot="goal",
        value=label,
        quote=best.segment.text,
        span=(best.segment.start, best.segment.end),
    )
    return [made, *_read_stack(best.label, made), *_read_symptom(best.segment, made)]


def _is_by_the_way(sentence: OpeningSentence) -> bool:
    if sentence.rank not in _PASSING:
        return False
    if sentence.rank in (Rank.CHORE, Rank.POINTER):
        return True
    return len(content(sentence.label)) <= GOAL_WORDS or _WONDERS.any(sentence.text)


def _read_symptom(segment: Segment, goal: Finding) -> list[Finding]:
    """The error in the sentence of the goal, as findings."""
    told = [_shorten_label(hit.label) for hit in read_hits(segment.text, Speaker.USER) if hit.rule.act is Act.COMPLAINT]
    return [replace(goal, type=NodeType.ERROR, label=label, slot="", value="", confidence=_WRONG) for label in told]


def _goal_label(at: int, sentences: Sequence[OpeningSentence]) -> str:
    """The goal in the words of the sentence at index ``at``; if these are few, with those of a neighbouring
    sentence."""
    best, behind = sentences[at], sentences[at + 1 : at + 3]
    label = _shorten_label(_read_wanted(best))
    if label.endswith(":"):
        return " ".join([label, *(one.text for one in behind)])[:LABEL_MAX]
    if best.rank < Rank.SYMPTOM:
        return label
    size = len(content(label))
    for beside in behind:
        if size < SHORT and _CONDITION.any(beside.text):
            return _join_labels(label, _shorten_label(beside.text).partition(", ")[0])
    wrong = [one for one in sentences[max(at - 2, 0) : at] if one.rank is Rank.SYMPTOM]
    if best.rank is not Rank.SYMPTOM and wrong and size <= CLEAR:
        return _join_labels(_shorten_label(wrong[-1].label), label)
    return label


def _read_wanted(sentence: OpeningSentence) -> str:
    """The label of a sentence; for a question that wants something done, what it wants."""
    asked = _ASKED_FOR.fullmatch(sentence.label) if sentence.rank in (Rank.QUESTION, Rank.STATEMENT) else None
    if asked is None:
        return sentence.label
    wanted = (asked.group("label") or asked.group("thing")).rstrip(" ?!.")
    return wanted if len(content(wanted)) >= THIN - 1 else sentence.label


def _shorten_label(label: str) -> str:
    """A label without remarks at its end: "..., which is nasty", "..., 23 modules, Java 17"."""
    label = _without_asides(label)
    found = _HEDGE.search(label)
    if found is not None and len(content(label[: found.start()])) >= GOAL_WORDS:
        label = label[: found.start()]
    while (bit := _BIT.search(label)) is not None and len(content(label[: bit.start()])) >= THIN:
        label = label[: bit.start()]
    return label if len(label) <= LONG else _cut_label(label)


def _cut_label(label: str) -> str:
    """The beginning of a long label, up to the last comma or conjunction within ``LONG`` characters."""
    at = max((label.rfind(sign, SHORT, LONG) for sign in _BORDERS), default=-1)
    return label[:at] if at > 0 and len(content(label[:at])) >= SHORT else label


def _join_labels(one: str, other: str) -> str:
    joined = f"{one.rstrip(' .!')}; {other.rstrip(' .!')}"
    return joined if len(joined) <= LABEL_MAX else one


def _without_asides(label: str) -> str:
    """A label without the text in brackets, if at least ``GOAL_WORDS`` content stems remain."""
    if "(" not in label:
        return label
    found = _ASIDE.search(label)
    if found is None or not label[: found.start()].strip():
        return label
    rest = label[: found.start()] + label[found.end() :]
    return _without_asides(rest) if len(content(rest)) >= GOAL_WORDS else label


def _read_stack(label: str, goal: Finding) -> list[Finding]:
    """The technologies in a goal, as findings: choices after "with" or "using", dependencies elsewhere."""
    found = []
    match = _STACK.match(label)
    stack = split_enumeration(match.group("stack")) if match is not None else []
    for item in stack:
        slot = read_slot(item)
        if slot is not None and slot.category and len(item.split()) <= NAME_WORDS:
            found.append(
                replace(
                    goal,
                    type=NodeType.DECISION if slot.chosen else NodeType.DEPENDENCY,
                    label=item,
                    slot=slot.name if slot.chosen else "",
                    value=slot.value,
                    kind=DecisionKind.CHOICE,
                )
            )
    chosen = {word.casefold() for finding in found for word in finding.label.split()}
    named = [(word, member[0]) for word in label.split() if (member := find_member(word)) is not None]
    categories = Counter(category for _, category in named)
    for word, category in named:  # two of one sort are alternatives, or one that is left for another
        if word.casefold() not in chosen and categories[category] == 1:
            found.append(replace(goal, type=NodeType.DEPENDENCY, label=word.strip(".,;:()"), slot="", value=""))
    return found
