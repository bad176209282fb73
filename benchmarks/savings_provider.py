"""Providers as they bill input, made from their published rules: no model, only the arithmetic of prompt caches.

Anthropic (``marked``): a prefix is written to the cache where a request marks it, from 1,024 tokens on, at 1.25 times
the price of input, and read at a tenth; of what a request marks, the longest prefix that an earlier one wrote is found,
as long as it ends at most 20 blocks in front of the mark. OpenAI before GPT-5.6 (``automatic``): the longest prefix
that an earlier request began with, from 1,024 tokens on, in steps of 128; writing costs nothing. OpenAI from GPT-5.6 on
(``latest``): each request writes all of itself at 1.25 times the price, and reads the longest earlier request that it
begins with. Gemini (``automatic``, from 2,048 tokens on, in single tokens): Google promises no more than that. What was
used within the lifetime is there. A token is four characters of what is sent; markers are not part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

LOOK_BACK: Final = 20
"""Blocks in front of a mark among which an earlier one is found."""

SECONDS_A_CALL: Final = 20.0
"""What a call and the time until the next one take here."""


@dataclass(frozen=True, slots=True)
class Rules:
    """``read`` and ``write`` are shares of the price of input; ``least``: tokens below which nothing is cached."""

    kind: Literal["marked", "automatic", "latest"]
    model: str
    write: float = 1.25
    read: float = 0.1
    least: int = 1_024
    step: int = 1
    seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call was billed: tokens of its input."""

    fresh: int
    read: int
    written: int

    def cost(self, rules: Rules) -> float:
        """In tokens of fresh input."""
        return self.fresh + self.read * rules.read + self.written * rules.write


@dataclass(slots=True)
class Provider:
    """Bills requests one after the other. ``wait`` seconds pass before each."""

    rules: Rules
    wait: float = SECONDS_A_CALL
    now: float = 0.0
    _used: dict[int, float] = field(default_factory=dict)

    def bill(self, request: Mapping[str, Any]) -> Bill:
        """What a request costs, and from now on its prefixes are known."""
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
    """The blocks of a request in the order in which a cache sees them, and whether each is marked."""
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
