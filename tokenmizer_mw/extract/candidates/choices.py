"""Make findings from clauses that decide: choices, replacements, rejections, rules, preferences and proposals.

``CHOICE_MAKERS`` maps each act (what a clause does, as a rule says) to the function that makes the findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from typing import Any, Final

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move
from tokenmizer_mw.extract.match.rule_hits import Hit, is_anaphoric, read_hits
from tokenmizer_mw.extract.match.slots import find_member
from tokenmizer_mw.extract.rules import MEANINGS, Act, Speaker
from tokenmizer_mw.extract.rules.verbs import DONE_VERBS, WORK_VERBS
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, split_reason, strip_lead, strip_trailer
from tokenmizer_mw.extract.text.similar import content, has_words_besides
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding_makers import Maker, PlacedHit, is_name, read_slot_fields, split_named_items

_CHANGED_MIND: Final = PatternSet(
    r"(?:(?:ok|no|hm+|ah|oh|well|yes|but|so),? )*(?:actually|on second thoughts?|scratch that|wait|no wait"
    r"|change of plans?|changed my mind|i changed my mind|hold on"
    r"|correction|sorry|instead)\b"
)
_REPORTS_WORK: Final = PatternSet(
    rf"(?:(?:i|we)(?:'ve| have)? (?:now |also |just )*)?(?:{DONE_VERBS})\b|(?:the|all|both"
    rf"|it) (?:[\w./-]+ ){{0,6}}?now\b"
)
"""Matches an assistant's report of finished work ("replaced Moment with Luxon"), which also states a change."""

_TOLD_AS_MADE: Final = PatternSet(
    r"(?:decided|decisions?|agreed|settled|chosen)\s?:",
    r"(?:(?:i|we)(?:'ve| have)? )?(?:chose|chosen|settled|selected|picked|went with|adopted|standardi[sz]ed)\b",
    r".*\b(?:won out|won in the end|came out ahead|made the most sense|felt like the (?:right|best)|was the (?:right"
    r"|best))\b",
)
"""Matches an assistant's sentence about a choice that has been made, not one that it would make."""

_TELLS: Final = PatternSet(
    r"(?:(?:i|we)(?:'ve| have)? (?:\w+ )?(?:been|learned|learnt|noticed|heard|read|received|got|met|had|never|found"
    r"|realised"
    r"|realized|remember|appreciate)|(?:i'm|i am|we're|we are) (?:\w+ )?(?:trying|planning|working|looking|having)"
    r"|how|what"
    r"|looking forward)\b",
    r".*\b(?:could|might|would|will) (?:really |also |definitely )?(?:help|be (?:\w+ ){0,2}?(?:fun|good|great|helpful"
    r"|key"
    r"|nice|useful))\b|.*\b(?:is|are) (?:\w+ ){0,2}?(?:crucial|good|great|helpful|important|key)\b",
)
"""Matches clauses in which somebody tells a story or an opinion; they are no choices, although they may sound so."""

_STANDS: Final = PatternSet(
    r"(?:while|when|after|before|during|since|i'd|i had|i've|i have|we had|we've|we have|it was|that was"
    r"|there (?:is|are|was|were)|(?:the|that|this|which) point is|my name|one thing)\b",
    r".*\b(?:went|was|were|had|started|happened|reported|moved|noticed|used to|wanted to|asked)\b",
    r".*\b(?:it's|is|are) (?:the |a |an |our |my )?(?:\w+ ){0,2}?(?:slowest|fastest|worst|biggest|only thing|reason"
    r"|problem|issue|thing (?:we|i|they))\b",
    r".*\b(?:takes?|loads?|fails?|crashes|returns?|prints?|shows?|costs?) (?:\w+ ){0,3}?(?:on|in|at|for|about|every"
    r"|each|\d)",
    r".*\bi guess$",
)
"""Matches clauses about how things are or went, which are no choices either."""


_ORDERS_WORK: Final = PatternSet(rf"(?:(?:please|just|now|also) )*(?:{WORK_VERBS})")

_OTHER_IS: Final = compile_lazily(
    r"(?P<label>[^,;]{2,80}?)[,;:] (?P<target>[\w@.+#/-]+(?: [\w@.+#/-]+){0,3}?) (?P<why>(?:is|are|was|were|has"
    r"|have|keeps|kept|turned|feels|can't|cannot|lost|failed|crashed|died|broke|ran out"
    r"|doesn't|don't|won't|isn't|costs?|lacks?|breaks?|needs?)\b.*)"
)
_NOT_THAT: Final = compile_lazily(
    r"(?:not|instead of|rather than|no) (?P<target>[^,;:—–(]{2,60}?)(?:\s*(?:[,;:—–(]|--?\s)\s*(?P<why>.+))?$"
)
_OWN_PLAN: Final = PatternSet(
    r"(?:[\w']+,? ){0,4}?(?:i'll|i will|i'd|i'm going to|i am going to|we'll|we will|we're going to|(?:i"
    r"|we) (?:\w+ )?need"
    r" to)\b"
)

_OPTION: Final = 0.55
"""Highest confidence of what an assistant would choose."""

_NO_NAMES: Final = frozenset(
    {"it", "that", "this", "which", "they", "he", "she", "there", "what", "who", "because", "since", "as", "so", "when"}
)
"""Words that begin a clause, so that no name stands there."""


def _make_choices(placed: PlacedHit, situation: Situation) -> list[Finding]:
    hit = placed.hit
    if not hit.rule.pattern and (_TELLS.any(hit.clause) or _STANDS.any(hit.clause) or _OWN_PLAN.any(hit.clause)):
        return []  # only the model takes it for a choice
    user = situation.speaker is Speaker.USER
    if user and hit.rule.explicit and (inner := _read_replacement(hit.label)) is not None:
        return _make_replacements(PlacedHit(replace(inner, rule=hit.rule), placed.segment, placed.trust), situation)
    label, why = split_reason(hit.label)
    label, reason = strip_trailer(label), hit.reason or why
    found = [
        _make_item_choice(placed, item, reason, situation)
        for item in split_named_items(label)
        if has_words_besides(item, ()) and not is_anaphoric(item)
    ]
    if hit.target:
        found += [_make_rejection(placed, hit.target, f"{found[0].label} was chosen")] if found else []
    return [*found, *_make_rejections(placed, reason, found)]


def _read_replacement(label: str) -> Hit | None:
    """The replacement stated after a marker ("Decision: back to A"); ``None`` for none."""
    return next((hit for hit in read_hits(label, Speaker.USER) if hit.rule.act in (Act.REPLACE, Act.RETURN)), None)


def _make_item_choice(placed: PlacedHit, item: str, reason: str, situation: Situation) -> Finding:
    move = Move.REPLACE if _CHANGED_MIND.any(placed.segment.text) else Move.NOTE
    return _make_choice(placed, item.removeprefix("using "), situation, reason=reason, move=move)


def _make_choice(placed: PlacedHit, label: str, situation: Situation, **changes: Any) -> Finding:
    """Make a choice. That of an assistant counts only if it is explicit and carries out an order; else it is an
    option."""
    if situation.speaker is Speaker.USER:
        return placed.finding(label, **changes, **read_slot_fields(label))
    sure = situation.ordered or _TOLD_AS_MADE.any(placed.hit.clause)
    if placed.hit.rule.explicit and sure:
        return placed.finding(label, **changes, **read_slot_fields(label), trust=Trust.ADOPTED)
    return placed.finding(
        label,
        reason=changes.get("reason", ""),
        trust=Trust.PROPOSED,
        kind=DecisionKind.OPTION,
        status=Status.PENDING,
        move=Move.NOTE,
        confidence=min(placed.hit.rule.confidence, _OPTION),
    )


def _make_rejections(placed: PlacedHit, reason: str, chosen: Sequence[Finding]) -> list[Finding]:
    """Make the rejection in the reason of a choice: B in "A (not B, because ...)"."""
    match = _NOT_THAT.match(reason) if reason else None
    if match is None or not chosen or chosen[0].status is not Status.ACTIVE:
        return []
    return [
        _make_rejection(
            placed, match.group("target"), match.group("why") or f"{chosen[0].label} was chosen", chosen[0].trust
        )
    ]


def _make_rejection(placed: PlacedHit, label: str, reason: str, trust: Trust = Trust.STATED) -> Finding:
    return placed.finding(
        label,
        move=Move.REJECT,
        status=Status.INVALIDATED,
        kind=DecisionKind.OPTION,
        trust=trust,
        reason=reason,
        confidence=0.7,
    )


def _make_replacements(placed: PlacedHit, situation: Situation) -> list[Finding]:
    hit = placed.hit
    label, target, reason = hit.label, hit.target, hit.reason
    if not target and (match := _OTHER_IS.match(label)) is not None:
        label, target = match.group("label"), match.group("target")
        reason = f"{target} {match.group('why')}"
        target = "" if target.casefold().split()[0] in _NO_NAMES else target
    label, why = split_reason(label)
    label = strip_trailer(label)
    target, target_why = split_reason("" if is_anaphoric(target) else _drop_following_clause(target))
    if is_anaphoric(label):
        return []
    return [
        _make_choice(placed, label, situation, target=target, reason=reason or why or target_why, move=Move.REPLACE)
    ]


def _drop_following_clause(target: str) -> str:
    """The replaced thing without a clause after it: "mysqlclient" for "mysqlclient, the rest stays"."""
    ahead, comma, behind = target.partition(", ")
    return ahead if comma and not _GOES_ON.any(behind) else target


def _make_changes(placed: PlacedHit, situation: Situation) -> list[Finding]:
    """A replacement that the user orders, or that an assistant carried out for an order."""
    hit = placed.hit
    if situation.speaker is Speaker.ASSISTANT and not situation.ordered:
        return []
    label, why = split_reason(hit.label.removeprefix("now ").removeprefix("to "))
    target = "" if is_anaphoric(hit.target) else split_reason(_drop_following_clause(hit.target))[0]
    if is_anaphoric(label) or unescape(label) == unescape(target):
        return []
    trust = Trust.STATED if situation.speaker is Speaker.USER else Trust.ADOPTED
    found = [placed.finding(strip_trailer(label), target=target, reason=hit.reason or why, trust=trust)]
    if situation.speaker is Speaker.ASSISTANT and _REPORTS_WORK.any(hit.clause):
        done = {"type": NodeType.TASK, "status": Status.COMPLETED, "move": Move.CLOSE, "kind": None}
        work = placed.finding(_strip_speaker(hit.clause).partition(" — ")[0], **done)
        if target and not read_slot_fields(found[0].label):
            return [work]
        found.append(work)
    elif situation.speaker is Speaker.USER and _ORDERS_WORK.any(strip_lead(hit.clause)):
        order = {"type": NodeType.TASK, "status": Status.PENDING, "move": Move.NOTE, "kind": None}
        found.append(placed.finding(strip_lead(hit.clause), **order))
    return found


_TELLER: Final = compile_lazily(r"(?:i|we)(?:'ve| have|'ll| will)? (?:(?:now|also|just|then) )*")


def _strip_speaker(clause: str) -> str:
    """A claim or an announcement without "I have", "we'll" and the like."""
    match = _TELLER.match(clause)
    return clause[match.end() :] if match is not None else clause


_WITHOUT: Final = PatternSet(
    r"(?:no|without|kein(?:e[nrms]?)?|ohne|nada de|sin|ningun[oa]?|pas d(?:e|'|u)|aucune?|sans|niente|nessun[oa]?|senza"
    r"|sem|nenhuma?)\b",
    r"(?:без|никаких|никакого|никакой) ",
)
"""Words such as "no" and "without", with which people say that something shall not be there."""


def is_absence(quote: str, label: str) -> bool:
    """Whether ``quote``, the sentence of a finding, only says that ``label`` is absent: "no lint errors"."""
    line = bound_sentence(quote)
    at = line.find(label)
    return at > 0 and _WITHOUT.any(line[:at].split()[-1] + " " + label)


_TOLD_OF_WORK: Final = PatternSet(
    rf".*\b(?:{DONE_VERBS}|did|was|were|got|still|since)\b",
    r".*\d",
    r".*\bno (?:\w+ )?(?:errors?|warnings?|failures?|issues?|changes?|problems?|differences?|regressions?)\b",
)
"""Matches sentences that say that something was not there, rather than that it must not be."""
_RULE_MAX: Final = 60
"""Longest sentence, in characters, that becomes a rule as a whole: "plain words, no percentages"."""


_GOES_ON: Final = PatternSet(r"(?:.*[ ,])?(?:and|or|und|oder|et|ou|y|o|e)\b")
"""Matches the continuation of an enumeration after a comma."""
_STATES: Final = PatternSet(r".*(?:n't\b|\b(?:is|are|was|were|has|have|had|will|would|can|cannot|does|do|did)\b)")
"""Matches a clause of its own; after what is rejected, it gives the reason."""


def _reject_items(placed: PlacedHit, situation: Situation) -> list[Finding]:
    label, why = split_reason(placed.hit.label)
    ahead, comma, behind = label.partition(", ")
    if comma and (is_anaphoric(ahead) or (_STATES.any(behind) and not _GOES_ON.any(behind))):
        label, why = ahead, why or behind
    if is_anaphoric(label) or (situation.speaker is Speaker.ASSISTANT and not situation.ordered):
        return []
    named = split_named_items(label)
    items = [item for item in named if item is named[0] or not _STATES.any(item)]
    why = why or "; ".join(item for item in named if item not in items)
    rule = _rule_from_rejection(placed, label, situation)
    if rule:
        return [placed.finding(label, reason=placed.hit.reason or why, kind=DecisionKind.RULE, target=rule)]
    return [placed.finding(item, reason=placed.hit.reason or why) for item in items]


def _rule_from_rejection(placed: PlacedHit, label: str, situation: Situation) -> str:
    """The rule that a rejection states in its own words ("no new packages"); "" if it only turns down what was offered
    before."""
    clause = strip_lead(placed.hit.clause)
    if situation.speaker is not Speaker.USER or not _WITHOUT.any(clause):
        return ""
    if content(label) <= situation.told_words or any(find_member(word) is not None for word in label.split()):
        return ""
    sentence = strip_lead(bound_sentence(placed.segment.text))
    if _TOLD_OF_WORK.any(sentence):
        return ""
    behind = sentence.partition(": ")[2] or sentence
    short = split_reason(behind)[0] if not _WITHOUT.any(behind) else ""
    at = clause.find(label)
    return short if label in short and len(short) <= _RULE_MAX else clause[: at + len(label)] if at >= 0 else ""


def _make_retractions(placed: PlacedHit, _: Situation) -> list[Finding]:
    label = "" if is_anaphoric(placed.hit.label) else placed.hit.label
    return [placed.finding(split_reason(label)[0], reason=placed.segment.text)]


def _make_standing_rules(placed: PlacedHit, situation: Situation) -> list[Finding]:
    label = placed.hit.label + (f" over {placed.hit.target}" if placed.hit.target else "")
    label = _extend_rule(placed) if placed.hit.rule.act is Act.RULE and not placed.hit.rule.explicit else label
    valued = MEANINGS[placed.hit.rule.act].kind is DecisionKind.PREFERENCE
    return [placed.finding(label, reason=placed.hit.reason, **(read_slot_fields(label) if valued else {}))]


def _extend_rule(placed: PlacedHit) -> str:
    """The label of a rule extended to the end of its sentence, unless a reason follows: the part after a comma may be
    the second half of the rule."""
    sentence = strip_lead(bound_sentence(placed.segment.text)).rstrip(" .!")
    _, found, behind = sentence.partition(placed.hit.label)
    whole = f"{found}{behind}"
    goes_on = behind.startswith(", ") and len(whole) <= _RULE_WHOLE and not split_reason(whole)[1]
    return whole if goes_on and len(read_hits(placed.segment.text, Speaker.USER)) == 1 else placed.hit.label


_RULE_WHOLE: Final = 140
"""Longest rule, in characters, including the part after its comma."""


def _make_proposals(placed: PlacedHit, _: Situation) -> list[Finding]:
    label, reason = split_reason(placed.hit.label)
    made = placed.finding(label, reason=reason, trust=Trust.PROPOSED)
    return [made] if content(label) and is_name(label) else []


CHOICE_MAKERS: Final[dict[Act, Maker]] = {
    Act.CHOICE: _make_choices,
    Act.RULE: _make_standing_rules,
    Act.PREFERENCE: _make_standing_rules,
    Act.WISH: _make_standing_rules,
    Act.REPLACE: _make_replacements,
    Act.CHANGE: _make_changes,
    Act.RETURN: _make_replacements,
    Act.REJECT: _reject_items,
    Act.RETRACT: _make_retractions,
    Act.PROPOSAL: _make_proposals,
}
"""Maps each act that decides something to a function that gets a hit of a rule for that act, with its sentence, and
returns its findings."""
