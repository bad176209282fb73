"""What a call cost and would have cost: by what the provider told, and by its rules where it did not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.context.savings import SentCall, figures
from tokenmizer_mw.model.usage import ANSWERED, CALL, CUT, StageSaving

SONNET = "claude-sonnet-4-5"
"""3 dollars fresh, 0.30 cached, 3.75 written, 15 output."""

CALLED = SentCall(
    SONNET, usage={"prompt_tokens": 10_000, "cached_tokens": 9_000, "cache_write_tokens": 900}, marked=True
)


def test_a_call_as_it_came_costs_what_the_provider_says() -> None:
    found = figures(replace(CALLED, usage={**CALLED.usage, "completion_tokens": 200}))
    assert set(found) == {CALL}
    whole = found[CALL]
    assert (whole.input_tokens, whole.cached_tokens, whole.written_tokens, whole.output_tokens) == (
        10_000, 9_000, 900, 200,
    )  # fmt: skip
    assert whole.cost == 100 * 3_000 + 9_000 * 300 + 900 * 3_750 + 200 * 15_000
    assert (whole.saved, whole.saved_tokens, whole.estimated, whole.unpriced) == (0, 0, 0, 0)


def test_a_cut_that_breaks_the_cache_is_a_loss_when_it_is_made() -> None:
    usage = {"prompt_tokens": 8_000, "cached_tokens": 1_000, "cache_write_tokens": 7_000, "completion_tokens": 100}
    sent = SentCall(
        SONNET, 8_000, 20_000, ours_known=1_000, client_known=19_800, elapsed=10, usage=usage, marked=True, cut=True
    )
    found = figures(sent)
    assert found[CALL].saved_tokens == found[CUT].saved_tokens == 12_000
    paid = 1_000 * 300 + 7_000 * 3_750
    without = 19_800 * 300 + 200 * 3_750
    assert found[CALL].saved == found[CUT].saved == without - paid < 0


def test_a_cut_that_is_carried_on_saves_a_cached_token_for_each() -> None:
    usage = {"prompt_tokens": 8_200, "cached_tokens": 8_000, "cache_write_tokens": 200, "completion_tokens": 100}
    sent = SentCall(
        SONNET, 8_200, 20_200, ours_known=8_000, client_known=20_000, elapsed=10, usage=usage, marked=True, cut=True
    )
    assert figures(sent)[CUT].saved == 12_000 * 300


def test_where_the_cache_had_run_out_a_shorter_request_saves_whole_tokens() -> None:
    sent = SentCall(
        SONNET, 8_200, 20_200, ours_known=8_000, client_known=20_000, elapsed=301, marked=True, cut=True,
        usage={"prompt_tokens": 8_200, "cached_tokens": 0, "cache_write_tokens": 8_200},
    )  # fmt: skip
    assert figures(sent)[CUT].saved == 12_000 * 3_750


def test_a_client_that_marks_nothing_pays_for_all_of_it() -> None:
    usage = {"prompt_tokens": 8_000, "cached_tokens": 0, "cache_write_tokens": 0}
    sent = SentCall(SONNET, 8_000, 20_000, client_known=19_000, elapsed=10, usage=usage, marked=False, cut=True)
    assert figures(sent)[CUT].saved == 12_000 * 3_000


def test_a_provider_that_tells_of_no_cache_has_none() -> None:
    sent = SentCall("gpt-4o", 8_000, 20_000, client_known=19_000, elapsed=10, usage={"prompt_tokens": 8_000}, cut=True)
    assert figures(sent)[CUT].saved == 12_000 * 2_500


def test_tokens_are_the_providers_where_it_tells_them() -> None:
    usage = {"prompt_tokens": 1_000, "cached_tokens": 0}
    sent = SentCall("gpt-4o", ours=800, client=1_600, usage=usage, cut=True)
    assert figures(sent)[CALL].client_tokens == 2_000


def test_what_no_provider_told_is_counted_by_the_rules() -> None:
    sent = SentCall("gpt-4o", 4_000, 4_000, ours_known=3_000, client_known=3_000, elapsed=10, output=50)
    whole = figures(sent)[CALL]
    assert (whole.estimated, whole.input_tokens, whole.cached_tokens) == (1, 4_000, 3_000 - 3_000 % 128)
    assert whole.saved == 0


def test_a_chat_that_got_shorter_reads_no_more_from_the_cache_than_it_has() -> None:
    sent = SentCall("gpt-4o", 2_048, 2_048, ours_known=4_096, client_known=4_096, elapsed=10)
    assert figures(sent)[CALL].cached_tokens == 2_048


def test_a_model_without_a_price_costs_nothing_and_says_so() -> None:
    found = figures(SentCall("unheard-of", 100, 300, output=5, cut=True))
    assert (found[CALL].unpriced, found[CALL].cost, found[CALL].saved, found[CALL].saved_tokens) == (1, 0, 0, 200)


def test_an_answer_from_the_cache_saves_all_that_the_client_would_have_paid() -> None:
    found = figures(SentCall("gpt-4o", client=1_000, output=100, answered=True))
    assert (found[CALL].input_tokens, found[CALL].output_tokens, found[CALL].cost) == (0, 0, 0)
    assert found[ANSWERED].saved == found[CALL].saved == 1_000 * 2_500 + 100 * 10_000


def test_stages_share_what_is_saved_and_the_cut_answers_for_the_rest() -> None:
    stages = (StageSaving("logs", 900, 300), StageSaving("spaces", 300, 200))
    sent = SentCall("gpt-4o", 5_000, 9_700, usage={"prompt_tokens": 5_000}, cut=True, stages=stages)
    found = figures(sent)
    assert set(found) == {CALL, CUT, "logs", "spaces"}
    assert [found[name].saved_tokens for name in ("logs", "spaces", CUT)] == [600, 100, 4_000]
    assert sum(found[name].saved for name in ("logs", "spaces", CUT)) == found[CALL].saved


TOKENS = st.integers(0, 2_000_000)


@given(
    model=st.sampled_from([SONNET, "gpt-4o", "gpt-5.6", "gemini-2.5-pro", "command-r-08-2024", "unheard-of"]),
    ours=TOKENS, client=TOKENS, known=st.tuples(TOKENS, TOKENS), elapsed=st.none() | st.floats(0, 1e6),
    usage=st.none() | st.tuples(TOKENS, TOKENS, TOKENS, TOKENS), marked=st.booleans(), cut=st.booleans(),
    stages=st.lists(st.builds(StageSaving, st.sampled_from("ab"), TOKENS, TOKENS), max_size=3),
    answered=st.booleans(),
)  # fmt: skip
def test_whatever_is_told_the_books_balance(
    model: str, ours: int, client: int, known: tuple[int, int], elapsed: float | None,
    usage: tuple[int, int, int, int] | None, marked: bool, cut: bool, stages: list[StageSaving], answered: bool,
) -> None:  # fmt: skip
    names = ("prompt_tokens", "cached_tokens", "cache_write_tokens", "completion_tokens")
    told = dict(zip(names, usage, strict=True)) if usage else {}
    found = figures(SentCall(model, ours, client, *known, elapsed, told, 7, marked, cut, stages, answered))
    whole = found.pop(CALL)
    assert 0 <= whole.cached_tokens + whole.written_tokens <= whole.input_tokens
    assert whole.cost >= 0
    assert min(whole.client_cost, whole.client_tokens) >= 0
    assert sum(each.saved for each in found.values()) == whole.saved
    assert sum(each.saved_tokens for each in found.values()) == whole.saved_tokens


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 4_000, "cached_tokens": 1_000}])
def test_a_call_that_nobody_changed_saves_nothing(usage: dict[str, int]) -> None:
    sent = SentCall(SONNET, 4_000, 9_999, ours_known=3_000, elapsed=1, usage=usage, marked=True)
    assert figures(sent)[CALL].saved == 0
