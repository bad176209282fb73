"""Detect clauses about future work ("later", "next week", "Anna does it"). The phrases of each language are in
``rules.ahead``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final

from tokenmizer_mw.extract.finding import Segment
from tokenmizer_mw.extract.match.languages import detect_languages
from tokenmizer_mw.extract.rules.ahead import ENGLISH, Ahead
from tokenmizer_mw.extract.rules.tongues import TONGUES
from tokenmizer_mw.extract.text.pattern import Pattern, PatternSet, PatternTable, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, strip_lead

KEPT: Final = 64
"""Number of sentences whose results ``is_postponement`` caches, because those of open work are asked about at every
message."""

ENDS: Final = " .!…。！,;:，、；"
_TELLING_SENTENCES: Final = 3
_TELLING_MAX: Final = 400
_PAUSE: Final = compile_lazily(
    r"[,;:]\s+(?:(?:and|but|so|then|also|aber|und|dann|y|pero|e|et|mais|mas|ma|però|но|а|и) )?"
    r"|\s(?:--?|–|—)\s|\s(?:but|aber|pero|mais|mas|но)\s|[，、；：]"
    r"|\sand\s(?:i|we)(?:'d| would)? (?:also |still )?(?:want|need|like)\s"
)


@dataclass(frozen=True, slots=True)
class AheadRow:
    """The phrases for future work in one language, compiled. The fields are those of ``rules.ahead.Ahead``. If the
    language has no such phrases, ``hollow`` and ``lead`` are ``None``, and the other fields match nothing."""

    hands: PatternSet
    plans: PatternTable
    left: PatternSet
    times: PatternSet
    past: PatternSet
    habit: PatternSet
    hollow: Pattern | None
    lead: Pattern | None

    def is_timing(self, clause: str) -> bool:
        """Whether a clause only says when or by whom something is done ("I do that after lunch"). False for a habit ("I
        do that every Monday")."""
        return (self.hands.any(clause) or self.times.any(clause)) and not self.habit.any(clause)

    def has_future_work(self, clause: str) -> bool:
        """Whether a clause names work that will be done ("I'll fix the login tomorrow") or is left to do ("the login
        can wait"). False for a habit."""
        ahead = self.left.any(clause) or (self.plans.any(clause) and not self.past.any(clause))
        return ahead and not self.habit.any(clause)

    def read_timing(self, clause: str) -> str:
        """Return the part of a clause that says when or by whom: "after lunch" for "I do that after lunch". A clause
        without words such as "I do that" at its beginning is returned as it is."""
        return _text_behind(self.hollow, clause)

    def read_work(self, clause: str) -> str:
        """Return the work that a clause names: "fix the login" for "later I'll fix the login". A clause without such
        words at its beginning is returned as it is."""
        return _text_behind(self.lead, clause)


def _text_behind(opening: Pattern | None, clause: str) -> str:
    match = opening.match(clause) if opening is not None else None
    return clause[match.end() :].strip(ENDS) if match is not None else clause


AHEAD: Final = {row.code: row for row in (ENGLISH, *(tongue.ahead for tongue in TONGUES))}
"""The phrases of each language, by its code ("en")."""


@cache
def _reader(code: str) -> AheadRow:
    row: Ahead = AHEAD[code]
    return AheadRow(
        PatternSet(*(f"(?:{pattern})$" for pattern in row.hands)),
        PatternTable(row.plans),
        PatternSet(*row.left),
        PatternSet(*(f"(?:{pattern})$" for pattern in row.times)),
        PatternSet(*filter(None, (row.past,))),
        PatternSet(*filter(None, (row.habit,))),
        compile_lazily(row.hollow) if row.hollow else None,
        compile_lazily(row.lead) if row.lead else None,
    )


class Readers:
    """Selects the phrases to apply to the sentences of one message: those of the sentence's language or, if that is
    unclear, of the message's, and always the English ones. ``spoken``: the segments of the message."""

    def __init__(self, spoken: Sequence[Segment] = ()) -> None:
        self._spoken = spoken

    @cached_property
    def _message(self) -> tuple[str, ...]:
        return _codes(" ".join(segment.text for segment in self._spoken[:_TELLING_SENTENCES]))

    def of(self, sentence: str) -> list[AheadRow]:
        """Return the phrases to apply to a sentence, most probable language first and English last."""
        codes = _codes(sentence) or self._message
        return [_reader(code) for code in dict.fromkeys((*codes, ENGLISH.code))]


def _codes(text: str) -> tuple[str, ...]:
    return tuple(tongue.code for tongue in detect_languages(text[:_TELLING_MAX]) if tongue.code in AHEAD)


@lru_cache(maxsize=KEPT)
def is_postponement(sentence: str) -> bool:
    """Whether a part of a sentence says that something is done later or by somebody else, or is left to do."""
    text = bound_sentence(sentence)
    said = [strip_lead(part).rstrip(ENDS) for part in split_at_pauses(text)]
    return any(reader.is_timing(part) or reader.has_future_work(part) for reader in Readers().of(text) for part in said)


def is_only_postponement(clause: str) -> bool:
    """Whether a clause only says when or by whom something is done, so that the work itself is named elsewhere."""
    return any(reader.is_timing(clause.rstrip(ENDS)) for reader in Readers().of(clause))


def split_at_pauses(text: str) -> Iterator[str]:
    """Iterate over the parts of a sentence between commas, dashes, "but" and the like."""
    while (border := _PAUSE.search(text)) is not None:
        if part := text[: border.start()].strip():
            yield part
        text = text[border.end() :]
    if part := text.strip():
        yield part
