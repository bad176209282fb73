"""How people put off or leave alone what they spoke of: patterns, no code."""

from __future__ import annotations

from typing import Final

LEAVES_OPEN: Final = (
    r".*\b(?:leave|ignore|skip|park|postpone)s? (?:it|that|this|them|those|these|the \w+)\b|.*\bfor now\b"
    r"|.*\b(?:tomorrow|later|another day|next (?:week|time|sprint)|before the release)\b",
    r".*\b(?:lass (?:das|es)|morgen|später|erst ?mal|laisse|demain|plus tard|déjalo|mañana|luego|más tarde|deixa"
    r"|amanhã|depois|lascia|domani|dopo|потом|завтра|позже|оставь)\b|.*(?:先不|以后再|明天|后面再|あとで|明日|나중에|내일)",
)
"""What says that something is not seen to at once."""
