"""A model's reply to a refinement prompt, with the token usage that the provider reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply. ``usage``: the tokens that the provider told, by our names; none where it told none. ``model``
    is the one that was asked, "" where that is not known. ``text`` is "" where the reply was not read to its end."""

    text: str
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
