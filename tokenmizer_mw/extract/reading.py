"""Which rules a sentence matches: lead-ins off, questions and suppositions out, whole sentences before clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .pattern import Match, PatternSet, compiled
from .phrases import asks, bounded, clauses, order_in, reports, supposes, without_lead
from .rules import RULES, Act, Rule, Speaker
from .similar import words_of

_ORDERS: Final = frozenset({Act.REQUEST, Act.CHOICE, Act.REPLACE, Act.RETURN, Act.RULE, Act.REJECT})
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
        self._gate = PatternSet(tuple(rule.pattern for rule in self.rules))
        self._patterns = tuple(compiled(rule.pattern) for rule in self.rules)
        self._groups = tuple(_groups(rule.pattern) for rule in self.rules)
        self._unless = tuple(compiled(rule.unless) if rule.unless else None for rule in self.rules)

    def first(self, text: str, *, whole: bool) -> Hit | None:
        """What the first rule in the table's order reads in ``text``; with ``whole`` only rules for sentences."""
        for index in self._gate.matching(text):
            rule = self.rules[index]
            if whole and not rule.whole:
                continue
            unless = self._unless[index]
            if unless is not None and unless.match(text) is not None:
                continue
            match = self._patterns[index].match(text)
            if match is not None and (hit := _hit(rule, text, match, self._groups[index])) is not None:
                return hit
        return None


def _groups(pattern: str) -> frozenset[str]:
    return frozenset(name for name in ("label", "target", "reason") if f"(?P<{name}>" in pattern)


def _hit(rule: Rule, text: str, match: Match, groups: frozenset[str]) -> Hit | None:
    said = {name: (match.group(name) or "").strip() for name in groups}
    label = said.get("label", "")
    if "label" in groups and label and anaphoric(label):
        return None
    return Hit(rule, text, label, said.get("target", ""), said.get("reason", ""))


def anaphoric(label: str) -> bool:
    """Whether a label only points at something said before ("that one", "it")."""
    words = label.casefold().strip(" .,!?").split()
    return not words or (words[0] in _ANAPHORA and len(words) <= 2)


_TABLES: Final = {speaker: _Table(speaker) for speaker in (Speaker.USER, Speaker.ASSISTANT)}


def hits(sentence: str, speaker: Speaker) -> list[Hit]:
    """What ``sentence`` does, in order; [] for one that states nothing."""
    table = _TABLES[speaker]
    text = without_lead(bounded(sentence))
    if not text:
        return []
    if speaker is Speaker.ASSISTANT:
        return _assistant_hits(table, text)
    if order := order_in(text):
        return [hit for hit in _read(table, order) if hit.rule.act in _ORDERS]
    if asks(text) or supposes(text) or reports(text):
        return []
    return _read(table, text)


def _assistant_hits(table: _Table, text: str) -> list[Hit]:
    stripped = text.rstrip(_ENDS)
    whole = table.first(stripped, whole=False)
    if whole is not None and whole.rule.act is Act.PROPOSAL:
        return [whole]
    if asks(text) or (supposes(text) and (whole is None or not whole.rule.explicit)):
        return []
    return _read(table, text)


def _read(table: _Table, text: str) -> list[Hit]:
    stripped = text.rstrip(_ENDS)
    whole = table.first(stripped, whole=True)
    if whole is not None:
        return [whole]
    parts = clauses(stripped)
    if len(parts) < 2:
        hit = table.first(stripped, whole=False)
        return [hit] if hit is not None else []
    leading = table.first(stripped, whole=False)
    if leading is not None and leading.rule.explicit:
        return [leading]
    found = (table.first(without_lead(part).rstrip(_ENDS), whole=False) for part in parts if not supposes(part))
    return [hit for hit in found if hit is not None]
