"""The table of conformance cases, and running it against a middleware."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from .driving import App, Surface

SECONDS: Final = 30
"""After which a case counts as hanging."""

Run = Callable[[Surface], Awaitable[None]]
BOTH = ("plain", "chat")


@dataclass(frozen=True)
class Case:
    """``level``: M must, S should, I informative. ``needs``: a package without which there is no verdict."""

    name: str
    run: Run
    level: str = "M"
    surfaces: tuple[str, ...] = BOTH
    needs: str = ""

    @property
    def possible(self) -> bool:
        return not self.needs or find_spec(self.needs) is not None


CASES: dict[str, Case] = {}


def case(level: str = "M", *, on: tuple[str, ...] = BOTH, needs: str = "") -> Callable[[Run], Run]:
    def add(run: Run) -> Run:
        CASES[run.__name__] = Case(run.__name__, run, level, on, needs)
        return run

    return add


def verdict(case: Case, surface: str, wrap: Callable[[App], App]) -> BaseException | None:
    """``None`` when the middleware passes, else what went wrong."""

    async def run() -> None:
        async with asyncio.timeout(SECONDS):
            await case.run(Surface(surface, wrap))

    try:
        asyncio.run(run())
    except (Exception, asyncio.CancelledError) as error:
        return error
    return None


def tally(cases: list[Case]) -> Counter[str]:
    """How many verdicts there are to give, by level."""
    return Counter(case.level for case in cases for _ in case.surfaces)
