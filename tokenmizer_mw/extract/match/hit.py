"""The hit of a rule in a clause, and ``RuleTable``, which quickly finds the rules that may match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from tokenmizer_mw.extract.rules import Rule, Speaker
from tokenmizer_mw.extract.text.pattern import Match, PatternSet, PatternTable
from tokenmizer_mw.extract.text.phrases import strip_reason_words
from tokenmizer_mw.extract.text.similar import split_words

_ANAPHORA: Final = split_words(
    "it that this they them those these him her me us you what whatever which there here something anything everything"
    " nothing one ones both all same it's that's this's"
    " eso esto esa ese lo das dies diese dieses ça cela celui-ci isso isto este esta questo quello это этот то"
    " 它 这个 那个 这样 それ これ あれ 그거 이거 그것 이것 यह वह ye yeh wo woh isko usko"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A clause that matches a rule. ``label``, ``target``, ``reason``: the groups of the rule's pattern (see ``Rule``);
    "" for a group that did not match."""

    rule: Rule
    clause: str
    label: str
    target: str = ""
    reason: str = ""


class RuleTable:
    """The rules for the sentences of one speaker: those of ``rules`` that are for ``speaker`` or for both speakers."""

    def __init__(self, rules: Iterable[Rule], speaker: Speaker) -> None:
        self.rules = tuple(rule for rule in rules if rule.speaker in (speaker, Speaker.BOTH))
        self._patterns = PatternTable(rule.pattern for rule in self.rules)

    def reading(self, text: str) -> list[int]:
        """Return the numbers (indexes in ``self.rules``) of the rules whose pattern matches at the start of ``text``,
        ascending. Their further conditions are checked by ``first``."""
        return self._patterns.matching(text)

    def first(self, text: str, numbers: Iterable[int]) -> Hit | None:
        """Return the hit of the first rule that matches ``text``, in the order of ``numbers`` (numbers of rules, from
        ``reading``); ``None`` if none matches. A rule is skipped if its ``unless`` matches, too, or if the label that
        it finds only refers back ("it")."""
        for number in numbers:
            rule = self.rules[number]
            if rule.unless and _unless(rule.unless).any(text):
                continue
            pattern = self._patterns[number]
            match = pattern.match(text)
            if match is not None and (hit := _hit(rule, text, match, pattern.groups)) is not None:
                return hit
        return None


@cache
def _unless(pattern: str) -> PatternSet:
    return PatternSet(pattern)


def _hit(rule: Rule, text: str, match: Match, groups: frozenset[str]) -> Hit | None:
    said = {name: match.group(name).strip() for name in groups}
    label = said.get("label", "")
    if "label" in groups and label and is_anaphoric(label):
        return None
    return Hit(rule, text, label, said.get("target", ""), strip_reason_words(said.get("reason", "")))


def is_anaphoric(label: str) -> bool:
    """Whether a label is "" or only refers to something said before ("that one", "it", "that, she loves it")."""
    words = label.casefold().strip(" .,!?").split()
    return not words or (words[0].rstrip(",;") in _ANAPHORA and (len(words) <= 2 or words[0][-1] in ",;"))
