"""Tables of rules: patterns that show what a sentence does (orders something, reports an error, states a decision,
...). Each row of a table is one phrasing."""

from __future__ import annotations

from typing import Final

from .assistant import BAD_NEWS, CLAIMS, HANDOVERS, ORDERS, PROGRESS, PROPOSALS, TAKEN_BACK
from .casual import AHEAD_CASUAL
from .changes import CHANGES
from .decisions import CHOICES, REJECTIONS, REPLACEMENTS, RULES_AND_WISHES
from .markers import MARKERS
from .preferences import PREFERENCES
from .rule import MEANINGS, Act, Meaning, Rule, Speaker
from .standing_rules import STANDING
from .states import HALF, REPORTS
from .work import REQUESTS, STATES

RULES: Final[tuple[Rule, ...]] = (
    *HALF["en"],
    *MARKERS,
    *REPORTS,
    *REPLACEMENTS,
    *CHANGES,
    *STANDING,
    *REJECTIONS,
    *RULES_AND_WISHES,
    *PREFERENCES,
    *CHOICES,
    *REQUESTS,
    *STATES,
    *TAKEN_BACK,
    *BAD_NEWS,
    *CLAIMS,
    *HANDOVERS,
    *PROGRESS,
    *ORDERS,
    *PROPOSALS,
    *AHEAD_CASUAL,
)
"""All rules for English clauses. If several match a clause, the first one in this order counts."""

__all__ = ["MEANINGS", "RULES", "Act", "Meaning", "Rule", "Speaker"]
