"""Read sentences and short answers in languages other than English, with the tables of each language: hits of rules,
orders, offers, and what a short answer means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from tokenmizer_mw.extract.match.languages import detect_languages
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.rules.tongue import Tongue
from tokenmizer_mw.extract.rules.tongues import TONGUES
from tokenmizer_mw.extract.text.pattern import Pattern, PatternSet, PatternTable, compile_lazily
from tokenmizer_mw.extract.text.phrases import is_question

from .hit import Hit, RuleTable, is_anaphoric

ORDERS: Final = frozenset({Act.REQUEST, Act.CHOICE, Act.REPLACE, Act.CHANGE, Act.RETURN, Act.RULE, Act.REJECT})
"""The acts that a polite question can have: "can you add X?", "could we use Y instead?"."""

_DECIDING: Final = frozenset({Act.CHOICE, Act.REPLACE, Act.CHANGE, Act.RETURN, Act.REJECT})
_TOLD_WHOLE: Final = frozenset({Act.COMPLAINT, Act.LATER})
LABEL_MAX: Final = 140
"""Longest sentence, in characters, that becomes a label as a whole because one of its clauses says what fails or is
left."""

_REASON_MIN: Final = 7
"""Fewest bytes of a clause after a choice that may be its reason; a shorter one belongs to the choice."""

_CLAUSES_MAX: Final = 10
_LEADS_MAX: Final = 5
_ENDS: Final = " .!…。！．\u3000।"
_EDGES: Final = " ,;:-–—，、；：。\u3000"
_NEVER: Final = r"[^\s\S]"


class _Reader:
    """The tables of one language, compiled when first used."""

    def __init__(self, tongue: Tongue) -> None:
        self.code = tongue.code
        self.tables = {speaker: RuleTable(tongue.rules, speaker) for speaker in (Speaker.USER, Speaker.ASSISTANT)}
        self.silent = PatternSet(*(text for text in (tongue.supposes, tongue.reports, tongue.asks) if text))
        self.lead, self.polite, self.border, self.because, self.trailer, self.offers = (
            compile_lazily(text or _NEVER)
            for text in (
                tongue.lead,
                tongue.polite,
                tongue.border,
                tongue.because,
                f"(?:{tongue.trailer})$" if tongue.trailer else "",
                tongue.offers,
            )
        )

    def without_lead(self, text: str) -> str:
        for _ in range(_LEADS_MAX):
            match = self.lead.match(text)
            if match is None or not match.end():
                return text
            text = text[match.end() :].lstrip(_EDGES)
        return text

    def hits(self, text: str, speaker: Speaker) -> tuple[Hit, ...] | None:
        """Return the hits of a sentence; () if its form shows that it states nothing, ``None`` if no rule reads it."""
        table = self.tables[speaker]
        text = self.without_lead(text.strip(_EDGES + "¿¡"))
        order = self.order_in(text) if speaker is Speaker.USER else ""
        if order:
            return tuple(hit for hit in self._read(table, order) or () if hit.rule.act in ORDERS)
        stripped = text.rstrip(_ENDS)
        leading = table.first(stripped, table.reading(stripped)) if stripped else None
        if is_question(text):
            return ()
        if leading is not None and leading.rule.explicit:
            return (leading,)
        if self.silent.any(stripped):
            return ()
        return self._read(table, stripped)

    def order_in(self, text: str) -> str:
        match = self.polite.fullmatch(text.rstrip(" ?!.？。！"))
        return match.group("rest") if match is not None else ""

    def _read(self, table: RuleTable, text: str) -> tuple[Hit, ...] | None:
        leading = table.first(text, table.reading(text)) if text else None
        if leading is not None and leading.rule.whole:
            return (self._clean_hit(leading),)
        found: list[Hit] = []
        for clause in self._clauses(text):
            said = self.without_lead(clause).rstrip(_ENDS)
            hit = table.first(said, table.reading(said)) if said and not self.silent.any(said) else None
            if hit is not None:
                found.append(hit)
            elif found:
                found[-1] = self._longer(found[-1], clause)
        if len(found) == 1 and found[0].rule.act in _TOLD_WHOLE and len(text) <= LABEL_MAX:
            return (replace(found[0], label=text),)
        return tuple(self._clean_hit(hit) for hit in found) or (
            None if leading is None else (self._clean_hit(leading),)
        )

    def _clauses(self, text: str) -> list[str]:
        found: list[str] = []
        while len(found) < _CLAUSES_MAX and (match := self.border.search(text)) is not None and match.end():
            found.append(text[: match.start()])
            text = text[match.end() :]
        return [clause for piece in (*found, text) if (clause := piece.strip(_EDGES))]

    def _longer(self, hit: Hit, clause: str) -> Hit:
        """Add a clause that no rule reads to the hit before it: as the reason of a decision, else, or if the clause is
        short, as part of the label. A hit without a label stays as it is."""
        if hit.rule.act not in _DECIDING or not hit.label:
            return replace(hit, label=f"{hit.label}, {clause}") if hit.label else hit
        match = self.because.search(clause)
        if match is not None and match.start() == 0:
            clause = clause[match.end() :]
        elif len(clause.encode()) < _REASON_MIN:
            return replace(hit, label=f"{hit.label}, {clause}")
        return replace(hit, reason=f"{hit.reason}, {clause}" if hit.reason else clause)

    def _clean_hit(self, hit: Hit) -> Hit:
        label, reason = hit.label, hit.reason
        if hit.rule.act in _DECIDING:
            label, why = _split_at(label, self.because)
            reason = reason or why
        target, why = _split_at(hit.target, self.because) if hit.target else ("", "")
        soft = self.trailer.search(label)
        if soft is not None and soft.start() > 0:
            label = label[: soft.start()]
        return replace(hit, label=label.strip(_EDGES), target=target, reason=(reason or why).strip(_EDGES))


def _split_at(label: str, because: Pattern) -> tuple[str, str]:
    match = because.search(label)
    if match is None or match.start() == 0:
        return label, ""
    return label[: match.start()].rstrip(_EDGES), label[match.end() :]


@cache
def _reader_of(tongue_code: str) -> _Reader:
    return _Reader(next(tongue for tongue in TONGUES if tongue.code == tongue_code))


def read_foreign_hits(sentence: str, speaker: Speaker) -> tuple[Hit, ...] | None:
    """Return the hits of rules in a sentence of another language than English.

    () if its form shows that it states nothing (such as a question). ``None`` if no rule of its languages matches, or
    if it seems to be English.
    """
    for tongue in detect_languages(sentence):
        found = _reader_of(tongue.code).hits(sentence, speaker)
        if found is not None:
            return found
    return None


_CHOOSING: Final = compile_lazily("|".join(tongue.choosing for tongue in TONGUES if tongue.choosing))


def is_announcing_choice(text: str) -> bool:
    """Whether a text in another language announces options to choose from."""
    return _CHOOSING.search(text) is not None


def strip_foreign_lead(sentence: str) -> str:
    """Return a sentence without greetings, agreement and other introductory words of its most probable language;
    unchanged if that is English."""
    for tongue in detect_languages(sentence)[:1]:
        sentence = _reader_of(tongue.code).without_lead(sentence)
    return sentence


def read_foreign_offer(sentence: str) -> str:
    """Return what an assistant's sentence in another language offers to do; "" for none."""
    for tongue in detect_languages(sentence):
        reader = _reader_of(tongue.code)
        match = reader.offers.match(reader.without_lead(sentence.strip(_EDGES + "¿¡")))
        if match is not None and not is_anaphoric(label := match.group("label").strip(_EDGES + "?？")):
            return label
    return ""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """What a short answer means. All fields have their defaults for a text that is no short answer.

    - ``yes``, ``no``: it agrees, or refuses. ``both``, ``every``: it wants two options, or all of them.
    - ``key``: the number or letter of the option that it chooses, "" for none.
    - ``place``: the position of the option that it chooses, from 0, -1 for the last; ``None`` for none.
    """

    yes: bool = False
    no: bool = False
    both: bool = False
    every: bool = False
    key: str = ""
    place: int | None = None


def _read_only(words: str, soft: str) -> str:
    return (
        rf"(?:(?:{soft})[\s,.!，。！、]*)*(?:{words})(?:[\s,.!，。！、]+|$|(?:{soft}|{words}))*$" if words else _NEVER
    )


_ANSWERS: Final = tuple(
    text
    for tongue in TONGUES
    for text in (
        _read_only(tongue.yes, tongue.soft or _NEVER),
        _read_only(tongue.no, tongue.soft or _NEVER),
        _read_only(tongue.both, f"{tongue.soft or _NEVER}|{tongue.yes}"),
        _read_only(tongue.every, f"{tongue.soft or _NEVER}|{tongue.yes}|{tongue.both or _NEVER}"),
    )
)
_ANSWERING: Final = PatternTable(_ANSWERS)
_BEHIND_PICK: Final = r"$|[\s,.;:!)，。、！]"
_KINDS: Final = 4
"""How many patterns each language has in ``_ANSWERS``: agreeing, refusing, taking both, taking all."""


def _read_pick(tongue: Tongue) -> str:
    ordinals = "|".join(sorted(tongue.ordinals, key=len, reverse=True)) or _NEVER
    before = rf"(?:(?:{tongue.pick}|{tongue.yes})[\s,，、]*)*"
    behind = f"{_BEHIND_PICK}|{tongue.picked}" if tongue.picked else _BEHIND_PICK
    return rf"{before}(?:(?P<key>[0-9]{{1,2}}|[a-h](?:$|[,.;:!)]))|(?P<which>{ordinals}))(?:{behind})"


_PICKS: Final = tuple(_read_pick(tongue) for tongue in TONGUES)
_PICKING: Final = PatternTable(_PICKS)


def read_short_answer(text: str) -> ShortAnswer:
    """Return what a short answer in another language than English means; a ``ShortAnswer`` with default values if
    ``text`` is none. ``text``: in lower case."""
    said = text.strip(_EDGES + "¡")
    numbers = _ANSWERING.matching(said)
    if numbers:
        kind = numbers[0] % _KINDS
        return ShortAnswer(yes=kind == 0, no=kind == 1, both=kind == 2, every=kind == 3)
    for number in _PICKING.matching(said):
        match = _PICKING[number].match(said)
        if match is None:
            continue
        which = match.group("which").casefold()
        return ShortAnswer(
            key=match.group("key").strip(",.;:!)"), place=TONGUES[number].ordinals.get(which) if which else None
        )
    return ShortAnswer()
