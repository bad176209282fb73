import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from tokenmizer_mw.context.window import WINDOWS, Cut, Plan, Replay, Untouched, block_budget, budget_for, plan
from tokenmizer_mw.model.event import Checkpointed
from tokenmizer_mw.model.message import Message, Role, ToolCall, ToolResult, digest
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.history import history_of

SETTINGS = Settings(context_window=1_000, block_tokens=64)

BUDGETS = [
    ("gpt-4o-mini", 128_000),
    ("openai/gpt-4o-mini", 128_000),
    ("GPT-4.1", 1_047_576),
    ("gpt-4-0613", 8_192),
    ("gpt-4-turbo-2024-04-09", 128_000),
    ("gpt-5-mini", 272_000),
    ("gpt-5.5", 922_000),
    ("gpt-6-sol", 922_000),
    ("o3-mini", 200_000),
    ("claude-sonnet-4-5", 200_000),
    ("claude-opus-4-6", 1_000_000),
    ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", 200_000),
    ("gemini-2.5-pro", 1_048_576),
    ("llama3:8b", 8_192),
    ("nobody-knows-it", 128_000),
    ("", 128_000),
]


@pytest.mark.parametrize("model, tokens", BUDGETS)
def test_the_window_of_a_model(model: str, tokens: int) -> None:
    assert budget_for(model, Settings()) == tokens


def test_a_setting_overrides_the_table() -> None:
    assert budget_for("gpt-4o", Settings(context_window=5_000)) == 5_000
    assert budget_for("unheard-of", Settings(default_window=7_000)) == 7_000


def test_every_row_of_the_table_can_be_reached() -> None:
    assert [budget_for(start, Settings()) for start, _ in WINDOWS] == [tokens for _, tokens in WINDOWS]


def test_a_block_leaves_room_in_a_small_window() -> None:
    assert block_budget("gpt-4o", Settings()) == 600
    assert block_budget("gpt-4o", Settings(context_window=1_000)) == 200


# -- one request -----------------------------------------------------------------------------------------------

SYSTEM = Message(Role.SYSTEM, "be brief")


def user(text: str) -> Message:
    return Message(Role.USER, text)


def says(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def calls(*ids: str) -> Message:
    return Message(Role.ASSISTANT, tool_calls=tuple(ToolCall(id, "run", "{}") for id in ids))


def result(id: str) -> Message:
    return Message(Role.TOOL, tool_results=(ToolResult(id, "ok"),))


def request(messages: Sequence[Message], stand_down: str = "") -> ChatRequest:
    prefix = next((i for i, m in enumerate(messages) if m.role is not Role.SYSTEM), len(messages))
    return ChatRequest("", history_of(messages), 0, {}, prefix=prefix, stand_down=stand_down)


def planned(
    messages: Sequence[Message],
    each: int = 100,
    *,
    frozen: Checkpointed | None = None,
    overhead: int = 0,
    stand_down: str = "",
) -> Plan:
    return plan(
        request(messages, stand_down), [each] * len(messages), overhead=overhead, frozen=frozen, settings=SETTINGS
    )


TALK = [SYSTEM, *(make(f"{i}") for i in range(4) for make in (user, says)), user("last")]


def frozen_at(messages: Sequence[Message], index: int, prefix: int = 1, turn: int = 0) -> Checkpointed:
    anchor_turn = index - prefix + 1
    return Checkpointed(
        "checkpoint-1",
        turn or len(messages) - prefix,
        tokens=40,
        block="the block",
        anchor=digest(messages[index]),
        anchor_turn=anchor_turn,
        dropped=index - prefix,
    )


def test_below_the_threshold_nothing_is_done() -> None:
    assert planned(TALK, each=85) == Untouched()
    assert planned([], each=85) == Untouched()


def test_the_earliest_turn_whose_tail_fits() -> None:
    assert planned(TALK, each=86) == Cut(7)
    assert planned(TALK, each=160) == Cut(9)


def test_a_cut_keeps_more_where_long_turns_would_leave_half_of_its_room_unused() -> None:
    assert planned(TALK, each=120) == Cut(7)


def test_tool_definitions_fill_the_window_too() -> None:
    assert planned(TALK, each=20, overhead=600) == Untouched()
    assert isinstance(planned(TALK, each=20, overhead=700), Cut)


@pytest.mark.parametrize(
    ("bound", "expected"), [(0, Cut(7)), (6, Cut(7)), (7, Cut(7)), (8, Cut(9)), (9, Cut(9)), (10, Untouched())]
)
def test_what_is_bound_to_messages_that_go_does_not_stay(bound: int, expected: Plan) -> None:
    sent = replace(request(TALK), bound=bound)
    assert plan(sent, [86] * len(TALK), overhead=0, frozen=None, settings=SETTINGS) == expected


def test_the_newest_message_of_the_user_stays_even_when_it_is_too_large() -> None:
    assert planned(TALK, each=900) == Cut(9)


NO_CUT: list[list[Message]] = [
    [SYSTEM, user("one")],
    [SYSTEM, user("one"), says("two")],
    [SYSTEM],
    [user("one"), calls("a"), result("a"), calls("b"), result("b")],
    [SYSTEM, says("greeting")],
]


@pytest.mark.parametrize("messages", NO_CUT)
def test_no_boundary_no_cut(messages: list[Message]) -> None:
    assert planned(messages, each=900) == Untouched()


def test_no_cut_between_a_call_and_its_result() -> None:
    messages = [
        SYSTEM,
        user("0"),
        says("1"),
        user("2"),
        calls("a", "b"),
        user("3"),
        result("a"),
        result("b"),
        says("4"),
    ]
    assert planned([*messages, user("5")], each=100) == Cut(8)
    assert planned([*messages[:-1], user("5")], each=110) == Cut(8)
    assert planned(messages, each=100) == Cut(3)


def test_outputs_that_no_call_asked_for_hold_up_no_cut() -> None:
    talk = [SYSTEM, *(message for at in range(6) for message in (user(f"{at}"), result(f"r{at}"))), user("last")]
    decision = planned(talk, each=80)
    assert decision == Cut(11)
    frozen = frozen_at(talk, 11)
    assert planned([*talk, says("ok"), user("more")], each=50, frozen=frozen) == Replay(11, "the block")


def in_steps(count: int) -> list[Message]:
    """A turn of an agent that calls tools so many times."""
    steps = [step for at in range(count) for step in (calls(f"a{at}", f"b{at}"), result(f"a{at}"), result(f"b{at}"))]
    return [SYSTEM, user("go"), *steps, says("done"), user("next")]


def test_a_long_turn_that_is_over_is_cut_between_its_steps() -> None:
    messages = in_steps(8)
    decision = planned(messages, each=40)
    assert isinstance(decision, Cut)
    assert decision.keep_from == len(messages) - 8
    assert messages[decision.keep_from].tool_calls
    assert messages[decision.keep_from - 1].tool_results


def test_a_cut_begins_with_a_turn_where_the_end_of_the_one_before_adds_little() -> None:
    messages = [*in_steps(8), says("ok"), user("and then")]
    counts = [6] * len(messages)
    counts[1], counts[-3] = 900, 385  # the turn at the end takes most of the room: a step before it would fit as well
    decision = plan(request(messages), counts, overhead=0, frozen=None, settings=SETTINGS)
    assert isinstance(decision, Cut) and messages[decision.keep_from].opens_turn


def test_a_turn_under_way_and_cuts_that_are_to_pay_fall_on_no_step() -> None:
    assert planned(in_steps(8)[:-2], each=40) == Untouched()
    economy = Settings(cut="economy", context_window=100_000)
    messages = in_steps(8)
    decision = plan(request(messages), [900] * len(messages), overhead=0, frozen=None, settings=economy)
    assert not isinstance(decision, Cut) or messages[decision.keep_from].opens_turn


def test_a_turn_in_which_the_model_thinks_is_not_cut_inside() -> None:
    messages = in_steps(8)
    messages[5] = replace(messages[5], thinking="hm")
    assert planned(messages, each=40) == Cut(len(messages) - 1)


def test_a_block_that_no_user_says_stands_in_front_of_a_turn() -> None:
    messages = in_steps(8)
    settings = replace(SETTINGS, block_role="system")
    decision = plan(request(messages), [40] * len(messages), overhead=0, frozen=None, settings=settings)
    assert decision == Cut(len(messages) - 1)


def test_a_cut_between_steps_is_carried_on() -> None:
    messages = in_steps(8)
    decision = planned(messages, each=40)
    assert isinstance(decision, Cut)
    frozen = frozen_at(messages, decision.keep_from)
    longer = [*messages, says("ok"), user("and then")]
    assert planned(longer, each=20, frozen=frozen) == Replay(decision.keep_from, "the block")


def test_results_in_a_message_of_the_user_belong_to_the_turn_before() -> None:
    answer = Message(Role.USER, "and also this", tool_results=(ToolResult("a", "ok"),))
    assert planned([SYSTEM, user("0"), says("1"), user("2"), calls("a"), answer], each=200) == Cut(3)


def test_results_that_come_with_their_calls_are_explained_by_them() -> None:
    ran = Message(Role.ASSISTANT, "done", (ToolCall("a", "run", "{}"),), (ToolResult("a", "ok"),))
    talk = [SYSTEM, *(message for i in range(4) for message in (user(f"{i}"), ran)), user("last")]
    assert planned(talk, each=86) == Cut(7)


def test_results_without_ids_pair_by_order() -> None:
    messages = [user("0"), says("1"), user("2"), calls("", ""), result(""), result(""), says("3")]
    assert planned(messages, each=200) == Cut(2)


def test_ids_that_come_again_in_each_turn() -> None:
    turns = [m for i in range(4) for m in (user(f"{i}"), calls("call_1"), result("call_1"), says("done"))]
    assert planned([*turns, user("last")], each=60) == Cut(11)


def test_a_cut_that_saves_nothing_is_not_made() -> None:
    messages = [SYSTEM, user("a"), says("b"), user("c")]
    counts = [800, 20, 20, 400]
    assert plan(request(messages), counts, overhead=0, frozen=None, settings=SETTINGS) == Untouched()


# -- a cut in force --------------------------------------------------------------------------------------------


def test_a_cut_is_carried_on_below_the_threshold_too() -> None:
    frozen = frozen_at(TALK, 5)
    assert planned(TALK, each=85, frozen=frozen) == Replay(5, "the block")
    assert planned([*TALK, says("more"), user("next")], each=30, frozen=frozen) == Replay(5, "the block")


def test_the_next_cut_comes_when_the_window_fills_again() -> None:
    longer = [*TALK, *(make(f"more {i}") for i in range(4) for make in (says, user))]
    frozen = frozen_at(TALK, 5)
    assert planned(longer, each=50, frozen=frozen) == Replay(5, "the block")
    assert planned(longer, each=75, frozen=frozen) == Cut(15, Replay(5, "the block"))


@pytest.mark.parametrize("reason", ["open_tool_loop", "assistant_prefill", "unknown_role"])
def test_standing_down_for_a_while_carries_the_cut_on(reason: str) -> None:
    assert planned(TALK, each=300, frozen=frozen_at(TALK, 5), stand_down=reason) == Replay(5, "the block")
    assert planned(TALK, each=300, stand_down=reason) == Untouched()


@pytest.mark.parametrize("reason", ["history_on_server", "provider_compacts", "messages_twice", "not_rewritable"])
def test_where_the_history_is_elsewhere_nothing_is_done(reason: str) -> None:
    assert planned(TALK, each=300, frozen=frozen_at(TALK, 5), stand_down=reason) == Untouched()


def test_a_client_that_edited_its_history_before_the_anchor() -> None:
    edited = [SYSTEM, user("new"), *TALK[1:]]
    assert planned(edited, each=85, frozen=frozen_at(TALK, 5)) == Replay(6, "the block")


def test_a_client_that_changed_the_anchor() -> None:
    edited = [*TALK[:5], user("something else"), *TALK[6:]]
    assert planned(edited, each=80, frozen=frozen_at(TALK, 5)) == Untouched()


def test_a_client_that_trimmed_its_history() -> None:
    trimmed = [SYSTEM, *TALK[3:]]
    assert planned(trimmed, each=85, frozen=frozen_at(TALK, 5)) == Replay(3, "the block")
    assert planned([SYSTEM, *TALK[5:]], each=85, frozen=frozen_at(TALK, 5)) == Untouched()


def test_of_equal_messages_the_one_that_drops_least_is_the_anchor() -> None:
    talk = [SYSTEM, *(m for i in range(8) for m in (user("continue"), says(f"{i}"))), user("continue")]
    frozen = frozen_at(talk, 9)
    assert planned(talk, each=30, frozen=frozen) == Replay(9, "the block")
    assert planned([SYSTEM, *talk[5:]], each=30, frozen=frozen) == Untouched()
    assert planned([SYSTEM, *talk[11:]], each=30, frozen=frozen) == Untouched()


def test_a_block_longer_than_what_it_replaces_is_not_sent() -> None:
    assert planned(TALK, each=10, frozen=frozen_at(TALK, 5)) == Untouched()
    assert planned(TALK, each=11, frozen=frozen_at(TALK, 5)) == Untouched()  # as long
    assert planned(TALK, each=12, frozen=frozen_at(TALK, 5)) == Replay(5, "the block")


def test_a_cut_that_would_orphan_a_result_is_not_carried_on() -> None:
    messages = [SYSTEM, user("0"), calls("a"), user("1"), result("a"), says("2")]
    assert planned(messages, each=100, frozen=frozen_at(messages, 3)) == Untouched()


# -- whole conversations ---------------------------------------------------------------------------------------


class Client:
    """Resends its whole history with every call, as chat clients do; some trim it, some use tools."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.history = [Message(Role.SYSTEM, "s" * source.randrange(1, 60))] * source.randrange(0, 3)
        self.said = 0

    def _text(self) -> str:
        self.said += 1
        if self.random.random() < 0.1:
            return self.random.choice(["continue", "yes"])
        return f"{self.said} " + "x" * self.random.choice([1, 20, 60, 150])

    def calls(self) -> list[tuple[Message, ...]]:
        """The requests of one turn of the user."""
        self.history.append(user(self._text()))
        sent = [tuple(self.history)]
        while self.random.random() < 0.3:
            ids = [f"c{self.random.randrange(3)}{i}" for i in range(self.random.randrange(1, 3))]
            self.history.append(Message(Role.ASSISTANT, self._text(), tool_calls=calls(*ids).tool_calls))
            self.history += [Message(Role.TOOL, tool_results=(ToolResult(id, self._text()),)) for id in ids]
            sent.append(tuple(self.history))
        self.history.append(says(self._text()))
        return sent


def tokens_of(message: Message) -> int:
    return 4 + len(message.text) + sum(len(r.text) for r in message.tool_results) + 5 * len(message.tool_calls)


class Session:
    """What memory does with a plan: keeps the cut, sends the rewritten messages."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.settings = Settings(
            context_window=source.choice([300, 600, 1_500]), block_tokens=64, reminder_tokens=source.choice([0, 200])
        )
        self.frozen: Checkpointed | None = None
        self.cuts = 0

    def sent(self, messages: tuple[Message, ...]) -> list[Message]:
        open_loop = "open_tool_loop" if messages[-1].role is Role.TOOL else ""
        asked = request(messages, open_loop)
        counts = [tokens_of(message) for message in messages]
        decision = plan(asked, counts, overhead=0, frozen=self.frozen, settings=self.settings)
        match decision:
            case Cut(keep_from):
                assert not open_loop
                assert sum(counts) > 0.85 * budget_for("", self.settings)
                self._freeze(asked, keep_from)
                return self._rewritten(messages, asked.prefix, keep_from)
            case Replay(keep_from):
                return self._rewritten(messages, asked.prefix, keep_from)
            case _:
                return list(messages)

    def _freeze(self, asked: ChatRequest, keep_from: int) -> None:
        self.cuts += 1
        size = self.random.randrange(1, block_budget("", self.settings) + 1)
        spoken = len(asked.messages) - asked.prefix
        self.frozen = Checkpointed(
            f"checkpoint-{self.cuts}",
            spoken,
            tokens=size,
            block=f"{self.cuts}".ljust(size, "b"),
            anchor=digest(asked.messages[keep_from]),
            anchor_turn=keep_from - asked.prefix + 1,
            dropped=keep_from - asked.prefix,
        )

    def _rewritten(self, messages: tuple[Message, ...], prefix: int, keep_from: int) -> list[Message]:
        assert self.frozen is not None
        return [*messages[:prefix], user(self.frozen.block), *messages[keep_from:]]


def orphans(messages: Sequence[Message]) -> int:
    known: set[str] = set()
    found = 0
    for message in messages:
        known.update(call.id for call in message.tool_calls)
        found += sum(r.call_id not in known for r in message.tool_results)
    return found


def newest_of_user(messages: Sequence[Message]) -> Message:
    return next(message for message in reversed(messages) if message.role is Role.USER)


def test_ten_thousand_conversations() -> None:
    cuts = replays = 0
    for seed in range(10_000):
        source = random.Random(seed)
        client, session = Client(source), Session(source)
        before: list[Message] = []
        for _ in range(source.randrange(2, 9)):
            for messages in client.calls():
                made = session.cuts
                sent = session.sent(messages)
                assert orphans(sent) == 0
                assert newest_of_user(sent) == newest_of_user(messages)
                assert sum(map(tokens_of, sent)) <= sum(map(tokens_of, messages))
                assert [m for m in sent if m.role is Role.SYSTEM] == [m for m in messages if m.role is Role.SYSTEM]
                if session.cuts == made:
                    assert sent[: len(before)] == before
                    replays += len(sent) < len(messages)
                before = sent
        cuts += session.cuts
    assert cuts > 5_000
    assert replays > 5_000


# -- cuts that pay ---------------------------------------------------------------------------------------------

ECONOMY = Settings(cut="economy", context_window=1_000_000)
READ, WRITE = 0.1, 1.25
BLOCK = 604


def chat(turns: int, *, loop: int = 0) -> list[Message]:
    """So many turns, the last of which is only asked; in each, tools are called ``loop`` times."""
    messages = [SYSTEM]
    for turn in range(turns):
        steps = [step for at in range(loop) for step in (calls(f"{turn}-{at}"), result(f"{turn}-{at}"))]
        messages += [user(f"question {turn}"), *steps, says(f"answer {turn}")]
    return messages[: -1 - 2 * loop]


def sent_before(messages: Sequence[Message]) -> list[int]:
    """Places of what the model said, and the end: what stands before each was sent with a call."""
    return [*(place for place, message in enumerate(messages) if message.role is Role.ASSISTANT), len(messages)]


@dataclass
class Billed:
    """What a chat cost so far, in tokens of fresh input, uncut and cut as ``plan`` says; ``at``: the turns of cuts."""

    uncut: float = 0.0
    cut: float = 0.0
    at: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    worst: float = 0.0


@dataclass(frozen=True)
class Provider:
    """Caches requests from ``least`` tokens on; ``whole``: what a later one begins with, but no part of it."""

    model: str = ""
    least: int = 1_024
    whole: bool = False
    write: float = WRITE

    def cost(self, known: int, sent: int, *, cut: bool) -> float:
        served = 0 if cut and self.whole else known if known >= self.least else 0
        return READ * served + (self.write if sent >= self.least else 1.0) * (sent - served)


CLAUDE = Provider("claude-sonnet-4-5")
PROVIDERS = [CLAUDE, Provider("gpt-5.6", whole=True), Provider("gemini-2.5-pro", least=2_048, write=1.0)]


def billed(
    turns: int, each: int, *, loop: int = 0, provider: Provider = CLAUDE, settings: Settings = ECONOMY
) -> Billed:
    """A chat of messages of ``each`` tokens behind a system prompt of as much, sent call by call."""
    whole, frozen, costs = chat(turns, loop=loop), None, Billed()
    before = cut_before = 0
    for end in sent_before(whole):
        told = whole[:end]
        total = each * len(told)
        call = replace(request(told, "open_tool_loop" if told[-1].role is Role.TOOL else ""), model=provider.model)
        planned = plan(call, [each] * len(told), overhead=0, frozen=frozen, settings=settings)
        if isinstance(planned, Cut):
            frozen = replace(frozen_at(told, planned.keep_from), tokens=BLOCK - 4)
            costs.at.append(sum(message.opens_turn for message in told))
            costs.kept.append(len(told) - planned.keep_from)
            cut_before = each
        start = frozen.dropped + 1 if frozen is not None else 1
        sent = total if frozen is None else each + BLOCK + each * (len(told) - start)
        costs.uncut += provider.cost(before, total, cut=False)
        costs.cut += provider.cost(cut_before, sent, cut=isinstance(planned, Cut))
        costs.worst = max(costs.worst, costs.cut / costs.uncut)
        before, cut_before = total, sent
    return costs


@pytest.mark.parametrize("each", [30, 100, 400, 1_500, 6_000])
@pytest.mark.parametrize("loop", [0, 3])
@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.model)
def test_a_chat_never_costs_more_than_the_risk_wherever_it_ends(each: int, loop: int, provider: Provider) -> None:
    assert billed(120, each, loop=loop, provider=provider).worst <= 1.0 + ECONOMY.cut_risk + 1e-9


@pytest.mark.parametrize("each, turns, share", [(400, 40, 0.95), (400, 150, 0.8), (400, 300, 0.5), (1_500, 40, 0.95)])
def test_long_chats_cost_less(each: int, turns: int, share: float) -> None:
    costs = billed(turns, each)
    assert costs.cut / costs.uncut <= share


def test_short_chats_are_left_alone() -> None:
    assert billed(10, 400).at == []
    assert billed(60, 10).at == []


def test_cuts_that_pay_are_rare_and_keep_the_turn_before() -> None:
    costs = billed(200, 400)
    assert 2 <= len(costs.at) <= 8
    assert min(costs.kept) >= 3


def test_without_economy_a_wide_window_is_never_cut() -> None:
    assert billed(200, 400, settings=ECONOMY.with_(cut="window")).at == []


def test_a_full_window_is_cut_even_where_that_does_not_pay() -> None:
    assert billed(10, 400, settings=ECONOMY.with_(context_window=6_000)).at != []


def test_no_cut_inside_a_tool_loop_however_much_it_would_pay() -> None:
    told = [*chat(40, loop=2), calls("open"), result("open")]
    assert isinstance(plan(request(told), [400] * len(told), overhead=0, frozen=None, settings=ECONOMY), Cut)
    loop = request(told, "open_tool_loop")
    assert plan(loop, [400] * len(told), overhead=0, frozen=None, settings=ECONOMY) == Untouched()


def test_where_reading_from_the_cache_costs_next_to_nothing_cuts_are_rarer() -> None:
    told = chat(40)
    cheap = replace(request(told), model="claude-fable-5-1")
    assert isinstance(plan(request(told), [400] * len(told), overhead=0, frozen=None, settings=ECONOMY), Cut)
    assert plan(cheap, [400] * len(told), overhead=0, frozen=None, settings=ECONOMY) == Untouched()
