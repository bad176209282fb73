"""The benchmarks beside LangChain's own classes find what they look for."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from benchmarks import langchain_agent, langchain_chain

CALL = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])
RESULT = ToolMessage("seen", tool_call_id="c1")


@pytest.mark.parametrize(
    ("presented", "stale"),
    [
        ("PostgreSQL", False),
        ("PostgreSQL (was SQLite: concurrent writes)", False),
        ("Switch from SQLite to PostgreSQL", False),
        ("stores data in SQLite\nstores data in PostgreSQL", True),
        ("To do: move SQLite", True),
    ],
)
def test_a_value_is_stale_where_a_statement_names_it_alone(presented: str, stale: bool) -> None:
    assert langchain_chain._stale(presented, "SQLite", "PostgreSQL") is stale


REMARKED = "[1 user] (SQLite for storage: replaced in [17] by PostgreSQL for storage) A shop. Use SQLite."


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        (REMARKED, False),
        ("[1 user] A shop. Use SQLite.", True),
        ("[1 user] (see above) A shop. Use SQLite.", True),
        (f"{REMARKED}\n[3 user] Keep SQLite.", True),
        (REMARKED.replace("PostgreSQL", "Oracle"), True),
    ],
)
def test_a_remark_counts_for_all_statements_of_its_message(text: str, stale: bool) -> None:
    presented = "\n".join(langchain_chain.split_statements(text))
    assert langchain_chain._stale(presented, "SQLite", "PostgreSQL") is stale


@pytest.mark.parametrize(
    ("prompt", "torn"),
    [
        ([HumanMessage("x"), CALL, RESULT], False),
        ([HumanMessage("x"), RESULT], True),
        ([HumanMessage("x"), CALL, HumanMessage("y")], True),
        ([HumanMessage("x"), CALL], True),
        ([], False),
    ],
)
def test_a_prompt_is_torn_where_a_call_or_a_result_is_alone(prompt: list[BaseMessage], torn: bool) -> None:
    assert langchain_agent._torn(prompt) is torn


def test_the_stock_classes_are_seen_to_keep_and_to_lose_what_they_do() -> None:
    with langchain_chain.quiet():
        buffer = langchain_chain.chain(langchain_chain.buffer)
        history = langchain_chain.history("InMemoryChatMessageHistory")
    assert (buffer["extra_calls"], len(buffer["stale"]), buffer["missing"]) == (0, 5, [])
    assert len(buffer["missing_after_restart"]) == len(langchain_chain.STANDING)
    assert (history["overlap_lost"], history["threads_lost"]) == (1, 0)
    assert (history["processes_lost"], history["out_of_order"]) == (None, 0)


@pytest.mark.parametrize(
    ("messages", "late"),
    [([], 0), (["0:0", "1:0", "0:1", "1:1"], 0), (["0:1", "0:0", "1:0"], 1), (["0:2", "0:0", "0:1", "0:3"], 2)],
)
def test_a_message_is_out_of_order_behind_a_later_one_of_its_writer(messages: list[str], late: int) -> None:
    assert langchain_chain._out_of_order(messages) == late
