"""Words that try to take over a model: scored, so that what they say can be marked. A signal, not a protection.

Phrases can only find attacks that are spelled out; instructions hidden in ordinary sentences look like ordinary
sentences. What keeps those from doing harm is elsewhere: text of tools, files and quotations never becomes a decision,
a rule or a goal, and what is replayed stands in a fence. A system prompt is the application's own and is never scored.

``readings`` says what a text reads like under its disguises, ``signals`` and ``tongues`` what attempts look like,
``score`` adds up.
"""

from .score import FLAGGED_AT, NOTHING, SCANNED_MAX, Suspicion, explained, judge, suspicion
from .signal import Signal, Voice
from .signals import SIGNALS

__all__ = [
    "FLAGGED_AT",
    "NOTHING",
    "SCANNED_MAX",
    "SIGNALS",
    "Signal",
    "Suspicion",
    "Voice",
    "explained",
    "judge",
    "suspicion",
]
