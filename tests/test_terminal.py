from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.runtime.terminal import inert, one_line, show_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, déjà, 日本", "plain, déjà, 日本"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\x9b2J", "\\x9b2J"),
        ("abc\u202edcba", "abc\\u202edcba"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_steers_a_terminal_is_made_visible(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_one_line() -> None:
    assert one_line("a\n b\x1b") == "a b\\x1b"


@given(st.text())
def test_json_holds_the_same_text_and_nothing_that_steers(capsys_text: str) -> None:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show_json({"label": capsys_text})
    printed = out.getvalue()
    assert json.loads(printed) == {"label": capsys_text}
    assert inert(printed) == printed
