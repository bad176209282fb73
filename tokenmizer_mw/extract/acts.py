"""Dialogue acts: what the sentences of a message do, as findings.

A user's statement counts. What an assistant says about its own work counts as a claim; what it would choose is only
a proposal, unless it carries an explicit marker and carries out an order. Questions, suppositions, reported speech,
code, quotes, tables and logs state nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding import Finding, Move, Segment, SegmentKind
from .names import endpoints, file_paths
from .offers import chosen_by_name, read_answer
from .pattern import PatternSet, compiled
from .phrases import asks, bounded, enumerated, listed, order_in, split_reason, supposes, without_lead, without_trailer
from .reading import Hit, anaphoric, hits
from .rules import MEANINGS, Act, Speaker
from .rules.headings import heading_act
from .similar import content, says_more_than
from .situation import Situation
from .slots import known, names_a_value, read_slot, versions

SEGMENTS_READ: Final = 400
"""Sentences of one message that are read for acts."""

ITEMS_MAX: Final = 12
"""Items of one enumeration, and points of one list under a heading, that become facts."""

PASTED_MIN: Final = 40
"""Sentences above which a user's message is a pasted document with a few words before and behind it."""

TYPED_BEFORE: Final = 8
TYPED_BEHIND: Final = 4

_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})
_PROJECT_FILES: Final = 3
_TELLING_WORDS: Final = 2
_NAME_WORDS: Final = 6
_CHANGED_MIND: Final = PatternSet(
    r"(?:(?:ok|no|hm+|ah|oh|well|yes|but|so),? )*(?:actually|on second thoughts?|scratch that|wait|no wait"
    r"|changed my mind|i changed my mind|hold on"
    r"|correction|sorry|instead)\b"
)
_OTHER_IS: Final = compiled(
    r"(?P<label>[^,;]{2,80}?)[,;:] (?P<target>[\w@.+#/-]+(?: [\w@.+#/-]+){0,3}?) (?P<why>(?:is|are|was|were|has"
    r"|have|keeps|kept|turned|feels|can't|cannot"
    r"|doesn't|don't|won't|isn't|costs?|lacks?|breaks?|needs?)\b.*)"
)
_NOT_THAT: Final = compiled(
    r"(?:not|instead of|rather than|no) (?P<target>[^,;:—–(]{2,60}?)(?:\s*(?:[,;:—–(]|--?\s)\s*(?P<why>.+))?$"
)
_USING: Final = compiled(
    r"(?P<what>.{3,120}?),? (?:using|via|based on|by means of|on top of|with the help of) (?P<means>[^,;.:()]{2,60})"
)
_STACK: Final = compiled(
    r".*?\b(?:with|using|in|on|based on|on top of|written in|powered by) (?P<stack>[^;:.()]{2,120})"
)
_PRONOUNS: Final = frozenset({"it", "that", "this", "which", "they", "he", "she", "there", "what", "who"})


def read_acts(segments: Sequence[Segment], situation: Situation) -> list[Finding]:
    """What the sentences of a user's or an assistant's message say, in their order."""
    found: list[Finding] = []
    spoken = [segment for segment in segments if segment.kind in _SPOKEN][:SEGMENTS_READ]
    if situation.speaker is Speaker.USER:
        spoken = _typed(spoken)
        found += _answers(spoken, situation)
        answered = {finding.span for finding in found}
        spoken = [segment for segment in spoken if (segment.start, segment.end) not in answered]
        if not situation.has_goal:
            found += (goal := _goal(spoken, situation))
            spoken = [segment for segment in spoken if not goal or (segment.start, segment.end) != goal[0].span]
    for segment in spoken:
        _read_sentence(segment, situation, found)
    return found


def _typed(spoken: list[Segment]) -> list[Segment]:
    """What a person typed: of a message as long as a document, its beginning and its end."""
    if len(spoken) <= PASTED_MIN:
        return spoken
    return [*spoken[:TYPED_BEFORE], *spoken[-TYPED_BEHIND:]]


def _read_sentence(segment: Segment, situation: Situation, found: list[Finding]) -> None:
    read = hits(segment.text, situation.speaker)
    new: list[Finding] = []
    for hit in read:
        if hit.rule.act is Act.REASON:
            _give_reason(found, hit.reason)
            continue
        new += _BUILDERS[hit.rule.act](_said(hit, segment, situation), situation)
    if not read and segment.kind is SegmentKind.LIST_ITEM and segment.info:
        new += _under_heading(segment, situation)
    said = {(finding.type, finding.label) for finding in new}
    found += new
    found += [made for made in _mentioned(segment, situation, bool(new)) if (made.type, made.label) not in said]


# -- sentences to findings ---------------------------------------------------------------------------------------


class _Said:
    """A hit in its place, ready to become findings."""

    __slots__ = ("hit", "segment", "trust")

    def __init__(self, hit: Hit, segment: Segment, trust: Trust) -> None:
        self.hit, self.segment, self.trust = hit, segment, trust

    def finding(self, label: str, **changes: Any) -> Finding:
        """What the act means, said of ``label``; ``changes`` override that."""
        meaning = MEANINGS[self.hit.rule.act]
        said: dict[str, Any] = {
            "type": meaning.type,
            "label": label,
            "status": meaning.status,
            "trust": self.trust,
            "confidence": self.hit.rule.confidence,
            "move": meaning.move,
            "kind": meaning.kind,
            "quote": self.segment.text,
            "span": (self.segment.start, self.segment.end),
        }
        return Finding(**(said | changes))


def _said(hit: Hit, segment: Segment, situation: Situation) -> _Said:
    return _Said(hit, segment, Trust.STATED if situation.speaker is Speaker.USER else Trust.CLAIMED)


def _choices(said: _Said, situation: Situation) -> list[Finding]:
    hit = said.hit
    label, why = (hit.label, "") if names_a_value(hit.label) else split_reason(hit.label)
    label, reason = without_trailer(label), hit.reason or why
    found = [
        _choice(said, item, reason, situation)
        for item in _named_items(label)
        if says_more_than(item, ()) and not anaphoric(item)
    ]
    if hit.target:
        found += [_rejected(said, hit.target, f"{found[0].label} was chosen")] if found else []
    return [*found, *_turned_down(said, reason, found)]


def _assignments(said: _Said, situation: Situation) -> list[Finding]:
    """ "For the port take 8471": a value for what the sentence names."""
    value, why = split_reason(said.hit.label)
    made = said.finding(f"{said.hit.target}: {value}", reason=why)
    return [_weighed(_slotted(made), said, situation)]


def _choice(said: _Said, item: str, reason: str, situation: Situation) -> Finding:
    move = Move.REPLACE if _CHANGED_MIND.any(said.segment.text) else Move.NOTE
    made = said.finding(item.removeprefix("using "), reason=reason, move=move)
    return _weighed(_slotted(made), said, situation)


def _weighed(made: Finding, said: _Said, situation: Situation) -> Finding:
    """An assistant's choice counts when it answers an order in so many words; otherwise it is an option."""
    if situation.speaker is Speaker.USER:
        return made
    if said.hit.rule.explicit and situation.ordered:
        return replace(made, trust=Trust.ADOPTED)
    return replace(
        made,
        trust=Trust.PROPOSED,
        kind=DecisionKind.OPTION,
        status=Status.PENDING,
        move=Move.NOTE,
        target="",
        slot="",
        confidence=min(made.confidence, 0.55),
    )


def _slotted(made: Finding) -> Finding:
    slot = read_slot(made.label)
    return replace(made, slot=slot.name, value=slot.value) if slot is not None else made


def _named_items(label: str) -> list[str]:
    """The names in "A, B and C"; a phrase that merely holds an "and" stays whole."""
    items = enumerated(label, _NAME_WORDS)
    names = sum(1 for item in items if _is_name(item))
    return items if names * 2 >= len(items) else [label]


def _is_name(item: str) -> bool:
    words = item.split()
    return any(known(word) is not None or any(char.isupper() or char.isdigit() for char in word) for word in words)


def _turned_down(said: _Said, reason: str, chosen: Sequence[Finding]) -> list[Finding]:
    """What "A (not B, because ...)" rejects."""
    match = _NOT_THAT.match(reason)
    if match is None or not chosen or chosen[0].status is not Status.ACTIVE:
        return []
    return [
        _rejected(said, match.group("target"), match.group("why") or f"{chosen[0].label} was chosen", chosen[0].trust)
    ]


def _rejected(said: _Said, label: str, reason: str, trust: Trust = Trust.STATED) -> Finding:
    return said.finding(
        label,
        move=Move.REJECT,
        status=Status.INVALIDATED,
        kind=DecisionKind.OPTION,
        trust=trust,
        reason=reason,
        confidence=0.7,
    )


def _replacements(said: _Said, situation: Situation) -> list[Finding]:
    hit = said.hit
    label, target, reason = hit.label, hit.target, hit.reason
    if not target and (match := _OTHER_IS.match(label)) is not None:
        label, target = match.group("label"), match.group("target")
        reason = f"{target} {match.group('why')}"
        target = "" if target.casefold().split()[0] in _PRONOUNS else target
    label, why = split_reason(label)
    label = without_trailer(label)
    target, target_why = split_reason("" if anaphoric(target) else target)
    if anaphoric(label):
        return []
    made = said.finding(label, target=target, reason=reason or why or target_why)
    return [_weighed(_slotted(made), said, situation)]


def _rejections(said: _Said, situation: Situation) -> list[Finding]:
    label, why = split_reason(said.hit.label)
    if anaphoric(label) or (situation.speaker is Speaker.ASSISTANT and not situation.ordered):
        return []
    items = _named_items(label)
    return [said.finding(item, reason=said.hit.reason or why) for item in items]


def _retractions(said: _Said, _: Situation) -> list[Finding]:
    label = "" if anaphoric(said.hit.label) else said.hit.label
    return [said.finding(split_reason(label)[0], reason=said.segment.text)]


def _standing(said: _Said, _: Situation) -> list[Finding]:
    label = said.hit.label + (f" over {said.hit.target}" if said.hit.target else "")
    return [
        _slotted(said.finding(label))
        if MEANINGS[said.hit.rule.act].kind is DecisionKind.PREFERENCE
        else said.finding(label)
    ]


def _requests(said: _Said, situation: Situation) -> list[Finding]:
    label = said.hit.label
    if situation.speaker is Speaker.ASSISTANT or not says_more_than(label, ()):
        return []
    means = _USING.match(label)
    if means is None or not _is_name(means.group("means")):
        return [said.finding(label)]
    what = without_lead(means.group("what")).partition(" ")[2] or means.group("what")
    choices = [f"{item} for {what}" for item in enumerated(means.group("means"))]
    made = [
        _slotted(
            said.finding(
                choice,
                type=NodeType.DECISION,
                status=Status.ACTIVE,
                kind=DecisionKind.CHOICE,
            )
        )
        for choice in choices
    ]
    return [said.finding(label, implements=choices[0]), *made]


def _later(said: _Said, _: Situation) -> list[Finding]:
    items = listed(said.hit.label) if said.hit.rule.explicit else [said.hit.label]
    return [said.finding(item) for item in items[:ITEMS_MAX] if content(item)]


def _progress(said: _Said, situation: Situation) -> list[Finding]:
    label = said.hit.label
    paths = _paths(label)
    if paths and not says_more_than(label, paths):
        label = ""
    if label and not said.hit.rule.explicit and len(content(label)) < _TELLING_WORDS:
        return []
    trust = said.trust if said.hit.rule.explicit or situation.speaker is Speaker.USER else Trust.PROPOSED
    return [said.finding(label, trust=trust)]


def _claims(said: _Said, _: Situation) -> list[Finding]:
    label = said.hit.label
    paths = _paths(label)
    if paths and not says_more_than(label, paths):
        return [_file(said, path) for path in paths]
    return [said.finding(split_claim(label) if says_more_than(label, ()) else "")]


def split_claim(label: str) -> str:
    """A claim without the details behind it: "user model in api/models.py — fields: id, email" ends at the dash."""
    head, _, _ = label.partition(" — ")
    return head if content(head) else label


def _paths(text: str) -> list[str]:
    return list(dict.fromkeys(name.text for name in file_paths(text)))


def _fixes(said: _Said, _: Situation) -> list[Finding]:
    label = said.hit.label.removeprefix("by ")
    return [said.finding(label, detail=label)]


def _plain(said: _Said, _: Situation) -> list[Finding]:
    return [said.finding(said.hit.label)]


def _not_fixed(said: _Said, _: Situation) -> list[Finding]:
    """What was claimed is not so; what is wrong instead is an error of its own."""
    found = [said.finding(said.hit.label)]
    if len(content(said.hit.reason)) > 1:
        found.append(said.finding(said.hit.reason, move=Move.NOTE))
    return found


def _complaints(said: _Said, situation: Situation) -> list[Finding]:
    if situation.speaker is Speaker.ASSISTANT and not said.hit.rule.explicit:
        return []
    return [said.finding(said.hit.label)]


def _blocked(said: _Said, _: Situation) -> list[Finding]:
    return [said.finding(said.hit.label, blocks="")]


def _files(said: _Said, situation: Situation) -> list[Finding]:
    paths = _paths(said.hit.label)
    found = [_file(said, path) for path in paths]
    if situation.opening and situation.speaker is Speaker.ASSISTANT and len(paths) >= _PROJECT_FILES:
        label = f"project structure: {', '.join(paths)}"
        found.append(said.finding(label, type=NodeType.TASK, status=Status.COMPLETED, move=Move.CLOSE))
    return found


def _file(said: _Said, path: str) -> Finding:
    return said.finding(path, type=NodeType.FILE, status=Status.ACTIVE, move=Move.NOTE, kind=None)


def _schemas(said: _Said, _: Situation) -> list[Finding]:
    head, reason = split_reason(said.hit.label)
    return [said.finding(head, detail=reason)]


def _environment(said: _Said, _: Situation) -> list[Finding]:
    items = enumerated(said.hit.label)
    return [_slotted(said.finding(item)) for item in items[:ITEMS_MAX]]


def _proposals(said: _Said, _: Situation) -> list[Finding]:
    label, reason = split_reason(said.hit.label)
    made = said.finding(label, reason=reason, trust=Trust.PROPOSED)
    return [made] if content(label) and _is_name(label) else []


def _goals(said: _Said, situation: Situation) -> list[Finding]:
    if situation.has_goal and (situation.speaker is Speaker.ASSISTANT or not _announces(said)):
        return []
    return [said.finding(said.hit.label, slot="goal", value=said.hit.label)]


def _announces(said: _Said) -> bool:
    return said.hit.rule.confidence >= 0.9


_BUILDERS: Final[dict[Act, Callable[[_Said, Situation], list[Finding]]]] = {
    Act.GOAL: _goals,
    Act.REQUEST: _requests,
    Act.LATER: _later,
    Act.PROGRESS: _progress,
    Act.CLAIM: _claims,
    Act.FIX: _fixes,
    Act.COMPLAINT: _complaints,
    Act.STILL: _not_fixed,
    Act.CONFIRM: _plain,
    Act.CHOICE: _choices,
    Act.ASSIGN: _assignments,
    Act.RULE: _standing,
    Act.PREFERENCE: _standing,
    Act.WISH: _plain,
    Act.REPLACE: _replacements,
    Act.RETURN: _replacements,
    Act.REJECT: _rejections,
    Act.RETRACT: _retractions,
    Act.PROPOSAL: _proposals,
    Act.FILES: _files,
    Act.SCHEMA: _schemas,
    Act.TESTED: _plain,
    Act.ENVIRONMENT: _environment,
    Act.BLOCKED: _blocked,
}


def _give_reason(found: list[Finding], reason: str) -> None:
    """A sentence "Reason: ..." belongs to the last choice before it."""
    for index in range(len(found) - 1, -1, -1):
        if found[index].type is NodeType.DECISION:
            found[index] = replace(found[index], reason=found[index].reason or reason)
            return


def _under_heading(segment: Segment, situation: Situation) -> list[Finding]:
    """A point of a list whose heading says what its points are ("Remaining:", "Decisions")."""
    act = heading_act(segment.heading, situation.speaker) or (Act.LATER if situation.asked_what_is_left else None)
    if act is None:
        return []
    meaning = MEANINGS[act]
    trust = Trust.STATED if situation.speaker is Speaker.USER else Trust.CLAIMED
    return [
        Finding(
            meaning.type,
            segment.text,
            meaning.status,
            trust,
            0.7,
            meaning.move,
            kind=meaning.kind,
            quote=segment.text,
            span=(segment.start, segment.end),
        )
    ]


def _mentioned(segment: Segment, situation: Situation, stated: bool) -> list[Finding]:
    """Files, routes and versions that a sentence names besides what it says."""
    text = segment.text
    user = situation.speaker is Speaker.USER
    trust = Trust.STATED if user else Trust.CLAIMED
    confidence = 0.8 if user or stated else 0.6
    span = (segment.start, segment.end)

    def named(type_: NodeType, label: str, slot: str = "", value: str = "") -> Finding:
        return Finding(type_, label, Status.ACTIVE, trust, confidence, quote=text, span=span, slot=slot, value=value)

    body = text.rstrip(" .!?")
    found = [named(NodeType.FILE, path) for path in _paths(body)]
    found += [named(NodeType.ENDPOINT, endpoint.text) for endpoint in endpoints(body)]
    if user or stated:
        found += [
            named(NodeType.ENVIRONMENT, f"{name} {version}", slot=f"{name.casefold()}.version", value=version)
            for name, version in versions(text)
        ]
    return found


# -- answers and the goal ----------------------------------------------------------------------------------------


def _answers(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """What a reply adopts or refuses of the assistant's last message."""
    if not spoken or situation.told is None:
        return []
    first = spoken[0]
    offers = situation.offers
    answer = read_answer(first.text, offers)
    found = [made for label in answer.accepted for made in _adopted(label, answer.reason, first, situation)]
    found += [_declined(label, first) for label in answer.declined]
    if not found:
        found = [made for segment in spoken[:4] for made in _picked(segment, situation)]
    return found


def _picked(segment: Segment, situation: Situation) -> list[Finding]:
    text = without_lead(bounded(segment.text))
    if (asks(text) and not order_in(text)) or supposes(text):
        return []
    named = chosen_by_name(text, situation.offers)
    if (
        not named
        or len(named) > 2
        or any(hit.rule.act in _SPEAKS_FOR_ITSELF for hit in hits(segment.text, Speaker.USER))
    ):
        return []
    reason = split_reason(text)[1]
    return [made for option in named for made in _adopted(option.head, reason, segment, situation)]


_SPEAKS_FOR_ITSELF: Final = frozenset(
    {
        Act.REJECT,
        Act.REPLACE,
        Act.RETURN,
        Act.RULE,
        Act.CHOICE,
        Act.COMPLAINT,
        Act.STILL,
        Act.CONFIRM,
        Act.RETRACT,
        Act.CLAIM,
        Act.LATER,
    }
)


def _adopted(label: str, reason: str, segment: Segment, situation: Situation) -> list[Finding]:
    """A proposal that was accepted, as if the user had said it: work to do, or a decision."""
    found = []
    for hit in hits(label, Speaker.USER):
        if hit.rule.act in _PROPOSABLE:
            found += _BUILDERS[hit.rule.act](_Said(hit, segment, Trust.ADOPTED), situation)
    if not found:
        found.append(
            _slotted(
                Finding(
                    NodeType.DECISION,
                    split_reason(label)[0],
                    Status.ACTIVE,
                    Trust.ADOPTED,
                    _ADOPTED,
                    Move.ADOPT,
                    kind=DecisionKind.CHOICE,
                    quote=segment.text,
                    span=(segment.start, segment.end),
                )
            )
        )
    return [replace(made, reason=made.reason or reason, confidence=_ADOPTED) for made in found]


_ADOPTED: Final = 0.8
_PROPOSABLE: Final = frozenset({Act.REQUEST, Act.CHOICE, Act.REPLACE, Act.RETURN, Act.REJECT})


def _declined(label: str, segment: Segment) -> Finding:
    return Finding(
        NodeType.DECISION,
        split_reason(label)[0],
        Status.INVALIDATED,
        Trust.STATED,
        0.7,
        Move.REJECT,
        reason=segment.text,
        kind=DecisionKind.OPTION,
        quote=segment.text,
        span=(segment.start, segment.end),
    )


def _goal(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """The goal as the session's first substantive message states it, with the choices that it names."""
    ranked = [(_goal_rank(segment), -index) for index, segment in enumerate(spoken[:GOAL_SENTENCES])]
    rank, index = max(ranked, default=(_NO_GOAL, 0))
    if rank < (_QUESTION if situation.asked is None else _ORDER):
        return []
    segment = spoken[-index]
    text = without_lead(bounded(segment.text))
    label = order_in(text) or _goal_label(segment)
    made = Finding(
        NodeType.GOAL,
        label,
        Status.ACTIVE,
        Trust.STATED,
        0.8,
        slot="goal",
        value=label,
        quote=segment.text,
        span=(segment.start, segment.end),
    )
    return [made, *_stack(label, made)]


GOAL_SENTENCES: Final = 12
"""Sentences of a message in which the goal is looked for."""

_NO_GOAL, _QUESTION, _STATEMENT, _SYMPTOM, _ORDER, _ANNOUNCED = range(6)
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


def _goal_rank(segment: Segment) -> int:
    """How likely a sentence states what the session is for: an announced goal before an order, then a symptom."""
    text = without_lead(bounded(segment.text))
    if order_in(text):
        return _ORDER
    read = hits(segment.text, Speaker.USER)
    if read:
        return max(_GOAL_RANKS.get(hit.rule.act, _STATEMENT) for hit in read)
    if len(content(text)) < _TELLING_WORDS:
        return _NO_GOAL
    return _QUESTION if asks(text) else _STATEMENT


def _goal_label(segment: Segment) -> str:
    for hit in hits(segment.text, Speaker.USER):
        if hit.rule.act in (Act.GOAL, Act.REQUEST):
            return hit.label
    return without_lead(bounded(segment.text))


def _stack(label: str, goal: Finding) -> list[Finding]:
    """The technology that a goal is stated with: choices behind "with" and "using", names elsewhere."""
    found = []
    match = _STACK.match(label)
    stack = enumerated(match.group("stack")) if match is not None else []
    for item in stack:
        slot = read_slot(item)
        if slot is not None and slot.category and len(item.split()) <= _NAME_WORDS:
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
