"""What a model that was asked about a session has replied, as far as its cost is told by it."""

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
