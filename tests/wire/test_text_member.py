"""A member found in the bytes of a JSON object is the one that the parser with all positions finds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.wire.spans import read_object, splice, without_members
from tokenmizer_mw.wire.unparsed import find_text_member

NAME = "session_id"

FOUND = [
    b'{"session_id": "a", "messages": []}',
    b'{"messages": [], "session_id": "a"}',
    b'{"messages": [] ,\n "session_id" :\t"a"\r\n}\n',
    b'{"model": "m","session_id":"a" , "messages": []}',
    b'{ "session_id": "a" }',
    b'{"session_id": ""}',
    '{"session_id": "ä€😀", "messages": ["ß"]}'.encode(),
    b'{"messages": [{"content": "line\\n \\"quoted\\""}], "session_id": "a"}',
    b'{"x": {"y": 1}, "session_id": "a", "y": [{"z": "}, {"}]}',
]

NOT_FOUND = [
    b"",
    b"[]",
    b'"session_id"',
    b'["session_id", "a"]',
    b'{"messages": []}',
    b'{"session_id": null}',
    b'{"session_id": 5}',
    b'{"session_id": {"session": "a"}}',
    b'{"session_id": "a\\"b"}',
    b'{"session_id": "a\\/b"}',
    b'{"session_id": "a", "session_id": "b"}',
    b'{"session_id": "a", "session\\u005fid": "a"}',
    b'{"session_id": "a", "x": "\\u00e9"}',
    b'{"x": {"session_id": "a"}}',
    b'{"x": ["session_id", "a"]}',
    b'{"x": "session_id"}',
    b'{"session_id": "a", "x": {"session_id": "a"}}',
    b'{"session_id": "a"',
    b'{"session_id": "a",}',
    b'{"session_id": "a"} {}',
    b'{"session_id": "a" "x": 1}',
    b'{, "session_id": "a"}',
    b'{"session_id": "a\nb"}',
    b'{"session_id": "\xff"}',
    b'{"session_id": "a", "x": "\xff"}',
    b'\xef\xbb\xbf{"session_id": "a"}',
    b'[{"session_id": "a"}]',
    b'{"session_id": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    '{"session_id": "a"}'.encode("utf-16"),
]


def by_parser(body: bytes, name: str = NAME) -> tuple[object, bytes] | None:
    """The member's value and the body without it, by the parser that knows all positions."""
    try:
        found = read_object(body.decode())
    except (MalformedRequest, UnicodeDecodeError):
        return None
    if name not in found.values:
        return None
    return found.values[name], splice(found.text, without_members(found.members, (name,))).encode()


@pytest.mark.parametrize("body", FOUND)
def test_member_is_the_one_that_the_parser_finds(body: bytes) -> None:
    found = find_text_member(body, NAME)
    assert found is not None
    assert (found.value, found.rest) == by_parser(body)
    assert found.written in body and json.loads(b"{%s}" % found.written) == {NAME: found.value}
    assert found.values == json.loads(body)


@pytest.mark.parametrize("body", NOT_FOUND, ids=lambda body: repr(body[:48]))
def test_what_only_a_parser_can_tell_is_left_to_it(body: bytes) -> None:
    assert find_text_member(body, NAME) is None


def test_name_with_a_slash_may_be_written_in_two_ways() -> None:
    assert find_text_member(b'{"a/b": "x", "a\\/b": "x"}', "a/b") is None
    assert find_text_member(b'{"a/b": "x"}', "a/b") is not None


TEXTS = st.sampled_from(["a", "", "session_id", "x, y", "}", '"session_id": "z"', "ä", "\n", "/"])
VALUES = st.recursive(
    TEXTS | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
MEMBERS = st.lists(st.tuples(TEXTS, VALUES), max_size=4)
SEPARATORS = st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", " :\t")])


@given(MEMBERS, SEPARATORS, st.booleans())
def test_never_another_member_than_the_parser(
    members: list[tuple[str, object]], separators: tuple[str, str], ascii_only: bool
) -> None:
    comma, colon = separators
    written = [
        json.dumps(name, ensure_ascii=ascii_only) + colon + json.dumps(value, ensure_ascii=ascii_only)
        for name, value in members
    ]
    body = ("{" + comma.join(written) + "}").encode()
    found = find_text_member(body, NAME)
    if found is not None:
        assert (found.value, found.rest) == by_parser(body)
