"""Splits the label of a task into steps ("add the table, then migrate") to check whether a report covers all of
them."""

from __future__ import annotations

import re
from typing import Final

from tokenmizer_mw.extract.text.similar import content

_STEPS: Final = re.compile(r",? (?:and )?then |; | first, | danach | puis | luego | poi | depois |,?然后")
"""Matches what separates the steps of a plan."""


def covers_plan(label: str, plan: str) -> bool:
    """Whether ``label`` (what is done or works) shares a word with every step that the label ``plan`` names. True if
    ``plan`` names only one step."""
    steps = [_step_words(step) for step in _STEPS.split(plan.casefold()) if content(step)]
    return len(steps) < 2 or all(step & content(label) for step in steps)


def _step_words(step: str) -> frozenset[str]:
    """The content stems of a plan's step, without the verb it begins with."""
    return content(step.partition(" ")[2]) or content(step)
