"""What an orchestrator is told while something that the proxy can do without is away."""

from __future__ import annotations

import json
from pathlib import Path

from tests import services
from tests.access.own_redis import OwnRedis
from tests.upstream.server import Upstream

from .serving import Served, asked, call, configured, serving


def health(served: Served) -> tuple[int, str, bool, list[str]]:
    status, _, body = call(served.port, "/health", None, {}, "GET")
    told = json.loads(body)
    return status, told["status"], told["ready"], told["reasons"]


def test_a_cache_in_redis_that_is_down(upstream: Upstream, tmp_path: Path) -> None:
    redis = OwnRedis(services.program("redis-server"), tmp_path)
    redis.start()
    try:
        memory = {"cache": "exact", "cache_url": redis.address}
        with serving(configured(upstream, memory=memory)) as served:
            headers = {"x-session-id": "s1"}
            assert call(served.port, "/v1/chat/completions", asked("fake-n3"), headers)[0] == 200
            assert health(served) == (200, "ok", True, [])
            redis.stop()
            assert health(served) == (200, "degraded", True, ["cache_unavailable"])
            assert call(served.port, "/v1/chat/completions", asked("fake-n3", said="And now?"), headers)[0] == 200
            redis.start()
            assert health(served) == (200, "ok", True, [])
    finally:
        redis.stop()
