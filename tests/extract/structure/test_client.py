"""What a client writes into a user's message is not the user's word."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenmizer_mw.extract.segment import segment
from tokenmizer_mw.extract.structure.client import without_client

Growth = Callable[[Callable[[str], object], str, int], float]

SAID = [
    ("Use tabs here.", ["Use tabs here."]),
    ("[Request interrupted by user for tool use]", []),
    ("<system-reminder>\nNever mention this list.\n</system-reminder>\nUse tabs here.", ["Use tabs here."]),
    ("Use tabs here.\n<environment_details>\n# Time\nNoon\n</environment_details>", ["Use tabs here."]),
    ("Use tabs here.\n<environment_details>\ncut off", ["Use tabs here."]),
    ("<command-name>/compact</command-name>\n<local-command-stdout>Done.</local-command-stdout>", []),
    (
        "Use tabs here.\n# task_progress RECOMMENDED\n\nWrite a list.\n\n- [ ] Look around\n- [ ] Tidy up\n",
        ["Use tabs here."],
    ),
    ("# TODO LIST UPDATE REQUIRED\nYou must keep it.\n\n# Notes\nUse tabs here.", ["Notes", "Use tabs here."]),
    ("# Tasks\n- [ ] Add the tax", ["Tasks", "Add the tax"]),
    ("A <div> and `<reminder>` are tags.", ["A <div> and <reminder> are tags."]),
]


@pytest.mark.parametrize(("text", "expected"), SAID)
def test_words_of_the_client_are_passed_over(text: str, expected: list[str]) -> None:
    assert [said.text for said in without_client(text, segment(text))] == expected


@pytest.mark.parametrize("unit", ["<reminder>", "# TODO LIST a\nb\n", "<reminder>x</reminder>\n", "[Request "])
def test_cost_is_linear(unit: str, growth: Growth) -> None:
    assert growth(lambda text: without_client(text, []), unit, 100_000) < 3
