"""Turn the sentences of a message into findings, in the order of the sentences.

- A user's statement counts as stated.
- An assistant's report on its own work is a claim. Its choice is a proposal, unless it has an explicit marker
  ("Decided:") and carries out an order.
- Questions, suppositions, reported speech, code, quotes, tables and logs state nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from tokenmizer_mw.extract.compose.label_completion import fill_labels, widen_labels
from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Segment, SegmentKind
from tokenmizer_mw.extract.match.hit import Hit
from tokenmizer_mw.extract.match.rule_hits import has_mixed_status, read_hits
from tokenmizer_mw.extract.match.slots import find_versions
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.score.classifier import Model
from tokenmizer_mw.extract.score.classifier_findings import (
    drop_unlikely_findings,
    drop_unlikely_hits,
    find_by_classifier,
)
from tokenmizer_mw.extract.text.names import find_endpoints
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.model.node import NodeType, Status, Trust

from .acknowledgements import find_acknowledged
from .choices import CHOICE_MAKERS
from .corrected_numbers import correct_numbers
from .finding_makers import Maker, find_paths, place_hit
from .goal import read_goal
from .opening import is_background
from .postponed_tasks import add_postponed
from .replies import read_reply
from .reports import REPORT_MAKERS
from .value_findings import add_values

_MAKERS: Final[Mapping[Act, Maker]] = {**CHOICE_MAKERS, **REPORT_MAKERS}

SEGMENTS_READ: Final = 400
"""Number of sentences at the beginning of a message that are read."""
PASTED_MIN: Final = 40
"""A user's message with more sentences than this counts as a pasted document; only its first and last sentences count
as the user's."""
TYPED_BEFORE: Final = 8
TYPED_BEHIND: Final = 4
"""Number of sentences at the end of such a message that are read (``TYPED_BEFORE``: at its beginning)."""
LEAD_MAX: Final = 40
"""Longest heading, in characters, that may be a formal marker ("Still open") for each item of the list below it."""
LISTED: Final = frozenset(
    f"marker.{name}" for name in ("todo", "completed", "fixed", "decided", "rule", "rejected", "error")
)
"""Names of the formal markers (words before a colon, such as "Fixed:") that hold for each item of the list below them.
"Next" is not among them, because items below it are mostly offers."""
_SOME_DAY: Final = PatternSet(
    r".*\b(?:maybe|perhaps|some ?day|eventually|one day|next (?:year|month|quarter|release)|not (?:yet|before|until))\b"
)
"""Matches sentences about a later time: a version named in them is not the one that runs."""
_BEFORE_ROUTES: Final = (" /", "`/", '"/', "'/", "(/", "://")
_STATED: Final = frozenset({NodeType.GOAL, NodeType.TASK, NodeType.DECISION, NodeType.ERROR, NodeType.CONCEPT})
_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})


def read_acts(
    segments: Sequence[Segment], situation: Situation, *, replies: bool = True, model: Model | None = None
) -> list[Finding]:
    """Return the findings of a user's or an assistant's message, in order.

    - ``segments``: the pieces of the message; ``situation``: who speaks, and what the message answers.
    - ``replies``: whether to read also what a user's message accepts or declines of the assistant's last one, and what
      an assistant's message repeats of the user's.
    - ``model``: the classifier, which finds statements that no rule finds and rejects unlikely ones; ``None`` for none.
    """
    found: list[Finding] = []
    said = spoken = [segment for segment in segments if segment.kind in _SPOKEN][:SEGMENTS_READ]
    user = situation.speaker is Speaker.USER
    if user:
        said = spoken = _select_typed(spoken)
        found, spoken = _read_reply_and_goal(spoken, segments, situation, replies=replies)
    read: list[Sequence[Hit]] = [_read_item(segment, situation.speaker) for segment in spoken]
    sure = drop_unlikely_hits(spoken, read, situation, model) if model is not None else read
    if replies and not user:
        unread = takewhile(lambda one: not one[1], zip(spoken, read, strict=True))
        found += find_acknowledged([segment for segment, _ in unread], situation)
    for segment, hits_ in zip(spoken, sure, strict=True):
        _read_one_sentence(segment, hits_, situation, found)
    if user:
        found = _keep_one_goal(found)
        if situation.asked is None:  # what went wrong before the talk is why it begins
            found = [one for one in found if one.type is not NodeType.ERROR or not is_background(one.quote)]
        found = correct_numbers(add_values(found, said, situation), said, situation)
    if model is not None:
        told = {finding.span for finding in found if finding.type in _STATED}
        for segment, hit in find_by_classifier(spoken, read, told, situation, model):
            _read_one_sentence(segment, (hit,), situation, found)
        if user:
            by_place = {segment.start: hits for segment, hits in zip(spoken, read, strict=True)}
            found = drop_unlikely_findings(found, said, [by_place.get(one.start, ()) for one in said], situation, model)
    if user:
        found = add_postponed(fill_labels(found, situation, said), said, situation)
    return widen_labels(found)


def _read_item(segment: Segment, speaker: Speaker) -> Sequence[Hit]:
    """The hits of rules in a sentence. A list item below a formal marker ("Still open:") is read as if the marker stood
    before it."""
    if segment.kind is SegmentKind.LIST_ITEM and 0 < len(segment.heading) <= LEAD_MAX:
        hits = read_hits(f"{segment.heading.rstrip(' :')}: {segment.text}", speaker)
        if hits and all(hit.rule.explicit and hit.rule.name in LISTED for hit in hits):
            return hits
    return read_hits(segment.text, speaker)


def _read_reply_and_goal(
    spoken: list[Segment], segments: Sequence[Segment], situation: Situation, *, replies: bool
) -> tuple[list[Finding], list[Segment]]:
    """The findings of the answers and of the goal in a user's message, and the sentences that are left to read."""
    replying = [segment for segment in spoken if not has_mixed_status(segment.text)]
    found = read_reply(replying, situation) if replies else []
    answered = {finding.span for finding in found}
    for segment in spoken:
        if (segment.start, segment.end) in answered:
            found += [*_read_confirmation(segment, situation), *_find_mentions(segment, situation, True)]
    spoken = [segment for segment in spoken if (segment.start, segment.end) not in answered]
    if not situation.has_goal or situation.goal_asked:
        found += (goal := read_goal(spoken, situation, segments))
        spoken = [segment for segment in spoken if not goal or (segment.start, segment.end) != goal[0].span]
    return found, spoken


def _read_confirmation(segment: Segment, situation: Situation) -> list[Finding]:
    """The confirmation that a sentence contains besides an answer: "raised the limit, it's up again"."""
    said = (hit for hit in read_hits(segment.text, Speaker.USER) if hit.rule.act is Act.CONFIRM)
    return [made for hit in said for made in _MAKERS[Act.CONFIRM](place_hit(hit, segment, situation), situation)]


def _keep_one_goal(found: Sequence[Finding]) -> list[Finding]:
    """The findings with only the first goal: a plan may name it in its title and again in its section "Goal"."""
    goals = [finding for finding in found if finding.type is NodeType.GOAL]
    return [finding for finding in found if finding.type is not NodeType.GOAL or finding is goals[0]]


def _select_typed(spoken: list[Segment]) -> list[Segment]:
    """The sentences that the user typed: all, or the first and last ones of a message as long as a document."""
    if len(spoken) <= PASTED_MIN:
        return spoken
    return [*spoken[:TYPED_BEFORE], *spoken[-TYPED_BEHIND:]]


def _read_one_sentence(segment: Segment, read: Sequence[Hit], situation: Situation, found: list[Finding]) -> None:
    new: list[Finding] = []
    for hit in read:
        new += _MAKERS[hit.rule.act](place_hit(hit, segment, situation), situation)
    said = {(finding.type, finding.label) for finding in new}
    found += new
    found += [made for made in _find_mentions(segment, situation, bool(new)) if (made.type, made.label) not in said]


def _find_mentions(segment: Segment, situation: Situation, stated: bool) -> list[Finding]:
    """Files, endpoints and versions that a sentence names besides its statements."""
    text = segment.text
    user = situation.speaker is Speaker.USER
    trust = Trust.STATED if user else Trust.CLAIMED
    confidence = 0.8 if user or stated else 0.6
    span = (segment.start, segment.end)

    def make_finding(type_: NodeType, label: str, slot: str = "", value: str = "") -> Finding:
        return Finding(type_, label, Status.ACTIVE, trust, confidence, quote=text, span=span, slot=slot, value=value)

    body = text.rstrip(" .!?")
    found = [make_finding(NodeType.FILE, path) for path in find_paths(text)]
    if "/" in body and (body[0] == "/" or any(sign in body for sign in _BEFORE_ROUTES)):
        found += [make_finding(NodeType.ENDPOINT, endpoint.text) for endpoint in find_endpoints(body)]
    if (user or stated) and not _SOME_DAY.any(text):
        found += [
            make_finding(NodeType.ENVIRONMENT, f"{name} {version}", slot=f"{name.casefold()}.version", value=version)
            for name, version in find_versions(text)
        ]
    return found
