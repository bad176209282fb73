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
from .overturned import OVERTURNED
from .plans import PLANS
from .portuguese import PORTUGUESE
from .reworked import REWORKED
from .rule import Rule
from .russian import RUSSIAN
from .settled import SETTLED
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
    """Formal markers and whole sentences first; plans and what is settled before orders, which are told in like words;
    faults last."""
    code = tongue.code
    done, settled = FINISHED.get(code, ()), SETTLED.get(code, ())
    return (
        *REWORKED.get(code, ()),
        *OVERTURNED.get(code, ()),
        *(rule for rule in settled if rule.whole),
        *(rule for rule in tongue.rules if _is_first(rule)),
        *(rule for rule in done if rule.whole),
        *PLANS.get(code, ()),
        *(rule for rule in settled if not rule.whole),
        *(rule for rule in tongue.rules if not _is_first(rule)),
        *(rule for rule in done if not rule.whole),
        *FAULTS.get(code, ()),
    )


def _is_first(rule: Rule) -> bool:
    return rule.explicit or rule.whole


TONGUES: Final[tuple[Tongue, ...]] = tuple(replace(tongue, rules=_rules_of(tongue)) for tongue in _TONGUES)
"""All of them; codes are their own."""
