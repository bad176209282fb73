"""Which rules a sentence matches: lead-ins off, questions and suppositions out, whole sentences before clauses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .pattern import Match, PatternSet, compiled
from .phrases import asks, bounded, clauses, order_in, plain_reason, reports, supposes, without_lead
from .rules import RULES, Act, Rule, Speaker
from .similar import words_of

SENTENCES_KEPT: Final = 8
"""Sentences whose reading is kept: one sentence is asked about several times while its message is read."""

_ORDERS: Final = frozenset({Act.REQUEST, Act.CHOICE, Act.REPLACE, Act.CHANGE, Act.RETURN, Act.RULE, Act.REJECT})
"""What a polite question can do: "can you add X?", "could we use Y instead?"."""

_ANAPHORA: Final = words_of(
    "it that this them those these him her me us you what whatever which there here something anything everything"
    " nothing one ones both all same it's that's this's"
)
_ENDS: Final = " .!…"


@dataclass(frozen=True, slots=True)
class Hit:
    """A clause that a rule reads. Groups that took no part are ""."""

    rule: Rule
    clause: str
    label: str
    target: str = ""
    reason: str = ""


class _Table:
    """The rules of one speaker behind one gate."""

    def __init__(self, speaker: Speaker) -> None:
        self.rules = tuple(rule for rule in RULES if rule.speaker in (speaker, Speaker.BOTH))
        self._gate = PatternSet(*(rule.pattern for rule in self.rules))
        self._patterns = tuple(compiled(rule.pattern) for rule in self.rules)
        self._unless = tuple(PatternSet(rule.unless) if rule.unless else None for rule in self.rules)

    def reading(self, text: str) -> list[int]:
        """Numbers of the rules that may read ``text``, in the table's order."""
        return self._gate.matching(text)

    def first(self, text: str, numbers: Iterable[int]) -> Hit | None:
        """What the first of these rules reads in ``text``."""
        for number in numbers:
            rule = self.rules[number]
            unless = self._unless[number]
            if unless is not None and unless.any(text):
                continue
            pattern = self._patterns[number]
            match = pattern.match(text)
            if match is not None and (hit := _hit(rule, text, match, pattern.groups)) is not None:
                return hit
        return None


def _hit(rule: Rule, text: str, match: Match, groups: frozenset[str]) -> Hit | None:
    said = {name: match.group(name).strip() for name in groups}
    label = said.get("label", "")
    if "label" in groups and label and anaphoric(label):
        return None
    return Hit(rule, text, label, said.get("target", ""), plain_reason(said.get("reason", "")))


def anaphoric(label: str) -> bool:
    """Whether a label only points at something said before ("that one", "it")."""
    words = label.casefold().strip(" .,!?").split()
    return not words or (words[0] in _ANAPHORA and len(words) <= 2)


_TABLES: Final = {speaker: _Table(speaker) for speaker in (Speaker.USER, Speaker.ASSISTANT)}


@lru_cache(maxsize=SENTENCES_KEPT)
def hits(sentence: str, speaker: Speaker) -> tuple[Hit, ...]:
    """What ``sentence`` does, in order; () for one that states nothing."""
    table = _TABLES[speaker]
    text = without_lead(bounded(sentence))
    if not text:
        return ()
    if speaker is Speaker.USER and (order := order_in(text)):
        return tuple(hit for hit in _read(table, order) if hit.rule.act in _ORDERS)
    stripped = text.rstrip(_ENDS)
    numbers = table.reading(stripped)
    leading = table.first(stripped, numbers)
    if leading is not None and leading.rule.explicit:
        return (leading,) if not asks(text) else ()
    if leading is not None and leading.rule.act is Act.PROPOSAL:
        return (leading,)
    parts = clauses(stripped)
    if (leading is None and len(parts) < 2) or asks(text) or supposes(text):
        return ()
    if speaker is Speaker.USER and reports(text):
        return ()
    return _read_parts(table, parts, leading)


def _read(table: _Table, text: str) -> tuple[Hit, ...]:
    stripped = text.rstrip(_ENDS)
    return _read_parts(table, clauses(stripped), table.first(stripped, table.reading(stripped)))


def _read_parts(table: _Table, parts: list[str], leading: Hit | None) -> tuple[Hit, ...]:
    """The hits of a sentence's clauses, unless the sentence as a whole is one."""
    if leading is not None and (leading.rule.whole or len(parts) < 2):
        return (leading,)
    if len(parts) < 2:
        return ()
    found = []
    for part in parts:
        said = without_lead(part).rstrip(_ENDS)
        if said and not supposes(said) and (hit := table.first(said, table.reading(said))) is not None:
            found.append(hit)
    return tuple(found)
