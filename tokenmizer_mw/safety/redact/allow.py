"""Allow rules: findings that users exempt from redaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .found import SecretSpan


@dataclass(frozen=True)
class Allow:
    """A rule that exempts findings. All conditions that the rule sets must hold.

    ``exact``: the secret is one of these; ``pattern``: RE2 that matches anywhere in the secret, ``None`` for any;
    ``names``: the name of the value, ignoring case; ``kinds``: the kind of the finding.
    """

    name: str
    exact: frozenset[str] = frozenset()
    pattern: Any = None
    names: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def admits(self, found: SecretSpan, secret: bytes) -> bool:
        """Return whether the rule exempts ``found``."""
        return (
            (not self.exact or secret.decode("utf-8", "replace") in self.exact)
            and (self.pattern is None or self.pattern.search(secret) is not None)
            and (not self.names or found.name.lower() in self.names)
            and (not self.kinds or found.kind in self.kinds)
        )
