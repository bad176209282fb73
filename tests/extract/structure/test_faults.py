"""Faults that tools tell in plain words."""

from __future__ import annotations

import pytest

from tokenmizer_mw.extract.structure.faults import TEXT_MAX, find_faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("/home/kim/shop/cart.py: file not found error", "/home/kim/shop/cart.py: file not found error"),
        ("Repo-map can't include shop/old.py\nHas it been deleted?", "Repo-map can't include shop/old.py"),
        ("Unable to add cart.py: Cmd('git') failed due to: exit code(1)", "Cmd('git') failed due to: exit code(1)"),
        ("/bin/sh: 1: cd: can't cd to /srv/build", "can't cd to /srv/build"),
        ("[No exact match found in /srv/app.ts for\nconst a = 1", "No exact match found in /srv/app.ts"),
        ("api.cs(3,4): warning CS8600: Converting null", "warning CS8600: Converting null"),
        ('level=fatal msg=stopped error="port 8080 is taken"', "port 8080 is taken"),
        ("- [ts Error] Line 3: Cannot find name 'cart'.", "Cannot find name 'cart'."),
    ],
)
def test_a_fault_is_the_line_that_tells_it(text: str, fault: str) -> None:
    assert find_faults(text) == [fault]


@pytest.mark.parametrize("text", ["", "Wrote cart.py", "0 errors, 0 warnings", "x\n" * TEXT_MAX + "Unable to read"])
def test_what_is_no_fault(text: str) -> None:
    assert find_faults(text) == []
