"""What users let through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .found import SecretSpan


@dataclass(frozen=True)
class Allow:
    """A rule that lets findings through. A finding must fit everything that the rule names.

    ``exact``: the secret is one of these. ``pattern``: RE2 that finds something in the secret; ``None`` for any.
    ``names``: the value was given one of these names, case ignored. ``kinds``: it was found as one of these kinds.
    """

    name: str
    exact: frozenset[str] = frozenset()
    pattern: Any = None
    names: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def admits(self, found: SecretSpan, secret: bytes) -> bool:
        """Whether the rule lets ``found`` through."""
        return (
            (not self.exact or secret.decode("utf-8", "replace") in self.exact)
            and (self.pattern is None or self.pattern.search(secret) is not None)
            and (not self.names or found.name.lower() in self.names)
            and (not self.kinds or found.kind in self.kinds)
        )
