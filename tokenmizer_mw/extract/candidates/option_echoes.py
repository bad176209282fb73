"""Find choices that a reply makes by repeating words of an offered option: "bundle, they run it without docker",
"sops yes", "the button is fine". The full text of the option is in the message before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokenmizer_mw.extract.dialogue.referent import find_referent
from tokenmizer_mw.extract.dialogue.situation import Situation
from tokenmizer_mw.extract.finding import Finding, Move, Segment
from tokenmizer_mw.extract.match.rule_hits import is_anaphoric, read_hits
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import (
    bound_sentence,
    is_question,
    is_report,
    is_supposition,
    split_reason,
    strip_lead,
    strip_trailer,
)
from tokenmizer_mw.extract.text.similar import content
from tokenmizer_mw.model.node import DecisionKind, NodeType, Status, Trust

from .finding_makers import read_slot_fields

SENTENCES_READ: Final = 4
"""Number of sentences at the beginning of a reply that may repeat an option."""

NAME_WORDS: Final = 6
"""Most words with which a reply names an option."""

_CONFIDENCE: Final = 0.75

_AGREEING: Final = (
    r"(?:yes|yep|yeah|yup|sure|ok(?:ay)?|fine|good|great|nice|neat|cool|perfect|agreed|right|then|please|pls|lol|thanks"
    r"|for now|it is|you said|as you said|sounds (?:good|fine|great|right|reasonable|better|simpler|grown up)"
    r"|makes sense|works(?: for (?:me|us))?|will do|would do|wins|final(?: answer)?|first|instead"
    r"|sí|si|vale|bien|ja|passt|gut|dann|gerne?|klar|oui|d'accord|sim|bom|pode ser|va bene|certo|да|хорошо|ок|ठीक|हाँ"
    r"|(?:is|are|'s) (?:fine|ok|okay|good|enough|great|neat|nice|better|perfect|plenty|the way to go|what (?:i|we) want"
    r"|all right|alright|good enough|a good (?:idea|plan))(?: (?:for|with|by) (?:me|us|now))?)"
)
_BEHIND: Final = compile_lazily(rf"(?P<said>.+?)(?:[\s,]+{_AGREEING})+$")
_BEFORE: Final = compile_lazily(
    rf"(?:(?:{_AGREEING}|the|an?|that|your|do|to|with|go with|and|but)[\s,:]+)+(?P<said>.+)$"
)
_PAUSE: Final = compile_lazily(r"[,;:.]\s|\s(?:--?|–|—|→)\s|[，；：、。]")
STATES: Final = PatternSet(
    r".*\b(?:is|are|was|were|am|has|have|had|can|can't|could|will|won't|would|wouldn't|should|might|may|do|does|did"
    r"|didn't|doesn't|don't|not|no|never|i|we|he|she|they|you|it|this|that|what|which|why|how|when|where|who|because|if"
    r"|said|says|now|still|already|again|also|there|than)\b"
)
"""Matches words of statements and questions, which occur in no name."""
_BESIDE: Final = frozenset({Act.LATER, Act.PROGRESS, Act.COMPLAINT, Act.STILL, Act.CONFIRM})
"""Acts as which a rule may read the words beside a choice: "warn, so it is not red over the weekend"."""
_NO_WORDS: Final = frozenset('@/<{["')
_FAILS: Final = PatternSet(
    r".*\b(?:fail(?:s|ed|ure)?|errors?|broken?|crash(?:es|ed)?|wrong|missing|problems?|issues?|bug|slow|weird|worse"
    r"|passed|passes|green|done|fixed|works|worked|merged|deployed|ran|got|tried|checked|thanks?|hello|hi)\b"
)


def read_echoes(spoken: Sequence[Segment], situation: Situation) -> list[Finding]:
    """Return the findings of the choices that the first sentences of a reply make by repeating an option, at most one
    per sentence; [] for none."""
    made = (_find_echo(segment, situation) for segment in spoken[:SENTENCES_READ])
    return [finding for finding in made if finding is not None]


def _find_echo(segment: Segment, situation: Situation) -> Finding | None:
    text = strip_lead(bound_sentence(segment.text)).rstrip(" .!…")
    if not text or is_question(text) or is_supposition(text) or is_report(text) or ": " in text or text[0] in _NO_WORDS:
        return None
    label = next((said for part in dict.fromkeys(_split_parts(text)) if (said := _named_words(part, situation))), "")
    if not label or any(hit.rule.act not in _BESIDE for hit in read_hits(segment.text, Speaker.USER)):
        return None
    told = find_referent(label, situation.offers.pieces, offered=True)
    if not told and not _is_put_up(label, situation):
        return None
    slot = read_slot_fields(label)
    return Finding(
        NodeType.DECISION,
        label if _ASKS_FACT.any(told) else told or label,
        Status.ACTIVE,
        Trust.ADOPTED,
        _CONFIDENCE,
        Move.ADOPT,
        kind=DecisionKind.CHOICE,
        reason=split_reason(text)[1],
        quote=segment.text,
        span=(segment.start, segment.end),
        slot=slot.get("slot", ""),
        value=slot.get("value", ""),
    )


_ASKS_FACT: Final = PatternSet(
    r"(?:.*[:,;] )?(?:and |but |so )?(?:how (?:many|much|long|often|big|old|far)|what|which|who|whose|when|where|why)\b"
)
"""Matches parts of questions that ask for a fact: then the answer is the decision, not the words of the question."""


def _split_parts(text: str) -> Iterator[str]:
    """Iterate over the parts of a sentence that may name an option: the whole sentence, the part before its reason or
    its first pause, and the parts after "yes,"."""
    yield text
    yield split_reason(text)[0]
    rest = text
    while (pause := _PAUSE.search(rest)) is not None:
        if rest is text or _BEHIND.match(rest[: pause.start()]) is not None:
            yield rest[: pause.start()]
        rest = rest[pause.end() :]
    if rest is not text and _BEHIND.match(rest) is not None:
        yield rest


def _named_words(text: str, situation: Situation) -> str:
    """The words of ``text`` that name something in the message before, without words of agreement ("bundle" of
    "bundle please"); "" if it has other words."""
    behind = _BEHIND.match(text)
    named = behind.group("said") if behind is not None else text
    before = _BEFORE.match(named)
    named = strip_trailer(before.group("said") if before is not None else named).strip(" ,;:.\"'")
    words = content(named) if len(named.split()) <= NAME_WORDS else frozenset[str]()
    if max(map(len, words), default=0) < 2:
        return ""
    shared = len(words & situation.told_words)
    if shared < len(words) and (behind is None or 2 * shared < len(words)):
        return ""
    return "" if is_anaphoric(named) or STATES.any(named) or _FAILS.any(named) else named


def _is_put_up(label: str, situation: Situation) -> bool:
    """Whether an offered clause contains at least half of a label's words, of which there must be two or more."""
    words = content(label)
    return len(words) > 1 and any(
        piece.offered and 2 * len(words & content(piece.sentence)) >= len(words) for piece in situation.offers.pieces
    )
