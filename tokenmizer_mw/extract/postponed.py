"""What a user puts off or leaves to somebody: work ahead, told together with the matter that it is about.

"I do that after lunch" says when; what is to be done stands before it, in the same sentence, in the one before, or at
the end of the message that it answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Final

from tokenmizer_mw.model.node import NodeType, Status, Trust

from .finding import Finding, Segment, SegmentKind
from .languages import tongues_of
from .pattern import PatternSet, compiled
from .phrases import asks, bounded, supposes, without_lead
from .reading import hits
from .rules import Act, Speaker
from .rules.ahead import ENGLISH, Ahead
from .rules.ahead_abroad import AHEAD
from .similar import content
from .situation import Situation

SENTENCES_READ: Final = 24
"""Sentences of a message that are read, the last ones: plans are made at the end."""
SENTENCE_LONG: Final = 400
MATTER_MAX: Final = 100
"""Characters of what a plan is about, where it is told from another sentence."""
LABEL_MAX: Final = 160
MATTER_WORDS: Final = 2
"""Words of content from which on a clause is what a plan may be about."""
MATTER_SIGNS: Final = 6
PLANS_MAX: Final = 4
"""Plans of one message."""

KEPT: Final = 64
"""Sentences of which it is kept whether they put something off: those of open work are asked about at every message."""

_CONFIDENCE: Final = 0.65
_BY_WHOM: Final = PatternSet(r"(?:me|you|us|myself|ich|du|wir|yo|tú|moi|toi|io|eu)$")
_TELLING_SENTENCES: Final = 3
_ENDS: Final = " .!…。！,;:，、；"
_PAUSE: Final = compiled(
    r"[,;:]\s+(?:(?:and|but|so|then|also|aber|und|dann|y|pero|e|et|mais|mas|ma|però|но|а|и) )?"
    r"|\s(?:--?|–|—)\s|\s(?:but|aber|pero|mais|mas|но)\s|[，、；：]"
)
_DONE: Final = frozenset({Act.CLAIM, Act.CONFIRM, Act.FIX, Act.TESTED})
_OPEN_QUESTION: Final = PatternSet(
    r"(?:.*[,.:;] )?(?:what|which|when|how|where|why|was|wann|welche|wie|wo|qué|cuándo|quand)\b"
)
_CONDITION: Final = PatternSet(
    r"(?:if|unless|in case|suppose|imagine|what if|maybe|perhaps|should we|would|wenn|falls|vielleicht|si"
    r"|quizás|se|forse"
    r"|talvez|peut-être|если|может)\b|如果|要是|もし|만약|अगर|agar\b"
)
_POINTING: Final = PatternSet(r"(?:that|this|it|these|those|them|das|dies|eso|esto|isso|isto|ça|cela|questo|это)\b")
"""How a clause begins that only points at a matter itself."""
_AGREEING: Final = PatternSet(
    r"(?:yes|ok|okay|good|right|true|sure|fine|great|well|ah|oh|ja|gut|sí|vale|bueno|oui|sì|sim|да)\b"
)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A row, ready to use."""

    hands: PatternSet
    plans: PatternSet
    left: PatternSet
    times: PatternSet
    past: PatternSet
    habit: PatternSet

    def points(self, clause: str) -> bool:
        """Whether a clause only says when or by whom."""
        return (self.hands.any(clause) or self.times.any(clause)) and not self.habit.any(clause)

    def plans_in(self, clause: str) -> bool:
        """Whether a clause names work that is ahead."""
        if self.habit.any(clause):
            return False
        return self.left.any(clause) or (self.plans.any(clause) and not self.past.any(clause))


@cache
def _reader(code: str) -> _Reader:
    row: Ahead = AHEAD[code]
    whole = [f"(?:{pattern})$" for pattern in row.hands]
    times = [f"(?:{pattern})$" for pattern in row.times]
    return _Reader(
        PatternSet(*whole),
        PatternSet(*row.plans),
        PatternSet(*row.left),
        PatternSet(*times),
        PatternSet(*filter(None, (row.past,))),
        PatternSet(*filter(None, (row.habit,))),
    )


class _Readers:
    """The rows that a message is read with: those of its sentence's language, or of the message's, and English."""

    def __init__(self, spoken: Sequence[Segment]) -> None:
        self._spoken = spoken

    @cached_property
    def _message(self) -> tuple[str, ...]:
        return _codes(" ".join(segment.text for segment in self._spoken[:_TELLING_SENTENCES]))

    def of(self, sentence: str) -> list[_Reader]:
        codes = _codes(sentence) or self._message
        return [_reader(code) for code in dict.fromkeys((*codes, ENGLISH.code))]


def _codes(text: str) -> tuple[str, ...]:
    return tuple(tongue.code for tongue in tongues_of(text[:SENTENCE_LONG]) if tongue.code in AHEAD)


def with_plans(found: Sequence[Finding], spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """``found`` with what the user puts off or leaves to somebody, each told with its matter; what is found of the same
    words without it goes."""
    made: list[Finding] = []
    readers = _Readers(spoken)
    start = max(len(spoken) - SENTENCES_READ, 0)
    for index in range(start, len(spoken)):
        segment = spoken[index]
        if segment.kind is SegmentKind.PROSE and len(segment.text) <= SENTENCE_LONG and len(made) < PLANS_MAX:
            before = spoken[index - 1] if index else None
            made += _plans_of(segment, before, situation, readers)
    kept = [finding for finding in found if not any(_told_by(finding, plan) for plan in made)]
    new = [plan for plan in made if not any(_tells(finding, plan) for finding in kept)]
    return [*(_without(finding, new) for finding in kept), *new]


def _without(finding: Finding, plans: Sequence[Finding]) -> Finding:
    """What is done, without what the same sentence plans: "pushed, and Jo deploys it on Friday"."""
    if finding.type is not NodeType.TASK or finding.status is not Status.COMPLETED:
        return finding
    for plan in plans:
        at = finding.label.find(plan.label) if plan.span == finding.span else -1
        if at > 0 and (done := finding.label[:at].rstrip(_ENDS)):
            return replace(finding, label=done)
    return finding


def whole_items(items: Sequence[str]) -> list[str]:
    """The items of a list of work; what only says when or by whom stays with the item before it."""
    made: list[str] = []
    for item in items:
        readers = [_reader(code) for code in dict.fromkeys((*_codes(item), ENGLISH.code))]
        if made and (_BY_WHOM.any(item) or any(reader.points(item.rstrip(_ENDS)) for reader in readers)):
            made[-1] = f"{made[-1]}, {item}"
        else:
            made.append(item)
    return made


@lru_cache(maxsize=KEPT)
def puts_off(sentence: str) -> bool:
    """Whether a sentence says that something is done later, or by somebody else."""
    text = bounded(sentence)
    for reader in _Readers(()).of(text):
        said = [without_lead(part).rstrip(_ENDS) for part in _clauses(text)]
        if any(reader.points(part) or reader.plans_in(part) for part in said):
            return True
    return False


def _told_by(finding: Finding, plan: Finding) -> bool:
    """Whether a finding says the same as a plan with less, or takes it for something that is wrong."""
    kinds = ((NodeType.TASK, Status.PENDING), (NodeType.TASK, Status.COMPLETED), (NodeType.ERROR, Status.ACTIVE))
    same = finding.span == plan.span and (finding.type, finding.status) in kinds
    first = next(_clauses(finding.label), "")
    return same and (content(finding.label) <= content(plan.label) or plan.label.endswith(first))


def _tells(finding: Finding, plan: Finding) -> bool:
    """Whether a finding says all that a plan says."""
    same = finding.span == plan.span and finding.type is NodeType.TASK and finding.status is Status.PENDING
    return same and content(plan.label) <= content(finding.label)


def _plans_of(segment: Segment, before: Segment | None, situation: Situation, readers: _Readers) -> Iterator[Finding]:
    text = bounded(segment.text)
    if asks(text) or _CONDITION.any(without_lead(text)) or _is_marked(segment):
        return
    parts = list(_clauses(text))
    for reader in readers.of(text):
        labels = list(_labels(reader, parts, before, situation))
        for label in labels:
            yield Finding(
                NodeType.TASK,
                label[:LABEL_MAX],
                Status.PENDING,
                Trust.STATED,
                _CONFIDENCE,
                quote=segment.text,
                span=(segment.start, segment.end),
            )
        if labels:
            return


def _is_marked(segment: Segment) -> bool:
    """Whether a sentence says formally what it is; what blocks the work is told as what it waits for."""
    return any(hit.rule.explicit and hit.rule.act is not Act.BLOCKED for hit in hits(segment.text, Speaker.USER))


def _labels(reader: _Reader, parts: list[str], before: Segment | None, situation: Situation) -> Iterator[str]:
    """The plans of a sentence's clauses."""
    told = 0
    for index, part in enumerate(parts):
        if index < told:
            continue
        said = without_lead(part).rstrip(_ENDS)
        if supposes(said):
            continue
        if reader.points(said):
            by_time = not reader.hands.any(said)
            matter = _matter(parts[told:index], before if told == 0 else None, situation, by_time=by_time)
            end = _end_of(reader, parts, index)
            if matter:
                yield f"{matter}, {', '.join([said, *parts[index + 1 : end]])}"
            told = end
        elif reader.plans_in(said) and _names_a_matter(said):
            end = _end_of(reader, parts, index)
            yield ", ".join([said, *parts[index + 1 : end]]).rstrip(_ENDS)
            told = end


def _end_of(reader: _Reader, parts: list[str], index: int) -> int:
    """Behind the last clause that only goes on with the one at ``index``."""
    end = index + 1
    while end < len(parts) and reader.points(parts[end].rstrip(_ENDS)):
        end += 1
    return end


def _matter(parts: Sequence[str], before: Segment | None, situation: Situation, *, by_time: bool) -> str:
    """What a clause points at, "" when nothing is at hand."""
    for part in reversed(parts):
        said = without_lead(part).rstrip(_ENDS)
        if _names_a_matter(said) and not _POINTING.any(said):
            return said
    if by_time and parts and content(parts[-1]) and not _AGREEING.any(parts[-1]):
        return ""
    if before is not None and not by_time:
        text = without_lead(bounded(before.text))
        acts = {hit.rule.act for hit in hits(before.text, Speaker.USER)}
        if _names_a_matter(text) and not acts & _DONE:
            return _last(text)
    return _offered(situation)


def _offered(situation: Situation) -> str:
    """What the message before ends with: an offer, or what is to be done."""
    if situation.told is None:
        return ""
    offers = situation.offers
    if offers.proposals:
        return _last(offers.proposals[-1])
    ending = without_lead(offers.ending)
    if not _names_a_matter(ending) or (asks(ending) and _OPEN_QUESTION.any(ending)):
        return ""
    return _last(ending)


def _names_a_matter(text: str) -> bool:
    """Whether a clause says enough to be what a plan is about; scripts without spaces are told by their length."""
    return len(content(text)) >= MATTER_WORDS or (not text.isascii() and " " not in text and len(text) >= MATTER_SIGNS)


def _last(text: str) -> str:
    """The last clauses of a text that are short enough."""
    text = text.rstrip(_ENDS + "?？")
    if len(text) <= MATTER_MAX:
        return text
    kept: list[str] = []
    for part in reversed(list(_clauses(text))):
        if kept and len(", ".join([part, *kept])) > MATTER_MAX:
            break
        kept.insert(0, part)
    return ", ".join(kept)[:MATTER_MAX].strip()


def _clauses(text: str) -> Iterator[str]:
    while (border := _PAUSE.search(text)) is not None:
        if part := text[: border.start()].strip():
            yield part
        text = text[border.end() :]
    if part := text.strip():
        yield part
