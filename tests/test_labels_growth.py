"""Labels are made harmless in time that grows with the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from tests.sampling import covering
from tests.steps import call_growth, cpu_growth
from tokenmizer_mw.safety.labels import flatten, flatten_lines

SIZE: Final = 20_000

UNITS: Final = (
    "a",
    "a b\n",
    "\u200b",
    "a\u200b",
    "e\u0301",
    "<",
    "< ",
    "<|x|>",
    "[INST]",
    "\uff21",
    "\n",
    "&lt;",
    "`",
    "](",
)


def flatten_whole(text: str) -> str:
    return flatten(text, limit=len(text))


@pytest.mark.parametrize(("unit", "work"), covering(UNITS, [flatten_whole, flatten_lines]))
def test_labels_grow_with_the_text(work: Callable[[str], str], unit: str) -> None:
    assert call_growth(work, unit, SIZE) <= 2.3
    assert cpu_growth(work, unit, 5 * SIZE) <= 3.2
