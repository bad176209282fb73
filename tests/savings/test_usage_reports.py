"""Usage on the command line, over HTTP and for Prometheus."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.hosts import ask, starlette, who
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.cli import main
from tokenmizer_mw.server.api import api, local

from .calling import answered, asked, call, chat, used

SMALL = Settings(savings=True, context_window=1_500, block_tokens=120)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A database with a call that went out as it came, and one that was cut."""
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    memory = SessionMemory.open(url, SMALL)
    call(memory, asked(chat(1), model="gpt-5.1"), answered(**used(1_100, 1_024)), session="shop/one")
    call(memory, asked(chat(14, words=60), model="gpt-5.1"), answered(**used(900, 0)), session="two")
    memory.close()
    return url


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["stats", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_stats_for_people(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "--store", store)
    assert (status, err) == (0, "")
    assert out.startswith("2 calls, 2,000 tokens of input (51% read from the provider's cache), 20 of output\n")
    assert re.search(r"^cut +1 +[\d,]+ +900 +[\d,]+ +-?\$0\.\d{4}$", out, re.MULTILINE)
    assert "prices of genai-prices " in out


def test_a_loss_is_called_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    memory = SessionMemory.open(url, SMALL)
    history = chat(14, words=60)
    call(memory, asked(chat(1), model="gpt-5.1"), answered(**used(1_100, 1_024)))
    call(memory, asked(history, model="gpt-5.1"), answered(**used(900, 0)))
    memory.close()
    assert "\nLOST $0.0" in run(capsys, "--store", url)[1]
    told = json.loads(run(capsys, "--store", url, "--json")[1])
    assert told["saved"] < 0 < told["saved_tokens"]
    assert [stage["stage"] for stage in told["stages"]] == ["cut"]


def test_stats_told_apart_and_of_one(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "--store", store, "--by", "session")[1]
    assert re.search(r"^shop/one +1 +1,100 +1,024 ", out, re.MULTILINE)
    assert json.loads(run(capsys, "--store", store, "--json", "--session", "two")[1])["calls"] == 1
    assert json.loads(run(capsys, "--store", store, "--json", "--model", "gpt-4o")[1])["calls"] == 0
    (group,) = json.loads(run(capsys, "--store", store, "--json", "--by", "day")[1])["groups"]
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", group["day"])


def test_the_calls_of_a_session(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(r"^gpt-5\.1 +900 +0 ", run(capsys, "--store", store, "--calls", "two")[1], re.MULTILINE)
    (one,) = json.loads(run(capsys, "--store", store, "--calls", "two", "--json")[1])
    assert one["saved"] == pytest.approx(sum(stage["saved"] for stage in one["stages"]))
    assert "no session 'none'" in run(capsys, "--store", store, "--calls", "none")[2]


def test_empty_books_say_how_they_are_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"sqlite:///{tmp_path / 'empty.db'}"
    assert run(capsys, "--store", store)[0] == 2
    SessionMemory.open(store).close()
    status, out, err = run(capsys, "--store", store)
    assert (status, out) == (0, "")
    assert "TOKENMIZER_SAVINGS=true" in err
    assert run(capsys, "--store", store, "--since", "soon")[0] == 2


def test_stats_over_http(store: str) -> None:
    memory = SessionMemory.open(store, SMALL)
    call(memory, asked(chat(1)), answered(**used(100, 0)), session="theirs")
    app = starlette(api(memory, authorize=local))
    told: Any = ask(app, "GET", "/api/stats?by=session").json()["savings"]
    assert [group["session"] for group in told["groups"]] == ["shop/one", "theirs", "two"]
    assert told["calls"] == 3
    assert ask(app, "GET", "/api/stats?session=two&from=1999-01-01").json()["savings"]["calls"] == 1
    assert ask(app, "GET", "/api/stats?to=1999-01-01").json()["savings"]["calls"] == 0
    for wrong in ("from=soon", "to=2026-13-01", "by=weather", "session="):
        assert ask(app, "GET", f"/api/stats?{wrong}").status_code == 422, wrong
    others = starlette(api(memory, authorize=who))
    assert ask(others, "GET", "/api/stats", token="b").json()["savings"]["calls"] == 0
    memory.close()


def test_counters_for_prometheus() -> None:
    memory = SessionMemory.open("memory://", SMALL)
    call(memory, asked(chat(1), model="gpt-5.1"), answered(**used(1_100, 1_024)))
    call(memory, asked(chat(14, words=60), model="gpt-5.1"), answered(**used(900, 0)))
    answer = ask(starlette(api(memory, authorize=local)), "GET", "/metrics")
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert found["tokenmizer_calls_total",] == 2
    assert (found["tokenmizer_tokens_total", "input"], found["tokenmizer_tokens_total", "cached"]) == (2_000, 1_024)
    paid, without = (found["tokenmizer_cost_dollars_total", way] for way in ("paid", "without"))
    assert found["tokenmizer_saved_dollars", "cut"] == pytest.approx(without - paid)
    memory.close()
