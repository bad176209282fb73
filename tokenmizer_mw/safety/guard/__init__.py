"""The prompt-injection guard: scores phrases that try to take over a model. A warning signal, not a protection.

Phrases only find explicit attacks; instructions hidden in ordinary sentences look like ordinary sentences. The
protection against those is elsewhere: text from tools, files and quotations never becomes a decision, a rule or a goal,
and replayed text is delimited. System prompts belong to the application and are never scored.

``readings`` undoes disguises of a text, ``signals`` and ``tongues`` list the phrases, ``score`` adds up their weights.
"""

from tokenmizer_mw.safety.guard.phrases import Signal, Voice
from tokenmizer_mw.safety.guard.score import (
    FLAGGED_AT,
    NOTHING,
    SCANNED_MAX,
    Suspicion,
    judge,
    signal_examples,
    suspicion,
)
from tokenmizer_mw.safety.guard.signals import SIGNALS

__all__ = [
    "FLAGGED_AT",
    "NOTHING",
    "SCANNED_MAX",
    "SIGNALS",
    "Signal",
    "Suspicion",
    "Voice",
    "judge",
    "signal_examples",
    "suspicion",
]
