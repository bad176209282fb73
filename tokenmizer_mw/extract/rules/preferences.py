"""How users say what they like better."""

from __future__ import annotations

from typing import Final

from .rule import Act
from .rule import user_rule as _rule

_GOES_ON: Final = (
    r"(?:as|since|because|so|but|which|given|considering|reflecting|though|although"
    r"|and (?:i|we|it)|if|when|unless)\b"
)
"""Matches what stands after a comma and is no more part of what is preferred."""

PREFERENCES: Final = (
    _rule(
        "prefer",
        Act.PREFERENCE,
        r"(?:i|we)(?: would| do)? (?:much |really |strongly |generally |usually |always |personally |also )*prefer"
        rf" (?:it (?:if|when) )?(?P<label>.{{3,160}}?)(?:, {_GOES_ON}.*|; (?P<reason>.+))?$",
        0.75,
        "we are two people, so we prefer simple, boring tools",
        "which one do we prefer",
        unless=r"(?:.* )?prefer (?:(?:that|this|them|these|those)\b|it(?: [^iw].*)?$"
        r"|to (?:hear|know|learn|discuss|ask|talk)\b)",
    ),
)
