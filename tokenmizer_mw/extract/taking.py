"""Whether a sentence takes up a thing that the message before it names: it starts with it, wants it, or finds it good.

Advice names dozens of things, and whoever answers it uses the same words for what happened and what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .pattern import PatternSet, compiled
from .phrases import split_reason
from .similar import content

SHARE: Final = 0.5
"""Share of the words of what is taken that the thing's name has to exceed."""

BARE_WORDS: Final = 6
"""Most words of a name that stands alone as an answer."""

_STARTS: Final = compiled(
    r"(?:(?:i|we)(?:'ll|'d| will| would|'m going to| am going to| want to)?|let's|lets|please|can we|could we"
    r"|maybe)?(?: ?(?:"
    r"definitely|probably|just|also|then|rather|like to|love to|prefer to|think|go ahead and"
    r"|first))* ?(?:go(?:ing)? (?:with"
    r"|for)|start(?:ing)? (?:(?:out )?with|by|using|on)?|us(?:e|ing)|tak(?:e|ing)|try(?:ing)?|pick(?:ing)?|choos(?:e"
    r"|ing)"
    r"|do(?:ing)?|adopt(?:ing)?|opt(?:ing)? for|stick(?:ing)? (?:with|to)|implement(?:ing)?|prefer|begin(?:ning)? with"
    r"|set(?:ting)? up|appl(?:y|ying)|follow(?:ing)?) (?P<what>.{2,})"
)
_SUITS: Final = compiled(
    r"(?:(?:i|we) (?:think|guess|feel)(?: that)? )?(?:the idea of )?(?P<what>[^;:.!?]{2,120}?) (?:(?:really "
    r"|definitely |also"
    r" )*(?:sounds?|seems?|looks?|feels?) (?:really |very |pretty |like )*(?:an? |the )?(?:best|better|fine|good"
    r"|great|ideal"
    r"|perfect|reasonable|right|solid)|makes? (?:more |the most |a lot of |total )?sense|works? (?:best|better|well"
    r"|for (?:me"
    r"|us))|(?:is|are) (?:fine|ok|okay|an? good (?:idea|plan|choice)|the best (?:option|choice|idea)|what (?:i"
    r"|we) want)|wins"
    r"|it is)\b"
)
_BETWEEN: Final = compiled(r"\s*(?:,|\band\b|\bplus\b|&|\+|\bthen\b|;|:|\(| - | – | — )\s*")
_PAUSE: Final = compiled(r"[,;:]\s|\s(?:--?|–|—)\s")
_STATES: Final = PatternSet(
    r".*\b(?:is|are|was|were|has|have|had|can|could|will|would|should|might|may|do|does|did|need|needs|helps?|makes?"
    r"|i|we|he|she|they|you|it|my|because)\b"
)


def takes(sentence: str, name: str) -> bool:
    """Whether ``sentence`` takes ``name`` as such: it makes up most of what is chosen, begun or called good, or of an
    answer that is nothing but a name."""
    wanted = content(name)
    return bool(wanted) and any(
        len(wanted & said) > SHARE * len(said) and wanted <= said
        for part in _taken(sentence)
        if (said := content(part))
    )


def _taken(sentence: str) -> Iterator[str]:
    """What a sentence takes up, thing by thing."""
    suits = _SUITS.match(sentence)
    starts = None if suits is not None else _STARTS.match(sentence)
    if suits is not None or starts is not None:
        match = suits or starts
        yield from _split(match.group("what") if match is not None else "")
        return
    said = split_reason(sentence)[0]
    border = _PAUSE.search(said)
    named = said[: border.start()] if border is not None else said
    if len(named.split()) <= BARE_WORDS and not _STATES.any(named):
        yield from _split(named)


def _split(text: str) -> Iterator[str]:
    while (border := _BETWEEN.search(text)) is not None:
        if text[: border.start()].strip():
            yield text[: border.start()]
        text = text[border.end() :]
    if text.strip():
        yield text
