"""Make findings from clauses about work: requests, postponements, progress, claims, fixes, complaints, files, goals.

``REPORT_MAKERS`` maps each act (what a clause does, as a rule says) to the function that makes the findings.
"""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.dialogue.situation import Situation, stems_in
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.match.rule_hits import is_anaphoric, read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.rules.acknowledgement_words import COULD_NOT
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import split_enumeration, split_list, strip_lead
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.extract.text.similar import content, has_words_besides
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding_makers import ITEMS_MAX, TELLING_WORDS, Maker, PlacedHit, is_name, make_file_finding, read_slot_fields
from .opening import POINTS_BELOW

_USING: Final = compile_lazily(
    r"(?P<what>.{3,120}?),? (?:using|via|based on|by means of|on top of|with the help of) (?P<means>[^,;.:()]{2,60})"
)
_BARE_WORDS: Final = 3


def _make_requests(placed: PlacedHit, situation: Situation) -> list[Finding]:
    label = placed.hit.label
    if situation.speaker is Speaker.ASSISTANT or not has_words_besides(label, ()) or POINTS_BELOW.any(label):
        return []
    changed = _read_change(placed, situation)
    if changed:
        return [placed.finding(label), *changed]
    means = _USING.match(label)
    if means is None or not is_name(means.group("means")):
        return [placed.finding(label)]
    what = strip_lead(means.group("what")).partition(" ")[2] or means.group("what")
    choices = [f"{item} for {what}" for item in split_enumeration(means.group("means"))]
    decided = {"type": NodeType.DECISION, "status": Status.ACTIVE, "kind": DecisionKind.CHOICE}
    made = [placed.finding(choice, **decided, **read_slot_fields(choice)) for choice in choices]
    return [placed.finding(label), *made]


_ALTERS: Final = compile_lazily(
    r"(?:(?:please|just|now|also|and|then|instead) )*(?:move|rename|change|alter|modify|adjust|convert|turn|replace"
    r"|rewrite|rework|refactor|switch|swap|revert|undo|restore|hide|remove|drop|delete|shorten|cut|merge|split|extract"
    r"|soften|simplify|shrink|widen|reorder|bring|get rid of)"
    r" (?P<target>(?:(?:the|this|that|these|those|our|my|your|all|both|each"
    r"|every) )?[\w'`\"./#-]+(?: [\w'`\"./#-]+){0,4}?)"
    r"(?:,| (?:to|into|so|in|from|with|as|instead|by|under|out|of|on|off|at|and|which|that|because|for|back)\b.*|$)"
)
"""Matches orders that change existing work ("move the button to the left")."""


def _read_change(placed: PlacedHit, situation: Situation) -> list[Finding]:
    """The choice in an order that changes earlier work: "move the button to the left" replaces
    "the button as it was"."""
    if situation.asked is None or situation.speaker is not Speaker.USER:
        return []
    match = _ALTERS.match(placed.hit.label)
    target = match.group("target").strip() if match is not None else ""
    if (
        not target
        or target.startswith(("of ", "in ", "to "))
        or is_anaphoric(target)
        or not content(target)
        or any(char.isdigit() for char in placed.hit.label)
    ):
        return []
    return [
        placed.finding(
            placed.hit.label,
            type=NodeType.DECISION,
            status=Status.ACTIVE,
            kind=DecisionKind.CHOICE,
            move=Move.REPLACE,
            target=f"{target} as it was",
        )
    ]


def _make_postponed_tasks(placed: PlacedHit, _: Situation) -> list[Finding]:
    items = split_list(placed.hit.label) if placed.hit.rule.explicit else [placed.hit.label]
    return [placed.finding(item) for item in items[:ITEMS_MAX] if content(item)]


def _make_handovers(placed: PlacedHit, situation: Situation) -> list[Finding]:
    """Make the task that the assistant leaves to the user. It is archived when the user speaks again."""
    return [placed.finding(placed.hit.label, trust=Trust.PROPOSED)] if situation.ordered else []


def _make_progress(placed: PlacedHit, situation: Situation) -> list[Finding]:
    label = placed.hit.label
    paths = placed.paths()
    if paths and not has_words_besides(label, paths):
        label = ""
    if label and not paths and not placed.hit.rule.explicit and len(content(label)) < TELLING_WORDS:
        return []
    trust = placed.trust if placed.hit.rule.explicit or situation.speaker is Speaker.USER else Trust.PROPOSED
    return [placed.finding(label, trust=trust)]


def _make_claims(placed: PlacedHit, situation: Situation) -> list[Finding]:
    label = placed.hit.label
    paths = placed.paths()
    if paths and not has_words_besides(label, paths):
        return [make_file_finding(placed, path) for path in paths]
    return [placed.finding(split_claim(label) if has_words_besides(label, ()) else "")]


def split_claim(label: str) -> str:
    """Return a claim without the details after a dash: "user model in api/models.py" for
    "user model in api/models.py — fields: id, email"."""
    head, _, _ = label.partition(" — ")
    return head if content(head) else label


def _make_fixes(placed: PlacedHit, _: Situation) -> list[Finding]:
    label = placed.hit.label.removeprefix("by ")
    return [placed.finding(label, detail=label)]


def _make_one(placed: PlacedHit, _: Situation) -> list[Finding]:
    return [placed.finding(placed.hit.label)]


_TRIED: Final = "user.thing_worked"
"""Name of the rule for a remedy that worked: "clearing the cache worked"."""
TOLD_MAX: Final = 4_000
"""Number of characters at the end of the assistant's last text that are searched for the remedy of which the user says
that it worked."""


def _make_confirmations(placed: PlacedHit, situation: Situation) -> list[Finding]:
    """Make the findings of "it works now" and of what was done because of it. If the assistant had proposed what
    worked, the label is left empty, so that it means the error at hand."""
    label, consequence = placed.hit.label, placed.hit.reason
    told = situation.told[1].text if situation.told is not None and placed.hit.rule.name == _TRIED else ""
    tried = bool(told) and bool(content(label)) and content(label) <= stems_in(told[-TOLD_MAX:])
    found = [placed.finding("" if tried else label)]
    for hit in read_hits(consequence, Speaker.USER) if consequence else ():
        if hit.rule.act is Act.CLAIM:
            claim = PlacedHit(hit, placed.segment, placed.trust)
            found += _make_claims(claim, situation)
    return found


def _make_reopenings(placed: PlacedHit, _: Situation) -> list[Finding]:
    """Make the finding that reopens what was reported as done, and an error for what is wrong instead."""
    found = [placed.finding(placed.hit.label)]
    if len(content(placed.hit.reason)) > 1:
        found.append(placed.finding(placed.hit.reason, move=Move.NOTE))
    return found


def _make_complaints(placed: PlacedHit, situation: Situation) -> list[Finding]:
    if situation.speaker is Speaker.ASSISTANT and not placed.hit.rule.explicit:
        return []
    if situation.told is not None and not placed.hit.rule.explicit and _is_bare_complaint(placed.hit.label):
        return [placed.finding("", move=Move.REOPEN)]
    return [placed.finding(placed.hit.label)]


def _is_bare_complaint(label: str) -> bool:
    """Whether a complaint only says that something is wrong, so that it is about the assistant's last work."""
    return len(label.split()) <= _BARE_WORDS and len(content(label)) <= 1


def _make_files(placed: PlacedHit, situation: Situation) -> list[Finding]:
    return [make_file_finding(placed, path) for path in placed.paths()]


def _make_goals(placed: PlacedHit, situation: Situation) -> list[Finding]:
    """Make the goal of the session, which only the user states. A known goal is replaced only by an explicit one."""
    if situation.speaker is Speaker.ASSISTANT or (situation.has_goal and not _is_announced_goal(placed)):
        return []
    return [placed.finding(placed.hit.label, slot="goal", value=placed.hit.label)]


def _is_announced_goal(placed: PlacedHit) -> bool:
    return placed.hit.rule.confidence >= 0.9


REPORT_MAKERS: Final[dict[Act, Maker]] = {
    Act.GOAL: _make_goals,
    Act.REQUEST: _make_requests,
    Act.LATER: _make_postponed_tasks,
    Act.HANDOVER: _make_handovers,
    Act.PROGRESS: _make_progress,
    Act.CLAIM: _make_claims,
    Act.FIX: _make_fixes,
    Act.COMPLAINT: _make_complaints,
    Act.STILL: _make_reopenings,
    Act.CONFIRM: _make_confirmations,
    Act.FILES: _make_files,
    Act.TESTED: _make_one,
}
"""Maps each act about work, errors and files to a function that gets a hit of a rule for that act, with its sentence,
and returns its findings."""


_COULD_NOT: Final = PatternSet(*COULD_NOT)


def says_could_not(text: str) -> bool:
    """Whether an assistant's answer says that it could not do what it was asked."""
    text = replace_surrogates(text)
    return any(_COULD_NOT.any(text[start:end]) for start, end in find_sentences(text, 0, len(text)))
