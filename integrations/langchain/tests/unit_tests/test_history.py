"""Chat message histories: one table of behaviours for the stock class and for ours, and what only ours does."""

from __future__ import annotations

import asyncio
import base64
import random
import string
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory

from tokenmizer_mw import ConfigError, InvalidSession, SessionMemory, StoreUnavailable
from tokenmizer_mw.context.tokens import counter_for

Histories = Callable[[str], BaseChatMessageHistory]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(params=["stock", "ours"])
def histories(request: pytest.FixtureRequest, memory: SessionMemory) -> Histories:
    """A ``get_session_history``."""
    if request.param == "ours":
        return TokenMizerChatMessageHistory.factory(memory)
    known: dict[str, InMemoryChatMessageHistory] = {}

    def get_session_history(session_id: str) -> InMemoryChatMessageHistory:
        return known.setdefault(session_id, InMemoryChatMessageHistory())

    return get_session_history


def said(history: BaseChatMessageHistory) -> list[str]:
    return [message.text for message in history.messages]


# -- what every history must do --------------------------------------------------------------------------------


def adds_one(history: BaseChatMessageHistory) -> None:
    history.add_message(HumanMessage("a"))
    history.add_message(AIMessage("b"))
    assert history.messages == [HumanMessage("a"), AIMessage("b")]


def adds_many(history: BaseChatMessageHistory) -> None:
    history.add_messages([HumanMessage("a"), AIMessage("b")])
    history.add_messages([HumanMessage("c")])
    assert said(history) == ["a", "b", "c"]


def adds_none(history: BaseChatMessageHistory) -> None:
    history.add_messages([])
    assert history.messages == []


def adds_text(history: BaseChatMessageHistory) -> None:
    history.add_user_message("a")
    history.add_ai_message("b")
    history.add_user_message(HumanMessage("c", name="Ann"))
    assert history.messages == [HumanMessage("a"), AIMessage("b"), HumanMessage("c", name="Ann")]


def keeps_doubles(history: BaseChatMessageHistory) -> None:
    history.add_messages([HumanMessage("yes"), AIMessage("ok")] * 3)
    assert said(history) == ["yes", "ok"] * 3


def keeps_every_kind(history: BaseChatMessageHistory) -> None:
    call: Any = {"name": "look", "args": {"at": "x"}, "id": "c1", "type": "tool_call"}
    messages: list[BaseMessage] = [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]),
        AIMessage("", tool_calls=[call], additional_kwargs={"k": [1, {"v": None}]}, id="m1"),
        ToolMessage("seen", tool_call_id="c1", artifact={"n": 1}),
    ]
    history.add_messages(messages)
    assert history.messages == messages


def clears(history: BaseChatMessageHistory) -> None:
    history.add_message(HumanMessage("a"))
    history.clear()
    assert history.messages == []
    history.add_message(HumanMessage("b"))
    assert said(history) == ["b"]


def clears_nothing(history: BaseChatMessageHistory) -> None:
    history.clear()
    assert history.messages == []


def reads_as_text(history: BaseChatMessageHistory) -> None:
    history.add_messages([HumanMessage("a"), AIMessage("b")])
    assert str(history) == "Human: a\nAI: b"


def is_async(history: BaseChatMessageHistory) -> None:
    async def run() -> list[BaseMessage]:
        await history.aadd_messages([HumanMessage("a"), AIMessage("b")])
        found = await history.aget_messages()
        await history.aclear()
        assert await history.aget_messages() == []
        return found

    assert asyncio.run(run()) == [HumanMessage("a"), AIMessage("b")]


MUST = [
    adds_one,
    adds_many,
    adds_none,
    adds_text,
    keeps_doubles,
    keeps_every_kind,
    clears,
    clears_nothing,
    reads_as_text,
    is_async,
]


@pytest.mark.parametrize("check", MUST, ids=lambda check: check.__name__)
def test_must(histories: Histories, check: Callable[[BaseChatMessageHistory], None]) -> None:
    check(histories("s"))


def test_sessions_do_not_meet(histories: Histories) -> None:
    histories("one").add_user_message("a")
    histories("two").add_user_message("b")
    assert (said(histories("one")), said(histories("two"))) == (["a"], ["b"])


# -- under RunnableWithMessageHistory --------------------------------------------------------------------------

PROMPT = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])


def config(session: str = "s") -> Any:
    return {"configurable": {"session_id": session}}


def plain(model: BaseChatModel, histories: Histories) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    return RunnableWithMessageHistory(model, histories), lambda text: [HumanMessage(text)]


def keyed(model: BaseChatModel, histories: Histories) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    chain = RunnableWithMessageHistory(
        PROMPT | model, histories, input_messages_key="question", history_messages_key="history"
    )
    return chain, lambda text: {"question": text}


def with_output_key(model: BaseChatModel, histories: Histories) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    answer = RunnableLambda(lambda message: {"answer": message})
    chain = RunnableWithMessageHistory(
        PROMPT | model | answer,
        histories,
        input_messages_key="question",
        history_messages_key="history",
        output_messages_key="answer",
    )
    return chain, lambda text: {"question": text}


def text_in(model: BaseChatModel, histories: Histories) -> tuple[Runnable[Any, Any], Callable[[str], Any]]:
    return RunnableWithMessageHistory(model, histories), lambda text: text


SHAPES = [plain, keyed, with_output_key, text_in]
WAYS = ["invoke", "stream", "ainvoke", "astream"]


def call(chain: Runnable[Any, Any], way: str, told: Any) -> None:
    async def streamed() -> None:
        async for _ in chain.astream(told, config()):
            pass

    match way:
        case "invoke":
            chain.invoke(told, config())
        case "stream":
            assert list(chain.stream(told, config()))
        case "ainvoke":
            asyncio.run(chain.ainvoke(told, config()))
        case "astream":
            asyncio.run(streamed())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_chains_remember(scripted: Any, histories: Histories, shape: Any, way: str) -> None:
    model = scripted()
    chain, told = shape(model, histories)
    call(chain, way, told("one"))
    call(chain, way, told("two"))
    assert [text.strip() for text in said(histories("s"))] == ["one", "Understood.", "two", "Understood."]
    assert [message.text.strip() for message in model.prompts[-1]] == ["one", "Understood.", "two"]


# -- what only ours does ---------------------------------------------------------------------------------------


@pytest.fixture
def ours(memory: SessionMemory) -> Callable[[str], TokenMizerChatMessageHistory]:
    return TokenMizerChatMessageHistory.factory(memory)


def test_what_is_read_is_the_readers_own(ours: Histories) -> None:
    ours("s").add_user_message("a")
    handle = ours("s")
    handle.messages.append(HumanMessage("not said"))
    assert said(handle) == said(ours("s")) == ["a"]


def test_a_handle_stays_as_it_is_while_others_add(ours: Histories) -> None:
    handle, other = ours("s"), ours("s")
    assert handle.messages == []
    other.add_user_message("theirs")
    assert handle.messages == []
    handle.add_user_message("mine")
    assert said(handle) == ["theirs", "mine"]


@pytest.mark.parametrize("shape", [plain, keyed], ids=lambda shape: shape.__name__)
def test_two_runs_of_a_session_overlap(scripted: Any, ours: Histories, shape: Any) -> None:
    inside, release = threading.Barrier(3), threading.Event()

    def answer(messages: Any) -> AIMessage:
        inside.wait(60)
        assert release.wait(60)
        return AIMessage(f"to {messages[-1].text}")

    chain, told = shape(scripted(answer=answer), ours)
    runs = [threading.Thread(target=chain.invoke, args=(told(text), config())) for text in ("one", "two")]
    for run in runs:
        run.start()
    inside.wait(60)
    release.set()
    for run in runs:
        run.join(60)
    kept = said(ours("s"))
    pairs = {tuple(kept[:2]), tuple(kept[2:])}
    assert pairs == {("one", "to one"), ("two", "to two")}


def test_two_runs_of_a_session_overlap_on_an_event_loop(scripted: Any, ours: Histories) -> None:
    chain, told = plain(scripted(answer=lambda messages: AIMessage(f"to {messages[-1].text}")), ours)

    async def run() -> None:
        await asyncio.gather(*(chain.ainvoke(told(str(n)), config()) for n in range(10)))

    asyncio.run(run())
    kept = said(ours("s"))
    assert {(kept[i], kept[i + 1]) for i in range(0, 20, 2)} == {(str(n), f"to {n}") for n in range(10)}


def test_four_hundred_threaded_appends(ours: Histories) -> None:
    def write(who: int) -> None:
        for number in range(50):
            ours("s").add_user_message(f"{who}:{number}")

    threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_in_order(said(ours("s")), writers=8, each=50)


WRITER = """
import sys
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory
from tokenmizer_mw import SessionMemory

memory = SessionMemory.open(sys.argv[1])
for number in range(20):
    TokenMizerChatMessageHistory("s", memory).add_user_message(f"{sys.argv[2]}:{number}")
memory.close()
"""


@pytest.mark.nightly
def test_eight_processes(url: str, ours: Histories) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, url, str(who)]) for who in range(8)]
    assert [writer.wait(120) for writer in writers] == [0] * 8
    assert_in_order(said(ours("s")), writers=8, each=20)


def assert_in_order(kept: list[str], *, writers: int, each: int) -> None:
    assert len(kept) == writers * each
    for who in range(writers):
        assert [text for text in kept if text.startswith(f"{who}:")] == [f"{who}:{n}" for n in range(each)]


def test_a_chat_survives_a_restart(scripted: Any, url: str, opened: Callable[..., SessionMemory]) -> None:
    model = scripted()
    for text in ("one", "two"):
        memory = opened(url)
        chain, told = keyed(model, TokenMizerChatMessageHistory.factory(memory))
        chain.invoke(told(text), config())
        memory.close()
    assert [message.text for message in model.prompts[-1]] == ["one", "Understood.", "two"]


def test_tenants_do_not_meet(memory: SessionMemory) -> None:
    one, two = (TokenMizerChatMessageHistory("s", memory, tenant=tenant) for tenant in ("one", "two"))
    one.add_user_message("secret plan")
    two.add_user_message("hello")
    assert (said(one), said(two)) == (["secret plan"], ["hello"])
    two.clear()
    assert said(TokenMizerChatMessageHistory("s", memory, tenant="one")) == ["secret plan"]


def encoded(seed: int) -> str:
    return base64.b64encode(random.Random(seed).randbytes(3_000)).decode()


PARTS: list[Callable[[str], Any]] = [
    lambda data: {"type": "image_url", "image_url": {"url": "data:image/png;base64," + data}},
    lambda data: {"type": "image", "source_type": "base64", "data": data, "mime_type": "image/png"},
    lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    lambda data: {"type": "image", "base64": data, "mime_type": "image/png"},
    lambda data: {"type": "video", "base64": data, "mime_type": "video/mp4"},
    lambda data: {"type": "audio", "base64": data, "mime_type": "audio/wav"},
    lambda data: {"type": "file", "base64": data, "mime_type": "application/pdf"},
    lambda data: {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
    lambda data: {"type": "thinking", "thinking": "hm", "signature": data},
    lambda data: {"type": "reasoning", "id": "rs_1", "encrypted_content": data},
]


def test_what_is_encoded_is_never_taken_for_a_secret(memory: SessionMemory) -> None:
    messages = [HumanMessage([part(encoded(seed)) for part in PARTS]) for seed in range(60)]
    history = TokenMizerChatMessageHistory("s", memory)
    history.add_messages(messages)
    assert history.messages == messages


def test_secrets_are_placeholders_at_rest_wherever_they_stand(memory: SessionMemory) -> None:
    secret = "ghp_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
    call_: Any = {"name": "login", "args": {"with": f"token {secret}"}, "id": "c1", "type": "tool_call"}
    history = TokenMizerChatMessageHistory("s", memory)
    history.add_messages(
        [
            HumanMessage(f"The token is {secret}."),
            AIMessage("", tool_calls=[call_], additional_kwargs={"note": secret}),
            ToolMessage(f"logged in with {secret}", tool_call_id="c1", artifact={"token": secret}),
        ]
    )
    kept = history.messages
    assert secret not in "".join(message.model_dump_json() for message in kept)
    assert isinstance(kept[1], AIMessage)
    assert kept[1].tool_calls[0]["args"]["with"].startswith("token ")
    assert kept[1].tool_calls[0]["id"] == "c1"


def test_facts_are_drawn_from_a_history(ours: Histories, memory: SessionMemory) -> None:
    ours("s").add_messages([HumanMessage("Use SQLite for storage."), AIMessage("Understood.")])
    assert "SQLite" in memory.resume("s").text


def test_the_view_for_a_model_is_cut_and_keeps_pairs_whole(ours: Callable[[str], TokenMizerChatMessageHistory]) -> None:
    call_: Any = {"name": "look", "args": {}, "id": "c1", "type": "tool_call"}
    history = ours("s")
    history.add_messages(
        [SystemMessage("Be brief."), HumanMessage("Use SQLite for storage."), AIMessage("Understood.")]
    )
    assert history.context_messages(window=2_000) == history.messages
    for number in range(15):
        history.add_messages(
            [
                HumanMessage(f"Look at {number}. " + "words " * 60),
                AIMessage("", tool_calls=[call_]),
                ToolMessage("seen " * 20, tool_call_id="c1"),
                AIMessage("Seen."),
            ]
        )
    view = history.context_messages(window=2_000)
    assert len(view) < len(history.messages) == 63
    assert view[0] == SystemMessage("Be brief.")
    assert "SQLite" in view[1].text
    assert isinstance(view[2], HumanMessage), "the end of the turn before would add little"
    assert view[2:] == history.messages[-len(view[2:]) :]
    assert history.context_messages(window=2_000) == view


def test_a_reserve_is_taken_out_of_the_window(memory: SessionMemory) -> None:
    """As many tokens as system prompt, tools and question take stay free: the history is cut that much sooner."""
    history = TokenMizerChatMessageHistory("s", memory)
    history.add_messages([HumanMessage("Use SQLite for storage."), AIMessage("Understood.")])
    for number in range(12):
        history.add_messages([HumanMessage(f"Look at {number}. " + "words " * 60), AIMessage("Seen.")])
    assert history.context_messages(window=2_000) == history.messages
    reserved = history.context_messages(window=2_000, reserve=1_200)
    assert len(reserved) < len(history.messages)
    assert "SQLite" in reserved[0].text
    factory = TokenMizerChatMessageHistory.factory(memory, window=2_000, reserve=1_200)
    assert factory("s").messages == asyncio.run(factory("s").aget_messages()) == reserved
    count = counter_for("").count
    assert sum(count(message.text) for message in reserved) <= 2_000 * 0.85 - 1_200


@pytest.mark.parametrize("reserve", [-1, 1.5, True])
def test_a_reserve_that_is_no_number_of_tokens_is_refused(memory: SessionMemory, reserve: Any) -> None:
    with pytest.raises(ConfigError, match="reserve is a whole number of at least 0"):
        TokenMizerChatMessageHistory("s", memory, reserve=reserve)
    with pytest.raises(ConfigError, match="reserve is a whole number of at least 0"):
        TokenMizerChatMessageHistory("s", memory).context_messages(reserve=reserve)


# -- bad input -------------------------------------------------------------------------------------------------


def test_a_batch_with_something_else_in_it_adds_nothing(ours: Histories) -> None:
    history = ours("s")
    history.add_user_message("before")
    wrong: Any = [HumanMessage("a"), 7]
    with pytest.raises(NotImplementedError, match="Unsupported message type"):
        history.add_messages(wrong)
    with pytest.raises(TypeError, match="message 1, a HumanMessage, cannot be kept"):
        history.add_messages([HumanMessage("a", additional_kwargs={"o": object()})])
    assert said(ours("s")) == ["before"]


@pytest.mark.parametrize("session", ["", "x" * 257, "line\nbreak"])
def test_a_session_id_that_is_none_is_refused(ours: Histories, session: str) -> None:
    with pytest.raises(InvalidSession, match="printable characters"):
        ours(session).add_user_message("a")


def test_what_is_no_memory_is_refused_at_once() -> None:
    wrong: Any = Path("chat.db")
    with pytest.raises(TypeError, match=r"memory is a SessionMemory, such as SessionMemory\.open"):
        TokenMizerChatMessageHistory("s", wrong)


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match=r"memory\.db"):
        SessionMemory.open(f"sqlite:///{tmp_path / 'file' / 'memory.db'}")


def test_a_store_that_fails_later_raises_and_loses_nothing(memory: SessionMemory, url: str) -> None:
    history = TokenMizerChatMessageHistory("s", memory)
    history.add_user_message("a")
    memory.close()
    with pytest.raises(StoreUnavailable):
        history.add_user_message("b")
    again = SessionMemory.open(url)
    assert said(TokenMizerChatMessageHistory("s", again)) == ["a"]
    again.close()


def test_an_address_names_the_memory(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'chat.db'}"
    first, second = (TokenMizerChatMessageHistory(name, address) for name in ("ada", "ada"))
    first.add_messages([HumanMessage("Use Redis for the queue.")])
    assert second.messages == [HumanMessage("Use Redis for the queue.")]
    assert first.memory is second.memory
    assert TokenMizerChatMessageHistory.factory(address)("ada").messages == second.messages
    with pytest.raises(ConfigError):
        TokenMizerChatMessageHistory("ada", "nowhere://at.all")
