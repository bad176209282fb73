"""Load on a real proxy: what it tells of calls, of errors, and of what is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.access.conftest import kept
from tests.proxy.serving import Served, configured, serving
from tests.upstream.server import Upstream
from tokenmizer_mw.access.key_store import MemoryKeys
from tokenmizer_mw.cli import main
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.operations.load import SPOKEN, Plan


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as running:
        yield running


@pytest.fixture(scope="module")
def served(upstream: Upstream) -> Iterator[Served]:
    with serving(configured(upstream)) as running:
        yield running


def load(served: Served, *options: str, model: str = "fake-n3") -> list[str]:
    base = ["load", "--url", served.url, "--model", model, "--sessions", "4", "--turns", "3", "--concurrency", "3"]
    return [*base, *options]


@pytest.mark.parametrize("whole", [False, True], ids=["stream", "whole"])
@pytest.mark.parametrize("dialect", SPOKEN)
def test_all_that_is_acknowledged_is_kept(
    served: Served, capsys: pytest.CaptureFixture[str], dialect: str, whole: bool
) -> None:
    model = "fake-n3" if dialect != "anthropic" else "anthropic/fake-n3"
    options = ["--json", "--dialect", dialect, *["--whole"] * whole]
    assert main(load(served, *options, model=model)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["outcomes"], told["acknowledged"], told["lost"], told["unchecked"]) == ({"200": 12}, 12, 0, "")
    assert 0 < told["first_byte_seconds"]["p50"] <= told["first_byte_seconds"]["p95"] < told["seconds"]
    said = served.said(f"{told['run']}-4")
    assert [role for role, _ in said] == ["user", "assistant"] * 3
    assert said[4][1].startswith(f"Turn 3 of {told['run']}-4")


def test_the_table_tells_people(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(load(served)) == 0
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    told = {name.strip(): value.strip() for name, value in rows.items()}
    assert told["errors"] == "none" and told["acknowledged turns"] == "12" and told["kept of them"] == "12, 0 lost"
    assert told["requests"].startswith("12 in ") and told["first byte p95"].endswith(" ms")
    assert "requests/s" in told["throughput"]


def test_errors_are_told_by_their_status(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(load(served, "--json", model="fake-e429")) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["outcomes"], told["acknowledged"]) == ({"429": 12}, 0)
    assert main(load(served, "--json", model="fake-cut")) == 1
    outcomes = json.loads(capsys.readouterr().out)["outcomes"]
    assert sum(outcomes.values()) == 12 and set(outcomes) == {"broke off"}


def test_what_is_not_remembered_is_lost(upstream: Upstream, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that looks for the session elsewhere acknowledges turns and keeps none."""
    with serving(configured(upstream, memory={"session_header": "x-other"})) as served:
        assert main(load(served)) == 1
    told = capsys.readouterr().out
    assert "0, 12 lost" in told and told.count("lost: Turn ") == 5


def test_a_key_is_needed_where_one_is(
    upstream: Upstream, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = MemoryKeys()
    good, chatting = kept(keys, "acme", ("chat", "read", "erase")), kept(keys, "acme", ("chat",))
    environ = {"OPENAI_API_KEY": "made-up"}
    with serving(configured(upstream, environ, auth=True), keys) as served:
        assert main(load(served, "--json")) == 1
        assert json.loads(capsys.readouterr().out)["outcomes"] == {"401": 12}
        assert main(load(served, "--json", "--key", chatting)) == 1
        assert json.loads(capsys.readouterr().out)["unchecked"] == "the REST API answers 403"
        monkeypatch.setenv("TOKENMIZER_KEY", good)
        assert main(load(served, "--json")) == 0
        assert len(served.sessions("acme")) == 8
        assert main(load(served, "--json", "--erase")) == 0
        assert len(served.sessions("acme")) == 8


def test_no_call_begins_after_the_time(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.monotonic()
    options = ["--json", "--turns", "400", "--seconds", "2"]
    assert main(load(served, *options, model="fake-n3-d20")) == 0
    told = json.loads(capsys.readouterr().out)
    assert 1 <= told["requests"] < 1_600 and told["acknowledged"] == told["requests"]
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("host", ["example.org", "10.0.0.1", "0.0.0.0", "127.0.0.1.example.org"])
def test_other_servers_are_left_alone(capsys: pytest.CaptureFixture[str], host: str) -> None:
    assert main(["load", "--url", f"http://{host}:1", "--model", "m"]) == 2
    assert "--i-own-this-server" in capsys.readouterr().err


def test_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    url = "http://127.0.0.1:1"
    assert main(["load", "--url", url, "--model", "m", "--sessions", "1", "--turns", "2", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"not reached": 2}


@pytest.mark.parametrize("name, value", [("sessions", 10_001), ("turns", 0), ("concurrency", 513), ("seconds", 3_601)])
def test_it_is_bounded(name: str, value: int) -> None:
    with pytest.raises(CallerError, match=name):
        Plan("http://127.0.0.1:1", "m", **{name: value})  # type: ignore[arg-type]
