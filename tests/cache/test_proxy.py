"""Answers given again by the proxy: through a real server, on metrics, and nothing of ours reaches the provider."""

from __future__ import annotations

import httpx2

from tests.proxy.serving import asked, configured, serving
from tests.upstream.server import Upstream


def test_the_proxy_gives_answers_again() -> None:
    with (
        Upstream() as upstream,
        serving(configured(upstream, memory={"cache": "exact"})) as served,
        httpx2.Client(base_url=served.url, headers={"x-session-id": "one", "authorization": "Bearer k"}) as client,
    ):
        told = []
        for wish in ("", "", "refresh"):
            body = asked("openai/fake-n3", stream=True)
            answer = client.post("/v1/chat/completions", content=body, headers={"x-tokenmizer-cache": wish})
            told.append((answer.headers.get("x-tokenmizer-cache"), answer.content))
            assert served.memory.flush(20)
        assert [way for way, _ in told] == [None, "hit; exact", None]
        assert told[0][1] == told[1][1] and b"[DONE]" in told[0][1]
        assert upstream.statistics.requests == 2
        assert all("x-tokenmizer-cache" not in call.headers for call in upstream.calls)
        metrics = client.get("/metrics").text
        assert any("cache_hit_exact" in line and line.endswith(" 1.0") for line in metrics.splitlines()), metrics


def test_a_header_that_is_not_sent_parts_no_answer_from_another() -> None:
    """What ``Connection`` names never reaches the provider: who sends it for real gets an answer of their own."""
    with (
        Upstream() as upstream,
        serving(configured(upstream, memory={"cache": "exact"})) as served,
        httpx2.Client(base_url=served.url, headers={"x-session-id": "one", "authorization": "Bearer k"}) as client,
    ):
        body = asked("openai/fake-n3")
        for told in ({"connection": "x-mode"}, {}):
            client.post("/v1/chat/completions", content=body, headers={"x-mode": "careful", **told})
            assert served.memory.flush(20)
        assert upstream.statistics.requests == 2
        assert ["x-mode" in call.headers for call in upstream.calls] == [False, True]
