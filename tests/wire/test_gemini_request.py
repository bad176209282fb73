import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import anyio
import httpx2
import pytest
from google import genai
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.asgi import TokenMizerMiddleware
from tokenmizer_mw.context.window import Cut, plan
from tokenmizer_mw.errors import ConfigError, MalformedRequest
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.event import MessageRecorded, encode
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.transports.transport import Transport
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects import ROUTES
from tokenmizer_mw.wire.dialects.gemini import Gemini
from tokenmizer_mw.wire.known import KnownRequests

from .golden_gemini import as_array, as_stream, says
from .replay import replaced

GEMINI = Gemini()
Content = dict[str, Any]


def content(role: str | None, *parts: object, **more: object) -> Content:
    return {"parts": list(parts), **({"role": role} if role is not None else {}), **more}


def text(value: object, **more: object) -> Content:
    return {"text": value, **more}


def result(response: object, **more: object) -> Content:
    return {"functionResponse": {"name": "f", "response": response, **more}}


USER = content("user", text("Hello"))
ANSWER = content("model", text("Hi"))
CALLED = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
CALL = content("model", CALLED)
RESULT = content("user", result({"result": "42"}))


def sent(*contents: object, **fields: object) -> bytes:
    return json.dumps({"contents": contents, **fields}).encode()


def request(*contents: object, **fields: object) -> ChatRequest:
    return GEMINI.read(sent(*contents, **fields))


def said(value: str = "", **more: Any) -> Message:
    return Message(Role.ASSISTANT, value, **more)


def returned(value: str, id: str = "", *, failed: bool = False, **more: Any) -> Message:
    return Message(Role.TOOL, tool_results=(ToolResult(id, value, failed),), **more)


MESSAGES: list[tuple[object, Message]] = [
    (USER, Message(Role.USER, "Hello")),
    (content(None, text("Hello")), Message(Role.USER, "Hello")),
    (content("", text("Hello")), Message(Role.USER, "Hello")),
    ({"role": None, "parts": [text("Hello")]}, Message(Role.USER, "Hello")),
    ({"role": "user", "parts": text("Hello")}, Message(Role.USER, "Hello")),
    (content("user", text("a"), text("b")), Message(Role.USER, "a\nb")),
    (
        content("user", text("look"), {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"file_data": {}}),
        Message(Role.USER, "look", attachments=("inlineData", "fileData")),
    ),
    (content("user", {"fileData": {}, "videoMetadata": {}, "mediaResolution": {}}),
     Message(Role.USER, attachments=("fileData",))),
    (content("user", 5, None, [], text(7), text(None), {}), Message(Role.USER)),
    (content("user"), Message(Role.USER)),
    ({"role": "user", "parts": None}, Message(Role.USER)),
    ({"role": "user", "parts": "Hello"}, Message(Role.USER)),
    ({"role": "user"}, Message(Role.USER)),
    ({}, Message(Role.USER)),
    (content("user", text("half \ud83e and \ud83e\udd89")), Message(Role.USER, "half \ufffd and 🦉")),
    (ANSWER, said("Hi")),
    (content("model", text("Hm.", thought=True), text("Yes, "), text("it is.", thoughtSignature="c2ln")),
     said("Yes, it is.", thinking="Hm.")),
    (content("model"), said()),
    (CALL, said(tool_calls=(ToolCall("", "f", '{"a":1}'),))),
    (content("model", {"function_call": {"id": "c1", "name": "f"}}), said(tool_calls=(ToolCall("c1", "f", "{}"),))),
    (RESULT, returned("42")),
    (content("function", result({"output": "42"}, id="c1")), returned("42", "c1")),
    (content("tool", result({"output": {"n": 1}})), returned('{"n":1}')),
    (content("user", {"function_response": {"name": "f", "response": {"error": "no such file"}}}),
     returned("no such file", failed=True)),
    (content("user", result({"output": "half", "error": "lost"})), returned("half\nlost", failed=True)),
    (content("user", result({"result": "é", "path": "a.py"})), returned('{"result":"é","path":"a.py"}')),
    (content("user", result({})), returned("{}")),
    (content("user", result("42")), returned("42")),
    (content("user", {"functionResponse": {}}), returned("")),
    (content("user", result({"result": "1"}, parts=[{"inlineData": {}}, 7])),
     returned("1", attachments=("inlineData",))),
    (content("user", result({"result": "1"}), result({"result": "2"}, id="c2")),
     Message(Role.TOOL, tool_results=(ToolResult("", "1"), ToolResult("c2", "2")))),
    (content("user", result({"result": "1"}), text("And now?")),
     Message(Role.USER, "And now?", tool_results=(ToolResult("", "1"),))),
    (content("user", CALLED), Message(Role.USER)),
    (content("model", RESULT["parts"][0]), said()),
    (content("system", text("x")), Message(Role.SYSTEM, "x")),
    ({"role": ["user"], "parts": [text("x")]}, Message(Role.SYSTEM, "x")),
    ("user: hi", Message(Role.SYSTEM)),
    (None, Message(Role.SYSTEM)),
    ([USER], Message(Role.SYSTEM)),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), MESSAGES)
def test_every_kind_of_content(raw: object, expected: Message) -> None:
    read = request(raw)
    assert read.messages == (expected,)
    assert list(read.messages.roles) == [expected.role]
    assert read.text[slice(*read.spans[0])] == json.dumps(raw)


def test_what_the_model_said_in_a_row_is_one_message() -> None:
    row = [content("model", part) for part in (text("Hm.", thought=True), text("I will "), text("look."), CALLED)]
    read = request(USER, *row, RESULT, ANSWER)
    looked = said("I will look.", thinking="Hm.", tool_calls=(ToolCall("", "f", '{"a":1}'),))
    assert read.messages == (Message(Role.USER, "Hello"), looked, returned("42"), said("Hi"))
    assert read.sizes == (1, 4, 1, 1)
    assert json.loads(f"[{read.text[slice(*read.spans[1])]}]") == row


SPELLINGS = [
    [content("model", text("Hm.", thought=True), text("Let me "), text("see."), CALLED)],
    [content("model", text("Let me see."), CALLED)],
    [content("model", text("Let me ")), content("model", text("see. ")), content("model", CALLED, text(""))],
    [content("model", text("Let me see."), {"function_call": {"args": {"a": 1}, "name": "f"}})],
    [content("model", text("Let me see."), {"functionCall": {"id": "c9", "name": "f", "args": {"a": 1}}})],
    [content("model", text("Let me see."), {"functionCall": {"name": "f", "args": '{ "a" : 1 }'}})],
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_message_is_the_same_in_every_spelling(spelling: list[Content]) -> None:
    first, other = (request(USER, *contents, RESULT).messages[1] for contents in (SPELLINGS[0], spelling))
    assert digest(other) == digest(first)


PATHS = [
    ("/v1beta/models/gemini-3.8-flash:generateContent", "gemini-3.8-flash", False),
    ("/v1beta/models/gemini-3.8-flash:streamGenerateContent", "gemini-3.8-flash", True),
    ("/v1/publishers/google/models/gemini-3.8-pro:streamGenerateContent", "gemini-3.8-pro", True),
    ("/v1/projects/p/locations/l/endpoints/77:generateContent", "77", False),
    ("/proxy/v1beta/tunedModels/mine-1:generateContent", "mine-1", False),
    ("/models/half\ud800:generateContent", "half\ufffd", False),
    ("/v1beta/models/gemini:countTokens", "in-body", True),
    ("/chat", "in-body", True),
    ("", "in-body", True),
]


@pytest.mark.parametrize(("path", "model", "stream"), PATHS)
def test_the_path_names_the_model_and_says_whether_it_streams(path: str, model: str, stream: bool) -> None:
    body = sent(USER, model="in-body", stream=True)
    read = GEMINI.read(body, path=path)
    assert (read.model, read.stream) == (model, stream)
    assert GEMINI.models(body, path) == (model,)


def test_routes() -> None:
    for path, _, _ in PATHS[:6]:
        assert isinstance(next(dialect for ending, dialect in ROUTES.items() if path.endswith(ending)), Gemini)
    for path in ("/v1beta/models/m:batchGenerateContent", "/v1beta/models/m:countTokens", "/v1beta/generateContent"):
        assert not path.endswith(tuple(ROUTES))


def test_what_else_fills_the_context() -> None:
    instruction = content(None, text("Be brief."))
    tools = [{"functionDeclarations": [{"name": "f"}]}]
    read = request(USER, systemInstruction=instruction, tools=tools, cachedContent="cachedContents/1", session_id="s")
    assert read.overhead == f'"systemInstruction": {json.dumps(instruction)}\n"tools": {json.dumps(tools)}'
    assert (read.prefix, read.stand_down) == (0, "")
    assert request(USER, system_instruction=instruction).overhead == f'"system_instruction": {json.dumps(instruction)}'


STAND_DOWN: list[tuple[list[object], dict[str, object], str]] = [
    ([USER], {}, ""),
    ([USER, ANSWER, USER], {}, ""),
    ([USER, CALL, RESULT, ANSWER, USER], {"cachedContent": "cachedContents/1"}, ""),
    ([USER, CALL, content("user", *RESULT["parts"], text("And?"))], {}, ""),
    ([USER, CALL, RESULT], {}, "open_tool_loop"),
    ([USER, CALL, content("tool", *RESULT["parts"])], {}, "open_tool_loop"),
    ([USER, CALL], {}, "open_tool_loop"),
    ([USER, ANSWER], {}, "assistant_prefill"),
    ([], {}, "no_user_message"),
    ([USER, content("system", text("x")), USER], {}, "unknown_role"),
    ([USER, "hello", USER], {}, "unknown_role"),
    ([USER, RESULT, RESULT, USER], {}, ""),
    ([USER], {"continuationToken": "bW9yZQ=="}, "reply_continued"),
    ([USER], {"continuation_token": "bW9yZQ=="}, "reply_continued"),
]


@pytest.mark.parametrize(("contents", "fields", "reason"), STAND_DOWN)
def test_when_to_stand_down(contents: list[object], fields: dict[str, object], reason: str) -> None:
    assert request(*contents, **fields).stand_down == reason


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b'{"contents":null}', b'{"contents":"hi"}', b'{"contents":{"parts":[]}}', b'{"contents":[]'],
)
def test_what_is_no_chat_request(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        GEMINI.read(body)


# -- rewriting ---------------------------------------------------------------------------------------------------

SPACE = st.sampled_from(["", "", " ", "\n  ", "\t\r\n"])
TEXTS = st.sampled_from(
    ['""', '"a"', '"Gr\\u00fc\\u00dfe \\/ \\ud83e"', '"\u2028🦉"', '"]},{"', '"\\"finishReason\\""', '"half \\ud800"']
)
ODD = st.sampled_from(["1.0e5", "1E400", "-0", "null", "[ ]", '{"a" : 1, "a" :2 }', "NaN"])
PARTS = st.one_of(
    st.builds('{{"text" :{}}}'.format, TEXTS),
    st.builds('{{ "thought": true ,"text":{}, "thoughtSignature":"c2ln"}}'.format, TEXTS),
    st.builds('{{"functionCall":{{"args":{},"name":"f" }}}}'.format, ODD),
    st.builds('{{"functionResponse":{{"name":"f","response":{{"result":{} }}}}}}'.format, ODD),
    st.builds('{{"inline_data":{{"data":"AAAA","x":{}}}}}'.format, ODD),
)
CONTENTS = st.builds(
    '{{ "x":{} ,"role" : "{}", "parts":[{}]}}'.format,
    ODD,
    st.sampled_from(["user", "model", "model", "function"]),
    st.lists(PARTS, max_size=3).map(", ".join),
)


@given(st.lists(st.tuples(SPACE, CONTENTS, SPACE), max_size=8), ODD, SPACE, st.data())
def test_only_the_asked_bytes_change(
    given: list[tuple[str, str, str]], odd: str, space: str, data: st.DataObject
) -> None:
    before, behind = f'{{{space}"x" :{odd},"session_id":"s",{space}"contents" :{space}[', f']{space},"y":{odd} }}'
    body = before + ",".join("".join(each) for each in given) + behind
    read = GEMINI.read(body.encode())
    assert GEMINI.rewrite(read) == body.encode()
    assert GEMINI.rewrite(read, drop=("session_id",)) == body.replace('"session_id":"s",' + space, "").encode()
    sizes = read.sizes or (1,) * len(given)
    keep_from = data.draw(st.integers(0, len(sizes)))
    gone = sum(sizes[:keep_from])
    block = '{"role":"user","parts":[{"text":"Zeile \\"1\\"\\n🦉"}]}'
    if gone:
        pieces = [given[0][0] + block + given[gone - 1][2], *("".join(each) for each in given[gone:])]
    elif given:
        pieces = [given[0][0] + block, "".join(given[0][1:]), *("".join(each) for each in given[1:])]
    else:
        pieces = [block]
    cut = GEMINI.rewrite(read, keep_from=keep_from, block='Zeile "1"\n🦉', role="system").decode()
    assert cut == before + ",".join(pieces) + behind


def test_the_block_stands_before_the_first_content_that_stays() -> None:
    read = request(USER, CALL, RESULT, ANSWER, ANSWER, USER, systemInstruction=content(None, text("Be brief.")))
    cut = json.loads(GEMINI.rewrite(read, keep_from=4, block="B", role="developer"))
    assert cut["contents"] == [content("user", text("B")), USER]
    assert GEMINI.rewrite(read, keep_from=0, block="") == read.text.encode()
    with pytest.raises(ValueError, match="no elements"):
        GEMINI.rewrite(read, keep_from=7, block="B")


def test_a_history_that_is_known_is_read_the_same() -> None:
    known = KnownRequests(1_000_000)
    contents: list[Content] = [content("user", text("x" * 5_000)), ANSWER]
    for number in range(12):
        contents += [content("user", text(f"{number}?" * 99)), *([ANSWER] * (1 + (number > 5))), CALL, RESULT, ANSWER]
        body = sent(*contents, USER)
        told, alone = GEMINI.read(body, known), GEMINI.read(body)
        assert (told, list(told.messages), told.spans) == (alone, list(alone.messages), alone.spans)


# -- a whole conversation ----------------------------------------------------------------------------------------


class Scripted:
    """A server that answers each call with words of its own, and keeps what it was sent."""

    def __init__(self, *, stream: bool) -> None:
        self.bodies: list[bytes] = []
        self._stream = stream

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(request.read())
        number = len(self.bodies)
        words = [f"Answer {number} ", "is: ", "because " * 30, f"done {number}."]
        if not self._stream:
            return httpx2.Response(200, json=says("".join(words), end="STOP"))
        chunks = [*map(says, words), says("", end="STOP")]
        return httpx2.Response(200, content=as_stream(chunks), headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("stream", [True, False])
def test_a_conversation_through_the_sdk_is_recorded_once_and_cut(stream: bool) -> None:
    server = Scripted(stream=stream)
    memory = SessionMemory.open("memory://", Settings(context_window=2_500, block_tokens=200))
    http_client = httpx2.Client(transport=Transport(memory, inner=httpx2.MockTransport(server)))
    options = types.HttpOptions(httpx_client=http_client, base_url="http://test")
    client = genai.Client(api_key="none", http_options=options)
    chat = client.chats.create(model="gemini-3.8-flash")
    turns = 40
    with memory.session("s"):
        for number in range(turns):
            question = f"Question {number}: what about it? " + "We use PostgreSQL. " * (number == 1)
            list(chat.send_message_stream(question)) if stream else chat.send_message(question)
    memory.flush()
    messages = memory.restore("s", range(1, 10 * turns))
    assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT] * turns
    assert all(message.text.endswith(f"done {place + 1}.") for place, message in enumerate(messages[1::2]))
    last = GEMINI.read(server.bodies[-1])
    assert len(last.messages) < 2 * turns - 1
    assert last.messages[0].role is Role.USER
    assert "PostgreSQL" in last.messages[0].text
    assert last.messages[-1].text.startswith(f"Question {turns - 1}")
    closing = server.bodies[0][server.bodies[0].rindex(b"]") :]
    prefixes = [body.removesuffix(closing) for body in server.bodies]
    cuts = sum(not longer.startswith(shorter) for shorter, longer in pairwise(prefixes))
    assert 1 <= cuts < turns / 4
    client.close()
    memory.close()


def test_a_streamed_array_is_recorded_too() -> None:
    memory = SessionMemory.open("memory://")

    def answer(_: httpx2.Request) -> httpx2.Response:
        array = as_array([says("Hi"), says(" there", end="STOP")])
        return httpx2.Response(200, content=array, headers={"content-type": "application/json"})

    with httpx2.Client(transport=Transport(memory, inner=httpx2.MockTransport(answer))) as client, memory.session("s"):
        client.post("http://test/v1beta/models/m:streamGenerateContent", content=sent(USER))
    assert [message.text for message in memory.restore("s", [1, 2])] == ["Hello", "Hi there"]
    memory.close()


def test_the_middleware_finds_the_method_at_the_end_of_a_path() -> None:
    memory = SessionMemory.open("memory://")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["body"] == sent(USER)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": as_array([says("Hi", end="STOP")])})

    async def receive() -> Any:
        return {"type": "http.request", "body": sent(USER)}

    async def send(_: Any) -> None:
        """Nobody looks at the response here."""

    middleware = TokenMizerMiddleware(app, memory=memory, session=lambda _: "s", routes={":generateContent": GEMINI})
    scope = {"type": "http", "method": "POST", "path": "/v1beta/models/m:generateContent", "headers": []}
    anyio.run(middleware, scope, receive, send)
    assert [message.text for message in memory.restore("s", [1, 2])] == ["Hello", "Hi"]
    with pytest.raises(ConfigError):
        TokenMizerMiddleware(app, memory=memory, routes={"generateContent": GEMINI})
    memory.close()


# -- cuts of any conversation ------------------------------------------------------------------------------------


def calls_of(contents: list[Content], member: str) -> int:
    return sum(member in part for each in contents for part in each["parts"])


@st.composite
def turns(draw: st.DrawFn) -> list[Content]:
    """A turn of a user and what follows it: calls with their results, streamed in pieces or not, and an answer."""
    word = st.sampled_from(["word " * 40, "word " * 200])
    contents = [content(draw(st.sampled_from(["user", None])), text(draw(word)))]
    for _ in range(draw(st.integers(0, 3))):
        ids = draw(st.booleans())
        count = draw(st.integers(1, 3))
        called = [{"functionCall": {"name": "f", "args": {}, **({"id": f"c{n}"} if ids else {})}} for n in range(count)]
        results = [result({"result": draw(word)}, **({"id": f"c{n}"} if ids else {})) for n in range(count)]
        contents += [content("model", text("Hm.", thought=True))] * draw(st.integers(0, 2))
        contents += [content("model", each) for each in called] if draw(st.booleans()) else [content("model", *called)]
        role = draw(st.sampled_from(["user", "function", "tool"]))
        contents += [content(role, each) for each in results] if draw(st.booleans()) else [content(role, *results)]
    return contents + [content("model", text(draw(word)))] * draw(st.integers(1, 3))


@given(st.lists(turns(), min_size=1, max_size=12), st.integers(0, 3))
def test_no_cut_of_any_conversation_splits_what_belongs_together(talk: list[list[Content]], loops: int) -> None:
    contents = [each for turn in talk for each in turn]
    last = [content("user", text("And now?")), *[CALL, RESULT] * loops]
    read = request(*contents, *last)
    counts = [len(message.text) // 5 + 5 for message in read.messages]
    settings = Settings(context_window=464, block_tokens=64)
    planned = plan(read, counts, overhead=0, frozen=None, settings=settings)
    if loops:
        assert not isinstance(planned, Cut)
    if not isinstance(planned, Cut):
        return
    kept = json.loads(GEMINI.rewrite(read, keep_from=planned.keep_from, block="B"))["contents"]
    assert kept[0] == content("user", text("B"))
    assert kept[1:] == [*contents, *last][len(contents) + len(last) - len(kept) + 1 :]
    assert calls_of(kept[1:2], "functionResponse") == 0, "a cut inside a finished turn keeps results with their calls"
    assert calls_of(kept, "functionCall") == calls_of(kept, "functionResponse")


# -- bad input ---------------------------------------------------------------------------------------------------

NAMES = ("contents", "role", "parts", "text", "thought", "functionCall", "functionResponse", "name", "args", "response",
         "id", "inline_data", "thoughtSignature", "result", "error")  # fmt: skip
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "user", "model", "\ud800", "é"])
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)
WHOLE = {
    "contents": [USER, CALL, RESULT, *SPELLINGS[2], RESULT, RESULT, ANSWER, USER],
    "systemInstruction": content(None, text("Be brief.")),
    "continuationToken": None,
}


@given(st.data())
def test_whatever_is_in_a_request_is_read_and_can_be_stored(data: st.DataObject) -> None:
    body = json.dumps(replaced(data.draw, WHOLE, JSON)).encode()
    try:
        read = GEMINI.read(body)
    except MalformedRequest:
        return
    assert len(read.messages) == len(read.spans)
    assert [message.role for message in read.messages] == list(read.messages.roles)
    for message in read.messages:
        encode(MessageRecorded(1, digest(message), message))[2].encode()
    assert GEMINI.rewrite(read) == body
    keep_from = data.draw(st.integers(read.prefix, len(read.messages)))
    cut = GEMINI.read(GEMINI.rewrite(read, keep_from=keep_from, block="B"))
    assert Message(Role.USER, "B") in cut.messages


@given(st.binary(max_size=100))
def test_any_bytes_are_a_request_or_malformed(body: bytes) -> None:
    try:
        GEMINI.read(body)
    except MalformedRequest:
        return


def test_reading_and_rewriting_is_linear(growth: Callable[..., float]) -> None:
    def work(count: int) -> Callable[[], object]:
        history = [USER, CALL, RESULT, *[content("model", text('Some "words"\n' * 5))] * 4] * count
        body = sent(*history, USER)
        return lambda: GEMINI.rewrite(GEMINI.read(body), keep_from=4, block="B")

    assert growth(work(1_000), work(2_000)) < 3
