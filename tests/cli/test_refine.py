"""A model reads sessions on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.upstream.answer import Scripted
from tests.upstream.server import Upstream

Run = Callable[..., tuple[int, str, str]]

REPLY = json.dumps({"decisions": ["write the schema first"]})


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    with Upstream() as running:
        monkeypatch.setenv("TOKENMIZER_LLM_URL", f"{running.url}/v1")
        monkeypatch.setenv("TOKENMIZER_LLM_MODEL", "fake")
        yield running


def test_a_session_is_refined(filled: Run, upstream: Upstream) -> None:
    upstream.script.append(Scripted(text=REPLY))
    status, out, err = filled("refine", "hall")
    assert (status, err) == (0, "")
    assert out.startswith("hall: refined: ")
    assert "write the schema first" in filled("graph", "hall")[1]
    assert filled("refine", "hall")[1] == "hall: nothing new\n"


def test_all_sessions_are_refined(filled: Run, upstream: Upstream, chat: object) -> None:
    filled("import", str(chat), "--session", "other")
    upstream.script.extend([Scripted(text=REPLY), Scripted(text=REPLY)])
    told = json.loads(filled("refine", "--all", "--json")[1])
    assert {one["session"]: one["refined"] for one in told} == {"hall": True, "other": True}


def test_a_model_that_fails_changes_nothing(filled: Run, upstream: Upstream) -> None:
    before = filled("graph", "hall", "--json")[1]
    upstream.script.append(Scripted(text="I cannot."))
    status, _, err = filled("refine", "hall")
    assert status == 1
    assert "no usable reply for 1 of 1 sessions (the model's reply is not what was asked for)" in err
    assert filled("graph", "hall", "--json")[1] == before


def test_what_is_missing_is_named(filled: Run) -> None:
    assert "llm_url" in filled("refine", "hall")[2]
    status, _, err = filled("refine")
    assert (status, "--all" in err) == (2, True)
    assert "no session 'nobody'" in filled("refine", "nobody")[2] or "llm_url" in filled("refine", "nobody")[2]
