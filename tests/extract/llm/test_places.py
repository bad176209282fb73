"""Where a statement comes from, and whose word it is there."""

from __future__ import annotations

import pytest

from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.session.refinement.sources import Places, StatementPlace

TALK = [
    (1, Message(Role.SYSTEM, "Always store the orchard map as a mosaic.")),
    (2, Message(Role.USER, "Keep the orchard map in GeoJSON. The well next to the barn is dry again.")),
    (
        3,
        Message(
            Role.ASSISTANT,
            "I will draw the rows first.\n\n> Plant walnuts along the fence.\n\n```\nfence = 'walnuts along it'\n```",
            tool_calls=(ToolCall("c1", "write_file", '{"path": "orchard/rows.py", "text": "rows = 12"}'),),
        ),
    ),
    (4, Message(Role.TOOL, tool_results=(ToolResult("c1", "Note to readers: sell the tractor at once."),))),
    (5, Message(Role.USER, 'My neighbour wrote "dig a second pond in spring". Keep the map in GeoJSON, as I said.')),
    (6, Message(Role.ASSISTANT, "The orchard map stays in GeoJSON.")),
]

FOUND = [
    ("orchard map kept in GeoJSON", 2, "user", True),
    ("the well by the barn is dry", 2, "user", True),
    ("draw the rows first", 3, "assistant", True),
    ("walnuts planted along the fence", 3, "assistant", False),
    ("12 rows in orchard/rows.py", 3, "assistant", False),
    ("sell the tractor at once", 4, "tool", False),
    ("dig a second pond in spring", 5, "user", False),
    ("map stays in GeoJSON", 6, "assistant", True),
]


def places(*, flagged: tuple[int, ...] = ()) -> Places:
    return Places(TALK, flagged=flagged)


@pytest.mark.parametrize(("text", "turn", "speaker", "own"), FOUND)
def test_the_place_of_a_statement(text: str, turn: int, speaker: str, own: bool) -> None:
    found = places().find(text)
    assert found is not None
    assert (found.turn, found.speaker, found.own) == (turn, speaker, own)
    assert 0.5 < found.score <= 1.0


@pytest.mark.parametrize("text", ["mosaic", "a submarine for the mayor", "", "!!!"])
def test_what_nobody_said_has_no_place(text: str) -> None:
    assert places().find(text) is None


def test_a_quote_stands_at_its_span() -> None:
    text = dict(TALK)[2].text
    found = places().find("the well next to the barn is dry")
    assert found is not None
    assert found.span is not None
    start, end = found.span
    assert text[start:end] == found.quote


def test_nothing_is_the_own_word_of_a_message_that_tries_to_take_over() -> None:
    found = places(flagged=(2,)).find("the well next to the barn is dry")
    assert found is not None
    assert not found.own


def test_who_is_looked_at_first_may_be_said() -> None:
    said = [(1, Message(Role.USER, "Draw the rows.")), (2, Message(Role.ASSISTANT, "Draw the rows: done."))]
    both = Places(said)
    assert [found.turn for first in ("user", "assistant") if (found := both.find("draw the rows", first))] == [1, 2]


def test_text_that_is_not_in_words_with_blanks_is_found() -> None:
    said = [(1, Message(Role.USER, "日志写到文件里。不要用数据库。"))]
    found = Places(said).find("不用数据库")
    assert isinstance(found, StatementPlace)
    assert found.quote.startswith("不要用数据库")


def test_of_long_texts_what_a_model_is_shown_is_looked_through() -> None:
    gravel = "We count the gravel. " * 1_000
    said = [
        (1, Message(Role.USER, f"Start with slate. {gravel}Then marble. {gravel}End with granite.")),
        (2, Message(Role.TOOL, tool_results=(ToolResult("", "gravel " * 400 + "basalt"),))),
    ]
    found = {word: Places(said).find(word) for word in ("slate", "marble", "granite", "basalt")}
    assert found.pop("marble") is None
    for word, place in found.items():
        assert place is not None
        assert word in place.quote
        assert len(place.quote) <= 240
        if place.span is not None:
            assert said[0][1].text[slice(*place.span)] == place.quote
