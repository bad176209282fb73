"""The languages other than English, in the order in which they are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .chinese import CHINESE
from .faults import FAULTS
from .finished import FINISHED
from .french import FRENCH
from .german import GERMAN
from .hindi import HINDI, HINGLISH
from .italian import ITALIAN
from .japanese import JAPANESE
from .korean import KOREAN
from .plans import PLANS
from .portuguese import PORTUGUESE
from .reworked import REWORKED
from .rule import Rule
from .russian import RUSSIAN
from .spanish import SPANISH
from .tongue import Tongue

_TONGUES: Final = (
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    FRENCH,
    GERMAN,
    CHINESE,
    RUSSIAN,
    JAPANESE,
    KOREAN,
    HINDI,
    HINGLISH,
)


def _rules_of(tongue: Tongue) -> tuple[Rule, ...]:
    """Formal markers and whole sentences first; plans before orders, which are told in like words; faults last."""
    first = [rule for rule in tongue.rules if rule.explicit or rule.whole]
    rest = [rule for rule in tongue.rules if not (rule.explicit or rule.whole)]
    code = tongue.code
    bare = [rule for rule in FINISHED.get(code, ()) if rule.whole]
    results = [rule for rule in FINISHED.get(code, ()) if not rule.whole]
    return (*REWORKED.get(code, ()), *first, *bare, *PLANS.get(code, ()), *rest, *results, *FAULTS.get(code, ()))


TONGUES: Final[tuple[Tongue, ...]] = tuple(replace(tongue, rules=_rules_of(tongue)) for tongue in _TONGUES)
"""All of them; codes are their own."""
