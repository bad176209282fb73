"""The stand-in that bills, and a conversation sent with and without the middleware."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.conversations import Answered, Asked, Called, Item, Returned
from benchmarks.savings import PROVIDERS, ratios, replay
from benchmarks.savings_provider import Bill, Provider, Rules
from tests.sampling import sample
from tokenmizer_mw import Settings

MARKED = Rules("marked", "claude", least=10)
AUTOMATIC = Rules("automatic", "gpt", write=1.0, least=10, step=4)
LATEST = Rules("latest", "gpt-5.6", least=10)
MARK = {"cache_control": {"type": "ephemeral"}}


def body(*texts: str, marked: int = -1) -> dict[str, Any]:
    blocks = [{"type": "text", "text": text * 40} for text in texts]
    if marked >= 0:
        blocks[marked] |= MARK
    return {"messages": [{"role": "user", "content": blocks}]}


def tokens(bill: Bill) -> int:
    return bill.fresh + bill.read + bill.written


def test_what_is_marked_is_written_once_and_read_again() -> None:
    provider = Provider(MARKED)
    first = provider.bill(body("a", marked=0))
    second = provider.bill(body("a", "b", marked=1))
    assert (first.read, first.fresh) == (0, 0)
    assert second.read == first.written
    assert 0 < second.written < first.written * 2
    assert second.cost(MARKED) == second.read * 0.1 + second.written * 1.25


def test_without_a_mark_nothing_is_cached() -> None:
    provider = Provider(MARKED)
    assert [provider.bill(body("a")).read for _ in range(2)] == [0, 0]


def test_a_mark_finds_what_ends_at_most_twenty_blocks_before() -> None:
    for more, found in ((19, True), (20, False)):
        provider = Provider(MARKED)
        provider.bill(body("a", marked=0))
        assert bool(provider.bill(body("a", *["b"] * more, marked=more)).read) is found


@pytest.mark.parametrize("rules", [MARKED, AUTOMATIC, LATEST])
def test_what_changes_at_the_start_is_found_nowhere(rules: Rules) -> None:
    provider = Provider(rules)
    provider.bill(body("a", "b", marked=1))
    assert provider.bill(body("x", "b", marked=1)).read == 0


@pytest.mark.parametrize("rules", [MARKED, AUTOMATIC, LATEST])
def test_what_was_not_used_in_time_is_gone(rules: Rules) -> None:
    provider = Provider(rules, wait=rules.seconds + 1)
    assert [provider.bill(body("a", marked=0)).read for _ in range(2)] == [0, 0]


def test_any_beginning_is_read_in_steps_or_only_a_whole_request() -> None:
    automatic, latest = Provider(AUTOMATIC), Provider(LATEST)
    for provider in (automatic, latest):
        provider.bill(body("a", "b"))
    found = automatic.bill(body("a", "c"))
    assert found.read > 0
    assert found.read % 4 == 0
    assert latest.bill(body("a", "c")).read == 0
    assert latest.bill(body("a", "b", "c")).read > 0


@pytest.mark.parametrize("rules", [MARKED, AUTOMATIC, LATEST])
def test_what_is_too_short_is_never_cached(rules: Rules) -> None:
    provider = Provider(replace(rules, least=1_000))
    bills = [provider.bill(body("a", marked=0)) for _ in range(2)]
    assert [(bill.read, bill.written) for bill in bills] == [(0, 0)] * 2
    assert tokens(bills[0]) == tokens(bills[1])


def conversation(turns: int) -> list[Item]:
    items: list[Item] = []
    for turn in range(turns):
        call = Called(f"call_{turn}", "read_file", {"path": f"part{turn}.py"})
        items += [Asked(f"Look at part {turn}. " + f"word{turn} " * 300), Answered("", calls=(call,))]
        items += [Returned(((call, f"text {turn} " * 200),)), Answered(f"Part {turn} is fine.")]
    return items


@pytest.mark.parametrize("name", sample(list(PROVIDERS), 2))
def test_a_conversation_costs_the_same_uncut_and_less_when_cuts_pay(name: str) -> None:
    turns = 40 if PROVIDERS[name].kind == "latest" else 24
    rules, items = PROVIDERS[name], conversation(turns)
    plain = replay(items, rules, Settings())
    assert plain.client == plain.ours
    seen: list[bool] = []
    cut = replay(items, rules, Settings(cut="economy"), lambda client, sent, answer: seen.append(sent != client))
    assert cut.cuts > 0
    assert cut.client == plain.client
    assert cut.ours[-1] < 0.95 * cut.client[-1]
    assert ratios([cut])["any"] <= 1.025
    assert len(seen) == len(cut.ours) == 2 * turns
    assert any(seen)
