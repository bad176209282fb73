"""Cache store in Redis, for all processes and hosts. Changes to several keys at once are atomic scripts.

Keys under the prefix: ``a:<key>``, a response (a hash with an expiry time); ``g:<key>``, its owner; ``used`` and
``ends``, all responses sorted by last use and by expiry; ``bytes``, their total size; ``p:<partition>``, the questions
of a partition by position; ``o:<tenant>`` and ``o:<tenant>:<session>``, the responses of an owner. Tenants and sessions
are stored as digests. One hash tag keeps all keys on one node of a cluster.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import redis

from tokenmizer_mw.errors import ConfigError, StoreUnavailable
from tokenmizer_mw.saving.cache.stores import CacheHit, Entry, Holdings, Vector

SECONDS: Final = 1.0
"""Seconds to wait for an answer of Redis."""

_DROP: Final = """
local function drop(key)
  local row = redis.call('HMGET', P .. 'g:' .. key, 'part', 'tenant', 'session', 'size')
  redis.call('DEL', P .. 'a:' .. key, P .. 'g:' .. key)
  redis.call('ZREM', P .. 'used', key)
  if row[1] then
    if row[1] ~= '' then redis.call('ZREM', P .. 'p:' .. row[1], key) end
    redis.call('SREM', P .. 'o:' .. row[2], key)
    redis.call('SREM', P .. 'o:' .. row[2] .. ':' .. row[3], key)
    redis.call('DECRBY', P .. 'bytes', row[4])
    return 1
  end
  return 0
end
"""
_PUT: Final = (
    "local P = KEYS[1]\n"
    + _DROP
    + """
local key, tenant, session, part, size, now, expires = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
drop(key)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', P .. 'ends', '-inf', now)) do
  redis.call('ZREM', P .. 'ends', old)
  if redis.call('EXISTS', P .. 'a:' .. old) == 0 then drop(old) end
end
if tonumber(size) > tonumber(ARGV[8]) then return 0 end
local ttl = math.max(1, math.ceil((tonumber(expires) - tonumber(now)) * 1000))
redis.call('HSET', P .. 'a:' .. key, 'answer', ARGV[9], 'question', ARGV[10], 'vector', ARGV[11],
  'expires', expires)
redis.call('PEXPIRE', P .. 'a:' .. key, ttl)
redis.call('HSET', P .. 'g:' .. key, 'part', part, 'tenant', tenant, 'session', session, 'size', size)
redis.call('ZADD', P .. 'used', now, key)
redis.call('ZADD', P .. 'ends', expires, key)
redis.call('SADD', P .. 'o:' .. tenant, key)
redis.call('SADD', P .. 'o:' .. tenant .. ':' .. session, key)
redis.call('INCRBY', P .. 'bytes', size)
if part ~= '' then redis.call('ZADD', P .. 'p:' .. part, redis.call('INCR', P .. 'place'), key) end
while tonumber(redis.call('GET', P .. 'bytes')) > tonumber(ARGV[8]) do
  local oldest = redis.call('ZRANGE', P .. 'used', 0, 0)
  if #oldest == 0 then break end
  drop(oldest[1])
end
return 1
"""
)
_PURGE: Final = (
    "local P = KEYS[1]\n"
    + _DROP
    + """
local gone = 0
for _, key in ipairs(redis.call('SMEMBERS', P .. 'o:' .. ARGV[1])) do
  if redis.call('EXISTS', P .. 'a:' .. key) == 1 then gone = gone + 1 end
  drop(key)
end
return gone
"""
)


class RedisAnswers:
    """Cache store in the Redis at ``url``, of at most ``most`` bytes, under keys that begin with ``prefix``. Shared by
    all processes and hosts. ``clock``: returns the time in seconds since the epoch, by which responses expire.

    Raises ``ConfigError`` for an invalid address; its text never contains the address.
    """

    def __init__(
        self, url: str, most: int, *, prefix: str = "tokenmizer", clock: Callable[[], float] = time.time
    ) -> None:
        try:
            self._redis: Any = redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
        except ValueError:
            raise ConfigError("cache_url: an address of Redis is redis://host:port/number") from None
        self._most = most
        self._clock = clock
        self._prefix = f"{{{prefix}:cache}}:"
        self._put = self._redis.register_script(_PUT)
        self._purge = self._redis.register_script(_PURGE)

    def get(self, key: bytes) -> CacheHit | None:
        """Return the response stored under ``key``; ``None`` if there is none, or if it has expired. Returning a
        response counts as its use: the least recently used responses are deleted first."""
        name, now = key.hex(), self._clock()
        with _redis_errors():
            pipe = self._redis.pipeline(transaction=False)
            pipe.hmget(f"{self._prefix}a:{name}", "answer", "question", "expires")
            pipe.zadd(f"{self._prefix}used", {name: now}, xx=True)
            answer, question, expires = pipe.execute()[0]
        if answer is None or float(expires) <= now:
            return None
        return CacheHit(answer, question.decode("utf-8", "replace"))

    def put(self, entry: Entry) -> None:
        """Store a response, replacing one with the same key, and delete the least recently used ones beyond the size
        limit. A response larger than the whole limit is not stored."""
        tenant, session = _digest(entry.owner.tenant), _digest(entry.owner.id)
        row = [entry.key.hex(), tenant, session, entry.partition.hex(), entry.size, self._clock(), entry.expires_at]
        arguments: list[Any] = [*row, self._most, entry.answer, entry.plain_question, entry.vector]
        with _redis_errors():
            self._put(keys=[self._prefix], args=arguments)

    def vectors(self, partition: bytes, after: int, most: int) -> Sequence[Vector]:
        """Return the vectors of the questions of a partition (a digest of everything in a request but the question)
        that were stored after the position ``after`` (0: all), in the order in which they were stored, at most
        ``most``; an empty list for none."""
        if not partition:
            return []
        with _redis_errors():
            name = f"{self._prefix}p:{partition.hex()}"
            places = self._redis.zrangebyscore(name, f"({after}", "+inf", start=0, num=most, withscores=True)
            pipe = self._redis.pipeline(transaction=False)
            for key, _ in places:
                pipe.hget(f"{self._prefix}a:{key.decode()}", "vector")
            found = zip(places, pipe.execute(), strict=True)
            return [Vector(int(place), bytes.fromhex(key.decode()), one or b"") for (key, place), one in found]

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the responses of a tenant, or of one of its sessions (``None``: all); return how many."""
        owner = _digest(tenant) if session_id is None else f"{_digest(tenant)}:{_digest(session_id)}"
        with _redis_errors():
            return int(self._purge(keys=[self._prefix], args=[owner]))

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of all stored responses, or of one tenant's. Expired ones do not count. Reads an entry
        for each response."""
        with _redis_errors():
            owned = f"{self._prefix}o:{_digest(tenant)}" if tenant is not None else ""
            keys = self._redis.smembers(owned) if owned else self._redis.zrange(f"{self._prefix}used", 0, -1)
            pipe = self._redis.pipeline(transaction=False)
            for key in keys:
                pipe.hget(f"{self._prefix}a:{key.decode()}", "expires")
                pipe.hget(f"{self._prefix}g:{key.decode()}", "size")
            results, now = pipe.execute(), self._clock()
            rows = zip(results[::2], results[1::2], strict=True)
            sizes = [int(size) for ends, size in rows if size and ends is not None and float(ends) > now]
            return Holdings(len(sizes), sum(sizes))

    def close(self) -> None:
        """Release the connections to Redis. Closing twice is harmless."""
        self._redis.close()


@contextmanager
def _redis_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise StoreUnavailable(f"the Redis of the cache does not answer ({type(error).__name__})") from None


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
