"""The stages of one chat call, without any shell around them."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.chat.exchange import ChatExchange, open_exchange
from tokenmizer_mw.chat.reply_collector import CLOSINGS_MAX
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.session.naming import Reason
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat
from tokenmizer_mw.wire.http import header
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.request import ChatRequest

DIALECT = OpenAIChat()
SETTINGS = Settings()
HEADERS = [(b"Host", b"x"), (b"X-Session-ID", b"from header")]
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "one " * 50},
    {"role": "assistant", "content": "two " * 50},
    {"role": "user", "content": "three"},
]
BODY = json.dumps({"model": "gpt-4o", "stream": True, "messages": MESSAGES}).encode()
WITH_FIELD = b'{"session_id":"from field", ' + BODY[1:]
SSE = [(b"Content-Type", b"text/event-stream; charset=utf-8")]


def _event(**delta: Any) -> bytes:
    finish = delta.pop("finish", None)
    return b"data: %s\n\n" % json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]}).encode()


PIECES = [_event(content="Hel"), _event(content="lo"), _event(finish="stop"), b"data: [DONE]\n\n"]


def _forwarding(headers: Any = SSE, status: int = 200, **settings: Any) -> ChatExchange:
    forwarding = open_exchange(DIALECT, HEADERS, BODY, SETTINGS.with_(**settings)).forward()
    forwarding.start_reply(status, headers)
    return forwarding


@pytest.mark.parametrize(
    ("headers", "expected"),
    [([(b"a", b"1")], b"1"), ([(b"A", b"1"), (b"a", b"2")], b"1"), ([], None), (((b"b", b""), (b"a", b"")), b"")],
)
def test_header(headers: Any, expected: bytes | None) -> None:
    assert header(headers, b"a") == expected


@pytest.mark.parametrize(
    ("body", "headers", "settings", "given", "expected"),
    [
        (BODY, HEADERS, {}, None, "from header"),
        (BODY, [], {}, None, Reason.NO_SESSION),
        (BODY, HEADERS, {"session_header": ""}, None, Reason.NO_SESSION),
        (BODY, HEADERS, {}, "given", "given"),
        (BODY, HEADERS, {}, "", Reason.SESSION_INVALID),
        (WITH_FIELD, HEADERS, {}, None, "from field"),
        (WITH_FIELD, HEADERS, {}, "given", "given"),
        (WITH_FIELD, HEADERS, {"session_field": ""}, None, "from header"),
        (WITH_FIELD, [], {"session_field": "other"}, None, Reason.NO_SESSION),
        (b"not json", HEADERS, {}, None, "from header"),
        (BODY, [(b"x-session-id", b"\xff\xfe\x80")], {}, None, Reason.SESSION_INVALID),
    ],
)
def test_session(body: bytes, headers: Any, settings: Any, given: str | None, expected: str | Reason) -> None:
    opened = open_exchange(DIALECT, headers, body, SETTINGS.with_(**settings), session_id=given)
    assert (opened.reason if isinstance(expected, Reason) else opened.session_id) == expected
    assert (opened.session_id is None) == isinstance(expected, Reason)


def test_field_in_a_malformed_body_is_malformed() -> None:
    with pytest.raises(MalformedRequest):
        open_exchange(DIALECT, HEADERS, b'{"session_id": "a"', SETTINGS)


@given(st.binary(max_size=200) | st.just(BODY) | st.just(WITH_FIELD), st.booleans())
def test_any_body_stays_itself_or_loses_our_field(body: bytes, keep: bool) -> None:
    try:
        opened = open_exchange(DIALECT, HEADERS, body, SETTINGS.with_(keep_session_field=keep))
    except MalformedRequest:
        return
    forwarding = opened.forward()
    assert (forwarding.forwarded is body) is not forwarding.is_changed
    if forwarding.is_changed:
        assert (body, forwarding.forwarded, keep) == (WITH_FIELD, BODY, False)


def test_body_is_not_read_before_the_end() -> None:
    forwarding = open_exchange(DIALECT, HEADERS, b"not json", SETTINGS).forward()
    assert forwarding.forwarded == b"not json"
    with pytest.raises(MalformedRequest):
        forwarding.close()


@pytest.mark.parametrize("in_body", [True, False])
def test_a_history_that_comes_again_is_read_on(in_body: bool) -> None:
    known = KnownRequests(100_000)
    messages = [{"role": "user", "content": f"{number} " + "said " * 300} for number in range(6)]
    looked_at = []
    for end in (4, 5, 6):
        sent = {"session_id": "s"} if in_body else {}
        body = json.dumps({**sent, "messages": messages[:end]}).encode()
        opened = open_exchange(DIALECT, HEADERS, body, SETTINGS, known=known)
        opened.request.messages.column("seen", lambda news: looked_at.append(len(news)) or [0] * len(news))
        assert opened.forward().forwarded == open_exchange(DIALECT, HEADERS, body, SETTINGS).forward().forwarded
    assert looked_at == [4, 1, 1]


@pytest.mark.parametrize(
    ("members", "models"),
    [
        (b'"model": "gpt-4o"', ["gpt-4o"]),
        (b'"model"  :\n "gpt-4o" ', ["gpt-4o"]),
        (b'"model": "a", "tools": [{"model": "b"}]', ["b", "a"]),
        (b'"model": "a", "x": "model"', ["a"]),
        (b'"x": 1', []),
        (b'"model": null, "y": "z"', []),
        (b'"model": "a\\u0062"', []),
        (b'"model": "\xc3\xa9"', []),
        (b'"model"' + b" " * 300 + b': "a", "x": {}', []),
        (b'"model": "a"' + b', "model": "b"' * 20 + b', "x": {}', []),
        (b'"model": "a", "stream": true, "seed": -1.5e3, "user": "u"', ["a"]),
        (b'"x": {"model": "a"}', ["a"]),
        (b'"x": "\\",\\"model\\":\\"a\\"}"', []),
    ],
)
def test_every_model_is_named_or_none(members: bytes, models: list[str]) -> None:
    body = b'{"messages": [], ' + members + b"}"
    assert list(open_exchange(DIALECT, HEADERS, body, SETTINGS).models) == models


def test_a_model_that_is_named_first_is_the_model() -> None:
    body = b'{"model": "a", "messages": [], "tools": [{"model": "b"}]}'
    assert open_exchange(DIALECT, HEADERS, body, SETTINGS).models == ("a",)


def test_rewrite_shortens_and_drops_our_field() -> None:
    opened = open_exchange(DIALECT, HEADERS, WITH_FIELD, SETTINGS)
    forwarding = opened.forward(Rewrite(3, "block", "user"))
    sent = json.loads(forwarding.forwarded)
    assert [message["content"] for message in sent["messages"]] == ["Be brief.", "block", "three"]
    assert "session_id" not in sent
    assert [message.text for message in forwarding.close().request.messages] == [
        message["content"] for message in MESSAGES
    ]


def test_rewrite_that_makes_it_longer_is_left() -> None:
    block = "block " * 1_000
    assert open_exchange(DIALECT, HEADERS, BODY, SETTINGS).forward(Rewrite(3, block, "user")).forwarded is BODY
    assert open_exchange(DIALECT, HEADERS, WITH_FIELD, SETTINGS).forward(Rewrite(3, block, "user")).forwarded == BODY


@given(st.lists(st.integers(1, 60), max_size=30), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_any_chunking_ends_when_the_end_was_seen_and_reads_the_same(sizes: list[int], line_end: bytes) -> None:
    stream = b"".join(PIECES).replace(b"\n", line_end)
    forwarding, at, seen = _forwarding(), 0, b""
    for size in [*sizes, len(stream)]:
        piece, at = stream[at : at + size], at + size
        seen += piece
        if piece:
            assert forwarding.receive(piece) == (b"[DONE]" in seen)
        if b"[DONE]" in seen:
            break
    closed = forwarding.close()
    assert closed.settled
    assert closed.reply is not None
    assert closed.reply.message is not None
    assert (closed.reply.message.text, closed.reply.outcome) == ("Hello", Outcome.COMPLETE)


@pytest.mark.parametrize(
    ("headers", "status", "pieces", "completes"),
    [
        (SSE, 200, [b"abc", b"", b""], [False, True, True]),
        ([*SSE, (b"content-length", b"6")], 200, [b"abc", b"de", b"f"], [False, False, True]),
        ([*SSE, (b"content-length", b"junk")], 200, [b"abc"], [False]),
        ([*SSE, (b"content-length", b"9" * 5_000)], 200, [b"abc"], [False]),
        ([(b"content-type", b"application/json")], 200, [b'{"a": "data: [DONE]', b'"}', b""], [False, False, True]),
        ([(b"content-type", b"application/json"), (b"content-length", b"3")], 200, [b"{}", b"\n"], [False, True]),
        ([(b"content-type", b"text/html"), (b"content-length", b"3")], 200, [b"ab", b"c"], [False, True]),
        ([(b"content-type", b"text/html")], 200, [b"data: [DONE]\n\n"], [False]),
        (SSE, 500, [b"data: [DONE]\n\n", b""], [False, True]),
        ([*SSE, (b"content-encoding", b"what")], 200, [b"x"], [True]),
        ([*SSE, (b"content-encoding", b"gzip")], 200, [b"not gzip", b"x"], [True, True]),
        ([*SSE, (b"content-encoding", b" Identity ")], 200, [b"x", b"data: [DONE]\n\n"], [False, False]),
        ([*SSE, (b"content-encoding", b"")], 200, [b"x\n", b"data: [DONE]\n\n"], [False, True]),
    ],
)
def test_when_a_turn_must_be_committed(headers: Any, status: int, pieces: list[bytes], completes: list[bool]) -> None:
    forwarding = _forwarding(headers, status)
    assert list(map(forwarding.receive, pieces)) == completes


@pytest.mark.parametrize(
    ("headers", "status", "message", "outcome", "reasons"),
    [
        (SSE, 200, "Hello", Outcome.COMPLETE, ()),
        ([], 200, "Hello", Outcome.COMPLETE, ()),
        ([(b"content-type", b"application/vendor+json")], 200, "Hello", Outcome.COMPLETE, ()),
        (SSE, 404, None, Outcome.ERROR, ()),
        (SSE, 304, None, Outcome.ERROR, ()),
        ([(b"content-type", b"text/plain")], 200, None, None, (Reason.REPLY_FOREIGN,)),
        ([*SSE, (b"content-encoding", b"what")], 200, None, None, (Reason.REPLY_UNDECODABLE,)),
    ],
)
def test_what_is_made_of_a_response(
    headers: Any, status: int, message: str | None, outcome: Outcome | None, reasons: Any
) -> None:
    forwarding = _forwarding(headers, status)
    forwarding.receive(b"".join(PIECES))
    closed = forwarding.close()
    assert len(closed.request.messages) == len(MESSAGES)
    assert closed.reasons == reasons
    assert (closed.reply.outcome if closed.reply else None) == outcome
    assert (closed.reply.message.text if closed.reply and closed.reply.message else None) == message


class PlainText(OpenAIChat):
    """A dialect whose replies may come as plain text."""

    media_types = frozenset({b"text/plain"})


def test_a_dialect_names_further_media_types() -> None:
    for content_type, collected in ((b"Text/Plain; charset=utf-8", True), (b"text/html", False)):
        forwarding = open_exchange(PlainText(), HEADERS, BODY, SETTINGS).forward()
        forwarding.start_reply(200, [(b"content-type", content_type)])
        forwarding.receive(b"".join(PIECES))
        assert (forwarding.close().reply is not None) is collected


class SecondVersion(OpenAIChat):
    """An application's dialect that refuses more than its base."""

    def read(self, body: bytes, known: KnownRequests | None = None, *, path: str = "") -> ChatRequest:
        if b'"version": 2' not in body:
            raise MalformedRequest("not version 2")
        return super().read(body, known, path=path)


def test_only_the_own_way_of_reading_says_which_requests_a_dialect_takes() -> None:
    with pytest.raises(MalformedRequest):
        open_exchange(SecondVersion(), HEADERS, WITH_FIELD, SETTINGS).forward()
    taken = WITH_FIELD.replace(b"{", b'{"version": 2, ', 1)
    assert b"session_id" not in (open_exchange(SecondVersion(), HEADERS, taken, SETTINGS).forward().forwarded or b"")


class NamedFirst(OpenAIChat):
    """A dialect whose last event says so where it starts."""

    def ends(self, tail: bytes) -> bool:
        return tail.find(b'"last"') >= 0


LONG_LAST = b'data: {"type": "last", "note": "%s", "choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n' % (
    b"x" * 900
)


@given(st.lists(st.integers(1, 400), max_size=30), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans())
def test_a_last_event_torn_behind_its_name_is_committed_before_its_end_is_released(
    sizes: list[int], line_end: bytes, compressed: bool
) -> None:
    stream = (b"".join(PIECES[:2]) + LONG_LAST).replace(b"\n", line_end)
    encoder = zlib.compressobj()
    forwarding = open_exchange(NamedFirst(), HEADERS, BODY, SETTINGS).forward()
    forwarding.start_reply(200, [*SSE, (b"content-encoding", b"deflate")] if compressed else SSE)
    settled, at = False, 0
    for size in [*sizes, len(stream)]:
        piece, at = stream[at : at + size], at + size
        if not piece:
            break
        sent = encoder.compress(piece) + encoder.flush(zlib.Z_SYNC_FLUSH) if compressed else piece
        if forwarding.receive(sent):
            settled = forwarding.close().settled
        assert settled or at < len(stream) - len(line_end)
        if settled:
            break
    assert settled


def test_response_that_never_began_is_an_error() -> None:
    closed = open_exchange(DIALECT, HEADERS, BODY, SETTINGS).forward().close()
    assert closed.reply is not None
    assert (closed.reply.message, closed.reply.outcome) == (None, Outcome.ERROR)


def test_shell_knows_better_how_it_ended() -> None:
    forwarding = _forwarding()
    forwarding.receive(PIECES[0])
    closed = forwarding.close(Outcome.ABORTED)
    assert closed.reply is not None
    assert closed.reply.message is not None
    assert (closed.reply.message.text, closed.reply.outcome) == ("Hel", Outcome.ABORTED)


def test_error_that_the_provider_told_is_not_the_clients_leaving() -> None:
    forwarding = _forwarding()
    forwarding.receive(PIECES[0])
    forwarding.receive(b'data: {"error": {"message": "overloaded"}}\n\n')
    closed = forwarding.close(Outcome.ABORTED)
    assert closed.reply is not None
    assert (closed.reply.error, closed.reply.outcome) == ("overloaded", Outcome.ERROR)


def test_reply_that_said_how_it_ended_is_not_broken_off() -> None:
    forwarding = _forwarding()
    forwarding.receive(b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n')
    closed = forwarding.close(Outcome.ABORTED)
    assert closed.reply is not None
    assert (closed.reply.finish_reason, closed.reply.outcome) == ("stop", Outcome.COMPLETE)


@pytest.mark.parametrize("cap", [1, len(PIECES[0]), len(PIECES[0]) + 5, sum(map(len, PIECES)) - 1])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_capture_stops_at_the_cap_and_still_sees_the_end(cap: int, size: int) -> None:
    forwarding = _forwarding(capture_max=cap)
    stream = b"".join(PIECES)
    ended = [forwarding.receive(stream[at : at + size]) for at in range(0, len(stream), size)]
    closed = forwarding.close()
    assert any(ended)
    assert closed.reasons == (Reason.REPLY_CAPPED,)
    assert closed.reply is not None
    assert (closed.reply.outcome, closed.settled) == (Outcome.TRUNCATED, True)


def test_capture_up_to_the_cap_is_whole() -> None:
    forwarding = _forwarding(capture_max=sum(map(len, PIECES)))
    for piece in PIECES:
        forwarding.receive(piece)
    assert forwarding.close().reasons == ()


def test_false_ends_are_looked_into_a_few_times_only() -> None:
    forwarding = _forwarding()
    looked = 0
    for _ in range(CLOSINGS_MAX + 20):
        if forwarding.receive(b"data: x\ndata: [DONE]\n\n"):
            looked += 1
            assert not forwarding.close().settled
    assert looked == CLOSINGS_MAX
    assert forwarding.receive(b"")


@pytest.mark.parametrize(
    "body",
    [
        b'{"session_id": "s", "model": "m", "messages": [{"role": "user", "content": "Hi"}]}',
        b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "session_id": "s"}',
        b'{"messages": [{"role": "user", "content": "\\u00e9 \\"session_id\\": 1"}],\n "session_id" : "s" ,"n": 1}\n',
        b'{"session_id": "t", "messages": [], "session_id": "s"}',
        b'{"session_id": "t", "messages": [], "session\\u005fid": "s"}',
        b'{"session_id": "s", "metadata": {"session_id": "t"}, "messages": []}',
        b'{"metadata": {"session_id": "t"}, "messages": [], "session_id": "s"}',
    ],
)
@pytest.mark.parametrize("keep", [False, True])
def test_session_field_is_the_one_that_the_parsed_request_has(body: bytes, keep: bool) -> None:
    exchange = open_exchange(DIALECT, [], body, SETTINGS.with_(keep_session_field=keep)).forward()
    request = DIALECT.read(body)
    assert exchange.session_id == request.fields["session_id"] == "s"
    assert exchange.forwarded == (body if keep else DIALECT.rewrite(request, drop=("session_id",)))


@pytest.mark.parametrize(
    "body",
    [
        b'{"session_id": "s"}',
        b'{"session_id": "s", "messages": "Hi"}',
        b'{"session_id": "s", "messages": {}}',
        b'{"session_id": "s", "messages": []',
        b'{"session_id": "s", "messages": [],}',
        b'{"session_id": "s", "messages": []} behind',
        b'[{"session_id": "s", "messages": []}]',
    ],
)
def test_session_field_of_what_is_no_chat_request_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        open_exchange(DIALECT, [], body, SETTINGS)


def test_session_field_is_left_out_of_a_redacted_body() -> None:
    body = b'{"session_id": "s", "messages": [{"role": "user", "content": "a secret"}]}'
    exchange = open_exchange(DIALECT, [], body, SETTINGS)
    exchange.replace_body(body.replace(b"a secret", b"nothing"))
    assert exchange.forward().forwarded == b'{"messages": [{"role": "user", "content": "nothing"}]}'
