"""Values put into JSON texts and taken out again: nothing else of them changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.agents.install.json_text import NotPlain, append, put, take

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)
SPELLED = st.tuples(OBJECTS, st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans())


def spelled(told: tuple[Any, Any, bool]) -> str:
    value, indent, ascii_ = told
    return json.dumps(value, indent=indent, ensure_ascii=ascii_) + "\n"


@given(SPELLED)
def test_what_was_put_in_can_be_read_and_nothing_else_changed(told: tuple[Any, Any, bool]) -> None:
    text = spelled(told)
    value = told[0]
    added = put(text, ["our servers", "ours"], {"command": "x", "args": ["y"]})
    assert json.loads(added) == {**value, "our servers": {"ours": {"command": "x", "args": ["y"]}}}
    again = put(added, ["our servers", "ours"], {"command": "z"})
    assert json.loads(again)["our servers"] == {"ours": {"command": "z"}}
    assert json.loads(take(again, ["our servers", "ours"])) == value
    if value:
        assert take(added, ["our servers", "ours"]) == text


@given(SPELLED, VALUES)
def test_what_was_appended_can_be_taken_out(told: tuple[Any, Any, bool], entry: Any) -> None:
    text = spelled(({**told[0], "list": [1, {"a": []}]}, told[1], told[2]))
    added = append(text, ["list"], entry)
    assert json.loads(added)["list"] == [1, {"a": []}, entry]
    assert take(added, ["list", 2]) == text


def test_a_person_s_spelling_stays() -> None:
    text = '{\n    "b" : [1,2 ,3],\n\n    "servers": { "mine": {"command":"m"} },\n    "z": 1e3\n}'
    added = put(text, ["servers", "ours"], {"command": "o"})
    assert added == text.replace('{"command":"m"} }', '{"command":"m"}, "ours": {"command": "o"} }')
    assert take(added, ["servers", "mine"]) == text.replace('"mine": {"command":"m"}', '"ours": {"command": "o"}')
    assert take(text, ["servers", "mine"]) == text.replace('\n\n    "servers": { "mine": {"command":"m"} },', "")


@pytest.mark.parametrize("text", ["{} // mine", '{"a": 1,}', "[]", '"x"', "{", "[" * 200_000])
def test_what_is_no_plain_json_is_left_alone(text: str) -> None:
    with pytest.raises(NotPlain):
        put(text, ["a"], 1)
    with pytest.raises(NotPlain):
        append(text, ["a"], 1)


def test_what_stands_in_the_way_is_not_overwritten() -> None:
    with pytest.raises(NotPlain, match="servers is not an object"):
        put('{"servers": [1]}', ["servers", "ours"], 1)
    with pytest.raises(NotPlain, match="is not a list"):
        append('{"hooks": {"Stop": {}}}', ["hooks", "Stop"], 1)


@pytest.mark.parametrize("path", [["a", 1], ["a", -1], ["a", 0, 0], ["o", 0], [0], ["new", 0], ["o", "new", 0, "x"]])
def test_an_element_that_does_not_exist_is_not_created(path: list[str | int]) -> None:
    with pytest.raises(NotPlain, match="does not exist"):
        put('{"a": [1], "o": {"b": 1}}', path, 2)


def test_nothing_is_taken_where_nothing_is() -> None:
    for text in ("", "{}", '{"a": {"b": [1]}}'):
        for path in (["a", "c"], ["a", "b", 4], ["a", "b", -1], ["a", "b", 0, 0], ["a", 0], [0]):
            assert take(text, path) == text


def test_the_whole_text_is_no_value_in_it() -> None:
    for text in ("", '{"a": 1}'):
        with pytest.raises(ValueError, match="path is empty"):
            put(text, [], {})
        with pytest.raises(ValueError, match="path is empty"):
            take(text, [])
