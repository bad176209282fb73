"""Find the rules that a sentence matches, after introductory words are removed. Questions and suppositions match none,
except orders in the form of a question. A rule for whole sentences comes before rules for clauses."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.rules import MEANINGS, RULES, Act, Speaker
from tokenmizer_mw.extract.rules.assistant import BAD_NEWS
from tokenmizer_mw.extract.rules.frame_words import Frame
from tokenmizer_mw.extract.rules.states import ENGLISH_WORDS, HALF, RECOVERED_ABROAD, SENTENCES
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import (
    bound_sentence,
    is_question,
    is_report,
    is_supposition,
    read_order,
    split_clauses,
    split_question,
    strip_lead,
)
from tokenmizer_mw.model.node import DecisionKind

from .frames import find_frames, is_of_others
from .hit import Hit, RuleTable, is_anaphoric
from .languages import detect_languages
from .mixed_status import read_mixed_status
from .other_languages import ORDERS, read_foreign_hits

SENTENCES_KEPT: Final = 256
"""Number of sentences whose hits are cached, because a sentence is asked about several times while its message is
read."""

_ENDS: Final = " .!…"


_STATES: Final = RuleTable((row for rows in SENTENCES.values() for row in rows), Speaker.USER)
"""Rules about how things stand, in any language, for users' sentences that no other rule reads."""
_STATES_ENGLISH: Final = len(SENTENCES["en"])
"""How many of these rules are English; they come first."""
_WHOLE: Final = {speaker: RuleTable(HALF["en"], speaker) for speaker in (Speaker.USER, Speaker.ASSISTANT)}
"""Rules for sentences of two halves, one of which says that something is well; the whole sentence becomes the label."""
_RECOVERED: Final = RuleTable((RECOVERED_ABROAD,), Speaker.BOTH)
_TABLES: Final = {speaker: RuleTable(RULES, speaker) for speaker in (Speaker.USER, Speaker.ASSISTANT)}


@lru_cache(maxsize=SENTENCES_KEPT)
def read_hits(sentence: str, speaker: Speaker) -> tuple[Hit, ...]:
    """Return the hits of rules in ``sentence``, in the order of its clauses; () if no rule matches, as in most
    questions and suppositions. ``speaker``: whose sentence it is; there are other rules for users than for
    assistants."""
    line = bound_sentence(sentence)
    if mixed := _mixed_status(line, speaker):
        return mixed
    text = line.rstrip(_ENDS)
    if (recovered := _RECOVERED.first(text, _RECOVERED.reading(text))) is not None and not is_question(line):
        return (recovered,)
    abroad = read_foreign_hits(line, speaker)
    if abroad is not None:
        return abroad
    if speaker is Speaker.ASSISTANT:
        return _read_line(line, speaker)
    said, question = split_question(line)
    if question:
        return (*(_read_line(said, speaker) or _read_state(said)), *_read_line(question, speaker))
    return _read_line(line, speaker) or _read_state(line)


@lru_cache(maxsize=SENTENCES_KEPT)
def _mixed_status(line: str, speaker: Speaker) -> tuple[Hit, ...]:
    """The hits of a sentence that says that one thing is done and another is not, or that something is done or works
    only in part or at times: one for the whole sentence, or one per clause. () for any other sentence, and for
    questions, suppositions, orders and reports of what others say."""
    text = strip_lead(line).rstrip(_ENDS)
    if not text or is_question(line) or is_supposition(text) or read_order(text) or is_report(text):
        return ()
    whole = _WHOLE[speaker].first(text, _WHOLE[speaker].reading(text))
    return (whole,) if whole is not None else read_mixed_status(text, _TABLES[speaker], speaker)


def has_mixed_status(sentence: str) -> bool:
    """Whether a sentence of the user says that one thing is done and another is not, or that something is done or works
    only in part or at times. False for questions, suppositions, orders and reports of what others say."""
    return bool(_mixed_status(bound_sentence(sentence), Speaker.USER))


def read_kind(statement: str) -> DecisionKind:
    """Return the kind of a decision by its words: a rule ("never push to main"), a preference, else a choice."""
    kinds = (MEANINGS[hit.rule.act].kind for hit in read_hits(statement, Speaker.USER))
    standing = (DecisionKind.RULE, DecisionKind.PREFERENCE)
    return next((kind for kind in kinds if kind in standing), DecisionKind.CHOICE)


def may_be_reason(text: str, *, behind: bool) -> bool:
    """Whether a sentence next to a change may be the reason for it: it states no rule or goal and does not end with a
    colon.

    ``behind``: whether it follows the change. If so, it must not give an order either, nor reject something in addition
    ("... either").
    """
    if text.rstrip().endswith((":", "：")):
        return False
    own = _LAYS_DOWN | (_GOES_ON if behind else frozenset())
    acts = {hit.rule.act for hit in read_hits(text, Speaker.USER)}
    return acts.isdisjoint(own) and not (behind and Act.REJECT in acts and _BESIDES.any(text))


_LAYS_DOWN: Final = frozenset({Act.RULE, Act.GOAL})
_GOES_ON: Final = frozenset({Act.REQUEST})
_BESIDES: Final = PatternSet(r".*\b(?:also|either|as well|auch|aussi|non plus|también|tampoco|anche|neanche|também)\b")


def _read_state(line: str) -> tuple[Hit, ...]:
    """The hit of a sentence that says as a whole how things are; () for none."""
    text = strip_lead(line).rstrip(_ENDS)
    if not text or read_order(text) or is_question(line):
        return ()
    numbers = _STATES.reading(text)
    if any(number >= _STATES_ENGLISH for number in numbers) and _is_english(line):
        numbers = [number for number in numbers if number < _STATES_ENGLISH]
    hit = _STATES.first(text, numbers)
    if hit is None or find_frames(text) & _SILENT or (hit.rule.act is Act.COMPLAINT and is_of_others(line)):
        return ()
    return (hit,)


def _is_english(line: str) -> bool:
    """Whether a sentence has small English words and no word that shows another language: "our rota" is not Spanish."""
    words = line.casefold().split()
    return not ENGLISH_WORDS.isdisjoint(words) and not detect_languages(line)


_SILENT: Final = frozenset({Frame.QUESTION, Frame.HYPOTHETICAL, Frame.COURTESY})


def _read_line(line: str, speaker: Speaker) -> tuple[Hit, ...]:
    """The hits of an English sentence that states something or asks for something politely."""
    table = _TABLES[speaker]
    text = strip_lead(line)
    if not text:
        return ()
    if speaker is Speaker.USER and (order := read_order(text)):
        return tuple(hit for hit in _read_sentence(table, order) if hit.rule.act in ORDERS)
    stripped = text.rstrip(_ENDS)
    numbers = table.reading(stripped)
    leading = table.first(stripped, numbers)
    if leading is not None and leading.rule.explicit:
        return (leading,) if not is_question(text) else ()
    if leading is not None and leading.rule.act is Act.PROPOSAL:
        return (leading,)
    parts = split_clauses(stripped)
    if (leading is None and len(parts) < 2) or is_question(text) or is_supposition(text):
        return ()
    if speaker is Speaker.USER and is_report(text):
        return ()
    return _read_parts(table, parts, leading)


def _read_sentence(table: RuleTable, text: str) -> tuple[Hit, ...]:
    stripped = text.rstrip(_ENDS)
    return _read_parts(table, split_clauses(stripped), table.first(stripped, table.reading(stripped)))


def _read_parts(table: RuleTable, parts: list[str], leading: Hit | None) -> tuple[Hit, ...]:
    """The hits of a sentence's clauses; only ``leading`` (the hit of the whole sentence) if its rule is for whole
    sentences or there is one clause."""
    if leading is not None and (leading.rule.whole or len(parts) < 2):
        return (leading,)
    if len(parts) < 2:
        return ()
    found = []
    for part in parts:
        said = strip_lead(part).rstrip(_ENDS)
        hit = table.first(said, table.reading(said)) if said and not is_supposition(said) else None
        if hit is not None and hit.rule not in BAD_NEWS:  # which judge whole sentences: "it seems that it still fails"
            found.append(hit)
    return tuple(found)


__all__ = ["SENTENCES_KEPT", "Hit", "has_mixed_status", "is_anaphoric", "may_be_reason", "read_hits"]
