import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.wire.spans import (
    ObjectSpans,
    decode_body,
    element_spans,
    read_object,
    replace_elements,
    splice,
    value_start,
    without_members,
)
from tokenmizer_mw.wire.unparsed import MODELS_MAX, find_models

SPACE = st.sampled_from(["", "", "", " ", "\n  ", "\t\r\n", " " * 70])
LEAVES = st.sampled_from(
    ["1.50", "-0", "1E+2", "0.1e-7", "null", "true", "[ ]", "{ }", '"\\u00e9\\/"', '"é🦉\u2028"', '"a,]}{[\\""']
)


def in_array(items: list[tuple[str, str]], close: str = "") -> str:
    return "[" + ",".join(before + item + before for before, item in items) + close + "]"


VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(st.tuples(SPACE, inner), max_size=3).map(in_array),
        inner.map(lambda value: '{"k" : ' + value + ',"k":1}'),
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(['"a"', '"b"', '"\\u0061"', '"messages"', '"é"', '""'])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A JSON object in some spelling, and the text of each of its members."""
    members = [f"{draw(NAMES)}{draw(SPACE)}:{draw(SPACE)}{draw(VALUES)}" for _ in range(draw(st.integers(0, 5)))]
    inside = ",".join(draw(SPACE) + member + draw(SPACE) for member in members) or draw(SPACE)
    return f"{draw(SPACE)}{{{inside}}}{draw(SPACE)}", members


def elements(found: ObjectSpans) -> tuple[tuple[int, int], ...]:
    if not isinstance(found.values.get("messages"), list):
        return ()
    return element_spans(found.text, found.places["messages"])


def read(text: str) -> ObjectSpans:
    return read_object(text)


def slices(text: str, spans: ObjectSpans) -> list[str]:
    return [text[start:end] for start, end in elements(spans)]


@given(documents(), st.booleans())
def test_reads_what_json_reads_and_where_it_stands(document: tuple[str, list[str]], mark: bool) -> None:
    text, members = document
    text = "\ufeff" * mark + text
    found = read(text)
    assert found.values == json.loads(text.removeprefix("\ufeff"))
    assert [text[start:end] for _, (start, end) in found.members] == members
    if isinstance(array := found.values.get("messages"), list):
        assert [json.loads(piece) for piece in slices(text, found)] == array
    else:
        assert elements(found) == ()


@given(documents(), st.sets(st.sampled_from(["a", "b", "messages", "é", "", "absent"])))
def test_removed_members_take_nothing_else_along(document: tuple[str, list[str]], names: set[str]) -> None:
    text, members = document
    found = read(text)
    left = splice(text, without_members(found.members, names))
    kept = [piece for (name, _), piece in zip(found.members, members, strict=True) if name not in names]
    again = read(left)
    assert [left[start:end] for _, (start, end) in again.members] == kept
    assert "".join(left.split()) == "".join(("{" + ",".join(kept) + "}").split())
    if len(kept) == len(members):
        assert left == text


@given(st.lists(st.tuples(SPACE, VALUES), max_size=6), st.data())
def test_replaced_elements_take_nothing_else_along(items: list[tuple[str, str]], data: st.DataObject) -> None:
    text = '{"x":1.0, "messages" : ' + in_array(items, " " if not items else "") + ' ,"y":1e2}'
    start = data.draw(st.integers(0, len(items)))
    stop = data.draw(st.integers(start, len(items)))
    new = data.draw(st.sampled_from(["", '{"role":"user"}']))
    found = read(text)
    close = next(end for name, (_, end) in found.members if name == "messages") - 1
    edited = splice(text, replace_elements(elements(found), start, stop, new, close=close))
    kept = [item for _, item in items]
    assert slices(edited, read(edited)) == [*kept[:start], *([new] if new else []), *kept[stop:]]
    assert edited.startswith('{"x":1.0, "messages" : [')
    assert edited.endswith('] ,"y":1e2}')
    if not new and start == stop:
        assert edited == text


EDITS = [
    ('{"a":1,"b":2,"c":3}', {"a"}, '{"b":2,"c":3}'),
    ('{"a":1,"b":2,"c":3}', {"b"}, '{"a":1,"c":3}'),
    ('{"a":1,"b":2,"c":3}', {"c"}, '{"a":1,"b":2}'),
    ('{"a":1,"b":2,"c":3}', {"a", "b"}, '{"c":3}'),
    ('{"a":1,"b":2,"c":3}', {"a", "c"}, '{"b":2}'),
    ('{"a":1,"b":2,"a":3}', {"a"}, '{"b":2}'),
    ('{"\\u0061":1,"b":2}', {"a"}, '{"b":2}'),
    ('{ "a" : 1 }', {"a"}, "{  }"),
    ('{\n  "a": 1,\n  "b": 2\n}', {"a"}, '{\n  "b": 2\n}'),
    ('{\n  "a": 1,\n  "b": 2\n}', {"b"}, '{\n  "a": 1\n}'),
    ('{"a":1}', {"z"}, '{"a":1}'),
]


@pytest.mark.parametrize(("text", "names", "expected"), EDITS)
def test_removal_to_the_byte(text: str, names: set[str], expected: str) -> None:
    assert splice(text, without_members(read(text).members, names)) == expected


@pytest.mark.parametrize(("start", "stop"), [(-1, 0), (0, 3), (2, 1)])
def test_a_range_outside_the_array_is_refused(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="no elements"):
        replace_elements([(1, 2), (3, 4)], start, stop, "x", close=5)


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        splice("abcdef", [(0, 3, "x"), (2, 4, "y")])


def test_the_last_of_a_name_counts() -> None:
    found = read('{"messages":[1],"messages":[2, 3]}')
    assert found.values == {"messages": [2, 3]}
    assert slices(found.text, found) == ["2", "3"]
    assert elements(read('{"messages":[1],"messages":null}')) == ()


BAD = {
    "empty": b"",
    "blank": b"  \n",
    "mark_only": b"\xef\xbb\xbf",
    "two_marks": b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "array": b"[]",
    "string": b'"x"',
    "number": b"1",
    "garbage": b"\x1f\x8b\x08\x00\x00",
    "invalid_utf8": b'{"a":"\xff"}',
    "raw_surrogate": b'{"a":"\xed\xa0\x80"}',
    "utf16": '{"a":1}'.encode("utf-16"),
    "utf32": '{"a":1}'.encode("utf-32-le"),
    "behind": b"{} x",
    "second_object": b"{}{}",
    "behind_nul": b"{}\x00",
    "unclosed": b"{",
    "unclosed_name": b'{"a',
    "no_colon": b'{"a"',
    "other_than_colon": b'{"a" 1}',
    "no_value": b'{"a":',
    "bad_value": b'{"a":x}',
    "no_comma": b'{"a":1 "b":2}',
    "comma_first": b'{,"a":1}',
    "comma_last": b'{"a":1,}',
    "bare_name": b"{a:1}",
    "number_as_name": b"{1:1}",
    "single_quotes": b"{'a':1}",
    "unclosed_value": b'{"a":1',
    "unclosed_array": b'{"messages":[',
    "unclosed_in_array": b'{"messages":[1',
    "array_comma_last": b'{"messages":[1,]}',
    "array_comma_first": b'{"messages":[,1]}',
    "array_no_comma": b'{"messages":[{} {}]}',
    "array_odd": b'{"messages":[{}, x]}',
    "array_ends_after_comma": b'{"messages":[{},',
    "array_ends_after_blank": b'{"messages":[{}, ',
    "control_character": b'{"a":"\n"}',
    "bad_escape": b'{"a":"\\x"}',
    "comment": b'{"a":1 /* no */}',
    "deep": b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "deep_in_messages": b'{"messages":[' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"]}",
    "deep_and_open": b'{"messages":' + b"[" * 200_000,
    "long_number": b'{"a":' + b"9" * 5_000 + b"}",
    "long_number_in_messages": b'{"messages":[' + b"9" * 5_000 + b"]}",
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_what_is_not_a_json_object(body: bytes) -> None:
    with pytest.raises(MalformedRequest) as caught:
        read_object(decode_body(body))
    assert len(str(caught.value)) < 300


def test_an_error_does_not_quote_the_body() -> None:
    with pytest.raises(MalformedRequest) as caught:
        read_object(decode_body(b'{"a":"hunter2" "b":hunter2}'))
    assert "hunter2" not in str(caught.value)


@given(
    st.binary(max_size=60)
    | st.text(alphabet='{}[]":, \\1e.mna\ud800', max_size=60).map(lambda t: t.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_read_or_are_malformed(body: bytes) -> None:
    try:
        found = read_object(decode_body(body))
    except MalformedRequest:
        return
    assert found.text.encode() == body


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", '"\\ud800"', '"\\u0000"', "-0.0", "9" * 4_000])
def test_odd_values_keep_their_spelling(value: str) -> None:
    text = '{"a":' + value + ',"messages":[' + value + "]}"
    found = read(text)
    assert slices(text, found) == [value]
    assert splice(text, without_members(found.members, {"a"})) == '{"messages":[' + value + "]}"


@pytest.mark.parametrize("unit", ['{"a":1}, ', '{"a":1} \t,\n  ', '"' + " " * 50 + '",', "[[[[]]]],", "1,"])
def test_reading_is_linear(unit: str, growth: Callable[..., float]) -> None:
    small, large = (('{"messages":[' + unit * count + "1]}").encode() for count in (10_000, 40_000))
    assert growth(lambda: read_object(decode_body(small)), lambda: read_object(decode_body(large))) < 8


def test_much_white_space_is_linear(growth: Callable[..., float]) -> None:
    small, large = (b"{" + b" " * size + b'"messages" :[' + b"\n" * size + b"1]}" for size in (2_000_000, 4_000_000))
    assert growth(lambda: read_object(decode_body(small)), lambda: read_object(decode_body(large))) < 3


MEMBERS = [
    ('"a":[1]', "[1]"),
    ('"a" :\n [1]', "[1]"),
    ('"\\u0061"  : [1]', "[1]"),
    ('"\\"a:" :  "[1]"', '"[1]"'),
    ('"":1.50', "1.50"),
    ('"x":null', "null"),
]


@pytest.mark.parametrize(("member", "value"), MEMBERS)
def test_where_the_value_of_a_member_starts(member: str, value: str) -> None:
    text = f'{{ "first":1 ,{member} , "z":2}}'
    _, (start, end) = read(text).members[1]
    assert text[value_start(text, (start, end)) : end] == value


MODELS = [
    (b'{"model":"a","messages":[{"model":"b"}]}', ("a",)),
    (b'{"messages":[{"model":"b"}],"model": "a","stream":true}', ("a",)),
    (b'{"stream":true,"model":"a","messages":[],"metadata":{"model":"b"}}', ("b", "a")),
    (b'{"stream":true,"model":"a","messages":[],"metadata":{"of":"model"}}', ("a",)),
    (b'{"messages":[],"model":"\\u0061"}', ()),
    (b'{"messages":[]}', ()),
    (b'{"messages":[%s]}' % b",".join([b'{"model":"a"}'] * (MODELS_MAX + 1)), ()),
]


@pytest.mark.parametrize(("body", "named"), MODELS)
def test_the_models_that_a_request_may_name_before_it_is_read(body: bytes, named: tuple[str, ...]) -> None:
    assert find_models(body) == named
