"""Find the user's statements that the assistant repeats in short form ("Noted: Postmark, weekly mails").

Whoever repeats a statement acknowledges it (H. H. Clark and E. F. Schaefer, "Contributing to discourse", Cognitive
Science 13, 1989). The repetition is short and names things one by one, in any language, so its items are better labels
than the user's sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tokenmizer_mw.extract.dialogue.situation import ASKED_MAX, Situation
from tokenmizer_mw.extract.finding import Finding, Segment, SegmentKind
from tokenmizer_mw.extract.match.frames import find_frames
from tokenmizer_mw.extract.rules.acknowledgement_words import DENIES, TAKES_UP, WORKS_ON
from tokenmizer_mw.extract.rules.frame_words import Frame
from tokenmizer_mw.extract.rules.verbs import DONE_VERBS
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, strip_lead
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding_makers import read_slot_fields
from .option_echoes import STATES

SENTENCES_READ: Final = 2
"""Number of sentences at the beginning of an answer that may repeat a statement."""
SENTENCE_MAX: Final = 140
TEXTS_KEPT: Final = 4
"""Number of user's messages whose statements are cached: an assistant with tools answers one in several messages."""
ITEM_WORDS: Final = 8
NAME_WORDS: Final = 2
SHARE: Final = 0.75
"""Smallest share (0 to 1) of a sentence's content stems that must come from the user, or from a proposal that the user
accepts."""
ASKED_SHORT: Final = 120
"""Longest message of the user, in characters, that may accept a whole proposal."""

_CONFIDENCE: Final = 0.65
_CUT: Final = compile_lazily(
    r"(?:,\s+|[;，、。；]\s*)(?:and |und |et |y |e |и )?| and | und | et | y | и |(?:^|\s)(?:itself|so|итак|also): "
)
_ACTS: Final = PatternSet(
    r".*\b(?:i|i'll|i've|i'd|i'm|we|we'll|let me|let's|you|it's|that|this|done|added|updated|created|fixed"
    r"|implemented"
    r"|changed|here(?:'s| is)|now|will|can|could|should|ich|je|j'ai|yo|he|io|ho|eu)\b",
    r".*(?:我|可以|建议|я |сделал|советую)",
    *WORKS_ON,
)
"""Matches sentences that do not repeat anything: the assistant speaks of its own work, or to the user."""
_REPORTS: Final = PatternSet(rf".*\b(?:{DONE_VERBS}|works|runs|ready|in place)$")
"""Matches a report of work at the end of a sentence: "importer built"."""
_TAKES_UP: Final = compile_lazily(rf"{TAKES_UP}(?:[:,.!，。：]+\s*|\s+(?:--?|–|—)\s+|$)")
_DENIES: Final = PatternSet(*DENIES)
"""Matches what says that a thing does not do what it should: a complaint of the user, whoever repeats it."""


def find_acknowledged(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return the user's statements that the beginning of an assistant's message repeats, one finding per item; [] for
    none.

    ``spoken``: the segments of the assistant's message; ``situation``: has the user's message. If tools are in use, a
    complete sentence ("clock.py has both directions") is skipped, because it reports work.
    """
    if situation.asked is None:
        return []
    stated, accepts = _read_statements(situation.asked[1].text[:ASKED_MAX])
    if not stated and not accepts:
        return []
    offered = situation.proposed_words if accepts else frozenset[str]()
    made: list[Finding] = []
    for segment in [one for one in spoken if one.kind is SegmentKind.PROSE][:SENTENCES_READ]:
        line = bound_sentence(segment.text)
        whole = strip_lead(line).rstrip(" .!。")
        text = _without_acknowledgement(whole)
        if len(text) > SENTENCE_MAX or is_question(line) or any(_is_other(one) for one in (line, text)):
            break
        words = content(text)
        said = stated | offered if len(words) > 1 else stated
        tells_number = any(word[0].isdigit() for word in words - said)
        if words and not tells_number and len(words & said) >= SHARE * len(words):
            items = (item for item in _split_items(text) if text == whole or _is_understandable_alone(item))
            made += [_make_finding(item, segment) for item in items if not (situation.tooled and STATES.any(item))]
    return made


def _is_other(text: str) -> bool:
    """Whether a sentence does something else than repeat a statement: it complains, or speaks of the assistant's
    work."""
    return _ACTS.any(text) or _DENIES.any(text) or _REPORTS.any(text.rstrip(" .!"))


def _is_understandable_alone(item: str) -> bool:
    """Whether an item after a word of acknowledgement can be understood alone: it is a name or has several words."""
    return len(item.split()) > NAME_WORDS or any(char.isupper() or char.isdigit() for char in item)


def _without_acknowledgement(text: str) -> str:
    """``text`` without a word that only acknowledges: "WooCommerce" for "De acuerdo: WooCommerce"."""
    word = _TAKES_UP.match(text)
    return text[word.end() :] if word is not None else text


@lru_cache(maxsize=TEXTS_KEPT)
def _read_statements(text: str) -> tuple[frozenset[str], bool]:
    """The content stems of the statements in a message, and whether the message may accept an earlier proposal."""
    text = replace_surrogates(text)
    said = [text[start:end].strip() for start, end in find_sentences(text, 0, len(text))]
    asserted = [one for one in said if not is_question(one) and not find_frames(one)]
    stems = frozenset().union(*(content(one[:SENTENCE_MAX]) for one in asserted))
    return stems, len(text) <= ASKED_SHORT and len(asserted) > 0


def _split_items(text: str) -> Iterator[str]:
    rest = text
    while (border := _CUT.search(rest)) is not None:
        yield from _clean_item(rest[: border.start()])
        rest = rest[border.end() :]
    yield from _clean_item(rest)


def _clean_item(text: str) -> Iterator[str]:
    item = text.strip(" .,;:!，。")
    if content(item) and len(item.split()) <= ITEM_WORDS and Frame.COURTESY not in find_frames(item):
        yield item


def _make_finding(item: str, segment: Segment) -> Finding:
    slot = read_slot_fields(item)
    return Finding(
        NodeType.DECISION,
        item,
        Status.ACTIVE,
        Trust.ADOPTED,
        _CONFIDENCE,
        kind=DecisionKind.CHOICE,
        quote=segment.text,
        span=(segment.start, segment.end),
        slot=slot.get("slot", ""),
        value=slot.get("value", ""),
    )
