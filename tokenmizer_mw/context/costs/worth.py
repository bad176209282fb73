"""Decides whether a cut saves money: what the calls of a chat have cost, what a cut would cost, and what it saves.
Pure.

A client sends its whole history with every call. The part that the previous call also sent is read from the provider's
cache at ``CacheRates.read`` times the input price; the rest is written to it at ``CacheRates.write``. A cut removes old
messages from all later calls, but makes the provider write the block and the kept messages again. It is unknown when
the chat will end. Therefore a cut is made once the accumulated cost of re-reading the old messages is several times the
cost of the cut, and never if the cut would cost more than the allowed risk when the chat ends right then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tokenmizer_mw.context.costs.prices import CacheRates

PATIENCE: Final = 4.0
"""How many times its cost what a cut takes out must have cost since the cut before. With 1, long chats would cost the
least, and be cut every few turns; with 4 they are cut a fifth as often, and cost a little more than that."""


@dataclass(frozen=True, slots=True)
class CutInForce:
    """The session's newest cut: a resume block replaces the messages before index ``start``.

    ``made``: index of the newest message when the cut was made; ``gone``: tokens of the messages that the cut removed,
    less the tokens of the block.
    """

    start: int
    made: int
    gone: int


@dataclass(frozen=True, slots=True)
class ChatCost:
    """The cost of a chat's calls, in tokens of uncached input.

    - ``before[i]``: tokens before message i; the last entry: tokens of all messages.
    - ``calls``: indexes of the model's messages; each stands for a call that sent the messages before it.
    - ``overhead``: tokens that every call sends besides messages.
    - ``block``: tokens of a new resume block; ``head``: tokens before it that the provider must write to its cache
      again.
    """

    before: Sequence[int]
    calls: Sequence[int]
    overhead: int
    block: int
    rates: CacheRates
    head: int = 0
    standing: CutInForce | None = None

    def bearable(self, start: int, risk: float) -> float:
        """Return how many tokens a cut may keep of the messages from ``start`` on, so that a chat that ends with this
        call has cost at most the share ``risk`` (0.01: one percent) more than without any cut.

        The call writes the block and the kept messages to the provider's cache, instead of reading the unchanged
        messages from it. What the current cut has saved so far may be spent on that.
        """
        read = self.rates.read * (self.before[-1] - self.before[start])
        head = (self.rates.write - self.rates.read) * self.head
        return (risk * self.cost_without_cut() + self.cost_saved() + read - head) / self.rates.write - self.block

    def pays(self, start: int, keep_from: int) -> bool:
        """Whether a cut that removes the messages from ``start`` up to ``keep_from`` is now worth its cost."""
        gone = self.before[keep_from] - self.before[start]
        written = self.head + self.block + self.before[-1] - self.before[keep_from]
        cost = (self.rates.write - self.rates.read) * written
        since = self.standing.made if self.standing is not None else start
        paid = sum(min(self.before[call] - self.before[start], gone) for call in self.calls if call > since)
        return gone > 0 and self.rates.read * paid >= PATIENCE * cost

    def cost_without_cut(self) -> float:
        """Return what all calls, including this one, would have cost without any cut."""
        sent = [0, *(self.overhead + self.before[call] for call in self.calls), self.overhead + self.before[-1]]
        read, write = self.rates.read, self.rates.write
        return sum(read * earlier + write * (later - earlier) for earlier, later in pairwise(sent))

    def cost_saved(self) -> float:
        """Return what the current cut has saved since it was made, less its cost; may be negative."""
        cut = self.standing
        if cut is None:
            return 0.0
        written = self.head + self.block + self.before[cut.made + 1] - self.before[cut.start]
        served = sum(call > cut.made for call in self.calls)
        return self.rates.read * cut.gone * served - (self.rates.write - self.rates.read) * written
