"""Replies as models write them: whole, wrapped, broken off, and of the wrong types."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.session.refinement.reply import (
    CATEGORIES,
    SCHEMA,
    Bare,
    LooseObject,
    RefinementReply,
    ReplyStatement,
    objects,
    read_reply,
)

WHOLE: dict[str, Any] = {
    "goal": ["a booking page for the barn"],
    "tasks_done": ['calendar says "full" when it is', "prices in EUR\nand CHF"],
    "tasks_pending": ["invoice by mail"],
    "decisions": ["SQLite for now", "answer in French"],
    "superseded": [{"old": "MySQL", "new": "SQLite", "reason": "one machine only", "turn": 4}],
    "rejected": ["a queue"],
    "files": ["barn/views.py", "C:\\barn\\notes.txt"],
    "errors": [{"label": "double booking on Sundays", "resolved": True}, {"label": "mail bounces", "resolved": False}],
    "environment": ["Python 3.12"],
    "dependencies": ["Jinja"],
    "endpoints": ["GET /free"],
}
TEXT = json.dumps(WHOLE, ensure_ascii=False)


def read(text: str, *, chars_max: int = 100_000, items_max: int = 100) -> RefinementReply | None:
    return read_reply(text, chars_max=chars_max, items_max=items_max)


def everything() -> RefinementReply:
    reply = read(TEXT)
    assert reply is not None
    return reply


def test_a_whole_reply_is_read_as_it_stands() -> None:
    reply = everything()
    assert reply.dropped == 0
    assert reply.whole == set(WHOLE)
    assert len(reply.stated) == sum(map(len, WHOLE.values()))
    assert ReplyStatement("superseded", "SQLite", "MySQL", "one machine only") in reply.stated
    assert ReplyStatement("errors", "double booking on Sundays", resolved=True) in reply.stated


WRAPPED = {
    "in a fence": f"Here is the record:\n```json\n{TEXT}\n```\nAnything else?",
    "behind braces in prose": f"As asked {{without a word before}}: {TEXT}",
    "behind an open brace": f"A set is written { {1} }, an object with {{ first. {TEXT}",
    "behind thoughts": f'<think>maybe {{"goal": ["something else", "and more", "x"]}}</think>\n{TEXT}',
    "behind a draft": f'{{"goal": ["a barn"]}}\n\nBetter:\n{TEXT}',
    "in an object of its own": f'{{"record": {TEXT}}}',
    "with a byte order mark": f"\ufeff{TEXT}",
    "spread over lines": json.dumps(WHOLE, indent=2),
    "with commas too many": TEXT.replace("]", ",]").replace("}", ",}"),
    "with line breaks in texts": TEXT.replace("\\nand", "\nand"),
    "in escapes": json.dumps(WHOLE, ensure_ascii=True),
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED.keys())
def test_what_stands_around_does_not_matter(text: str) -> None:
    assert read(text) == everything()


def test_single_quotes_and_words_of_python_are_read() -> None:
    given = {"goal": ["it's a barn"], "errors": [{"label": "mail bounces", "resolved": True}]}
    reply = read(repr(given))
    assert reply is not None
    assert reply.stated == (
        ReplyStatement("goal", "it's a barn"),
        ReplyStatement("errors", "mail bounces", resolved=True),
    )


def test_quotes_that_were_not_escaped_are_part_of_a_text() -> None:
    reply = read('{"goal": ["the "full" sign"], "files": ["a.py"]}')
    assert reply is not None
    assert [stated.text for stated in reply.stated] == ['the "full" sign', "a.py"]


def test_a_reply_that_breaks_off_keeps_its_complete_entries() -> None:
    written = {name: f'"{name}": {json.dumps(entries, ensure_ascii=False)}' for name, entries in WHOLE.items()}
    stated = everything().stated
    plain = {one.text for one in stated if one.category not in ("errors", "superseded")}
    for end in range(0, len(TEXT), 3):
        reply = read(TEXT[:end])
        if reply is None:
            assert end <= TEXT.index("[")
            continue
        assert reply.whole == {name for name, text in written.items() if text in TEXT[:end]}, end
        assert set(reply.stated) <= set(stated), end
        complete = {text for text in plain if json.dumps(text, ensure_ascii=False) in TEXT[:end]}
        assert {one.text for one in reply.stated} & plain == complete, end


DROPPED = [
    ('{"goal": [5, null, true, ["a"], {"what": "x"}, "  ", "a barn"]}', 1, 6),
    ('{"goal": "a barn"}', 1, 0),
    ('{"goal": {"label": "a barn"}}', 1, 0),
    ('{"goal": null}', 0, 0),
    ('{"goal": 7}', 0, 1),
    ('{"errors": ["mail bounces"]}', 1, 0),
    ('{"errors": [{"label": "mail bounces", "resolved": "yes"}]}', 1, 0),
    ('{"superseded": ["MySQL -> SQLite", {"old": "MySQL"}, {"old": "MySQL", "new": ""}]}', 0, 3),
    ('{"superseded": [{"old": "MySQL", "new": "mysql", "reason": "it stays"}]}', 0, 1),
    ('{"goal": [], "mood": ["good"], "score": 5}', 0, 2),
    ('{"files": [{"path": "a.py", "action": "edited"}, {"name": "b.py"}]}', 2, 0),
]


@pytest.mark.parametrize(("text", "kept", "dropped"), DROPPED)
def test_what_does_not_fit_is_dropped_and_counted(text: str, kept: int, dropped: int) -> None:
    reply = read(text)
    assert reply is not None
    assert (len(reply.stated), reply.dropped) == (kept, dropped)


@pytest.mark.parametrize("text", ["", "I cannot do that.", "[]", "{}", '{"mood": []}', "null", "{" * 50, '"goal": []'])
def test_what_is_no_record_is_none(text: str) -> None:
    assert read(text) is None


def test_sizes_are_capped() -> None:
    many = json.dumps({"goal": [f"barn {number}" for number in range(50)]})
    reply = read(many, items_max=20)
    assert reply is not None
    assert (len(reply.stated), reply.dropped) == (20, 30)
    short = read(many, chars_max=60)
    assert short is not None
    assert 0 < len(short.stated) < 8
    assert short.whole == frozenset()


def test_deep_nesting_ends_somewhere() -> None:
    assert read('{"goal": ' + "[" * 5_000) is not None
    assert read('{"a":' * 5_000) is None


@pytest.mark.parametrize(
    "piece", ["{", "[", '"', "'", '{"a":', '{"goal":[', "\\", '" ', ',"', "{'a':'", "a ", "}", "\u201c", " "]
)
def test_reading_is_linear(piece: str) -> None:
    def cost(times: int) -> float:
        text = '{"goal": ["' + piece * times
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            read_reply(text, chars_max=len(text), items_max=10)
            best = min(best, time.process_time() - start)
        return best

    assert cost(40_000) <= 8 * cost(10_000) + 0.02  # a quadratic pass would take sixteen times


@given(st.text(alphabet="{}[]\",:'\\ antrue0\n", max_size=80))
def test_any_text_is_read_to_its_end(text: str) -> None:
    objects(text)
    read(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1), inner, max_size=4),
    max_leaves=12,
)


def plain(value: object) -> object:
    if isinstance(value, LooseObject):
        return {key: plain(inner) for key, inner in value.members.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(min_size=1), JSON, max_size=5))
def test_json_that_is_right_is_read_as_what_it_is(value: dict[str, Any]) -> None:
    found = objects(json.dumps(value))
    assert plain(found[0]) == value
    assert not found[0].cut


def test_a_word_without_quotes_is_told_apart() -> None:
    assert objects("{goal: barn}")[0].members == {"goal": Bare("barn")}


def test_the_schema_names_what_is_read() -> None:
    assert SCHEMA["required"] == [*(category.name for category in CATEGORIES), "handover"]
    assert set(SCHEMA["properties"]) == set(WHOLE) | {"rules", "handover"}
