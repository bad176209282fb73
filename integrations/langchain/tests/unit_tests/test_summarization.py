"""The summarizer for the stock summarization middleware."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware, wrap_model_call
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_tokenmizer_mw import TokenMizerSummarizer, tokenmizer_summarization
from langchain_tokenmizer_mw.summarization import NOTHING
from langgraph.checkpoint.memory import InMemorySaver

from tokenmizer_mw import InvalidSession, SessionMemory

TRIGGER = ("tokens", 1_500)
KEEP = ("messages", 4)
CHOICE = "Use SQLite for storage in the invoice service."

needs_summarizer = pytest.mark.skipif(
    "summarizer" not in SummarizationMiddleware.__init__.__annotations__, reason="this langchain takes no summarizer"
)


def answering(messages: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage("Understood. " + "words " * 60)


def thread(id: str = "t") -> Any:
    return {"configurable": {"thread_id": id}}


def talk(agent: Any, turns: int = 20) -> list[BaseMessage]:
    agent.invoke({"messages": [HumanMessage(CHOICE)]}, thread())
    for number in range(turns):
        agent.invoke({"messages": [HumanMessage(f"Explain part {number}. " + "please " * 40)]}, thread())
    messages: list[BaseMessage] = agent.get_state(thread()).values["messages"]
    return messages


def agent_with(model: Any, middleware: Any) -> Any:
    return create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())


@needs_summarizer
def test_a_summary_takes_no_call_of_a_model_and_holds_what_was_decided(scripted: Any, memory: SessionMemory) -> None:
    model = scripted(answer=answering)
    messages = talk(agent_with(model, tokenmizer_summarization(model, memory, trigger=TRIGGER, keep=KEEP)))
    assert len(model.prompts) == 21
    assert "Here is a summary" in messages[0].text
    assert "SQLite" in messages[0].text
    assert len(messages) < 42


@needs_summarizer
@pytest.mark.parametrize("trim", [None, 4_000, 200], ids=["untrimmed", "default", "short"])
def test_no_message_is_lost_whatever_the_middleware_trims(
    scripted: Any, memory: SessionMemory, trim: int | None
) -> None:
    model = scripted(answer=answering)
    summarizer = TokenMizerSummarizer(memory)
    stock = SummarizationMiddleware(
        model, trigger=TRIGGER, keep=KEEP, summarizer=summarizer, trim_tokens_to_summarize=trim
    )
    messages = talk(agent_with(model, stock))
    kept = [one.message.text for one in memory.messages("t")]
    told = [CHOICE, *(f"Explain part {number}. " + "please " * 40 for number in range(20))]
    recorded = [text for text in kept if text in told]
    assert recorded == told[: len(recorded)]
    after = [message.text for message in messages if message.text in told]
    assert {*recorded, *after} == {*told}
    assert "SQLite" in messages[0].text


@needs_summarizer
def test_a_summary_of_before_is_not_taken_for_something_said(scripted: Any, memory: SessionMemory) -> None:
    model = scripted(answer=answering)
    talk(agent_with(model, tokenmizer_summarization(model, memory, trigger=TRIGGER, keep=KEEP)), turns=30)
    assert not any("Here is a summary" in one.message.text for one in memory.messages("t"))
    assert len({one.message.text for one in memory.messages("t") if one.message.role == "user"}) == len(
        [one for one in memory.messages("t") if one.message.role == "user"]
    )


@needs_summarizer
def test_it_is_async_too(scripted: Any, memory: SessionMemory) -> None:
    model = scripted(answer=answering)
    agent = agent_with(model, tokenmizer_summarization(model, memory, trigger=TRIGGER, keep=KEEP))

    async def run() -> None:
        for number in range(12):
            await agent.ainvoke({"messages": [HumanMessage(f"{CHOICE} {number} " + "please " * 40)]}, thread())

    asyncio.run(run())
    assert "SQLite" in agent.get_state(thread()).values["messages"][0].text


@needs_summarizer
def test_it_survives_a_restart(scripted: Any, url: str, opened: Callable[..., SessionMemory]) -> None:
    model, saver = scripted(answer=answering), InMemorySaver()
    for _ in range(2):
        memory = opened(url)
        middleware = tokenmizer_summarization(model, memory, trigger=TRIGGER, keep=KEEP)
        agent = create_agent(model, middleware=[middleware], checkpointer=saver)
        messages = talk(agent, turns=8)
        memory.close()
    assert "SQLite" in messages[0].text


@needs_summarizer
def test_trimming_is_refused_by_the_factory(scripted: Any) -> None:
    with pytest.raises(ValueError, match="trim_tokens_to_summarize must be None"):
        tokenmizer_summarization(scripted(), trim_tokens_to_summarize=4_000)


@needs_summarizer
@pytest.mark.parametrize(
    ("settings", "profile", "trigger"),
    [
        ({}, {"max_input_tokens": 1_000}, ("fraction", 0.85)),
        ({}, None, ("tokens", 108_800)),
        ({"context_window": 1_000}, {"max_input_tokens": 50_000}, ("tokens", 850)),
    ],
)
def test_it_summarizes_at_85_percent(
    scripted: Any, opened: Callable[..., SessionMemory], settings: Any, profile: Any, trigger: Any
) -> None:
    middleware = tokenmizer_summarization(scripted(profile=profile), opened("memory://", **settings))
    assert middleware.trigger == trigger


@needs_summarizer
def test_options_that_the_middleware_would_ignore_are_refused(scripted: Any, memory: SessionMemory) -> None:
    assert tokenmizer_summarization(scripted(), memory, window=2_000).trigger == ("tokens", 1_700)
    with pytest.raises(TypeError, match=r"no option nonsense: it has budget, keep, .*trigger.* window"):
        tokenmizer_summarization(scripted(), memory, nonsense=4_000)


@needs_summarizer
def test_a_summary_quotes_no_message_that_stays_and_is_shorter_than_what_it_replaces(
    scripted: Any, memory: SessionMemory
) -> None:
    def run(thread_id: str, keep: int) -> list[BaseMessage]:
        said = [
            HumanMessage(f"Use library{number} for the report about lake {number}, please.") for number in range(60)
        ]
        chosen = tokenmizer_summarization(scripted(), memory, trigger=("messages", 50), keep=keep)
        agent = agent_with(model := scripted(answer=answering), chosen)
        agent.invoke({"messages": said}, thread(thread_id))
        prompt: list[BaseMessage] = model.prompts[-1]
        return prompt

    prompt = run("a", 20)
    assert len(prompt) == 21 and "library39" in prompt[0].text
    assert not any(f"library{number}" in prompt[0].text for number in range(40, 60))
    assert len(run("b", 59)) == 60, "one message has fewer tokens than a summary"


@needs_summarizer
@pytest.mark.parametrize("window", [300, 600, 1_000, 1_200])
def test_fewer_messages_stay_where_they_do_not_fit(scripted: Any, memory: SessionMemory, window: int) -> None:
    model = scripted(answer=lambda messages: AIMessage("Understood. " + "words " * 20))
    agent = agent_with(model, tokenmizer_summarization(model, memory, window=window))
    agent.invoke({"messages": [HumanMessage(CHOICE)]}, thread())
    summaries = set()
    for number in range(20):
        agent.invoke({"messages": [HumanMessage(f"Explain part {number}, " + "please " * 10)]}, thread())
        prompt = model.prompts[-1]
        assert count_tokens_approximately(prompt) <= 0.85 * window
        assert prompt[-1].text.startswith(f"Explain part {number},")
        summaries |= {message.text for message in prompt if message.text.startswith("Here is a summary")}
    assert 1 <= len(summaries) <= 10, "not with every turn"


@needs_summarizer
def test_a_tool_call_stays_with_its_results_where_one_message_alone_fits(memory: SessionMemory) -> None:
    class Reader(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    def read_file(path: str) -> str:
        """Read a file."""
        return "words " * 300

    prompts: list[list[BaseMessage]] = []

    @wrap_model_call
    def watch(request: Any, handler: Any) -> Any:
        prompts.append(request.messages)
        return handler(request)

    calls = [{"name": "read_file", "args": {"path": name}, "id": name} for name in ("a", "b")]
    replies = [AIMessage("Understood."), AIMessage("", tool_calls=calls), AIMessage("Fine.")]
    model = Reader(messages=iter(replies))
    middleware = [tokenmizer_summarization(model, memory, window=300), watch]
    agent = create_agent(model, tools=[read_file], middleware=middleware, checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage(CHOICE + " Thanks." * 80)]}, thread())
    agent.invoke({"messages": [HumanMessage("Read both files.")]}, thread())
    assert [message.type for message in prompts[-1]] == ["human", "ai", "tool", "tool"]
    assert "Here is a summary" in prompts[-1][0].text


@needs_summarizer
def test_a_plain_number_is_a_size(scripted: Any, memory: SessionMemory) -> None:
    made = tokenmizer_summarization(scripted(), memory, keep=4, trigger=900)
    assert (made.keep, made.trigger) == (("messages", 4), ("tokens", 900))
    for wrong in (None, True, "4", 0.5):
        with pytest.raises(TypeError, match=r"keep is a number of messages, or a pair such as \('messages', 8\), not "):
            tokenmizer_summarization(scripted(), memory, keep=wrong)


@pytest.mark.skipif("summarizer" in SummarizationMiddleware.__init__.__annotations__, reason="this langchain takes one")
def test_an_older_langchain_is_named(scripted: Any) -> None:
    with pytest.raises(TypeError, match=r"no summarizer= in SummarizationMiddleware: 1\.4\.7"):
        tokenmizer_summarization(scripted())


def test_without_a_thread_id_it_works_on_the_messages_it_is_given(memory: SessionMemory) -> None:
    summarizer = TokenMizerSummarizer(memory)
    first = summarizer([HumanMessage(CHOICE), AIMessage("Understood.")])
    assert "SQLite" in first
    assert memory.sessions() == [], "nobody has said into which session"
    carried = HumanMessage(f"Here is a summary:\n\n{first}", additional_kwargs={"lc_source": "summarization"})
    second = summarizer([carried, HumanMessage("Never push to main without a review."), AIMessage("Noted.")])
    assert "SQLite" in second
    assert "Never push to main" in second
    other = summarizer([HumanMessage("We use MongoDB for the archive."), AIMessage("Fine.")])
    assert "MongoDB" in other
    assert "SQLite" not in other


def test_outside_of_a_run_a_session_can_be_named(memory: SessionMemory) -> None:
    assert "SQLite" in TokenMizerSummarizer(memory, session_id="s")([HumanMessage(CHOICE), AIMessage("Understood.")])
    with pytest.raises(InvalidSession):
        TokenMizerSummarizer(memory, session_id="line\nbreak")([HumanMessage(CHOICE)])


@pytest.mark.parametrize("messages", [[], [HumanMessage("Hi!"), AIMessage("Hello!")]], ids=["none", "small talk"])
def test_a_chat_without_facts_has_a_summary_too(memory: SessionMemory, messages: list[BaseMessage]) -> None:
    assert TokenMizerSummarizer(memory, session_id="s")(messages) == NOTHING


def test_a_summary_keeps_to_its_budget(memory: SessionMemory) -> None:
    chat = [HumanMessage(f"Use library number{number} for task {number}.") for number in range(40)]
    summarizer = TokenMizerSummarizer(memory, session_id="s", budget=120)
    summary, resume = summarizer(chat), memory.resume("s", budget=120)
    assert summary == resume.text
    assert 0 < resume.tokens <= 120
