"""Compares a sentence with a fact in force: does it give another value for the same thing, name the thing, or name its
old value?

In: a claim (a sentence that may change something) and nodes. Out: evidence, and the log odds that the claim changes a
node.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from operator import mul
from typing import Final, NamedTuple

from tokenmizer_mw.extract.finding import BETWEEN_SENTENCES
from tokenmizer_mw.extract.match.stated_values import (
    StatedValues,
    differ_counted,
    differ_measured,
    differ_members,
    differ_names,
    drop_shared_values,
    key_of,
    merge_stated,
    read_stated,
)
from tokenmizer_mw.extract.rules.change_words import CHANGES, EXPLICIT
from tokenmizer_mw.extract.text.clauses import read_scope
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.similar import content, first_stem
from tokenmizer_mw.model.node import Node, NodeType

from .change_odds import change_odds


def read_nothing() -> float | None:
    """Return ``None``: without a sentence model, there is no meaning."""
    return None


def settles_certainly() -> float:
    """Return 1: without a classifier, every change settles something."""
    return 1.0


@dataclass(frozen=True)
class Claim:
    """A sentence of a user that may change a fact.

    - ``line``: the sentence without introductory words; ``said``: with them; ``parts``: its clauses.
    - ``beside``: the sentence with its neighbours in the message, ``BETWEEN_SENTENCES`` between them.
    - ``turn``: number of its message; ``last``: whether it is the last sentence of the message.
    - ``question``: the question at the end of the assistant's message that it may answer; "" for none.
    - ``read_meaning``: computes ``meant``; ``read_settling``: computes ``settles``.
    """

    line: str
    parts: tuple[str, ...]
    beside: str
    turn: int
    last: bool
    said: str = ""
    question: str = ""
    read_meaning: Callable[[], float | None] = field(default=read_nothing, compare=False)
    read_settling: Callable[[], float] = field(default=settles_certainly, compare=False)

    @cached_property
    def odds(self) -> float:
        """Log odds that the sentence changes anything, judged by its words and those of its neighbours."""
        return change_odds(self.beside)

    @cached_property
    def meant(self) -> float | None:
        """What a sentence model adds to the log odds that the sentence changes anything; ``None`` without a model, or
        if it does not read the sentence."""
        return self.read_meaning()

    @cached_property
    def settles(self) -> float:
        """The probability that the sentence decides something, rather than only tells how things are."""
        return self.read_settling()

    @cached_property
    def weights_by_fact(self) -> dict[tuple[str, bool, bool, bool, int], float]:
        """Cache of ``weigh``. The key contains everything that ``weigh`` reads of a fact."""
        return {}

    @cached_property
    def clauses(self) -> Sequence[tuple[str, StatedValues]]:
        """The clauses of the sentence, each with its values."""
        return [(part, read_stated(part)) for part in self.parts]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of the words and values of the sentence and its neighbours (see ``StatedValues.keys``)."""
        return self.around.keys.union(self.name_keys, self.stated.keys, *(stated.keys for _, stated in self.clauses))

    @cached_property
    def name_keys(self) -> frozenset[str]:
        """Keys (``key_of``) of the names in the sentence and its neighbours."""
        return frozenset(map(key_of, self.around.names))

    @cached_property
    def named(self) -> frozenset[str]:
        """The names and values of the sentence and its neighbours."""
        return self.around.names | self.around.values

    @cached_property
    def scope(self) -> frozenset[str]:
        """Content stems of the scope at the beginning of the sentence ("for the second flat, ..."); empty for none."""
        return content(read_scope(self.line))

    @cached_property
    def own_odds(self) -> float:
        """Log odds that the sentence changes anything, judged by its own words alone. They tell a change from a reason
        or a complaint that only stands beside it."""
        return change_odds(self.line)

    @cached_property
    def stated(self) -> StatedValues:
        """The values and words of the sentence."""
        return read_stated(self.line)

    @cached_property
    def around(self) -> StatedValues:
        """The values and words of the sentence and its neighbours."""
        # stripped of final signs, most of these texts equal the line of a claim, whose values are cached
        return merge_stated([read_stated(one.rstrip(" .!")) for one in self.beside.split(BETWEEN_SENTENCES)])

    @cached_property
    def lateness(self) -> float:
        """How late in its chat the sentence is, from 0 to 1."""
        return min(1.0, max(0.0, math.log(self.turn / _LONG)))

    @cached_property
    def has_change_word(self) -> bool:
        """Whether the sentence has a word of change ("instead", "switch")."""
        return _CHANGES.any(self.line)


class KnownFacts(NamedTuple):
    """What the facts that a message may change have in common.

    ``number``: how many they are; ``frequency``: for each word, name and value, how many of them have it.
    """

    number: int
    frequency: Mapping[str, int]


def count_words(nodes: Iterable[Node]) -> KnownFacts:
    """Count facts, and how many of them have each word, name and value."""
    told = [read_stated(node.label).terms for node in nodes]
    return KnownFacts(len(told), Counter(chain.from_iterable(told)))


_CHANGES: Final = PatternSet(*(f"(?s:.*?)(?:{row})" for row in CHANGES))
_EXPLICIT: Final = PatternSet(*(f"(?s:.*?)(?:{row})" for row in EXPLICIT))
_SO: Final = PatternSet(
    r".*\b(?:so|then|hence|therefore|dann|donc|así que|pues|quindi|então)\b|.*(?:поэтому|значит|那就|所以)"
)
_BRIEF_WORDS: Final = 7
_BRIEF_SIGNS: Final = 8
_RECENT: Final = 2
"""A fact counts as recent if at most this many messages have followed it."""

_LONG: Final = 12
"""From this message on, a chat counts as long. The longer a chat is, the less likely a message changes one particular
fact."""

WEIGHTS: Final = {
    "measured": 1.72,
    "counted": 1.41,
    "members": 3.10,
    "names": 0.68,
    "same sort": 0.80,
    "named": 0.42,
    "share of new": 0.89,
    "around": 0.43,
    "apart": -1.28,
    "brief": 0.35,
    "change": 0.39,
    "last": 1.20,
    "task": 0.40,
    "facts": -0.59,
    "long": -1.41,
    "assistant": -0.53,
    "just set": -0.18,
    "only one": 1.52,
    "apart from others": 0.26,
    "share of old": 0.89,
    "own odds": 0.17,
    "odds": 0.45,
}
_WEIGHTS: Final = tuple(WEIGHTS.values())
BIAS: Final = -4.31
"""The log odds without any evidence. ``WEIGHTS``: what each piece of evidence adds to them. Both come from a regression
over which fact a sentence changes, if any; ``benchmarks/contrast_fit.py`` fits it."""


class Mixture(NamedTuple):
    """Factors for the log odds of the evidence (``words``) and of the sentence model (``meaning``), and a constant."""

    words: float
    meaning: float
    bias: float


MEANT: Final = Mixture(words=0.91, meaning=0.61, bias=0.10 + 0.30)
"""The mixture if a sentence model is used. ``benchmarks/contrast_fit.py`` fitted it on authors whose texts neither the
classifier nor the sentence model was trained on. The 0.30 was added by hand: with it, as many ordinary messages replace
something as without the model."""


_DENIES: Final = PatternSet(
    r".*\b(?:not|no|never|without|cannot|nicht|kein\pL*|ohne|nie|pas|sans|jamais|sin|nunca|não|nao|sem|non|senza|nessun\pL*)\b"
    r"|.*n't\b|.*(?:^| )(?:не|нет|без) |.*[不没無ず]|.*ない"
)


def is_denial(text: str) -> bool:
    """Whether a text denies something."""
    return _DENIES.any(text)


_REFUSES: Final = PatternSet(
    r"(?:no|nope|nah|nein|nee|nö|non|não|nao|нет|不(?:是|用|要|行)?|いいえ|いや|아니(?:요|오)?|नहीं|nahi(?:n)?)"
    r"[ ,.!:、，。]+.*"
)


def answers_another(label: str, said: str, question: str) -> bool:
    """Whether a sentence only rejects what the assistant just asked ("Invoices by post?", "No, by mail"), and neither
    sentence nor ``question`` has a word or value of the fact with this label."""
    if not _REFUSES.any(said):
        return False
    old, asked, new = read_stated(label), read_stated(question), read_stated(said)
    return old.terms.isdisjoint(asked.terms | new.terms)


@lru_cache(maxsize=256)
def has_change_words(line: str) -> bool:
    """Whether a sentence has words for a change, or for a consequence ("so", "then")."""
    return _CHANGES.any(line) or _EXPLICIT.any(line) or _SO.any(line)


def find_sharing_key(nodes: Iterable[Node], claim: Claim) -> list[Node]:
    """Return the facts that share a word, a name or a kind of value with a claim or its neighbours."""
    keys = claim.keys
    return [node for node in nodes if not keys.isdisjoint(read_stated(node.label).keys)]


def weigh(node: Node, claim: Claim, facts: KnownFacts) -> float:
    """Return the log odds that a claim changes ``node``, against the outcome that nothing changes. ``facts``: the facts
    that the claim may change."""
    by_assistant = node.source.role == "assistant"
    key = (node.label, node.type is NodeType.TASK, by_assistant, _is_just_set(node, claim), facts.number)
    known = claim.weights_by_fact.get(key)
    if known is None:
        known = BIAS + sum(map(mul, _WEIGHTS, _collect(node, claim, facts)))
        if claim.meant is not None:
            known = MEANT.words * known + MEANT.meaning * claim.meant + MEANT.bias
        known = min(known, _MOST)
        claim.weights_by_fact[key] = known
    return known


_MOST: Final = 30.0


def collect_evidence(node: Node, claim: Claim, facts: KnownFacts) -> dict[str, float]:
    """Return the evidence for and against ``claim`` changing ``node``: a value for every name in ``WEIGHTS``, in their
    order and not yet weighted (0 or 1, a share, or log odds). ``facts``: the facts that the claim may change."""
    return dict(zip(WEIGHTS, _collect(node, claim, facts), strict=True))


def _collect(node: Node, claim: Claim, facts: KnownFacts) -> tuple[float, ...]:
    """The evidence in the order of ``WEIGHTS``."""
    old, around, frequency = read_stated(node.label), claim.around, facts.frequency
    best, new = _nearest(claim, old)
    if _is_explicit(best):
        new = drop_shared_values(new, old)
    typed = _differ_in_type(old, new)
    shared = len(old.words & new.words)
    near = old.terms & around.terms
    return (
        *typed,
        True not in typed and differ_names(old, new),
        not old.sorts.isdisjoint(new.sorts),
        _is_named(old, claim),
        shared / len(new.words) if new.words else 0.0,
        not old.words.isdisjoint(around.words),
        not _may_concern(old, claim),
        _is_brief(best, new),
        claim.has_change_word,
        claim.last,
        node.type is NodeType.TASK,
        math.log(max(1, facts.number)),
        claim.lateness,
        node.source.role == "assistant",
        _is_just_set(node, claim),
        1 / min(map(frequency.__getitem__, near)) if near else 0.0,
        math.fsum([1 / frequency[word] for word in old.terms & claim.stated.terms]),
        shared / len(old.words) if old.words else 0.0,
        claim.own_odds,
        claim.odds,
    )


def _differ_in_type(old: StatedValues, new: StatedValues) -> tuple[bool, bool, bool]:
    """Whether a text gives other measured values, numbers and members of categories than a fact."""
    if old.sorts.isdisjoint(new.sorts) and not (old.dated and new.dated):
        return _NO_TYPE_DIFFERS
    return (differ_measured(old, new), differ_counted(old, new), differ_members(old, new))


_NO_TYPE_DIFFERS: Final = (False, False, False)


def _is_just_set(node: Node, claim: Claim) -> bool:
    return node.source.role == "assistant" and claim.turn - node.source.turn <= _RECENT


@lru_cache(maxsize=256)
def _is_explicit(part: str) -> bool:
    """Whether a clause names old and new value: "Mondays instead of Thursdays"."""
    return _EXPLICIT.any(part)


def _is_brief(part: str, stated: StatedValues) -> bool:
    """Whether a clause says little more than a value."""
    words = len(part.split())
    short = words <= _BRIEF_WORDS if " " in part or part.isascii() else len(part) <= _BRIEF_SIGNS
    return short and bool(stated.numbers or stated.members or stated.names)


def _may_concern(old: StatedValues, claim: Claim) -> bool:
    """Whether a claim has a word, a name or a kind of value of a fact. For most facts it has none."""
    line, around = claim.stated, claim.around
    return (
        not old.words.isdisjoint(around.words)
        or not old.names.isdisjoint(around.names)
        or not old.sorts.isdisjoint(line.sorts)
        or bool(old.numbers and line.numbers)
    )


def are_of_other_things(node: Node, claim: Claim) -> bool:
    """Whether a fact and a sentence without a word of change say similar things about two different things:
    "juniors on Mondays", "seniors on Fridays"."""
    if claim.has_change_word:
        return False
    old = read_stated(node.label)
    best, new = _nearest(claim, old)
    mine, other = old.words - new.words, new.words - old.words
    return bool(old.words & new.words) and key_of(first_stem(node.label)) in mine and key_of(first_stem(best)) in other


def is_of_another(node: Node, claim: Claim) -> bool:
    """Whether a sentence is about something other than a fact: its scope ("for the second flat, ...") is another one,
    or its number replaces that of its neighbour ("members cancel up to 24 hours before. make it 12")."""
    if claim.scope and claim.scope.isdisjoint(content(node.label)):
        return True
    old, new = read_stated(node.label), claim.stated
    beside = claim.around.numbers - new.numbers
    counted = bool(new.numbers and beside) and beside.isdisjoint(old.numbers)
    alike = not old.words.isdisjoint(claim.around.words) or not (old.sorts - {""}).isdisjoint(new.sorts)
    return counted and not alike


def has_no_other_value(node: Node, claim: Claim) -> bool:
    """Whether a sentence (``claim``) only repeats the values of a fact (``node``), or gives a value of another thing:
    "the boathouse costs 600 euros" for the fact "the budget is 2,500 euros".

    False if the sentence has a word of change ("instead"), if only one of the two is a denial, or if one of them has no
    value.
    """
    if claim.has_change_word or is_denial(claim.line) != is_denial(node.label):
        return False
    old, new = read_stated(node.label), claim.stated
    known, said = old.values | old.names, new.values | new.names
    if known and said:
        again = said <= known or (known <= said and old.words <= new.words)
        apart = not old.words & claim.around.words and bool(old.words and new.words) and known.isdisjoint(said)
        return again or (apart and (differ_measured(old, new) or differ_counted(old, new)))
    return False


def _nearest(claim: Claim, old: StatedValues) -> tuple[str, StatedValues]:
    """The clause of a claim that is closest to a fact (``closeness``), with its values."""
    clauses = claim.clauses
    return clauses[0] if len(clauses) == 1 else max(clauses, key=lambda clause: closeness(old, clause[1]))


def _is_named(old: StatedValues, claim: Claim) -> bool:
    """Whether a claim or its neighbours name a value of a fact, or have all words of a fact without values."""
    named = claim.named
    if not (named.isdisjoint(old.names) and named.isdisjoint(old.values) and claim.name_keys.isdisjoint(old.words)):
        return True
    return not (old.names or old.values) and bool(old.words) and old.words <= claim.around.words


def closeness(old: StatedValues, new: StatedValues) -> float:
    """Return how close a clause (``new``) is to a fact (``old``): a score without a unit, higher if they share words or
    give different values of one kind."""
    typed = True in _differ_in_type(old, new)
    shared = len(old.words & new.words)
    return 2 * typed + 1.2 * differ_names(old, new) + shared / (len(old.words) or 1) + 0.5 * (shared > 0)
