"""What a domain pack is: how people of one trade say what the general tables do not know."""

from __future__ import annotations

from dataclasses import dataclass

from tokenmizer_mw.extract.rules import Act, Rule, Speaker


@dataclass(frozen=True, slots=True)
class Pack:
    """The rules of a domain, read where the general tables read nothing.

    ``cues`` is an RE2 pattern of the words by which the domain is known, case ignored; ``example`` is a text that is
    of the domain, ``counter`` one that is not.
    """

    name: str
    cues: str
    rules: tuple[Rule, ...]
    example: str
    counter: str


def row(
    name: str,
    act: Act,
    pattern: str,
    example: str,
    counter: str,
    *,
    speaker: Speaker = Speaker.BOTH,
    confidence: float = 0.7,
    unless: str = "",
) -> Rule:
    """A row of a pack."""
    return Rule(name, speaker, act, pattern, confidence, example, counter, unless)
