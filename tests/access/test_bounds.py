"""How much a JSON request holds, told without parsing it: the same as is told by parsing it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokenmizer_mw.server.access.bounds import DEEPEST, Bounds, excess, scan_bounds

SMALL = Bounds(depth=5, messages=3, tools=2)

_TEXT = st.text(st.sampled_from('ab"\\{}[],: \n\u00e9'), max_size=8)
_VALUES = st.recursive(
    st.none() | st.integers(-5, 5) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)
_OBJECTS = st.dictionaries(_TEXT, _VALUES, max_size=3)
_REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.lists(_OBJECTS, max_size=6) | _VALUES,
        "input": st.lists(_OBJECTS, max_size=6) | _VALUES,
        "tools": st.lists(_OBJECTS | st.fixed_dictionaries({"tools": st.lists(_OBJECTS, max_size=4)}), max_size=5),
        "metadata": st.dictionaries(_TEXT, _OBJECTS, max_size=6),
        "x": _VALUES,
    },
)


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(_depth, inside), default=0)


def _code(request: dict[str, Any], bounds: Bounds) -> set[str]:
    """All codes that may be told, by a look at what was parsed."""
    if _depth(request) > bounds.depth:
        return {"nested_too_deeply"}
    found = set()
    for name in ("messages", "input"):
        listed = request.get(name)
        elements = listed.values() if isinstance(listed, dict) else listed if isinstance(listed, list) else ()
        if sum(isinstance(one, dict | list) for one in elements) > bounds.messages:
            found.add("too_many_messages")
    tools = [tool for tool in request.get("tools", ()) if isinstance(tool, dict)]
    held = [[one for one in tool.get("tools") or () if isinstance(one, dict)] for tool in tools]
    if sum(max(1, len(inner)) for inner in held) > bounds.tools:
        found.add("too_many_tools")
    return found


@example({"messages": {"a": [], "b": [], "c": [], "d": []}}, None, False)
@example({"messages": [[], [], [], []], "input": ["a", "b", "c", "d"]}, None, False)
@example({"tools": [{}, {"tools": [{}, {}]}]}, None, False)
@given(_REQUESTS, st.sampled_from([None, 1]), st.booleans())
def test_the_same_as_is_found_by_parsing(request: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    if any(isinstance(tool.get("tools"), str | int) for tool in request.get("tools", ())):
        return
    body = json.dumps(request, indent=indent, ensure_ascii=ascii_only).encode()
    for look in (excess, scan_bounds):
        found = look(body, SMALL)
        assert (found.code if found is not None else None) in (_code(request, SMALL) or {None})


@given(st.text(st.sampled_from('ab"\\{}[],: \n'), max_size=60))
def test_what_is_no_json_is_looked_through_all_the_same(text: str) -> None:
    for look in (excess, scan_bounds):
        look(text.encode(), Bounds(1, 1, 1))


def test_exactly_as_much_as_is_allowed() -> None:
    bounds = Bounds()
    messages = [{"role": "user", "content": 'A "quote" and a brace {'}] * 2_000
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {}}}}}] * 256
    assert excess(json.dumps({"messages": messages, "tools": tools}).encode(), bounds) is None
    for name, listed, code in (("messages", messages, "too_many_messages"), ("tools", tools, "too_many_tools")):
        found = excess(json.dumps({name: [*listed, listed[0]], "model": "m"}).encode(), bounds)
        assert found is not None and (found.code, found.place) == (code, name)
        assert str(len(listed) + 1) in found.reason and str(len(listed)) in found.reason


@pytest.mark.parametrize("opening, closing", ["[]", ('{"a":', "}")])
def test_depth_is_counted_with_the_object_itself(opening: str, closing: str) -> None:
    for depth, fits in ((64, True), (65, False), (200_000, False)):
        inside = f"{opening * (depth - 1)}{closing * (depth - 1)}".replace(":}", ":1}")
        found = excess(f'{{"messages":{inside}}}'.encode(), Bounds())
        assert (found is None) is fits
    assert found is not None and found.place.startswith("messages")


def test_the_place_is_told_by_its_first_steps() -> None:
    deep: Any = 1
    for _ in range(70):
        deep = {"more": deep}
    request = {"a": [], "messages": [{"role": "user"}, {"content": [{"text": "x, [ y"}, {"input": deep}]}]}
    found = excess(json.dumps(request).encode(), Bounds())
    assert found is not None and found.place == "messages[1].content[1]..."
    assert str(found).startswith("messages[1].content[1]...: nested deeper than the 64 levels")


def test_of_members_with_one_name_the_last_counts() -> None:
    many = ",".join(["{}"] * 2_001)
    for look in (excess, scan_bounds):
        for last in ("[]", '"x"', "null", "1"):
            assert look(f'{{"messages":[{many}],"x":{{"messages":1}},"messages" :{last}}}'.encode(), Bounds()) is None
        for first in ("[]", "1", f"[{many},{{}}]"):
            found = look(f'{{"messages":{first},"messages":[{many}]}}'.encode(), Bounds())
            assert found is not None and found.code == "too_many_messages" and found.reason.startswith("2001")


def test_bodies_with_many_brackets_are_not_read() -> None:
    """Brackets in texts are none, however many; those outside are counted."""
    said = {"role": "user", "content": 'f(a[0], {"b": "}"}) ' * 10_000}
    assert excess(json.dumps({"messages": [said]}).encode(), Bounds()) is None
    for request, code in (({"x": [[]] * 20_000}, None), ({"messages": [said] + [{}] * 2_000}, "too_many_messages")):
        found = excess(json.dumps(request).encode(), Bounds())
        assert (found.code if found is not None else None) == code


def test_tools_inside_of_tools() -> None:
    for name in ("functionDeclarations", "function_declarations", "tools"):
        held = [{name: [{"name": "f"}] * 200}, {name: [{"name": "g"}] * 100}]
        found = excess(json.dumps({"tools": held}).encode(), Bounds())
        assert found is not None and found.reason.startswith("300 tools")


def test_the_greatest_bound() -> None:
    body = f'{{"x":{"[" * DEEPEST}{"]" * DEEPEST}}}'.encode()
    assert excess(body, Bounds(depth=DEEPEST)) is not None
    assert excess(body.replace(b"[]", b"1"), Bounds(depth=DEEPEST)) is None


@pytest.mark.parametrize(
    "unit",
    [b"[],", b"{},", b'"a":[],', b'"tools":[' + b"{}," * 600 + b"{}],", b'"messages":[' + b"[]," * 600 + b"[]],", b"["],
)
def test_cost_is_linear(unit: bytes) -> None:
    """Four times the body takes at most about four times the CPU; a quadratic pass would take sixteen."""

    def seconds(size: int) -> float:
        body = b'{"messages":[' + unit * (size // len(unit)) + b"[" * 300
        started = time.thread_time()
        excess(body, Bounds())
        return time.thread_time() - started

    once, fourfold = (min(seconds(size) for _ in range(5)) for size in (60_000, 240_000))
    assert fourfold <= 8 * once + 0.005
