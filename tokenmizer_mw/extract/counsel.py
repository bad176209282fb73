"""Where an assistant's message does not speak of work that it did: advice, worked examples, and text that it writes for
somebody else to say.

Such text is full of what looks like a report: "Fixed hours: set them", "Completed: 40 %", "I have reached every goal".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from .finding import Segment, SegmentKind
from .pattern import PatternSet, compiled
from .phrases import bounded, without_lead
from .rules import Act, Speaker
from .rules.verbs import BIDDING
from .situation import ASKED_MAX, Situation

ANYWHERE: Final = frozenset({Act.PROPOSAL, Act.FILES, Act.HANDOVER, Act.REASON})
"""What may be read in such text too: what it proposes stays a proposal, and a file is a file."""

ADVICE_MIN: Final = 3
"""Sentences that advise in a message of advice, at least."""

ADVICE_SHARE: Final = 0.3
"""Their share among its sentences, at least."""

_TO_THE_HEARER: Final = PatternSet(
    r".*\b(?:you (?:can|could|should|might|may|want|need to|will|would|are|have|feel|decide|don't|plan)\b"
    r"|you'(?:ll|re|ve|d)\b|yourself\b|your\b)"
)
_HEADED: Final = compiled(r"[^:.!?]{2,60}: +(?P<body>.+)")
_OF_ITSELF: Final = PatternSet(r"(?:i|we)(?:'ve|'m|'ll|'d| have| am| also| just| now)?\b")

_MINE: Final = PatternSet(r".*\b(?:my|myself|(?:allowed|enabled|helped|inspired|taught|made|gave|led) me)\b")
_MY_WORK: Final = PatternSet(
    r".*\bmy (?:\w+ )?(?:answers?|apolog(?:y|ies)|changes?|code|commits?|drafts?|edits?|examples?|fix(?:es)?|knowledge"
    r"|desk|end|head|list|machine|messages?|mind|mistakes?|notes?|plate|radar|side|patch(?:es)?|repl(?:y|ies)|sandbox|suggestions?|tests?|tools?|understanding|versions?"
    r"|work)\b",
)
"""What an assistant may call its own; of anything else it speaks with another's voice."""

_SHOWN: Final = PatternSet(
    r"(?:.* )?(?:(?:an? |for )?(?:example|sample|template|illustration|scenario|draft)s?)\b.*",
)
"""Headings and lead-ins of what is only shown: "Sample answer", "For example", "Here is a draft"."""

_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})

_BLANK: Final = PatternSet(
    r".*\[(?-i:[A-Z][\w'/-]*(?: [\w'/-]+)*|[a-z][\w'/-]*(?: [\w'/-]+)+|amount|name|date|number)\]"
)
"""A blank to fill in: "[Your Name]", "over $[amount]"."""

_LETTER_OPENS: Final = PatternSet(
    r"subject: ",
    r"(?:dear|to whom it may concern)\b.{0,60}",
    r"(?:hi|hello) (?-i:\[|[A-Z])[^,.!?]{1,30},$",
)
_LETTER_CLOSES: Final = PatternSet(
    r"(?:sincerely|best(?: regards| wishes)?|(?:kind|warm|warmest) regards|regards|yours|respectfully|cheers"
    r"|many thanks|thank you),?(?: .{0,60})?$",
    r"\[your (?:full )?name\]",
)
_ASKED_FOR_TEXT: Final = PatternSet(
    r"(?s).*\b(?:write|draft|compose|revise|rewrite|reword|rephrase|proofread|edit|polish|tailor|shorten|improve|refine"
    r"|tighten|tweak|prepare|update|finish|feedback on|help (?:me )?with) (?:[\w'-]+ ){0,6}?(?:letter|e-?mail|essay"
    r"|statement|resume|r\x{e9}sum\x{e9}|cv|bio(?:graphy)?|profile|speech|caption|pitch|abstract|summary|synopsis|logline|dialogue|monologue|poem|toast|vows|invitation|obituary)\b"
)
_WRITES: Final = PatternSet(
    r"(?:i|we)(?:'ve| have)? (?:also |now |just )*(?:added|adjusted|changed|created|drafted|edited|expanded|included"
    r"|kept|made|merged|moved|polished|put|removed|reordered|reorgani[sz]ed|rephrased|replaced|restructured|revised|reworked"
    r"|rewrote|rewritten|shortened|simplified|split|tightened|trimmed|updated|wrote|written)\b"
)
"""What an assistant says of a text that it was asked for."""


class Counsel:
    """Which sentences of an assistant's message are advice, examples or somebody else's words.

    A message without tools around it advises where many of its sentences bid or address the hearer; all of it is
    advice then, but for what it says in the first person.
    """

    def __init__(self, segments: Sequence[Segment], situation: Situation) -> None:
        self._segments, self._situation = segments, situation

    def holds(self, segment: Segment) -> bool:
        """Whether ``segment`` tells nothing of what an assistant did or decided; never for a user's."""
        if self._situation.speaker is not Speaker.ASSISTANT:
            return False
        text = without_lead(bounded(segment.text))
        if _BLANK.any(text) or (_MINE.any(text) and not _MY_WORK.any(text)):
            return True
        if self._situation.tooled:
            return False
        if segment.start in self._letters:
            return True
        if _OF_ITSELF.any(text):
            return self._text_wanted and not _WRITES.any(text)
        return self._advises or _SHOWN.any(bounded(segment.heading))

    @cached_property
    def _advises(self) -> bool:
        spoken = [segment for segment in self._segments if segment.kind in _SPOKEN]
        bids = sum(1 for segment in spoken if _bids(without_lead(bounded(segment.text))))
        return bids >= max(ADVICE_MIN, ADVICE_SHARE * len(spoken))

    @cached_property
    def _letters(self) -> frozenset[int]:
        return _letters(self._segments)

    @cached_property
    def _text_wanted(self) -> bool:
        asked = self._situation.asked
        return asked is not None and _ASKED_FOR_TEXT.any(asked[1].text[:ASKED_MAX])


def _bids(text: str) -> bool:
    """Whether a sentence tells its hearer what to do: "Keep a list", "Breaks: take one an hour", "you could ask"."""
    headed = _HEADED.match(text) if ": " in text else None
    body = headed.group("body") if headed is not None else text
    return body.partition(" ")[0].strip(".,;:!").casefold() in BIDDING or _TO_THE_HEARER.any(text)


def _letters(segments: Sequence[Segment]) -> frozenset[int]:
    """Where the sentences of letters begin, from the greeting to the one that closes it; none without a closing."""
    found: list[int] = []
    opened: list[int] | None = None
    for segment in segments:
        text = bounded(segment.text)
        if opened is None and _LETTER_OPENS.any(text):
            opened = []
        if opened is not None:
            opened.append(segment.start)
            if _LETTER_CLOSES.any(text):
                found += opened
                opened = None
    return frozenset(found)
