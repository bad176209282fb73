import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from threading import Lock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.errors import MalformedRequest
from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat
from tokenmizer_mw.wire.history import History
from tokenmizer_mw.wire.known import KnownRequests
from tokenmizer_mw.wire.request import Dialect
from tokenmizer_mw.wire.spans import read_object

CHAT: Dialect = OpenAIChat()
PLENTY = 1_000_000


def says(role: str, text: str) -> str:
    return json.dumps({"role": role, "content": text})


SYSTEM = says("system", "Be brief. " * 500)
TALK = [says(role, f"{number}: {role} says something of some length") for number in range(40)
        for role in ("user", "assistant")]  # fmt: skip


def body(messages: Iterable[str], before: str = '"model":"gpt-4o",', behind: str = "", comma: str = ", ") -> bytes:
    return f'{{{before} "messages": [{comma.join(messages)}]{behind}}}'.encode()


def seen(request: ChatRequest) -> list[object]:
    """All that a request tells, and what becomes of it."""
    middle = (request.prefix + len(request.messages)) // 2
    places = sorted({request.prefix, middle, len(request.messages)})
    return [
        request,
        list(request.messages),
        list(request.messages.roles),
        list(request.messages.without_system()),
        request.spans,
        list(request.messages.column("length", lengths)),
        list(request.fields),
        CHAT.rewrite(request),
        [CHAT.rewrite(request, drop=("model", "a"), keep_from=place, block="B") for place in places],
    ]


def lengths(messages: Sequence[Message]) -> list[int]:
    return [len(message.text) for message in messages]


def outcome(sent: bytes, known: KnownRequests | None = None) -> object:
    try:
        return seen(CHAT.read(sent, known))
    except MalformedRequest as error:
        return str(error)


def read_anew(request: ChatRequest) -> int:
    """How many messages of a request had to be looked at."""
    news: list[int] = []

    def noting(messages: Sequence[Message]) -> list[int]:
        news.append(len(messages))
        return [0] * len(messages)

    request.messages.column("noted", noting)
    return sum(news)


# -- the same as without -----------------------------------------------------------------------------------------

SHORT = st.sampled_from(["", "a", "]}", '},{\\"role\\":\\"user\\"}', "\\ud83e\\udd89", "\\ud83e", "é", "🦉", "\\n"])
LENGTHY = st.sampled_from(["x" * 4_200, "é" * 4_200, "🦉 " * 2_100, "\\u00e9" * 700, '\\"]}, {' * 700, "[{]}," * 900])
TEXTS = st.one_of(SHORT, SHORT, SHORT, LENGTHY)
ROLES = st.sampled_from(["user", "assistant", "user", "assistant", "tool", "system", "developer"])
USUAL = st.builds('{{"role":"{}","content":"{}"}}'.format, ROLES, TEXTS)
SPACED = st.builds('{{ "content" : [ {{"type":"text","text":"{}"}} ] ,\n "role" : "{}" }}'.format, TEXTS, ROLES)
CALLS = st.builds(
    '{{"role":"assistant","content":null,"tool_calls":[{{"id":"{}","function":{{"name":"f","arguments":"{{}}"}}}}]}}'.format,
    st.sampled_from("abc"),
)
ODD = st.sampled_from(["1", "12", "1.5", '"u"', "null", "[ ]", "{}", '{"role":"critic"}', "NaN", "-", "", "1}", "] ,["])
COMMAS = st.sampled_from([",", ", ", ",\n  ", " ,", "," + " " * 70])
MEMBERS = st.sampled_from(
    ['"model":"m"', '"model":"n"', '"stream":true', '"a":[1.0, 2]', '"\\u0061":1', '"tools":[{"type":"f"}]']
)
SURPRISES = st.sampled_from(
    ['"messages":[]', '"messages":[{"role":"user","content":"x"}]', '"mess\\u0061ges":1', '"conversation":"c"', '"x"']
)
ENDINGS = st.sampled_from(["]", "]", "]", "]", " ]", "\n]", " " * 100 + "]", ",]", ", ]", "", "]]"])


class Client:
    """Sends a history, more of it, and now and then something else."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        first = draw(st.builds('{{"role":"{}","content":"{}"}}'.format, ROLES, LENGTHY))
        self.history = ["[ " + first]
        self.before = draw(st.lists(MEMBERS, max_size=2))
        self.mark = draw(st.sampled_from(["", "", "\ufeff", " "]))

    def go_on(self) -> None:
        """Some more messages; one time in five another history."""
        self.history += self._some(st.one_of(USUAL, SPACED, CALLS), 3)
        place = self.draw(st.integers(0, len(self.history) - 1))
        match self.draw(st.integers(0, 19)):
            case 0:
                self.history[place] = self.history[place].replace("e", "E", 1)
            case 1 if place:
                del self.history[place]
            case 2:
                self.history = self.history[: place + 1]
            case 3:
                self.before = self.draw(st.lists(st.one_of(MEMBERS, SURPRISES), max_size=2))

    def body(self) -> bytes:
        """The history as it is sent, with an end that is not sent again."""
        last = "".join(self._some(st.one_of(USUAL, USUAL, ODD), 1)) + self.draw(ENDINGS)
        behind = self.draw(st.one_of(st.just([]), st.lists(st.one_of(MEMBERS, SURPRISES), max_size=2)))
        messages = '"messages" :' + "".join(self.history) + last
        return (self.mark + "{" + ",".join([*self.before, messages, *behind]) + "}").encode()

    def _some(self, messages: st.SearchStrategy[str], most: int) -> list[str]:
        drawn = self.draw(st.lists(st.tuples(COMMAS, messages), max_size=most))
        return [comma + message for comma, message in drawn]


@given(st.data(), st.sampled_from([PLENTY, PLENTY, 12_000]))
def test_what_is_known_changes_nothing(data: st.DataObject, characters: int) -> None:
    client, known = Client(data.draw), KnownRequests(characters)
    for _ in range(data.draw(st.integers(2, 6))):
        sent = client.body()
        if data.draw(st.integers(0, 9)) == 0:
            sent = sent[: data.draw(st.integers(0, len(sent)))]
        assert outcome(sent, known) == outcome(sent)
        client.go_on()


FILES = "Here are some READ ONLY files, provided for your reference.\n\nshop.py\n" + "x = 1\n" * 1_500
EXAMPLE_END = "I switched to a new code base. Please don't consider the above files."


def as_body(*said: str) -> bytes:
    """A chat of user and assistant by turns."""
    roles = ["user", "assistant"] * len(said)
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    return json.dumps({"model": "m", "messages": messages}).encode()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([FILES, "Ok, I use them.", "Go on."], [FILES, "I see one file.", "Which one?"]),
        ([FILES, "Done.", EXAMPLE_END, "Ok.", "Go on."], [FILES, "Done.", "Go on.", "Done.", "And now?"]),
        ([FILES, "Ok.", "Go on."], [FILES, "Ok.", "Go on.", "Done.", "And now?"]),
    ],
)
def test_what_is_known_to_stand_beside_a_chat_may_turn_out_to_belong_to_it(first: list[str], second: list[str]) -> None:
    known = KnownRequests(PLENTY)
    CHAT.read(as_body(*first), known)
    roles = CHAT.read(as_body(*second), known).messages.roles
    assert roles == CHAT.read(as_body(*second)).messages.roles


AFTER = [
    b'{"model":"gpt-4o", "messages": [%s]}',
    b'{"model":"gpt-4o", "messages": [%s ] , "a":1 }\n',
    b'{"model":"gpt-4o", "messages": [%s\n,\n{"role":"user","content":"x"}]}',
    b'{"model":"gpt-4o", "messages": [%s, 7]}',
    b'{"model":"gpt-4o", "messages": [%s], "model":"gpt-5"}',
    b'{"model":"gpt-4o", "messages": [%s], "messages":[]}',
    b'{"model":"gpt-4o", "messages": [%s], "messages":{}}',
    b'{"model":"gpt-4o", "messages": [%s], "conversation":"c"}',
    b'{"model":"gpt-4o", "messages": [%s,{"role":"critic"}]}',
    b'{"model":"gpt-4o", "messages": [%s,]}',
    b'{"model":"gpt-4o", "messages": [%s, ]}',
    b'{"model":"gpt-4o", "messages": [%s,,{}]}',
    b'{"model":"gpt-4o", "messages": [%s{}]}',
    b'{"model":"gpt-4o", "messages": [%s',
    b'{"model":"gpt-4o", "messages": [%s,',
    b'{"model":"gpt-4o", "messages": [%s,{"role":"user"}',
    b'{"model":"gpt-4o", "messages": [%s]',
    b'{"model":"gpt-4o", "messages": [%s]}x',
    b'{"model":"gpt-4o", "messages": [%s},{}]}',
    b'{"model":"gpt-4o", "messages": [%s],"a"}',
    b'{"model":"gpt-4o", "messages": [%s],}',
    b'{"model":"gpt-4o", "messages": [%s,{"role":"user","content":"\xff"}]}',
    b'{"model":"gpt-4o", "messages": [%s,{"role":"user","content":"\xed\xa0\x80"}]}',
    b'{"model":"gpt-4o", "messages": [%s,{"role":"user","content":"\n"}]}',
    b'{"model":"gpt-4o", "messages": [%s,' + b"[" * 50_000 + b"]" * 50_000 + b"]}",
    b'{"model":"gpt-4o", "messages": [%s,' + b"9" * 5_000 + b"]}",
    b'\xef\xbb\xbf{"model":"gpt-4o", "messages": [%s]}',
    b'{"model":"gpt-4o", "tools": [%s]}',
    b'[{"model":"gpt-4o", "messages": [%s]}]',
]


@pytest.mark.parametrize("after", AFTER)
def test_a_known_history_and_what_may_come_behind(after: bytes) -> None:
    known = KnownRequests(PLENTY)
    history = [SYSTEM, *TALK]
    CHAT.read(body(history), known)
    sent = after.replace(b"%s", ", ".join(history).encode())
    assert outcome(sent, known) == outcome(sent)
    longer = body([*history, says("user", "and now?")])
    assert outcome(longer, known) == outcome(longer)


# -- what is spared ----------------------------------------------------------------------------------------------


def after(first: list[str], *others: list[str], characters: int = PLENTY) -> ChatRequest:
    """The last of these requests, each as it is read after those before."""
    known = KnownRequests(characters)
    request = CHAT.read(body(first), known)
    for messages in others:
        read_anew(request)
        request = CHAT.read(body(messages), known)
    return request


LONG = [SYSTEM, *TALK]
SPARED = [
    (LONG, [*LONG, "{}"], 1),
    (LONG, [*LONG, says("user", "a"), says("assistant", "b")], 2),
    (LONG, LONG, 0),
    (LONG, [*LONG[:-2], says("user", "a"), says("assistant", "b")], 2),
    (LONG, LONG[:-3], 0),
    (LONG, [*LONG[:60], says("user", "changed"), *LONG[61:]], 81),
    (LONG, [*LONG[:2], says("user", "changed"), *LONG[3:]], 81),
    (LONG, [LONG[0], *LONG[11:]], 71),
    (LONG, [says("system", "another"), *LONG[1:]], 81),
    (LONG, [LONG[0].replace("Be", "be", 1), *LONG[1:]], 81),
    (TALK[:4], TALK[:6], 6),
]


@pytest.mark.parametrize(("first", "second", "news"), SPARED)
def test_how_many_messages_are_looked_at(first: list[str], second: list[str], news: int) -> None:
    assert read_anew(after(first, second)) == news
    assert read_anew(after(first, second, characters=0)) == len(second)


def test_a_growing_history_is_read_once() -> None:
    histories = [LONG[:end] for end in range(20, 80, 2)]
    assert read_anew(after(*histories)) == 2
    marked = [[*history[:-1], history[-1].replace("}", ',"cache_control":{}}')] for history in histories]
    assert read_anew(after(*marked)) == 3


def test_spans_that_were_found_are_not_looked_for_again() -> None:
    known = KnownRequests(PLENTY)
    first = CHAT.read(body(LONG[:-2]), known)
    assert CHAT.read(body(LONG[:-2]), known).known_spans == ()
    again = CHAT.read(body(LONG[:-2]), known)
    assert len(again.spans) == len(LONG) - 2
    assert CHAT.read(body(LONG), known).known_spans == first.spans


def test_a_known_history_costs_little(growth: Callable[..., float]) -> None:
    known = KnownRequests(PLENTY * 10)
    sent = body([SYSTEM, *TALK * 50])
    CHAT.read(sent, known)
    assert growth(lambda: CHAT.read(sent, known), lambda: CHAT.read(sent)) > 5


# -- how much is kept --------------------------------------------------------------------------------------------


def test_sessions_with_the_same_instructions() -> None:
    known = KnownRequests(PLENTY)
    sessions = [[*LONG[:31], says("user", f"I am number {number}"), *TALK[:20]] for number in range(40)]
    for messages in sessions:
        read_anew(CHAT.read(body(messages), known))
    assert [read_anew(CHAT.read(body([*messages, TALK[-2]]), known)) for messages in sessions[-16:]] == [1] * 16


def test_the_most_recently_used_are_kept() -> None:
    def session(number: int) -> list[str]:
        return [says("system", f"{number} {SYSTEM}")]

    size = len(body(session(0)))
    known = KnownRequests(3 * size)
    for number in (0, 1, 2, 0, 3):
        read_anew(CHAT.read(body(session(number)), known))
    assert [read_anew(CHAT.read(body(session(number)), known)) for number in (0, 2, 3)] == [0, 0, 0]
    assert read_anew(CHAT.read(body(session(1)), known)) == 1
    assert known._held == sum(len(each.found.text) for kept in known._known.values() for each in kept) <= 3 * size


def test_what_is_too_large_drives_nothing_out() -> None:
    known = KnownRequests(len(body(LONG)))
    read_anew(CHAT.read(body(LONG), known))
    for _ in range(2):
        assert read_anew(CHAT.read(body([says("user", "x"), *LONG]), known)) == len(LONG) + 1
    assert read_anew(CHAT.read(body(LONG), known)) == 0


def test_nothing_is_known_after_clearing() -> None:
    known = KnownRequests(PLENTY)
    read_anew(CHAT.read(body(LONG), known))
    known.clear()
    assert read_anew(CHAT.read(body(LONG), known)) == len(LONG)


def test_an_element_that_may_go_on_is_no_end() -> None:
    known = KnownRequests(PLENTY)
    for behind in (", 12]}", ", 12, {}]}"):
        found = read_object('{"messages": [' + SYSTEM + behind)
        numbers = found.values["messages"]
        request = ChatRequest(
            found.text, History(numbers, [Role.USER] * len(numbers), read), found.places["messages"], {}
        )
        known.add("numbers", found, request)
    assert known.find("numbers", '{"messages": [' + SYSTEM + ", 12, {}]}") is not None
    for behind in (", 123]}", ", 12]}", ", 12, 1]}"):
        assert known.find("numbers", '{"messages": [' + SYSTEM + behind) is None


def read(raw: object, number: int) -> Message:
    return Message(Role.USER, str(raw))


def test_another_dialect_has_its_own() -> None:
    known = KnownRequests(PLENTY)
    CHAT.read(body(LONG), known)
    assert known.find("openai_chat", body(LONG).decode()) is not None
    assert known.find("another", body(LONG).decode()) is None


def test_threads_may_share_it() -> None:
    known = KnownRequests(60_000, Lock())
    starts = list(accumulate(range(6), lambda messages, number: [*messages, *TALK[:number]], initial=[SYSTEM]))

    def session(number: int) -> list[Any]:
        history = [*starts[number % 6], says("user", f"I am number {number % 4}"), *TALK]
        sent = [body(history[:end]) for end in range(20, len(history), 4)]
        return [(outcome(each, known), outcome(each)) for each in sent]

    with ThreadPoolExecutor(4) as pool:
        for pairs in pool.map(session, range(16)):
            assert all(found == expected for found, expected in pairs)
    assert known._held == sum(len(each.found.text) for kept in known._known.values() for each in kept) <= 60_000
