"""Compression for hosts without bytes: old results of tools say less before messages are left out."""

from __future__ import annotations

from collections.abc import Sequence

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, Written
from tokenmizer_mw.settings import Settings

WINDOW = 4_000
ON = Settings(compress="history", compress_step=1_000)


def work(turns: int) -> list[Message]:
    """A chat of which most is what tools returned."""
    said = [Message(Role.USER, "Use SQLite for storage in the invoice service.")]
    for number in range(turns):
        call = ToolCall(f"c{number}", "read_file", f'{{"path": "part{number}.py"}}')
        output = "\n".join(f"value_{number}_{line} = {line} + {number}" for line in range(30))
        said += [
            Message(Role.ASSISTANT, tool_calls=(call,)),
            Message(Role.TOOL, tool_results=(ToolResult(call.id, output),)),
            Message(Role.ASSISTANT, f"Part {number} adds two numbers."),
            Message(Role.USER, f"Now part {number + 1}, please."),
        ]
    return said


def texts(results: Sequence[ToolResult]) -> tuple[str, ...]:
    return tuple(result.text for result in results)


def test_results_say_less_before_messages_are_left_out() -> None:
    plain, on = SessionMemory.open("memory://"), SessionMemory.open("memory://", ON)
    chat = work(12)
    whole = plain.shorten("s", chat, window=WINDOW)
    fit = on.shorten("s", chat, window=WINDOW)
    assert whole is not None and whole.block and not whole.results
    assert fit is not None and not fit.block
    assert fit.kept == tuple(range(len(chat)))
    for place, shorter in fit.results.items():
        before = texts(chat[place].tool_results)
        assert len(shorter) == len(before)
        assert sum(map(len, shorter)) < sum(map(len, before))
    assert max(fit.results) < len(chat) - 3 * 4  # the newest results stay whole
    assert on.counters()["request_compressed"] == 1


def test_a_cut_keeps_more_messages() -> None:
    kept = {}
    for name, settings in {"without": Settings(), "with": ON}.items():
        memory = SessionMemory.open("memory://", settings)
        sent = [memory.shorten("s", work(turns), window=WINDOW) for turns in range(1, 60)]
        kept[name] = [len(fit.kept) for fit in sent if fit is not None and fit.block]
        assert memory.counters()["cut_made"] >= 1
    assert sum(kept["with"]) / len(kept["with"]) > sum(kept["without"]) / len(kept["without"])


def test_a_chat_that_grows_begins_the_same_between_steps() -> None:
    memory = SessionMemory.open("memory://", ON)
    same = 0
    before: dict[int, tuple[str, ...]] = {}
    for turns in range(12, 40):
        fit = memory.shorten("s", work(turns), window=WINDOW)
        assert fit is not None
        same += all(fit.results.get(place) == shorter for place, shorter in before.items())
        before = dict(fit.results)
    assert same > 28 / 2


def test_a_context_that_fits_is_whole_and_a_long_one_has_shorter_results() -> None:
    memory = SessionMemory.open("memory://", ON)
    memory.add("s", map(Written, work(12)))
    assert not memory.context("s", limit=100_000).results
    context = memory.context("s", limit=WINDOW)
    assert context.results and context.tokens <= WINDOW
    for place, shorter in context.results.items():
        assert shorter != texts(context.recent[place].message.tool_results)
    plain = SessionMemory.open("memory://")
    plain.add("s", map(Written, work(12)))
    assert len(context.recent) > len(plain.context("s", limit=WINDOW).recent)


def test_nothing_is_shorter_where_compression_is_off() -> None:
    memory = SessionMemory.open("memory://")
    fit = memory.shorten("s", work(30), window=WINDOW)
    assert fit is not None and not fit.results
