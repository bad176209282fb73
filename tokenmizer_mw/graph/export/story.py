"""Group replacements into chains: what replaced what."""

from __future__ import annotations

from collections.abc import Sequence

from tokenmizer_mw.model.node import Transition


def stories(steps: Sequence[Transition]) -> list[list[Transition]]:
    """The steps in chains that hang together, each in the order of its turns, chains by their first step."""
    chains: list[list[Transition]] = []
    chain_of: dict[str, list[Transition]] = {}
    for step in sorted(steps, key=lambda step: step.trigger):
        before, after = chain_of.get(step.old), chain_of.get(step.new)
        chain = before if before is not None else after
        if chain is None:
            chain = []
            chains.append(chain)
        elif before is not None and after is not None and before is not after:
            chain = _join_chains(before, after, chains, chain_of)
        chain.append(step)
        chain_of[step.old] = chain_of[step.new] = chain
    return chains


def _join_chains(
    one: list[Transition],
    other: list[Transition],
    chains: list[list[Transition]],
    chain_of: dict[str, list[Transition]],
) -> list[Transition]:
    """Two chains that a step brings together, as one in the place of the earlier."""
    first, second = (one, other) if chains.index(one) < chains.index(other) else (other, one)
    first.extend(second)
    first.sort(key=lambda step: step.trigger)
    chains.remove(second)
    for step in second:
        chain_of[step.old] = chain_of[step.new] = first
    return first
