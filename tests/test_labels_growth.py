"""Labels are made harmless in time that grows with the text."""

from __future__ import annotations

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


@pytest.mark.parametrize(("unit", "work"), covering(UNITS, [flatten, flatten_lines]))
def test_labels_grow_with_the_text(work: object, unit: str) -> None:
    def whole(text: str) -> object:
        return work(text, limit=len(text))  # type: ignore[operator]

    assert call_growth(whole, unit, SIZE) <= 2.3
    assert cpu_growth(whole, unit, 5 * SIZE) <= 2.6
