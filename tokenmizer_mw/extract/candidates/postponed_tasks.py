"""Find tasks that a user postpones or leaves to somebody else, with what they are about.

They are added to the findings of a user's message. "I do that after lunch" only says when; what the work is comes from
an earlier part of the sentence, from the sentence before, or from the end of the message that it answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment, SegmentKind
from tokenmizer_mw.extract.match.ahead import (
    ENDS,
    AheadRow,
    Readers,
    is_only_postponement,
    split_at_pauses,
)
from tokenmizer_mw.extract.match.rule_hits import read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, is_supposition, strip_lead
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import NodeType, Status, Trust

SENTENCES_READ: Final = 24
"""Number of sentences at the end of a message that are read, because people make plans at the end."""
SENTENCE_LONG: Final = 400
MATTER_MAX: Final = 100
"""Longest description of the work, in characters, that is taken from another sentence."""
LABEL_MAX: Final = 160
MATTER_WORDS: Final = 2
MATTER_SIGNS: Final = 6
"""Fewest characters of a clause that can say what a plan is about, in scripts without spaces (``MATTER_WORDS``: fewest
content stems of such a clause in other scripts)."""
OBJECT_WORDS: Final = 3
"""Most content stems of a clause that cannot be understood alone, because a pronoun stands for its object."""
PLANS_MAX: Final = 4
"""Most plans of one message that become tasks."""

_CONFIDENCE: Final = 0.65
_DONE: Final = frozenset({Act.CLAIM, Act.CONFIRM, Act.FIX, Act.TESTED})
_RULING: Final = frozenset({Act.RULE, Act.REJECT, Act.PREFERENCE})
_CONDITION: Final = PatternSet(
    r"(?:if|unless|in case|suppose|imagine|what if|maybe|perhaps|should we|would|wenn|falls|vielleicht|si|quizás|se"
    r"|forse|talvez|peut-être|если|может)\b|如果|要是|もし|만약|अगर|agar\b"
)
_POINTING: Final = PatternSet(r"(?:that|this|it|these|those|them|das|dies|eso|esto|isso|isto|ça|cela|questo|это)\b")
"""Matches a clause that only refers to the work ("that is for later")."""
_OBJECT: Final = PatternSet(r".* (?:it|them|those|these|that one|this one|ihn|isso)\b")
_AGREEING: Final = PatternSet(
    r"(?:yes|ok|okay|good|right|true|sure|fine|great|well|ah|oh|ja|gut|sí|vale|bueno|oui|sì|sim|da)\b"
)


def add_postponed(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return ``found`` with the tasks that the user postpones or leaves to somebody else. Findings from the same words
    that say less than such a task are dropped. ``spoken``: the sentences of the message."""
    made: list[Finding] = []
    readers = Readers(spoken)
    start = max(len(spoken) - SENTENCES_READ, 0)
    for index in range(start, len(spoken)):
        segment = spoken[index]
        if segment.kind is not SegmentKind.PROSE or len(segment.text) > SENTENCE_LONG or len(made) >= PLANS_MAX:
            continue
        made += _find_plans(segment, spoken[index - 1] if index else None, situation, readers)
    kept = [
        finding
        for finding in found
        if not any(_is_covered_by(finding, plan) or _is_same_as_plan(finding, plan) for plan in made)
    ]
    new = [plan for plan in made if not any(_is_covering_plan(finding, plan) for finding in kept)]
    return [*kept, *new]


def _is_same_as_plan(finding: Finding, plan: Finding) -> bool:
    """Whether a choice only has the words of a postponed task, so that it decides nothing."""
    settles = finding.target or finding.single or finding.value or finding.about
    plain = finding.type is NodeType.DECISION and finding.move is Move.NOTE and not settles
    return plain and (finding.span, finding.label) == (plan.span, plan.label)


def _is_covered_by(finding: Finding, plan: Finding) -> bool:
    """Whether a finding from the sentence of the postponed task ``plan`` says less than it, or misreads it as finished
    work."""
    kinds = (Status.PENDING, Status.COMPLETED)
    same = finding.span == plan.span and finding.type is NodeType.TASK and finding.status in kinds
    if same and finding.status is Status.PENDING and is_only_postponement(finding.label):
        return True
    first = next(split_at_pauses(finding.label), "")
    return same and (content(finding.label) <= content(plan.label) or plan.label.endswith(first))


def _is_covering_plan(finding: Finding, plan: Finding) -> bool:
    """Whether a pending task from the same sentence says everything that the postponed task ``plan`` says."""
    same = finding.span == plan.span and finding.type is NodeType.TASK and finding.status is Status.PENDING
    return same and content(plan.label) <= content(finding.label)


def _find_plans(segment: Segment, before: Segment | None, situation: Situation, readers: Readers) -> Iterator[Finding]:
    text = bound_sentence(segment.text)
    if is_question(text) or _CONDITION.any(strip_lead(text)) or _is_marked(segment):
        return
    parts = list(split_at_pauses(text))
    for reader in readers.of(text):
        labels = list(_label_plans(reader, parts, before, situation))
        if labels:
            yield from (_make_plan(label, segment) for label in labels)
            return


def _make_plan(label: str, segment: Segment) -> Finding:
    span = (segment.start, segment.end)
    label = label[:LABEL_MAX].strip()
    return Finding(NodeType.TASK, label, Status.PENDING, Trust.STATED, _CONFIDENCE, quote=segment.text, span=span)


def _is_marked(segment: Segment) -> bool:
    """Whether a sentence has a formal marker, such as "Todo:"."""
    return any(hit.rule.explicit for hit in read_hits(segment.text, Speaker.USER))


def _label_plans(reader: AheadRow, parts: list[str], before: Segment | None, situation: Situation) -> Iterator[str]:
    """Iterate over the labels of the postponed tasks in a sentence. ``parts``: the sentence split at its pauses;
    ``before``: the sentence before."""
    told = 0
    for index, part in enumerate(parts):
        said = strip_lead(part).rstrip(ENDS)
        if index < told:
            continue
        timing = reader.is_timing(said)
        work = not timing and _names_a_matter(said) and reader.has_future_work(said)
        if not (timing or work) or is_supposition(said):
            continue
        if timing:
            end = _find_end_of_plan(reader, parts, index)
            matter = _find_matter(reader, parts[told : index + 1], before if told == 0 else None, situation)
            if not matter and end < len(parts) and reader.hands.any(said) and _names_a_matter(parts[end]):
                matter, end = parts[end].rstrip(ENDS), end + 1
            if matter:
                yield _join_pieces([matter, reader.read_timing(said), *parts[index + 1 : end]])
            told = end
        else:
            matter = _find_matter(reader, parts[told : index + 1], before if told == 0 else None, situation)
            told = _find_end_of_plan(reader, parts, index)
            label = reader.read_work(said) if _names_a_matter(reader.read_work(said)) else said
            yield _join_pieces([*([matter] if _is_reference(said) else []), label, *parts[index + 1 : told]])


def _is_reference(clause: str) -> bool:
    """Whether a short clause does something with what is named elsewhere: "put it on the list"."""
    return _OBJECT.any(clause) and len(content(clause)) <= OBJECT_WORDS


def _join_pieces(pieces: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(piece for piece in pieces if piece)).rstrip(ENDS)


def _find_end_of_plan(reader: AheadRow, parts: list[str], index: int) -> int:
    """The index after the last of the clauses that only add a time or a person to the one at ``index``."""
    end = index + 1
    while end < len(parts) and reader.is_timing(parts[end].rstrip(ENDS)):
        end += 1
    return end


def _find_matter(reader: AheadRow, parts: Sequence[str], before: Segment | None, situation: Situation) -> str:
    """The work that the last of ``parts`` refers to: in the parts before, in the sentence before, or at the end of the
    assistant's message; "" if none is found."""
    *earlier, clause = parts
    by_time = not reader.hands.any(strip_lead(clause).rstrip(ENDS))
    for part in reversed(earlier):
        said = strip_lead(part).rstrip(ENDS)
        if _names_a_matter(said) and not _POINTING.any(said):
            return "" if _lays_down(said) else said
    if earlier and content(earlier[-1]) and not _AGREEING.any(earlier[-1]):
        return "" if by_time else _find_matter_before(before, situation)
    return _last_offer(situation) if by_time else _find_matter_before(before, situation)


def _lays_down(clause: str) -> bool:
    """Whether a clause is a rule or rejects something, so that the clause after it gives a reason and postpones
    nothing."""
    return not _RULING.isdisjoint(hit.rule.act for hit in read_hits(clause, Speaker.USER))


def _find_matter_before(before: Segment | None, situation: Situation) -> str:
    """The work that the sentence before names, else what the assistant's message ends with; "" for none."""
    if before is not None:
        text = strip_lead(bound_sentence(before.text))
        acts = {hit.rule.act for hit in read_hits(before.text, Speaker.USER)}
        if _names_a_matter(text) and not acts & _DONE:
            return _last_clauses(text)
    return _last_offer(situation)


def _last_offer(situation: Situation) -> str:
    """The offer or task at the end of the assistant's message; "" for none."""
    if situation.told is None:
        return ""
    offers = situation.offers
    if offers.proposals:
        return _last_clauses(offers.proposals[-1])
    ending = strip_lead(offers.ending)
    stated = len(ending) <= MATTER_MAX and _names_a_matter(ending) and not is_question(ending)
    return ending.rstrip(ENDS) if stated else ""


def _names_a_matter(text: str) -> bool:
    """Whether a clause has enough words to say what a task is about."""
    return len(content(text)) >= MATTER_WORDS or (not text.isascii() and " " not in text and len(text) >= MATTER_SIGNS)


def _last_clauses(text: str) -> str:
    """The last clauses of a text, as many as fit into ``MATTER_MAX`` characters."""
    text = text.rstrip(ENDS + "?？")
    if len(text) <= MATTER_MAX:
        return text
    kept: list[str] = []
    for part in reversed(list(split_at_pauses(text))):
        if kept and len(", ".join([part, *kept])) > MATTER_MAX:
            break
        kept.insert(0, part)
    return ", ".join(kept)[:MATTER_MAX].strip()
