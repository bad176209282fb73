"""What a session is for, as its first substantive message says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.node import LABEL_MAX, DecisionKind, NodeType, Status, Trust

from .finding import Finding, Segment
from .languages import tongues_of
from .pattern import PatternSet, compiled
from .phrases import asks, bounded, enumerated, order_in, without_lead
from .reading import hits
from .rules import Act, Speaker
from .said import NAME_WORDS, TELLING_WORDS
from .similar import content, words_of
from .situation import Situation
from .slots import known, read_slot

_STACK: Final = compiled(
    r".*?\b(?:with|using|in|on|based on|on top of|written in|powered by) (?P<stack>[^;:.()]{2,120})"
)
GOAL_ASKED: Final = 0.6
"""Confidence in a goal that is only a question or a look at something: the first sizable order takes its place."""

_GIVEN: Final = 0.8
_WRONG: Final = 0.8
"""Confidence in an error that is told as what the session is for."""

GOAL_WORDS: Final = 4
"""Words of content that such an order has at least."""

GOAL_SENTENCES: Final = 12
"""Sentences of a message in which the goal is looked for."""

_BACKGROUND: Final = PatternSet(
    r"(?:(?:i|we)(?:'m| am|'re| are| also)? (?:run|runs|running|own|manage|help out|work|works|volunteer"
    r"|teach|live|have"
    r"|keep|lead|organi[sz]e|maintain|look after|take care of|a|an|the|part of|in|at|on|new|responsible)"
    r"|my name is|our \w+ (?:has|is|runs|was)|(?:i|we)(?:'ve| have)(?: been| got)?)\b"
)
"""Who speaks and what there is already: no goal of a session. The wish comes in another sentence."""

POINTS_BELOW: Final = PatternSet(
    r"<?(?:pr|issue|task|problem)_(?:description|statement)>?",
    r".{0,60}\b(?:the )?following (?:\w+ ){0,2}(?:issue|task|problem|bug|feature|ticket|story|pr|pull request"
    r"|requirement|description)s?\b",
    r"here(?:'s| is| are) (?:the|my|a|your) (?:\w+ ){0,2}(?:issue|task|problem|bug|ticket|assignment|description"
    r"|details|text)\b",
)
"""Sentences that only point at the text below them, which says what is wanted."""

_STATES_TASK: Final = PatternSet(
    r"(?:.{0,40}\b)?(?:issue|problem|bug|task|ticket|assignment|pr|pull request|feature)(?: (?:statement|description"
    r"|text"
    r"|report|title|summary|request))?:?$"
)
"""Headings of the text that a pasted task consists of."""

_LOOKS: Final = PatternSet(
    r"\(?note: |(?:please )?(?:comment on|examine|review|look (?:at|into|through|over)|check(?: out)?|read|inspect"
    r"|study|analy[sz]e"
    r"|have a look|take a look|go (?:through|over)|see|explain|summari[sz]e|describe|suggest|evaluate|assess|compare"
    r"|explore|understand|familiari[sz]e) "
)
"""Orders to look at something: the goal of a session only where nothing else is wanted."""

_WANTS: Final = PatternSet(
    r"(?:(?:i|we|(?:our|my) [\w'-]+(?: [\w'-]+){0,3}?)(?:'d|'m|'re| am| are| would| just| only| really| also"
    r"| currently)* )?(?:want|wants|need|needs|have to|has to|must|have got to|like|trying|hoping|hope|hopes"
    r"|planning|plan|plans|looking|supposed|going|aim|aims|aiming|thinking (?:of|about))"
    r"(?: you)?(?: to| for| a| an| the| some| one| [\w-]+ \w+ (?:by|per|for|of))\b .{12,}",
)
"""Wishes, in the first person or of the speaker's own people."""

_BITS: Final = PatternSet(
    r"~?\d[\w.,]* [\w.-]+|[\w./-]+/[\w.-]+,|(?:[\w()./+-]+ ){0,3}[\w()./+-]+, [\w()./+-]+ [\w()./+-]+$"
)
"""Bits of background strung together: "11 stacks, 4 nodes, two people"."""

_POINTING: Final = words_of(
    "it this that these those them everything all above below following thing things help here you"
)
_POINTING_ABROAD: Final = PatternSet(
    r".{0,12}(?:上面|以上|下面|以下|我的需求|上記|下記|以下|위의?|아래)[^,，。]{0,8}$"
    r"|(?:bitte |por favor,? |per favore,? |s'il (?:te|vous) plaît,? )?(?:beheben|reparieren|lösen|fixen|arréglalo"
    r"|corrígelo|corrige|risolvi|risolvilo|conserta|corrija|répare|corrige|исправь|почини)(?: (?:bitte|das|es|esto|isso"
    r"|ça|это))?[.!]?$"
)
_NAMED: Final = 2
"""Words by which an order says what it is about; "fix it please" points at what was said before it."""

SHORT: Final = 5
"""Words of content below which a goal is told together with the condition or the symptom beside it."""

_CONDITION: Final = PatternSet(
    r".{2,60}?\b(?:must|should|has to|have to|needs to|shall|may not|cannot|can't|only|without|at most|at least"
    r"|before)\b"
)

_NO_GOAL, _LOOK, _BIT, _POINTER, _STATEMENT, _QUESTION, _SYMPTOM, _ORDER, _ANNOUNCED = range(9)
_PASSING: Final = frozenset({_LOOK, _BIT, _POINTER, _QUESTION})
"""What is asked or looked at in passing, unless it takes many words."""

_WONDERS: Final = PatternSet(
    r"(?:what|what's|who|which|when|where|how (?:does|do|is|are|long|many|much|often)|does|is (?:it|this|that|the)"
    r"|are|do)\b"
)
"""Questions that only want to know something."""

_GOAL_RANKS: Final = {
    Act.GOAL: _ANNOUNCED,
    Act.REQUEST: _ORDER,
    Act.WISH: _STATEMENT,
    Act.COMPLAINT: _SYMPTOM,
    Act.PREFERENCE: _NO_GOAL,
    Act.CHOICE: _NO_GOAL,
    Act.RULE: _NO_GOAL,
    Act.REPLACE: _NO_GOAL,
    Act.RETURN: _NO_GOAL,
    Act.REJECT: _NO_GOAL,
    Act.RETRACT: _NO_GOAL,
    Act.CONFIRM: _NO_GOAL,
    Act.STILL: _NO_GOAL,
    Act.ENVIRONMENT: _NO_GOAL,
}


def read_goal(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """The goal as the session's first substantive message states it, with the choices that it names."""
    ranked = [(_goal_rank(segment), -index) for index, segment in enumerate(spoken[:GOAL_SENTENCES])]
    if spoken and any(POINTS_BELOW.any(bounded(text)) for text in (spoken[0].text, spoken[0].heading)):
        ranked = _below(spoken, ranked)
    rank, index = max(ranked, default=(_NO_GOAL, 0))
    if rank < (_LOOK if situation.asked is None else _ORDER):
        return []
    segment = spoken[-index]
    if situation.goal_asked and len(content(segment.text)) < GOAL_WORDS:
        return []
    text = without_lead(bounded(segment.text))
    label = order_in(text) or _goal_label(segment)
    label = _with_neighbour(label, rank, -index, spoken, ranked)
    made = Finding(
        NodeType.GOAL,
        label,
        Status.ACTIVE,
        Trust.STATED,
        GOAL_ASKED if rank in _PASSING and (len(content(label)) <= GOAL_WORDS or _WONDERS.any(text)) else _GIVEN,
        slot="goal",
        value=label,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
    return [made, *_stack(label, made), *_symptom(segment, made)]


def _symptom(segment: Segment, goal: Finding) -> list[Finding]:
    """What is wrong, where the goal is that it be right."""
    told = [hit.label for hit in hits(segment.text, Speaker.USER) if hit.rule.act is Act.COMPLAINT]
    return [replace(goal, type=NodeType.ERROR, label=label, slot="", value="", confidence=_WRONG) for label in told]


def _with_neighbour(
    label: str, rank: int, at: int, spoken: Sequence[Segment], ranked: Sequence[tuple[int, int]]
) -> str:
    """A short goal together with the condition that follows it."""
    if rank < _SYMPTOM or len(content(label)) >= SHORT:
        return label
    ranks = {-index: value for value, index in ranked}
    for beside in (at + 1, at + 2):
        if beside in ranks and _CONDITION.any(text := without_lead(bounded(spoken[beside].text))):
            joined = f"{label.rstrip(' .!')}; {text.rstrip(' .!')}"
            return joined if len(joined) <= LABEL_MAX else label
    return label


def _below(spoken: Sequence[Segment], ranked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranks of what an opening that points below points at: what stands under a heading of tasks, if any."""
    real = [(rank, index) for rank, index in ranked if not POINTS_BELOW.any(bounded(spoken[-index].text))]
    titled = [(rank, index) for rank, index in real if rank and _STATES_TASK.any(bounded(spoken[-index].heading))]
    return titled[:1] or real


def _goal_rank(segment: Segment) -> int:
    """How likely a sentence states what the session is for: an announced goal before an order, then a symptom."""
    text = without_lead(bounded(segment.text))
    order = order_in(text)
    read = () if order else hits(segment.text, Speaker.USER)
    rank = _ORDER if order else max((_GOAL_RANKS.get(hit.rule.act, _STATEMENT) for hit in read), default=_NO_GOAL)
    if rank == _ORDER:
        return _POINTER if _points(order or text) else _ORDER
    if _WANTS.any(text) and not asks(text) and rank < _ORDER:
        return _ORDER
    if read:
        return rank
    if _LOOKS.any(text) and len(text.split()) > TELLING_WORDS:
        return _LOOK
    if len(content(text)) < TELLING_WORDS:
        return _NO_GOAL
    if asks(text):
        return _QUESTION
    if _BACKGROUND.any(text):
        return _NO_GOAL
    return _BIT if _BITS.any(text) else _STATEMENT


def _points(order: str) -> bool:
    """Whether an order points at what was said before it instead of saying it."""
    if _POINTING_ABROAD.any(order):
        return True
    words = {word.strip(",.;:!?") for word in order.casefold().split()}
    return not words.isdisjoint(_POINTING) and len(content(order) - _POINTING) < _NAMED


def _goal_label(segment: Segment) -> str:
    text = without_lead(bounded(segment.text))
    if tongues_of(text) and not any(hit.rule.act is Act.GOAL for hit in hits(segment.text, Speaker.USER)):
        return text
    read = hits(segment.text, Speaker.USER)
    for hit in read:
        if hit.rule.act in (Act.GOAL, Act.REQUEST):
            return text[max(text.find(hit.label), 0) :] if len(read) == 1 and hit.label in text else hit.label
    return text


def _stack(label: str, goal: Finding) -> list[Finding]:
    """The technology that a goal is stated with: choices behind "with" and "using", names elsewhere."""
    found = []
    match = _STACK.match(label)
    stack = enumerated(match.group("stack")) if match is not None else []
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
    for word in label.split():
        if word.casefold() not in chosen and known(word) is not None:
            found.append(replace(goal, type=NodeType.DEPENDENCY, label=word.strip(".,;:()"), slot="", value=""))
    return found
