"""A layer behaves as a dictionary of its own, order included, and leaves what is below it alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.graph.layer import Layer

KEYS = st.sampled_from("abcdef")
CHANGES = st.lists(
    st.one_of(st.tuples(st.just("set"), KEYS, st.integers()), st.tuples(st.just("del"), KEYS, st.just(0)))
)


@given(st.dictionaries(KEYS, st.integers()), CHANGES, CHANGES)
def test_a_layer_is_a_dictionary(
    base: dict[str, int], first: list[tuple[str, str, int]], second: list[tuple[str, str, int]]
) -> None:
    plain, below = dict(base), dict(base)
    layer: Layer[str, int] = Layer(below)
    for changes in (first, second):
        for what, key, value in changes:
            if what == "set":
                layer[key] = plain[key] = value
            elif key in plain:
                del layer[key], plain[key]
        assert list(layer) == list(plain)
        assert list(reversed(list(layer))) == list(layer.__reversed__())
        assert len(layer) == len(plain)
        assert dict(layer) == plain
        assert [layer.get(key, -1) for key in "abcdefg"] == [plain.get(key, -1) for key in "abcdefg"]
        assert [key in layer for key in "abcdefg"] == [key in plain for key in "abcdefg"]
        layer = Layer(layer)
    assert below == base
