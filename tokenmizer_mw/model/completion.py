"""A model's reply to a refinement prompt, with the token usage that the provider reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to a refinement prompt.

    - ``usage``: token counts that the provider reported, by our names; empty if it reported none.
    - ``model``: the model that was asked, "" if unknown.
    - ``text``: "" if the reply was not read to its end.
    """

    text: str
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
