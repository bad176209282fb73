"""Adds up the weights of the guard's signals in a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import re2

from tokenmizer_mw.model.message import Message, Role

from .readings import hides, iter_disguised_readings, plain
from .signal import Voice
from .signals import SIGNALS

FLAGGED_AT: Final = 1.0
"""Sum of weights from which a text counts as an attempt."""

SCANNED_MAX: Final = 200_000
"""Characters of one text that are looked at."""

_HIDDEN: Final = ("hidden_text", FLAGGED_AT)
_DISGUISED: Final = ("disguised", 0.5)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The guard's result for a text: the sum of the weights, and the names of the signals (disguises first, then table
    order)."""

    score: float
    signals: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        """Whether the text counts as an attack."""
        return self.score >= FLAGGED_AT


NOTHING: Final = Suspicion(0.0, ())


def suspicion(text: str, voice: Voice = Voice.USER) -> Suspicion:
    """Score how much ``text`` looks like an attempt to take over the model.

    Linear time; checks the first ``SCANNED_MAX`` characters. Undoes disguises (full-width, look-alike and invisible
    letters, encodings).
    """
    text = text[:SCANNED_MAX]
    read = plain(text)
    open_ = _matches(read)
    beneath = frozenset[int]().union(*map(_matches, iter_disguised_readings(text, read))) - open_
    found = [_HIDDEN] if hides(text) else []
    found += [_DISGUISED] if beneath else []
    found += [(SIGNALS[number].name, getattr(SIGNALS[number], voice.value)) for number in sorted(open_ | beneath)]
    return Suspicion(round(sum(weight for _, weight in found), 3), tuple(name for name, _ in found))


def judge(message: Message) -> Suspicion:
    """Return the highest suspicion among a message's user text and tool results; other texts are not judged."""
    texts = [(result.text, Voice.TOOL) for result in message.tool_results]
    if message.role is Role.USER:
        texts.append((message.text, Voice.USER))
    return max((suspicion(*text) for text in texts if text[0]), key=lambda found: found.score, default=NOTHING)


def signal_examples() -> Mapping[str, str]:
    """Return an example of each signal."""
    return {signal.name: signal.example for signal in SIGNALS}


def _matches(read: str) -> frozenset[int]:
    return frozenset(_set().Match(read.encode("utf-8", "replace")) or ())


@cache
def _set() -> re2.Set:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    found = re2.Set.SearchSet(options)
    for signal in SIGNALS:
        found.Add(signal.pattern)
    found.Compile()
    return found
