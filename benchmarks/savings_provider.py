"""Simulated providers that bill input by their published rules for prompt caches; there is no model.

- ``marked`` (Anthropic): a prefix is written to the cache where a request marks it, from 1,024 tokens on, at 1.25 times
  the price of input, and read at a tenth. A request reads the longest prefix that an earlier one wrote, if it ends at
  most 20 blocks before a mark.
- ``automatic`` (OpenAI before GPT-5.6): a request reads the longest prefix that it shares with an earlier request, from
  1,024 tokens on, in steps of 128; writing costs nothing. The same for Gemini, from 2,048 tokens on and in steps of one
  token, because Google promises no more.
- ``latest`` (OpenAI from GPT-5.6 on): a request reads the longest earlier request that it begins with, and writes the
  rest of itself at 1.25 times the price.

An entry is available for ``Rules.seconds`` after its last use. A token is four characters of what is sent, without
cache markers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

LOOK_BACK: Final = 20
"""How many blocks before a mark an earlier cache entry is looked for."""

SECONDS_A_CALL: Final = 20.0
"""Seconds between the beginnings of two calls."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The prices and limits of a provider's prompt cache.

    - ``kind``: as the module describes; ``model``: for which the client's requests are written.
    - ``write``, ``read``: prices of a cached token as shares of the price of input.
    - ``least``: fewest tokens that are cached; ``step``: cached tokens are a multiple of this; ``seconds``: lifetime of
      an entry.
    """

    kind: Literal["marked", "automatic", "latest"]
    model: str
    write: float = 1.25
    read: float = 0.1
    least: int = 1_024
    step: int = 1
    seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of a call's input: neither read nor written (``fresh``), read from the cache, and written to it."""

    fresh: int
    read: int
    written: int

    def cost(self, rules: Rules) -> float:
        """Return the cost in tokens of fresh input."""
        return self.fresh + self.read * rules.read + self.written * rules.write


@dataclass(slots=True)
class Provider:
    """Bills requests one after the other. ``wait``: simulated seconds before each of them; ``now``: the simulated
    time."""

    rules: Rules
    wait: float = SECONDS_A_CALL
    now: float = 0.0
    _used: dict[int, float] = field(default_factory=dict)

    def bill(self, request: Mapping[str, Any]) -> Bill:
        """Return the bill of a request, and remember its prefixes for later requests."""
        self.now += self.wait
        chain, sizes, marks = [0], [0], []
        for text, marked in _segments(request):
            chain.append(hash((chain[-1], text)))
            sizes.append(sizes[-1] + -(-len(text) // 4))
            marks += [len(chain) - 1] if marked else []
        if self.rules.kind == "marked":
            return self._marked(chain, sizes, marks)
        end = len(chain) - 1
        found = next((at for at in range(end, 0, -1) if self._known(chain[at])), 0)
        served = sizes[found] - sizes[found] % self.rules.step
        served = served if served >= self.rules.least else 0
        kept = chain[1:] if self.rules.kind == "automatic" else chain[-1:]
        if sizes[end] >= self.rules.least:
            self._used.update(dict.fromkeys([*kept, chain[found]], self.now))
        if self.rules.kind == "automatic" or sizes[end] < self.rules.least:
            return Bill(sizes[end] - served, served, 0)
        return Bill(0, served, sizes[end] - served)

    def _marked(self, chain: list[int], sizes: list[int], marks: list[int]) -> Bill:
        usable = [mark for mark in marks if sizes[mark] >= self.rules.least]
        if not usable:
            return Bill(sizes[-1], 0, 0)
        places = [at for mark in usable for at in range(mark, max(0, mark - LOOK_BACK), -1) if self._known(chain[at])]
        found = max(places, default=0)
        self._used.update(dict.fromkeys([chain[found], *(chain[mark] for mark in usable)], self.now))
        last = max(usable[-1], found)
        return Bill(sizes[-1] - sizes[last], sizes[found], sizes[last] - sizes[found])

    def _known(self, mark: int) -> bool:
        return self.now - self._used.get(mark, -1e9) <= self.rules.seconds


def _segments(request: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The blocks of a request in the order in which a cache reads them, each with whether it is marked."""
    yield json.dumps(request.get("tools", [])), False
    system = request.get("systemInstruction", request.get("system", []))
    for block in system if isinstance(system, list) else [system]:
        yield _segment("", block)
    for message in request.get("messages", request.get("contents", [])):
        content = message.get("content", message.get("parts"))
        if isinstance(content, list):
            for block in content:
                yield _segment(message["role"], block)
        else:
            yield _segment("", message)


def _segment(role: str, block: Any) -> tuple[str, bool]:
    if not isinstance(block, dict):
        return f"{role}{json.dumps(block, ensure_ascii=False)}", False
    plain = {name: value for name, value in block.items() if name != "cache_control"}
    return f"{role}{json.dumps(plain, ensure_ascii=False)}", len(plain) < len(block)
