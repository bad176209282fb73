"""Seeded inputs of the fuzzer's target: whatever a provider sends, one call never gets what belongs to another."""

from __future__ import annotations

import random

import pytest

from .fuzz_responses import SEEDS, TOKENS, check
from .serving import run_on_loop

pytestmark = pytest.mark.usefixtures("loop")

INPUTS = 4_000


def mutated(seen: random.Random, seed: bytes) -> bytes:
    """``seed`` with a few tokens or bytes put in, taken out or replaced."""
    data = bytearray(seed)
    for _ in range(seen.randrange(1, 5)):
        at = seen.randrange(len(data) + 1)
        byte = seen.randrange(len(TOKENS)) if seen.random() < 0.9 else seen.randrange(256)
        data[at : at + seen.randrange(2)] = bytes((byte,)) if seen.random() < 0.8 else b""
    return bytes(data)


async def checked(inputs: list[bytes]) -> None:
    for data in inputs:
        try:
            check(data)
        except Exception as error:
            raise AssertionError(f"input {data!r}: {error}") from error


def test_seeds() -> None:
    run_on_loop(checked([bytes(seed) for seed in SEEDS]))


def test_mutations_of_the_seeds() -> None:
    seen = random.Random(20)
    run_on_loop(checked([mutated(seen, bytes(seen.choice(SEEDS))) for _ in range(INPUTS)]), 120)
