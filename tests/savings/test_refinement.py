"""What asking a model about a session costs stands beside what cuts saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.api.hosts import ask, starlette
from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.cli import main
from tokenmizer_mw.model.usage import CALL, CUT, REFINE, Completion
from tokenmizer_mw.server.api import api, local

from .calling import answered, asked, call, chat, used

OPEN = Settings(savings=True, llm_attempts=1)
SMALL = OPEN.with_(context_window=1_500, block_tokens=120, llm_at_window=0.0)
TALK = [{"role": "user", "content": "Use PostgreSQL for the orders, because reports join five tables."}]
REPLY = json.dumps({"decisions": ["PostgreSQL for the orders"]})


def model(**usage: int) -> Any:
    def complete(messages: list[dict[str, str]]) -> Completion:
        return Completion(REPLY, "gpt-4o", usage)

    return complete


def refined(complete: Any, settings: Settings = OPEN) -> SessionMemory:
    memory = SessionMemory.open("memory://", settings, complete=complete)
    memory.record("s", TALK)
    memory.refine("s")
    return memory


def test_what_the_provider_told_is_paid_and_saves_nothing() -> None:
    memory = refined(model(prompt_tokens=2_000, completion_tokens=100))
    found = memory.savings("s")
    assert (found.whole.input_tokens, found.whole.output_tokens) == (2_000, 100)
    assert found.whole.cost == 2_000 * 2_500 + 100 * 10_000
    assert found.whole.saved == found.stages[REFINE].saved == -found.whole.cost
    assert (found.whole.client_tokens, found.stages[REFINE].saved_tokens) == (0, -2_000)
    assert memory.list_usage("s")[0].model == "gpt-4o"
    assert "call_cost_more" not in memory.counters()
    memory.close()


def test_where_nobody_told_it_is_counted_here() -> None:
    memory = refined(lambda messages: REPLY)
    whole = memory.savings("s").whole
    assert (whole.calls, whole.estimated, whole.unpriced) == (1, 1, 1)
    assert whole.input_tokens > 100
    assert whole.output_tokens > 5
    memory.close()


def test_a_reply_that_is_no_use_is_paid_for_too() -> None:
    def complete(messages: list[dict[str, str]]) -> Completion:
        return Completion("Sorry, I cannot.", "gpt-4o", {"prompt_tokens": 500, "completion_tokens": 5})

    memory = refined(complete, OPEN.with_(llm_attempts=2))
    assert memory.savings("s").whole.calls == 2
    assert memory.savings("s").whole.cost == 2 * (500 * 2_500 + 5 * 10_000)
    memory.close()


def test_closed_books_take_nothing() -> None:
    memory = refined(model(prompt_tokens=2_000), Settings())
    assert memory.savings("s").rows == []
    memory.close()


def test_a_provider_by_its_address_tells_its_tokens() -> None:
    with Upstream([Scripted(text=REPLY), Scripted(text=REPLY * 400)]) as upstream:
        url, settings = f"{upstream.url}/v1", OPEN.with_(llm_model="gpt-4o")
        memory = refined(None, settings.with_(llm_url=url))
        whole = memory.savings("s").whole
        memory.close()
        assert (whole.calls, whole.estimated, whole.unpriced) == (1, 0, 0)
        long = refined(None, settings.with_(llm_url=url, llm_reply_max=1_024))
        assert long.counters()["refine_failed"] == 1
        assert (long.savings("s").whole.calls, long.savings("s").whole.estimated) == (1, 1)
        long.close()


def test_a_refinement_between_two_calls_is_not_taken_for_the_chat() -> None:
    """What the provider has cached is reckoned from the chat's own call before."""
    memory = SessionMemory.open("memory://", SMALL, complete=model(prompt_tokens=900, completion_tokens=50))
    call(memory, asked(chat(14, words=60)), answered(**used(900, 0)))
    memory.refine("s")
    call(memory, asked(chat(15, words=60)), answered(**used(900, 0)))
    stages = memory.savings("s").stages
    assert set(stages) == {CUT, REFINE}
    assert memory.savings("s").whole.saved == stages[CUT].saved + stages[REFINE].saved
    memory.close()


@pytest.fixture
def store(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    memory = SessionMemory.open(url, SMALL, complete=model(prompt_tokens=900, completion_tokens=50))
    call(memory, asked(chat(14, words=60)), answered(**used(900, 0)))
    memory.refine("s")
    memory.close()
    return url


def test_it_stands_beside_the_cut_for_people(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--store", store]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^cut +1 ", out, re.MULTILINE)
    assert re.search(r"^refine +1 +0 +900 +-900 +-\$0\.0\d+$", out, re.MULTILINE)
    assert main(["stats", "--store", store, "--calls", "s"]) == 0
    assert "refine -$" in capsys.readouterr().out


def test_it_stands_beside_the_cut_for_programs(store: str) -> None:
    memory = SessionMemory.open(store, SMALL)
    app = starlette(api(memory, authorize=local))
    told: Any = ask(app, "GET", "/api/stats?session=s").json()["savings"]
    stages = {row["stage"]: row for row in told["stages"]}
    assert stages[REFINE]["saved"] == pytest.approx(-(900 * 2.5 + 50 * 10) / 1e6)
    assert set(stages) == {CUT, REFINE}
    assert CALL not in stages
    memory.close()
