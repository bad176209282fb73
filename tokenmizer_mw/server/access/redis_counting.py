"""Rate-limit counters in Redis, shared by processes and hosts: one call to Redis before each limited request and, if
there is something to charge or free, one after it.

Times are those of Redis's clock, so the clocks of hosts need not agree. Each open chat call has an entry that expires:
the calls of a killed process stop counting after ``stream_seconds``. All Redis keys of a tenant share a hash tag, so
that a Redis cluster stores them on one node.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import anyio

from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.runtime.installing import install_hint

from .counting import HERE, NOTHING, Bucket, Counters, Demand, Taken, TooMuch, rate_state
from .settings import Failing

REST_SECONDS: Final = 1.0
"""Seconds to wait before a Redis that did not answer is asked again."""

_TAKE: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local levels = {}
local buckets = tonumber(ARGV[1])
for i = 1, buckets do
  local amount, period, cost = tonumber(ARGV[3*i-1]), tonumber(ARGV[3*i]), tonumber(ARGV[3*i+1])
  local level = math.max(tonumber(redis.call('GET', KEYS[i]) or now), now)
  local each = period / amount
  local wait = level + math.max(cost, 1) * each - now - period
  if wait > each * 0.000001 then
    return {i, tostring(level - now), tostring(wait)}
  end
  levels[i] = level + cost * each
end
local lease, seconds = ARGV[3*buckets+2], ARGV[3*buckets+3]
for i = buckets + 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[2*buckets+3+i]) then
    return {-1, '0', '0'}
  end
end
for i = buckets + 1, #KEYS do
  redis.call('ZADD', KEYS[i], now + seconds, lease)
  redis.call('PEXPIRE', KEYS[i], math.ceil(seconds * 1000))
end
for i = 1, buckets do
  if tonumber(ARGV[3*i+1]) > 0 then
    redis.call('SET', KEYS[i], string.format('%.6f', levels[i]), 'PX', math.ceil((levels[i] - now) * 1000) + 1)
  end
end
return {0, '0', '0'}
"""

_SETTLE: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local buckets = tonumber(ARGV[1])
for i = 1, buckets do
  local level = math.max(tonumber(redis.call('GET', KEYS[i]) or now), now) + tonumber(ARGV[i+1])
  redis.call('SET', KEYS[i], string.format('%.6f', level), 'PX', math.ceil((level - now) * 1000) + 1)
end
for i = buckets + 1, #KEYS do
  redis.call('ZREM', KEYS[i], ARGV[buckets+2])
end
return 0
"""

_log = logging.getLogger("tokenmizer_mw")


class RedisCounters:
    """Rate-limit counters in the Redis at ``address``.

    - ``local``: counters of this process, used while Redis does not answer.
    - ``down``: what happens while Redis does not answer: "open" counts with ``local``; "closed" makes ``take`` raise
      ``StoreUnavailable``.
    - ``prefix``: prefix of the Redis keys. ``seconds``: timeout of one call to Redis.
    - ``stream_seconds``: seconds after which an open call no longer counts, even if its end was not reported.
    - ``clock``: returns seconds from any fixed starting point. It only decides when Redis is tried again after a
      failure.

    Raises ``ConfigError`` if the package redis is missing or ``address`` is invalid.
    """

    def __init__(
        self,
        address: str,
        local: Counters,
        *,
        prefix: str = "tokenmizer",
        seconds: float = 0.5,
        stream_seconds: float = 900.0,
        down: Failing = "open",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis = _client(address, seconds)
        self._address = address
        self._take = self._redis.register_script(_TAKE)
        self._settle = self._redis.register_script(_SETTLE)
        self._local = local
        self._prefix = prefix
        self._seconds = seconds
        self._stream_seconds = stream_seconds
        self._down = down
        self._clock = clock
        self._rests_until = 0.0

    async def take(self, demand: Demand) -> Taken | TooMuch:
        """Take everything that ``demand`` asks for and return what was taken. If any limit would be exceeded, take
        nothing and return ``TooMuch``.

        The caller must pass what was taken to ``settle`` when the request ends. Without that, the slot of its open call
        stays taken for ``stream_seconds``. While Redis does not answer, the counters of this process are used; if
        ``down`` is "closed", ``StoreUnavailable`` is raised instead.
        """
        lease = secrets.token_hex(8) if demand.places else ""
        names = [self._name(wanted.name) for wanted, _ in demand.buckets]
        arguments: list[Any] = [len(names)]
        for wanted, cost in demand.buckets:
            arguments += [wanted.limit.amount, wanted.limit.period, cost]
        places = tuple(name for name, _ in demand.places)
        names += map(self._name, places)
        arguments += [lease, self._stream_seconds, *(most for _, most in demand.places)]
        answer = await self._run_script(self._take, names, arguments)
        if answer is None:
            if self._down == "closed":
                raise StoreUnavailable("the counters of limits do not answer")
            return await self._local.take(demand)
        number, level, wait = int(answer[0]), float(answer[1]), float(answer[2])
        if number < 0:
            return TooMuch(None)
        if number:
            return TooMuch(rate_state(demand.buckets[number - 1][0].limit, level, 0.0, wait))
        return Taken(lease, places)

    async def settle(self, taken: Taken, charges: Sequence[tuple[Bucket, int]]) -> None:
        """End a request: free the slot of its open call (``taken``), and add each amount of ``charges`` to its counter,
        even if that exceeds the limit.

        While Redis does not answer, the counters of this process are charged instead. A slot that was taken in Redis
        then stays taken until it expires. Nothing is raised.
        """
        here = taken.place == HERE
        names = [self._name(used.name) for used, _ in charges]
        arguments: list[Any] = [len(names)]
        arguments += [cost * used.limit.period / used.limit.amount for used, cost in charges]
        if taken.place and not here:
            names += map(self._name, taken.places)
            arguments.append(taken.place)
        missed = bool(names) and await self._run_script(self._settle, names, arguments) is None
        if here or missed:
            await self._local.settle(taken if here else NOTHING, charges if missed else ())

    def answers(self) -> bool:
        """Return whether Redis answers. Blocks for at most about ``seconds``."""
        from redis import Redis

        try:
            with Redis.from_url(
                self._address, socket_timeout=self._seconds, socket_connect_timeout=self._seconds, retry=None
            ) as asking:
                return bool(asking.ping())
        except Exception:  # of the driver or of the network: all mean the same
            return False

    async def close(self) -> None:
        """Close the connections to Redis. Closing twice is harmless."""
        await self._redis.aclose()
        await self._local.close()

    def _name(self, name: str) -> str:
        return f"{self._prefix}:rate:{name}"

    async def _run_script(self, script: Any, names: list[str], arguments: list[Any]) -> Any:
        """Run a Lua script in Redis and return its result. ``None`` if Redis does not answer, or did not answer a
        moment ago."""
        if self._clock() < self._rests_until:
            return None
        try:
            with anyio.fail_after(self._seconds):
                return await script(keys=names, args=arguments)
        except Exception as error:  # of the driver, of the network, or the deadline: all mean the same
            self._rests_until = self._clock() + REST_SECONDS
            _log.warning("limits_not_counted: %s", type(error).__name__)
            return None


async def reach(address: str, seconds: float) -> None:
    """Check that the Redis at ``address`` answers within ``seconds``. Returns nothing; raises ``StoreUnavailable`` if
    it does not answer, and ``ConfigError`` if the package redis is missing or ``address`` is invalid."""
    client = _client(address, seconds)
    try:
        with anyio.fail_after(seconds):
            await client.ping()
    except Exception as error:  # of the driver, of the network, or the deadline; its text may repeat the address
        raise StoreUnavailable(f"Redis does not answer ({type(error).__name__})") from None
    finally:
        await client.aclose()


def _client(address: str, seconds: float) -> Any:
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError:
        raise ConfigError(f"counting in Redis needs the extra redis: {install_hint('redis')}") from None
    try:
        return Redis.from_url(
            address, socket_timeout=seconds, socket_connect_timeout=seconds, retry=Retry(NoBackoff(), 1)
        )
    except ValueError:
        raise ConfigError("redis is an address such as redis://host:6379/0") from None  # the reason may repeat it
