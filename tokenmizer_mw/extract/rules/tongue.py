"""What a language other than English brings along: rows like those of English, and the small tables of its readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .rule import Rule

NAME: Final = r"[\pL\pM\pN@.+#/_`-]+"
"""A word or a name in any script; the word signs of RE2 know only ASCII."""

NAMES: Final = rf"{NAME}(?: {NAME}){{0,4}}"
"""A name of up to five words."""


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language. Patterns are RE2, matched at the start of a sentence or clause, case ignored; "" for none.

    ``cues`` are words that tell the language, none of them English; () where the script tells it. ``lead`` is what may
    stand before a statement, taken off as long as it matches. ``asks`` matches questions without a question mark,
    ``polite`` orders in the form of a question with the order as ``rest``; ``supposes`` and ``reports`` match what
    states nothing. ``border`` is searched for between clauses, ``because`` between a choice and its reason,
    ``trailer`` at the end of a label, where it only softens. ``offers`` reads what an assistant offers as ``label``.

    ``choosing`` is searched for in what announces things to choose from, ``either`` between two of them; ``between``
    reads a question that names them without such a word, as ``left`` and ``right``.

    ``yes``, ``no``, ``both`` are alternatives that a short answer consists of, ``soft`` those that may stand beside
    them; ``pick`` may stand before a number, a letter or one of the ``ordinals`` (places from 0, -1 the last), and
    ``picked`` behind it.
    """

    code: str
    rules: tuple[Rule, ...]
    lead: str
    supposes: str
    reports: str
    border: str
    because: str
    yes: str
    no: str
    cues: frozenset[str] = frozenset()
    asks: str = ""
    polite: str = ""
    trailer: str = ""
    offers: str = ""
    choosing: str = ""
    either: str = ""
    between: str = ""
    soft: str = ""
    both: str = ""
    pick: str = ""
    picked: str = ""
    ordinals: Mapping[str, int] = field(default_factory=dict)
