"""Whether a cut pays: what the calls of a chat have cost, what a cut would cost, what it saves. Pure.

A client sends its whole history with every call. What the call before sent, too, is read from the provider's cache at
``CacheRates.read`` of the price of input; what is new is written to it at ``CacheRates.write``. A cut takes old
messages out of all later calls, and makes the provider write the block and the kept messages once more. When the chat
will end is not known: a cut is made once the accumulated cost of reading the old messages again is several times the
cost of the cut, and never where the cut would cost the chat more than it can save if the chat ended right then.
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
    """A cut in force: ``start`` is the first message that it kept, ``made`` the newest one when it was made, ``gone``
    the tokens that it took out, less those of its block."""

    start: int
    made: int
    gone: int


@dataclass(frozen=True, slots=True)
class ChatCost:
    """A chat as its calls cost it, in tokens of fresh input.

    ``before[i]`` are the tokens in front of message i, the last one those of all messages; ``calls`` the places of
    what the model said: each is a call that sent what stands before it. ``overhead`` is sent with each. ``block``: what
    a new block is going to take; ``head``: what is sent in front of it and has to be written anew with it.
    """

    before: Sequence[int]
    calls: Sequence[int]
    overhead: int
    block: int
    rates: CacheRates
    head: int = 0
    standing: CutInForce | None = None

    def bearable(self, start: int, risk: float) -> float:
        """Tokens that a cut may keep of the messages from ``start`` on, so that the chat, should it end with this call,
        has cost at most ``risk`` more than without any cut (0.01: one percent).

        The call writes the block and what is kept, where it would have read what is sent word for word now; what the
        cut in force has saved so far is there to be spent.
        """
        read = self.rates.read * (self.before[-1] - self.before[start])
        head = (self.rates.write - self.rates.read) * self.head
        return (risk * self.cost_without_cut() + self.cost_saved() + read - head) / self.rates.write - self.block

    def pays(self, start: int, keep_from: int) -> bool:
        """Whether it is time for a cut that takes out the messages from ``start`` up to ``keep_from``."""
        gone = self.before[keep_from] - self.before[start]
        written = self.head + self.block + self.before[-1] - self.before[keep_from]
        cost = (self.rates.write - self.rates.read) * written
        since = self.standing.made if self.standing is not None else start
        paid = sum(min(self.before[call] - self.before[start], gone) for call in self.calls if call > since)
        return gone > 0 and self.rates.read * paid >= PATIENCE * cost

    def cost_without_cut(self) -> float:
        """What all calls, this one too, would have cost without a cut."""
        sent = [0, *(self.overhead + self.before[call] for call in self.calls), self.overhead + self.before[-1]]
        read, write = self.rates.read, self.rates.write
        return sum(read * earlier + write * (later - earlier) for earlier, later in pairwise(sent))

    def cost_saved(self) -> float:
        """What the cut in force has saved since it was made, what it cost taken off; may be negative."""
        cut = self.standing
        if cut is None:
            return 0.0
        written = self.head + self.block + self.before[cut.made + 1] - self.before[cut.start]
        served = sum(call > cut.made for call in self.calls)
        return self.rates.read * cut.gone * served - (self.rates.write - self.rates.read) * written
