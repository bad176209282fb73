import json
import time

from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.context.tokens import MessageCounter, TokenCounter, estimate
from tokenmizer_mw.context.tokens.counter import ATTACHMENT_TOKENS, MESSAGE_TOKENS, TOOL_TOKENS
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult
from tokenmizer_mw.wire.dialects.openai_chat import OpenAIChat
from tokenmizer_mw.wire.known import KnownRequests

LETTERS = TokenCounter("letters", False, len)

COSTS = [
    (Message(Role.USER, "four"), 4),
    (Message(Role.USER), 0),
    (Message(Role.ASSISTANT, "ab", thinking="cde"), 5),
    (Message(Role.ASSISTANT, refusal="no"), 2),
    (Message(Role.USER, "ab", attachments=("image_url", "file")), 2 + 2 * ATTACHMENT_TOKENS),
    (Message(Role.ASSISTANT, tool_calls=(ToolCall("1", "run", "{}"), ToolCall("2", "a", ""))), 6 + 2 * TOOL_TOKENS),
    (Message(Role.TOOL, tool_results=(ToolResult("1", "result"),)), 6 + TOOL_TOKENS),
]


def test_what_a_message_costs() -> None:
    counter = MessageCounter(LETTERS)
    messages = [message for message, _ in COSTS]
    assert counter.counts(messages) == [tokens + MESSAGE_TOKENS for _, tokens in COSTS]
    assert [counter.count(message) for message in messages] == counter.counts(messages)


def test_each_text_is_counted_once() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    counter = MessageCounter(TokenCounter("noting", False, count))
    messages = [Message(Role.USER, f"message {i}") for i in range(50)]
    assert counter.counts(messages) == counter.counts(messages)
    assert len(seen) == 50


def test_a_request_that_goes_on_is_counted_from_there_for_each_tokenizer() -> None:
    known, seen = KnownRequests(100_000), list[str]()

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    sent = [{"role": "user", "content": f"{number} " + "said " * 300} for number in range(6)]
    for end in (4, 5, 6, 6):
        request = OpenAIChat().read(json.dumps({"messages": sent[:end]}).encode(), known)
        counted = MessageCounter(TokenCounter("noting", False, count)).request_counts(request)
        assert (
            counted
            == MessageCounter(LETTERS).request_counts(request)
            == MessageCounter(LETTERS).counts(request.messages)
        )
    assert len(seen) == 6
    double = TokenCounter("double", False, lambda text: 2 * len(text))
    assert MessageCounter(double).request_counts(request) == MessageCounter(double).counts(request.messages)


@given(st.lists(st.text(max_size=12), max_size=80), st.integers(1, 5), st.integers(1, 40))
def test_a_small_memory_counts_the_same(texts: list[str], entries: int, characters: int) -> None:
    counter = MessageCounter(LETTERS, entries=entries, characters=characters)
    assert [counter.text(text) for text in texts] == [len(text) for text in texts]
    memo = counter._texts
    assert len(memo._young) + len(memo._old) <= 2 * entries
    assert sum(map(len, memo._young)) <= characters


def test_the_sum_is_close_to_the_whole(exact: TokenCounter) -> None:
    texts = [f"Turn {i}: we looked at part {i * 7} of the plan and kept it." for i in range(300)]
    counter = MessageCounter(exact)
    apart = sum(counter.text(text) for text in texts)
    whole = exact.count("\n".join(texts))
    assert whole * 0.99 <= apart <= whole * 1.01


def test_a_warm_history_costs_less_than_a_hundredth_of_a_cold_one() -> None:
    messages = [Message(Role.USER, f"{i} " + "some words of a message " * 30) for i in range(1_000)]
    counter = MessageCounter(TokenCounter("estimate", False, estimate))

    def cost() -> float:
        again = [Message(m.role, (m.text + " ")[:-1]) for m in messages]
        start = time.process_time()
        counter.counts(again)
        return time.process_time() - start

    cold = cost()
    assert min(cost() for _ in range(5)) < cold / 20
