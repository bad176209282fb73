"""Personal data, redacted only on request: e-mail addresses, telephone numbers, payment cards, IBANs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .found import FindingRank, PlaceReading, SecretSpan, begins_word, refusal
from .judge import iban, luhn
from .pattern import compile_pattern


def _telephone(said: str) -> bool:
    digits = sum(map(str.isdigit, said))
    return 9 <= digits <= 15 and (said.startswith(("+", "(", "00")) or said.count("-") + said.count(" ") >= 2)


def _mail(said: str) -> bool:
    return not said.lower().endswith((".png", ".jpg", ".svg", ".js", ".css", "@example.com"))


@dataclass(frozen=True, slots=True)
class Personal:
    """A kind of personal data: the pattern, the pattern of its beginning (``gate``), and a check that it must pass."""

    kind: str
    gate: str
    pattern: str
    check: Callable[[str], bool]

    def read(self, text: bytes, start: int) -> PlaceReading:
        """Judge the text at ``start``."""
        if not begins_word(text, start):
            return refusal(self.kind, start, start + 1, "in the middle of a word", start + 1)
        match = compile_pattern(self.pattern).match(text, start, min(len(text), start + 320))
        if match is None or not self.check(match.group().decode("latin-1")):
            return refusal(self.kind, start, start + 1, "fails its check", match.end() if match else start + 1)
        return PlaceReading(
            match.end(), (SecretSpan(self.kind, start, match.end(), "personal data", FindingRank.PERSONAL),)
        )


PERSONAL: Final = (
    Personal(
        "email",
        r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}\.",
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}",
        _mail,
    ),
    Personal("iban", r"[A-Z]{2}[0-9]{2}[ ]?[A-Z0-9]{4}", r"[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]){11,30}", iban),
    Personal("payment-card", r"[3-6][0-9]{3}[ -]?[0-9]{4}", r"[3-6][0-9](?:[ -]?[0-9]){11,17}", luhn),
    Personal(
        "telephone",
        r"(?:\+[0-9]|\([0-9]{2,4}\)|00[1-9]|[0-9]{3,4}[ -][0-9]{3})",
        r"(?:\+|00)?(?:\([0-9]{1,4}\)[ -]?)?[0-9](?:[ ()./-]{0,2}[0-9]){7,14}",
        _telephone,
    ),
)
"""Mail addresses, telephone numbers, payment cards, bank accounts."""
