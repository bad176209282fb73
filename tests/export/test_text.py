from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.export.graphs import ATTACKS
from tokenmizer_mw.graph.export.formats import quote_text
from tokenmizer_mw.graph.export.text import escape_markdown
from tokenmizer_mw.safety.labels import flatten

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

marks = st.text("`*_[]()<>|~$^@&#=%+-!.:;\\/\"'{} \tab1\u00e4", max_size=40)


def shown(text: str) -> str:
    """What a reader shows of a line of Markdown, with whatever is not plain text named."""
    told = []
    for block in READER.parse(text):
        for leaf in block.children or ():
            told.append(leaf.content if leaf.type in ("text", "text_special") else f"<{leaf.type}>")
        if block.type not in ("inline", "paragraph_open", "paragraph_close"):
            told.append(f"<{block.type}>")
    return "".join(told)


@given(st.one_of(marks, st.text(max_size=40), st.sampled_from(ATTACKS)))
@example("1. one")
@example("- item")
@example("===")
@example("&amp; &#35;")
@example("a_b_c _d_ __e__")
@example("\\")
@example("http://example.invalid www.example.invalid")
def test_a_line_shows_as_it_is(text: str) -> None:
    line = flatten(text)
    assert shown(escape_markdown(line)) == line


@given(marks)
def test_a_line_in_bold_shows_as_it_is(text: str) -> None:
    line = flatten(text)
    if line:
        assert shown(f"**{escape_markdown(line)}** (x)") == f"<strong_open>{line}<strong_close> (x)"


@pytest.mark.parametrize("text", ["plain words, 12 of them", "src/app.py", "user_id", "a - b", "what's new?", "50%"])
def test_ordinary_text_stays_readable(text: str) -> None:
    assert escape_markdown(text) == text


@given(st.text(max_size=40))
def test_a_label_of_a_flowchart_cannot_end_its_quotation_marks(text: str) -> None:
    line = quote_text(flatten(text))
    assert not set(line) & set('"<>{}[]|%`&\\\n')
