"""How things are before they are changed: sentences that describe it settle nothing.

Who wants something changed tells first what there is ("Currently, ... Errors only get a plain text.") and then what
is wanted ("They should show the reason.").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .finding import Segment
from .pattern import PatternSet
from .phrases import bound_sentence, order_in, without_lead

REACH: Final = 4
"""Sentences back to which the words reach that begin a description."""

_NOW: Final = PatternSet(
    r"(?:currently|at the moment|at present|right now|today|so far|until now|up to now|as it (?:is|stands)|(?:the )?"
    r"(?:current|existing|present) (?:state|situation|behaviou?r|setup|system|version|code|implementation))\b",
    r"(?:derzeit|aktuell|momentan|zurzeit|bisher|im moment|actuellement|pour l'instant|pour le moment|actualmente"
    r"|ahora mismo|por ahora|hasta ahora|attualmente|al momento|finora|atualmente|no momento|até agora)\b",
    r"(?:сейчас|на данный момент|пока что|目前|现在|現在|今のところ|현재|지금은|अभी |फ़िलहाल|abhi )",
)
"""How a description of what there is begins."""
_WISHES: Final = PatternSet(
    r"(?:i'd|i|we'd|we) (?:really |also |just )*(?:want|need|would like|like|prefer|wish)\b"
    r"|(?:it|they|this|that|these|those|there) (?:should|must|has to|have to|needs? to|ought to)\b"
)
_DESCRIBES: Final = PatternSet(
    r"(?:i|we|you|let's|please|use|keep|make|only|no|always|never|from now|it's settled)\b",
    r".*\b(?:should|must|shall|will|let's|decided|agreed|want|need|has to|have to|from now on|instead|please)\b",
)
"""What a description does not hold: orders, wishes and words of settling."""


def is_present_state(index: int, spoken: Sequence[Segment]) -> bool:
    """Whether the ``index``-th sentence of a message describes what there is: a word such as "currently" opens the
    description, or a wish about what it describes stands behind it."""
    text = without_lead(bound_sentence(spoken[index].text))
    if _NOW.any(text):
        return True
    if _DESCRIBES.any(text) or order_in(text):
        return False
    behind = without_lead(bound_sentence(spoken[index + 1].text)) if index + 1 < len(spoken) else ""
    return _WISHES.any(behind) or _is_opened(index, spoken)


def _is_opened(index: int, spoken: Sequence[Segment]) -> bool:
    for segment in reversed(spoken[max(0, index - REACH) : index]):
        text = without_lead(bound_sentence(segment.text))
        if _NOW.any(text):
            return True
        if _WISHES.any(text) or order_in(text):
            return False
    return False
