"""Detect sentences in which an assistant announces or offers what it will do; what it then did is more informative."""

from __future__ import annotations

import re
from typing import Final

_LAST: Final = 0.7
_INTENDED: Final = 0.5
_ANNOUNCED: Final = 0.15
"""How much a sentence counts: the last one before a tool is called, an intention that names something, and one that
names nothing. Set on development data."""

# Linear: anchored, and every repetition is bounded.
_INTENTION: Final = re.compile(
    r"(?i)^(?:\w+,? ){0,2}(?:let me|let['’]?s|let us|i['’]?ll|i will|we['’]?ll|i['’]?m going to|i am going to"
    r"|i (?:need|want) to|ich werde|lass(?:en sie)? mich|wir werden|je vais|laissez-moi|nous allons|voy a|vamos a|vou"
    r"|vamos|déjame|deixe-me|сейчас я|давайте|давай|я буду|nyní|teď|şimdi)\b"
    r"|^.{0,4}(?:让我|我来|我将|我会|我先|讓我|我來|我將|我會)"
)
"""The first person with a future, or with a request to be let do something, at the start of a sentence."""

_CONCRETE: Final = re.compile(r"[\d`]|\w[._/]\w|[a-z][A-Z]")
"""A number, a quotation of code, or a name of code."""


def announces(sentence: str) -> bool:
    """Whether an assistant says in a sentence what it is about to do."""
    return _INTENTION.search(sentence) is not None


def weight_announcement(sentence: str, *, last: bool) -> float:
    """How much a sentence of an assistant counts; ``last``: it stands right before the calls of its message."""
    if not announces(sentence):
        return _LAST if last else 1.0
    return _INTENDED if _CONCRETE.search(sentence) else _ANNOUNCED
