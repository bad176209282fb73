"""Find changes that the assistant proposed and the user agrees to: "Shall we switch to SQLite?", "go ahead"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tokenmizer_mw.extract.finding import Segment
from tokenmizer_mw.extract.match.frames import find_frames
from tokenmizer_mw.extract.score.contrast import Claim, collect_evidence, count_words, weigh
from tokenmizer_mw.extract.text.clauses import split_statements
from tokenmizer_mw.extract.text.pattern import PatternSet
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question, strip_lead
from tokenmizer_mw.extract.text.prose import find_sentences, replace_surrogates
from tokenmizer_mw.model.node import Node

LEAST: Final = -1.5
"""Lowest log odds that a proposal changes a fact, for the user's agreement to change that fact. They are negative,
because the user was asked about the change."""
TAIL: Final = 500
"""Number of characters at the end of the assistant's message that are searched for a proposal."""
ENDING: Final = 4
"""Number of sentences at the end of that text that may be the proposal."""
REPLY_MAX: Final = 3
"""Most sentences of a reply that counts as an agreement."""

_AGREES: Final = PatternSet(
    r"(?:oh |haan |well,? |hm+,? )?(?:yes|yeah|yep|yup|sure|ok(?:ay)?|agreed|go (?:ahead|on|for it|with (?:it|that"
    r"|your))|do (?:it|that|this|so)|let's do|you(?:'re| are) (?:probably |absolutely )?right"
    r"|you (?:know what, you )?convinced|you've convinced"
    r"|good (?:idea|point|call|thinking)|sounds (?:good|great)|(?:that )?makes sense|please do|deal"
    r"|that's (?:smart|clever|better|evil)|why not|set it up|approved|very interested|\w+ it$)\b",
    r"(?:ja|einverstanden|gute idee|na gut|machen wir|so machen|in ordnung|stell um|klingt gut|überzeugt)\b",
    r"¡?(?:oui|d'accord|ok|bonne idée|allez|vas-y|va pour|inscri\pL+|sí|vale|de acuerdo|(?:qué )?buena idea|adelante"
    r"|hazlo|sim|pode|tem razão|boa ideia|está bem|procedi|va bene|ottima idea|buona idea|d'accordo|certo|perfetto)\b",
    r"sì[, .!]|(?:да|давай|согласен|согласна|бери|хорошо|ладно|хорошая идея|делай)(?:[ ,.!]|$)"
    r"|(?:好|可以|行|同意|就这样|没问题|换吧|はい|そうですね|お願いします|いいですね|네|좋아요)",
)
_REFUSES: Final = PatternSet(
    r".*\b(?:but|except|unless|not yet|first ask|aber|außer|erst|mais|sauf|pero|salvo|mas|ma)\b"
    r"|.*(?:но |кроме|但|でも|けど)"
)
_PROPOSES: Final = PatternSet(
    r".*\b(?:i(?:'d| would| could| can| suggest| propose| recommend)|shall (?:i|we)|should (?:i|we)|want me to"
    r"|do you want|would be|suggest(?:ion)?|propos\w+|recommend\w*|instead|rather than|better)\b",
    r".*\b(?:würde|wäre|vorschlag|stattdessen|statt|sollen wir|propose|recommande|plutôt|propuesta|propongo|en lugar"
    r"|mejor|sugiro|posso|melhor|proporrei|suggerisco|consiglio|al posto)\b",
    r".*(?:лучше|предлагаю|взять|делаем|建议|改成|换成|要不要|お勧め|ほうが|にしますか|제안)|.*[?？]$",
)


def find_agreed(spoken: Sequence[Segment], told: str, facts: Sequence[Node], turn: int) -> tuple[Node, str] | None:
    """Return the fact that a user's reply changes by agreeing to a proposal, and the sentence of the proposal; ``None``
    if it changes none.

    - ``spoken``: the sentences of the reply; ``turn``: the number of its message.
    - ``told``: the assistant's text, which may end with a proposal; ``facts``: those that may change.
    """
    if not spoken or len(spoken) > REPLY_MAX or not _is_agreement(spoken):
        return None
    tail = replace_surrogates(told[-TAIL:])
    ending = [bound_sentence(tail[start:end]) for start, end in find_sentences(tail, 0, len(tail))][-ENDING:]
    proposals = [sentence for sentence in ending if _PROPOSES.any(sentence)]
    claims = [_claim_from_proposal(one, tail, turn) for one in proposals]
    words = count_words(facts)
    scored = [
        (weight, at, node, one)
        for at, (one, claim) in enumerate(zip(proposals, claims, strict=True))
        for node in facts
        if (weight := weigh(node, claim, words)) >= LEAST and _is_contrast(collect_evidence(node, claim, words))
    ]
    best = max(scored, key=lambda scores: scores[:2], default=None)
    return (best[2], best[3]) if best is not None else None


def _is_contrast(found: Mapping[str, float]) -> bool:
    """Whether the evidence that a proposal changes a fact contains a word of change or another value of the same
    kind."""
    return any(found.get(name) for name in ("change", "measured", "counted", "members"))


def _is_agreement(spoken: Sequence[Segment]) -> bool:
    """Whether a reply agrees without a condition or a question."""
    lines = [bound_sentence(one.text) for one in spoken]
    if any(is_question(line) or _REFUSES.any(line) for line in lines):
        return False
    return any(_AGREES.any(line) or (not find_frames(line) and _AGREES.any(strip_lead(line))) for line in lines)


def _claim_from_proposal(sentence: str, beside: str, turn: int) -> Claim:
    line = strip_lead(sentence).rstrip(" .!?？。")
    parts = tuple(part for part in split_statements(line) if part) or (line,)
    return Claim(line, parts, beside, turn, last=True)
