"""Memory of chains: one table of behaviours for the stock buffer and for ours, and what only ours does."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain_classic.base_memory import BaseMemory
from langchain_classic.chains import ConversationChain, LLMChain
from langchain_classic.memory import CombinedMemory, ConversationBufferMemory, ReadOnlySharedMemory
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import PromptTemplate
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory, TokenMizerMemory
from langchain_tokenmizer_mw.memory import _say_once

from tokenmizer_mw import InvalidSession, SessionMemory

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

Memories = Callable[..., Any]

TOLD = ({"input": "Use SQLite for storage in the invoice service."}, {"output": "Understood."})


@pytest.fixture(params=[ConversationBufferMemory, TokenMizerMemory], ids=["stock", "ours"])
def memories(request: pytest.FixtureRequest) -> Memories:
    """Makes memories."""
    made: Memories = request.param
    return made


# -- what every memory must do ---------------------------------------------------------------------------------


def is_a_memory(make: Memories) -> None:
    assert isinstance(make(), BaseMemory)


def names_its_variable(make: Memories) -> None:
    assert make().memory_variables == ["history"]
    assert make(memory_key="past").memory_variables == ["past"]


def begins_empty(make: Memories) -> None:
    assert make().load_memory_variables({"input": "x"}) == {"history": ""}
    assert make(return_messages=True).load_memory_variables({"input": "x"}) == {"history": []}


def loads_without_inputs(make: Memories) -> None:
    assert make().load_memory_variables({}) == {"history": ""}


def tells_what_was_saved(make: Memories) -> None:
    memory = make()
    memory.save_context(*TOLD)
    told = memory.load_memory_variables({"input": "x"})["history"]
    assert isinstance(told, str)
    assert "SQLite" in told


def tells_it_as_messages(make: Memories) -> None:
    memory = make(return_messages=True)
    memory.save_context(*TOLD)
    told = memory.load_memory_variables({"input": "x"})["history"]
    assert all(isinstance(message, HumanMessage | AIMessage | SystemMessage) for message in told)
    assert "SQLite" in "".join(message.text for message in told)


def has_keys_of_its_own(make: Memories) -> None:
    memory = make(memory_key="past", input_key="question", output_key="answer")
    memory.save_context({"question": TOLD[0]["input"], "other": "x"}, {"answer": "Understood.", "source": "y"})
    assert "SQLite" in memory.load_memory_variables({"question": "x", "other": "y"})["past"]


def passes_over_stop_and_itself(make: Memories) -> None:
    memory = make()
    memory.save_context(TOLD[0] | {"stop": ["x"], "history": "y"}, TOLD[1])
    assert [message.text for message in memory.chat_memory.messages] == [TOLD[0]["input"], "Understood."]


def refuses_two_inputs(make: Memories) -> None:
    with pytest.raises(ValueError, match="One input key expected"):
        make().save_context({"a": "x", "b": "y"}, TOLD[1])


def refuses_no_input(make: Memories) -> None:
    with pytest.raises(ValueError, match="One input key expected"):
        make().save_context({}, TOLD[1])


def refuses_two_outputs(make: Memories) -> None:
    with pytest.raises(ValueError, match="multiple output keys"):
        make().save_context(TOLD[0], {"a": "x", "b": "y"})


def takes_output_of_several(make: Memories) -> None:
    memory = make()
    with pytest.warns(UserWarning, match="multiple output keys"):
        memory.save_context(TOLD[0], {"output": "Understood.", "b": "y"})
    assert memory.chat_memory.messages[-1].text == "Understood."


def misses_its_key(make: Memories) -> None:
    with pytest.raises(KeyError):
        make(input_key="question").save_context({"other": "x"}, TOLD[1])


def clears(make: Memories) -> None:
    memory = make()
    memory.save_context(*TOLD)
    memory.clear()
    assert memory.load_memory_variables({"input": "x"}) == {"history": ""}
    memory.save_context({"input": "Use PostgreSQL for storage."}, TOLD[1])
    told = memory.load_memory_variables({"input": "x"})["history"]
    assert "PostgreSQL" in told
    assert "SQLite" not in told


def is_async(make: Memories) -> None:
    async def run() -> Any:
        memory = make()
        await memory.asave_context(*TOLD)
        told = await memory.aload_memory_variables({"input": "x"})
        await memory.aclear()
        assert await memory.aload_memory_variables({}) == {"history": ""}
        return told["history"]

    assert "SQLite" in asyncio.run(run())


def keeps_messages(make: Memories) -> None:
    memory = make()
    memory.save_context(*TOLD)
    assert memory.chat_memory.messages == [HumanMessage(TOLD[0]["input"]), AIMessage("Understood.")]


def takes_a_chat_memory(make: Memories) -> None:
    history = InMemoryChatMessageHistory(messages=[HumanMessage(TOLD[0]["input"]), AIMessage("Understood.")])
    memory = make(chat_memory=history)
    assert "SQLite" in memory.load_memory_variables({"input": "x"})["history"]
    memory.save_context({"input": "Never push to main."}, {"output": "I won't."})
    assert len(history.messages) == 4
    assert "push to main" in memory.load_memory_variables({"input": "x"})["history"]


def is_shared_read_only(make: Memories) -> None:
    memory = make()
    memory.save_context(*TOLD)
    view = ReadOnlySharedMemory(memory=memory)
    view.save_context({"input": "ignored"}, {"output": "ignored"})
    assert "SQLite" in view.load_memory_variables({"input": "x"})["history"]
    assert len(memory.chat_memory.messages) == 2


def is_combined(make: Memories) -> None:
    one, two = make(memory_key="one", input_key="input"), make(memory_key="two", input_key="input")
    both = CombinedMemory(memories=[one, two])
    both.save_context(*TOLD)
    told = both.load_memory_variables({"input": "x"})
    assert all("SQLite" in told[key] for key in ("one", "two"))
    with pytest.raises(ValueError, match="The same variables"):
        CombinedMemory(memories=[make(memory_key="one"), make(memory_key="one")])


MUST = [
    is_a_memory,
    names_its_variable,
    begins_empty,
    loads_without_inputs,
    tells_what_was_saved,
    tells_it_as_messages,
    has_keys_of_its_own,
    passes_over_stop_and_itself,
    refuses_two_inputs,
    refuses_no_input,
    refuses_two_outputs,
    takes_output_of_several,
    misses_its_key,
    clears,
    is_async,
    keeps_messages,
    takes_a_chat_memory,
    is_shared_read_only,
    is_combined,
]


@pytest.mark.parametrize("check", MUST, ids=lambda check: check.__name__)
def test_must(memories: Memories, check: Callable[[Memories], None]) -> None:
    check(memories)


def test_a_conversation_chain_takes_it(scripted: Any, memories: Memories) -> None:
    model = scripted()
    chain = ConversationChain(llm=model, memory=memories())
    chain.invoke({"input": TOLD[0]["input"]})
    assert chain.invoke({"input": "And now?"})["response"] == "Understood."
    assert "SQLite" in model.prompts[-1][0].text
    with pytest.raises(ValueError, match="unexpected prompt input variables"):
        ConversationChain(llm=model, memory=memories(memory_key="past"))


def test_a_chain_with_a_prompt_of_its_own_takes_it(scripted: Any, memories: Memories) -> None:
    model = scripted()
    prompt = PromptTemplate.from_template("Known: {past}\nAsked: {question}")
    chain = LLMChain(llm=model, prompt=prompt, memory=memories(memory_key="past", input_key="question"))
    asyncio.run(chain.ainvoke({"question": TOLD[0]["input"]}))
    asyncio.run(chain.ainvoke({"question": "And now?"}))
    assert "SQLite" in model.prompts[-1][0].text


# -- in the place of ConversationKGMemory ----------------------------------------------------------------------


def test_its_arguments_are_taken_and_what_does_nothing_is_said_once(scripted: Any) -> None:
    _say_once.cache_clear()
    model = scripted()
    given: dict[str, Any] = {
        "llm": model,
        "k": 3,
        "kg": object(),
        "knowledge_extraction_prompt": PromptTemplate.from_template("{x}"),
        "entity_extraction_prompt": PromptTemplate.from_template("{x}"),
        "human_prefix": "Human",
        "ai_prefix": "AI",
        "summary_message_cls": SystemMessage,
        "return_messages": True,
    }
    with pytest.warns(UserWarning, match="llm, k, kg, knowledge_extraction_prompt, entity_extraction_prompt are acc"):
        memory = TokenMizerMemory(**given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TokenMizerMemory(**given)
    memory.save_context(*TOLD)
    (told,) = memory.load_memory_variables({"input": "Which storage?"})["history"]
    assert isinstance(told, SystemMessage)
    assert model.prompts == []


def test_arguments_of_other_memories_are_said_once_too() -> None:
    _say_once.cache_clear()
    with pytest.warns(UserWarning, match="max_token_limit, moving_summary_buffer are accepted and do nothing"):
        memory = TokenMizerMemory(max_token_limit=100, moving_summary_buffer="")
    assert "TokenMizerChatMessageHistory(" in repr(memory)


def test_without_a_class_the_block_has_the_role_of_the_settings(opened: Callable[..., SessionMemory]) -> None:
    for role, kind in (("user", HumanMessage), ("system", SystemMessage)):
        memory = TokenMizerMemory(memory=opened(block_role=role), session_id="s", return_messages=True)
        memory.save_context(*TOLD)
        (told,) = memory.load_memory_variables({})["history"]
        assert type(told) is kind


def test_entities_and_triples_come_without_a_model() -> None:
    memory = TokenMizerMemory()
    assert memory.get_current_entities("storage") == memory.get_knowledge_triplets("storage") == []
    assert memory.kg.get_triples() == []
    memory.save_context(*TOLD)
    memory.save_context({"input": "Switch from SQLite to PostgreSQL because of concurrent writes."}, TOLD[1])
    entities = memory.get_current_entities("PostgreSQL and SQLite")
    assert any("PostgreSQL" in label for label in entities)
    current = " ".join(" ".join(triple) for triple in memory.get_knowledge_triplets("PostgreSQL and SQLite"))
    assert "postgres" in current.lower()
    assert all(len(triple) == 3 for triple in memory.kg.get_triples())
    assert not any("sqlite" in triple[1].lower() and triple[2] == "is" for triple in memory.kg.get_triples())


def test_after_a_switch_only_the_new_value_is_current() -> None:
    memory = TokenMizerMemory()
    memory.save_context(*TOLD)
    memory.save_context({"input": "Switch from SQLite to PostgreSQL because of concurrent writes."}, TOLD[1])
    graph = memory.memory.graph(memory.session_id)
    current = [node.label for node in graph.nodes("decision") if node.current]
    assert any("PostgreSQL" in label for label in current)
    assert not any("SQLite" in label and "PostgreSQL" not in label for label in current)


def test_the_budget_holds() -> None:
    memory = TokenMizerMemory(budget=80)
    for number in range(30):
        memory.save_context({"input": f"Use library number{number} for task {number}."}, {"output": "Understood."})
    resume = memory.memory.resume(memory.session_id, budget=80)
    assert 0 < resume.tokens <= 80
    assert memory.load_memory_variables({})["history"] == resume.text


# -- sessions --------------------------------------------------------------------------------------------------


def test_instances_without_a_session_do_not_meet() -> None:
    one, two = TokenMizerMemory(), TokenMizerMemory()
    one.save_context(*TOLD)
    assert two.load_memory_variables({}) == {"history": ""}


def test_instances_on_one_session_know_the_same(memory: SessionMemory) -> None:
    one, two = (TokenMizerMemory(memory=memory, session_id="s") for _ in range(2))
    one.save_context(*TOLD)
    assert "SQLite" in two.load_memory_variables({})["history"]
    assert two.chat_memory.messages == [HumanMessage(TOLD[0]["input"]), AIMessage("Understood.")]
    elsewhere = TokenMizerMemory(memory=memory, session_id="s", tenant="other")
    assert elsewhere.load_memory_variables({}) == {"history": ""}


def test_a_history_of_ours_says_which_session_it_is(memory: SessionMemory) -> None:
    history = TokenMizerChatMessageHistory("s", memory)
    mine = TokenMizerMemory(chat_memory=history)
    mine.save_context(*TOLD)
    assert "SQLite" in memory.resume("s").text


def test_it_survives_a_restart(scripted: Any, url: str, opened: Callable[..., SessionMemory]) -> None:
    model = scripted()
    for text in (TOLD[0]["input"], "And now?"):
        memory = opened(url)
        ConversationChain(llm=model, memory=TokenMizerMemory(memory=memory, session_id="s")).invoke({"input": text})
        memory.close()
    assert "SQLite" in model.prompts[-1][0].text


def test_a_session_id_that_is_none_is_refused(memory: SessionMemory) -> None:
    with pytest.raises(InvalidSession):
        TokenMizerMemory(memory=memory, session_id="line\nbreak").save_context(*TOLD)


def test_what_is_no_memory_is_refused() -> None:
    with pytest.raises((TypeError, ValueError), match="SessionMemory"):
        TokenMizerMemory(memory="sqlite:///chat.db")
