from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokenmizer_mw.wire.sse import LineDecoder, ServerSentEvent, SSEDecoder, data_in, events_in

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.sse"))

STREAMS = [
    (b"data: a\n\n", [("a", "")]),
    (b"data:a\n\n", [("a", "")]),
    (b"data:  a\n\n", [(" a", "")]),
    (b"data: a\ndata: b\n\n", [("a\nb", "")]),
    (b"data: a\r\ndata: b\r\n\r\n", [("a\nb", "")]),
    (b"data: a\rdata: b\r\rdata: c\r\r", [("a\nb", ""), ("c", "")]),
    (b"data: a\r\n\rdata: b\n\r\n", [("a", ""), ("b", "")]),
    (b"data\n\ndata\ndata\n\ndata:", [("", ""), ("\n", ""), ("", "")]),
    (b": comment\n\n:\n\n\n", []),
    (b"event: ping\n\ndata: a\n\n", [("a", "")]),
    (b"event: note\ndata: a\n\ndata: b\n\n", [("a", "note"), ("b", "")]),
    (b"id: 1\nretry: 10\nfoo: bar\ndatas: x\n data: y\ndata: a\n\n", [("a", "")]),
    (b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", [("a", "")]),
    ("data: Grüße\u2028\u2029\x85\x0b\x0c\x1c end\n\n".encode(), [("Grüße\u2028\u2029\x85\x0b\x0c\x1c end", "")]),
    (b"data: \xff\xfe \xe2\x82\n\n", [("\ufffd\ufffd \ufffd", "")]),
    (b"data: a: b\n\n", [("a: b", "")]),
    (b"data: no blank line\n", [("no blank line", "")]),
    (b"data: no end", [("no end", "")]),
    (b"data: a\n\r", [("a", "")]),
    (b"", []),
    (b"\n\r\n\r", []),
    (b"\xef\xbb\xbf", []),
]


def decode(chunks: list[bytes], event_max: int = 1 << 20) -> list[ServerSentEvent]:
    decoder = SSEDecoder(event_max)
    events = [event for chunk in chunks if chunk for event in decoder.receive_data(chunk)]
    return events + decoder.receive_data(b"")


def cut_up(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


@pytest.mark.parametrize(("data", "expected"), STREAMS)
def test_events_of_a_stream(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert decode([data]) == [ServerSentEvent(*event) for event in expected]


@pytest.mark.parametrize(("data", "expected"), STREAMS)
def test_byte_by_byte(data: bytes, expected: list[tuple[str, str]]) -> None:
    assert decode([data[place : place + 1] for place in range(len(data))]) == [ServerSentEvent(*e) for e in expected]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_split_position(path: Path) -> None:
    data = path.read_bytes()
    whole = decode([data])
    assert whole
    for place in range(len(data)):
        assert decode([data[:place], data[place:]]) == whole


@given(st.sampled_from(GOLDEN), st.lists(st.integers(0, 4000), max_size=40))
def test_any_chunking_gives_the_same_events(path: Path, cuts: list[int]) -> None:
    data = path.read_bytes()
    assert decode(cut_up(data, cuts)) == decode([data])


@given(
    st.lists(st.sampled_from([b"data", b":", b" ", b"\r", b"\n", b"a", b"\xc3\xa9", b"\xff", b"event"]), max_size=40),
    st.lists(st.integers(0, 200), max_size=10),
    st.integers(1, 12),
)
def test_any_chunking_of_hostile_bytes(pieces: list[bytes], cuts: list[int], event_max: int) -> None:
    data = b"".join(pieces)
    assert decode(cut_up(data, cuts), event_max) == decode([data], event_max)


def test_a_lone_carriage_return_is_held_back() -> None:
    decoder = LineDecoder()
    assert decoder.receive_data(b"a\r") == []
    assert decoder.receive_data(b"\nb") == [b"a"]
    assert decoder.receive_data(b"\r") == []
    assert decoder.receive_data(b"\r") == [b"b"]
    assert decoder.receive_data(b"") == [b""]


def test_lines_of_ndjson() -> None:
    decoder = LineDecoder()
    assert decoder.receive_data(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert decoder.receive_data(b":2}") == []
    assert decoder.receive_data(b"") == [b'{"b":2}']
    assert decoder.receive_data(b"") == []


@pytest.mark.parametrize(
    "too_long",
    [
        b"data: " + b"x" * 50,
        b"data: 12345678\ndata: 12345678",
        b":" + b"x" * 50,
        b"data: 1\n:" + b"x" * 50,
        b"data\n" * 18,
    ],
)
def test_an_event_over_the_cap_is_dropped_and_the_next_is_not(too_long: bytes) -> None:
    data = b"data: before\n\n" + too_long + b"\n\ndata: 1234567890\n\n"
    for size in (1, 7, len(data)):
        decoder = SSEDecoder(event_max=16)
        events = [event for at in range(0, len(data), size) for event in decoder.receive_data(data[at : at + size])]
        assert [event.data for event in events] == ["before", "1234567890"]
        assert decoder.dropped == 1


def test_what_is_over_the_cap_is_not_held() -> None:
    decoder = LineDecoder(line_max=100)
    for _ in range(1_000):
        decoder.receive_data(b"x" * 64)
    assert decoder.receive_data(b"\nshort\n") == [None, b"short"]


def test_one_huge_event_in_tiny_chunks_is_linear(growth: Callable[..., float]) -> None:
    def work(size: int) -> Callable[[], object]:
        data = b"data: " + b"x" * size + b"\n\n"
        chunks = [data[at : at + 50] for at in range(0, len(data), 50)]
        return lambda: decode(chunks, event_max=10_000_000)

    assert growth(work(2_500_000), work(5_000_000)) < 3


WHOLE = [
    (b"data: a\n\n", [ServerSentEvent("a")]),
    (b"\xef\xbb\xbf\n\nevent: x\ndata: a", [ServerSentEvent("a", "x")]),
    (b": hello\n\n", []),
    (b"data: {}", [ServerSentEvent("{}")]),
    (b'{"error":"no"}', None),
    (b"\xef\xbb\xbf \r\n{", None),
]


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(("data", "expected"), WHOLE)
def test_what_came_decides_whether_it_is_a_stream(
    data: bytes, expected: list[ServerSentEvent] | None, asked: bool
) -> None:
    assert events_in(data, stream=asked) == expected


@given(st.lists(st.sampled_from([b"data: x", b"data:y", b"data", b"event: e", b": c", b"id: 1", b"", b"\xff", b"a:b"])))
def test_a_stream_at_once_is_read_as_it_is_in_pieces(lines: list[bytes]) -> None:
    data = b"data: first\n" + b"\n".join(lines)
    decoder = SSEDecoder()
    assert events_in(data, stream=True) == [*decoder.receive_data(data), *decoder.receive_data(b"")]


PLAIN = st.lists(st.sampled_from([b"{}", b"", b" a", b"\xe2\x82", b"data: ", b"[DONE]"]), min_size=1)


@given(
    st.lists(st.sampled_from([b"data: x", b"data: ", b"event: e", b": c", b"", b"", b"\xe2\x82"])),
    st.sampled_from([b"\n", b"\r\n"]),
)
@example([b"data: x", b"", b"data: y", b"", b""], b"\n")
@example([b"data: x", b"data: y", b"", b"", b""], b"\n")
@example([b"data: x", b"", b"", b"data: y", b"", b""], b"\n")
def test_data_of_a_stream_is_that_of_its_events(lines: list[bytes], line_end: bytes) -> None:
    data = line_end.join([b"data: first", *lines])
    assert data_in(data, stream=True) == [event.data for event in events_in(data, stream=True) or ()]


@given(PLAIN)
def test_data_of_plain_events_is_that_of_any_others(texts: list[bytes]) -> None:
    data = b"".join(b"data: %s\n\n" % text for text in texts)
    assert data_in(data, stream=True) == [event.data for event in events_in(data, stream=True) or ()]


@pytest.mark.parametrize("data", [b"", b"<html>", b"[1]", b"done"])
def test_what_may_be_either_is_what_was_asked_for(data: bytes) -> None:
    assert events_in(data, stream=True) == []
    assert events_in(data, stream=False) is None
