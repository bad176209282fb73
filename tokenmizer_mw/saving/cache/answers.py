"""The response cache: exact lookup, then semantic lookup; identical concurrent requests share one call to the model.

    asking = answers.ask(request, owner, target)          ``None``: the cache does not handle this request
    answer = asking.look()  or  await asking.alook()      a cached response; ``None``: call the model
    asking.starts(status, headers), asking.takes(piece)   record the model's response
    asking.note_reply(reply), asking.end_response()       report the end; a complete response is stored
    asking.over()                                         always, last

Cache failures never raise: they are counted, and the request goes to the model.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from tokenmizer_mw.errors import ConfigError, MalformedRequest, StoreError, StoreUnavailable
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.offload import STORE, offload
from tokenmizer_mw.saving.cache.stores import AnswerStore, Entry, Holdings, ProcessAnswers
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import Reply
from tokenmizer_mw.wire.http import Headers

from .answer import CachedAnswer, Recording, reason_not_to_store
from .flights import Flight, Flights
from .guard import differs
from .question import (
    CacheableRequest,
    ComparableQuestion,
    RequestTarget,
    exact_key,
    is_too_long,
    meaning_of,
    reason_not_to_cache,
)

if TYPE_CHECKING:
    from tokenmizer_mw.context.embedding import Embed

    from .vectors import Embedder, Vectors

INLINE_MAX: Final = 32 * 1024
"""Bytes up to which a request is looked up on an event loop, if the cached responses are in this process; a larger one
is looked up in a worker thread."""

REST_SECONDS: Final = 2.0
"""Seconds for which the cache is not used after its store did not answer; to wait for the store would hold up every
chat."""

_log = logging.getLogger("tokenmizer_mw")


class Host(Protocol):
    """The functions of the session memory that the response cache calls: counters, background work, and a check for
    secrets."""

    def count(self, reason: str, times: int = 1) -> None:
        """Add ``times`` to the counter named ``reason``."""

    def later(self, work: Callable[[], object], size: int) -> bool:
        """Run ``work``, which holds ``size`` bytes, in the background; return False if the queue has no room for it."""

    def clean(self, text: str) -> bool:
        """Return whether ``text`` contains no secret. A response in which one is found is not cached."""


class Answers:
    """The response cache of a session memory.

    - ``host``: the memory's counters, background queue and redaction.
    - ``beside``: address of the session store, used if ``Settings.cache_url`` is "store".
    - ``embed``: function that returns the vectors of texts, used instead of the model that the settings name.

    The cache's store is opened at its first use, the embedding model by ``prepare``. Raises ``ConfigError`` for an
    invalid store address.
    """

    def __init__(self, host: Host, settings: Settings, *, beside: str = "", embed: Embed | None = None) -> None:
        self.host = host
        self.settings = settings
        self.flights = Flights()
        self.purges = 0
        self._embed = embed
        self._rests_until = 0.0
        self.embedder: Embedder | None = None
        self._vectors: Vectors | None = None
        self.store: AnswerStore = open_answers(settings, beside)

    def prepare(self) -> None:
        """Load the embedding model, if semantic lookup is on; call it before the first request.

        Raises ``ConfigError`` if the model is missing, is not the configured one, or returns no vectors.
        """
        if self.settings.cache == "semantic" and self.embedder is None:
            embedder = _embedder(self.settings, self._embed)
            from .vectors import Vectors  # its extra is there, or there would be no embedder

            self._vectors = Vectors(self.store, embedder.width, self.settings.cache_vectors_max)
            self.embedder = embedder

    @property
    def here(self) -> bool:
        """Whether a lookup does not block, because the cached responses are in the memory of this process."""
        return self.settings.cache_url == "memory://"

    def ask(
        self,
        asked: CacheableRequest,
        owner: SessionKey,
        place: RequestTarget,
        *,
        rewritten: bool = False,
        looks: bool = True,
    ) -> CacheLookup | None:
        """Return the cache lookup for a request; ``None`` if the request is too large, or if the store did not answer
        in the last ``REST_SECONDS``.

        - ``asked``: the request; ``owner``: its session; ``place``: where it is sent.
        - ``rewritten``: whether the request was cut or got a block or a reminder of this session; its response is then
          cached for this session only.
        - ``looks``: false to call the model without a lookup before, and to store its response in place of the cached
          one.
        """
        if len(asked.body) > self.settings.cache_request_max:
            self.host.count("cache_skipped_size")
            return None
        if self._rests_until and time.monotonic() < self._rests_until:
            self.host.count("cache_skipped_resting")
            return None
        alone = rewritten or self.settings.cache_scope == "session"
        return CacheLookup(self, asked, owner, place, alone=alone, looks=looks)

    def exact(self, key: bytes) -> CachedAnswer | None:
        """Return the response stored for the same request; ``None`` if there is none or it has expired. ``key``: the
        digest of the request that ``exact_key`` returns. Raises ``StoreError``."""
        found = self.store.get(key)
        return _read(found.answer) if found is not None else None

    def find_by_meaning(self, meaning: ComparableQuestion, vector: bytes) -> CachedAnswer | None:
        """Return the response to a cached question with the same meaning; ``None`` if there is none. ``vector`` is that
        of the question (float32, little-endian). Raises ``StoreError``."""
        import numpy as np  # its extra is there, or there would be no vector

        if self._vectors is None:
            return None
        near = self._vectors.near(meaning.partition, np.frombuffer(vector, "<f4"), self.settings.cache_similarity)
        for _, key in near:
            found = self.store.get(key)
            if found is None:
                continue
            reason = differs(meaning.text, found.question)
            if not reason:
                return _read(found.answer)
            self.host.count(f"cache_guarded_{reason}")
        return None

    def purge(self, tenant: str, session_id: str | None = None) -> int:
        """Delete the cached responses of a tenant, or of one of its sessions, and return how many. Responses that are
        in progress now are not stored. Raises ``StoreError``."""
        self.purges += 1
        if self._vectors is not None:
            self._vectors.forget()
        return self.store.purge(tenant, session_id)

    def holdings(self, tenant: str | None = None) -> Holdings:
        """Return number and size of the cached responses, of one tenant or of all (``None``). Raises ``StoreError``."""
        return self.store.holdings(tenant)

    def close(self) -> None:
        """Close the store of the cached responses. Closing twice is harmless."""
        self.store.close()

    def note_failure(self, error: Exception) -> None:
        """Count a cache failure and log its type, but not its text, which may contain chat content. If the store did
        not answer, the cache then pauses for ``REST_SECONDS``."""
        if isinstance(error, MalformedRequest):
            return
        if isinstance(error, StoreUnavailable):
            self._rests_until = time.monotonic() + REST_SECONDS
        self.host.count("cache_failed")
        _log.warning("the cache failed: %s; the chat goes on without", type(error).__name__)


class CacheLookup:
    """The cache lookup of one request, and the recorder of its response. Made by ``Answers.ask``.

    - ``asked``: the request; ``owner``: its session; ``place``: where it is sent.
    - ``alone``: whether responses are shared within the session only; false: among all sessions of the tenant.
    - ``looks``: false to skip the lookup, so that the model's response renews the cached one.

    Attributes: ``recording`` records the response; ``None`` if it is not to be cached. ``found`` is the cached
    response; ``None`` if there is none.
    """

    __slots__ = (
        "_alone", "_answers", "_asked", "_flight", "_is_stored", "_key", "_lock", "_looks", "_meaning", "_owner",
        "_place", "_purges", "_reply", "_vector", "found", "recording",
    )  # fmt: skip

    def __init__(
        self,
        answers: Answers,
        asked: CacheableRequest,
        owner: SessionKey,
        place: RequestTarget,
        *,
        alone: bool,
        looks: bool,
    ) -> None:
        self._answers = answers
        self._asked = asked
        self._owner = owner
        self._place = place
        self._alone = alone
        self._key = b""
        self._meaning: ComparableQuestion | None = None
        self._vector = b""
        self._flight: Flight | None = None
        self._reply: Reply | None = None
        self._is_stored = False
        self._lock = make_lock()
        self._purges = answers.purges
        self._looks = looks
        self.recording: Recording | None = None
        self.found: CachedAnswer | None = None

    # -- looking -------------------------------------------------------------------------------------------------

    def look(self) -> CachedAnswer | None:
        """Return a cached response; ``None`` if the model must be called. Waits for an identical request that is in
        progress, at most ``Settings.cache_wait_seconds``. Blocks."""
        try:
            answer = self._exact()
            flight = None if answer is not None else self._join_flight()
            if flight is not None:
                answer = self._as_shared(flight.wait(self._answers.settings.cache_wait_seconds))
            return self._finish_lookup(answer or self._find_by_meaning())
        except Exception as error:
            self._note_failure(error)
            return None

    async def alook(self) -> CachedAnswer | None:
        """Return a cached response; ``None`` if the model must be called. Waits for an identical request that is in
        progress, at most ``Settings.cache_wait_seconds``, without blocking the event loop; slow steps run in a worker
        thread."""
        try:
            answer = self._exact() if self._quick else await offload(self._exact, STORE)
            flight = None
            if answer is None:
                flight = self._join_flight() if self._quick else await offload(self._join_flight, STORE)
            if flight is not None:
                answer = self._as_shared(await flight.await_(self._answers.settings.cache_wait_seconds))
            if answer is None and self._meaning is not None:
                answer = await offload(self._find_by_meaning, STORE)
            return self._finish_lookup(answer)
        except Exception as error:
            self._note_failure(error)
            return None
        except BaseException:
            self.over()
            raise

    @property
    def _quick(self) -> bool:
        return self._answers.here and len(self._asked.body) <= INLINE_MAX

    def _exact(self) -> CachedAnswer | None:
        self._key = exact_key(self._asked, self._owner, self._place, alone=self._alone)
        return self._answers.exact(self._key) if self._looks else None

    def _join_flight(self) -> Flight | None:
        """Return the identical request in progress to wait for (a ``Flight``). ``None``: there is none; if this
        request's response may be cached, it is now the one in progress, and its response is recorded."""
        answers = self._answers
        reason = reason_not_to_cache(self._asked.request, answers.settings)
        if reason:
            answers.host.count(f"cache_skipped_{reason}")
            return None
        self.recording = Recording(answers.settings.cache_entry_max)
        if self._looks:
            flight, own = answers.flights.join(self._key)
            if not own:
                return flight
            self._flight = flight
        if (embedder := answers.embedder) is not None:
            model = embedder.identity
            meaning = meaning_of(self._asked, self._owner, self._place, alone=self._alone, model=model)
            if meaning is not None and not is_too_long(meaning.text, answers.settings):
                self._meaning = meaning
        return None

    def _as_shared(self, answer: CachedAnswer | None) -> CachedAnswer | None:
        return replace(answer, way="shared") if answer is not None else None

    def _find_by_meaning(self) -> CachedAnswer | None:
        embedder = self._answers.embedder
        if self._meaning is None or embedder is None:
            return None
        try:
            self._vector = embedder(self._meaning.text).astype("<f4").tobytes()
        except Exception as error:
            self._meaning = None
            self._answers.host.count("cache_embedding_failed")
            _log.warning("the embedder of the cache failed: %s", type(error).__name__)
            return None
        answer = self._answers.find_by_meaning(self._meaning, self._vector) if self._looks else None
        return replace(answer, way="semantic") if answer is not None else None

    def _finish_lookup(self, answer: CachedAnswer | None) -> CachedAnswer | None:
        host = self._answers.host
        if answer is None:
            if self.recording is not None:
                host.count("cache_miss")
            return None
        host.count(f"cache_hit_{answer.way}")
        self.found, self.recording = answer, None
        if self._flight is not None:
            self._flight.land(answer)
            self.over()
        return answer

    def _note_failure(self, error: Exception) -> None:
        self._answers.note_failure(error)
        self.recording = None
        self.over()

    @property
    def is_answered(self) -> bool:
        """Whether the lookup has found a cached response (or one of an identical request), so that no model is
        called."""
        return self.found is not None

    # -- keeping -------------------------------------------------------------------------------------------------

    def starts(self, status: int, headers: Headers) -> None:
        """Record the status and headers of the model's response. Does nothing if the response is not to be cached. A
        failure is counted, not raised."""
        if self.recording is None:
            return
        try:
            self.recording.starts(status, headers)
        except Exception as error:
            self._note_failure(error)

    def takes(self, piece: bytes) -> None:
        """Record the next piece of the model's response body. Does nothing if the response is not to be cached."""
        if self.recording is not None:
            self.recording.takes(piece)

    def note_reply(self, reply: Reply | None) -> None:
        """Report the parsed reply, as far as it has arrived; ``None`` if it could not be parsed. A reply that must not
        be cached ends the recording."""
        self._reply = reply
        reason = reason_not_to_store(reply)
        if reason and self.recording is not None:
            self._answers.host.count(f"cache_unkept_{reason}")
            self.recording = None
        self._finish()

    def end_response(self) -> None:
        """Report that the last piece of the response has arrived. The response is stored once ``note_reply`` was
        called, too."""
        if self.recording is not None:
            self.recording.ended = True
            self._finish()

    def over(self) -> None:
        """Report that nothing more of the response will be read. Other requests that wait for this response stop
        waiting, unless it is being stored at this moment; then they wait until it is stored.

        A response whose stream had its last event counts as complete even if the client left before the end of the
        body.
        """
        if self.recording is not None and self.recording.has_ended(self._asked.dialect.name):
            self.end_response()
        if not self._is_stored:
            self.recording = None
            self._release()

    def _finish(self) -> None:
        with self._lock:  # the end and what was said may come at the same time, from two threads
            recording = self.recording
            if self._is_stored or recording is None or self._reply is None or not recording.ended:
                return
            self.recording = None
        answer = recording.answer
        if answer is None:
            self._answers.host.count("cache_unkept_bytes")
            self._release()
            return
        self._is_stored = self._answers.host.later(lambda: self._keep(answer), len(answer.body))
        if not self._is_stored:
            self._release()

    def _keep(self, answer: CachedAnswer) -> None:
        """Store the response, and give it to the requests that wait for it; does neither if it contains a secret or if
        responses were purged meanwhile. Runs in the background."""
        answers = self._answers
        try:
            if self._purges != answers.purges:
                return  # somebody wants to be forgotten; whether this is of him is not worth asking
            if not self._clean(answer):
                answers.host.count("cache_unkept_secret")
                return
            if self._flight is not None:
                self._flight.land(answer)
            answers.store.put(self._entry(answer))
            answers.host.count("cache_kept")
        except Exception as error:
            answers.note_failure(error)
        finally:
            self._release()

    def _clean(self, answer: CachedAnswer) -> bool:
        """Whether the response contains no secret, neither in the text of the reply nor in its bytes."""
        message = self._reply.message if self._reply is not None else None
        text = "\n".join((message.text, message.thinking)) if message is not None else ""
        clean = self._answers.host.clean
        return clean(text) and clean(answer.body.decode("utf-8", "replace"))

    def _entry(self, answer: CachedAnswer) -> Entry:
        expires_at = time.time() + self._answers.settings.cache_seconds
        if self._meaning is None or not self._vector:
            return Entry(self._key, self._owner, answer.to_bytes(), expires_at)
        partition, question = self._meaning.partition, self._meaning.text
        return Entry(self._key, self._owner, answer.to_bytes(), expires_at, partition, question, self._vector)

    def _release(self) -> None:
        if self._flight is not None:
            self._answers.flights.end(self._key, self._flight)


def _read(data: bytes) -> CachedAnswer | None:
    try:
        return CachedAnswer.from_bytes(data)
    except ValueError:
        raise StoreError("an answer that is damaged") from None


def _embedder(settings: Settings, embed: Embed | None) -> Embedder:
    try:
        from .vectors import Embedder, model_in
    except ModuleNotFoundError as error:
        raise ConfigError(f"cache: semantic needs the extra `semantic`: there is no {error.name}") from None
    if embed is None:
        if settings.cache_model is None:
            raise ConfigError("cache: semantic needs cache_model, a directory with a sentence model, or an embedder")
        embed = model_in(settings.cache_model, settings.cache_model_sha256)
    return Embedder(embed)


_BESIDE: Final = "store"
"""Value of ``Settings.cache_url`` that means: in the database of the sessions."""

_ACCEPTED: Final = "memory://, store, sqlite:///path.db, postgresql://user@host:port/database or redis://host:port/0"


def open_answers(settings: Settings, beside: str = "") -> AnswerStore:
    """Return the cache store that ``Settings.cache_url`` names; ``beside`` is the address of the session store.

    Raises ``ConfigError`` for an invalid address or a missing extra; its text never contains the address.
    """
    url = beside if settings.cache_url == _BESIDE else settings.cache_url
    scheme, separator, rest = url.partition("://")
    opener = _OPENERS.get(scheme.lower()) if separator else None
    if opener is None:
        raise ConfigError(f"cache_url is {_ACCEPTED}")
    return opener(url, rest, settings)


def _process(url: str, rest: str, settings: Settings) -> AnswerStore:
    return ProcessAnswers(settings.cache_bytes)


def _sqlite(url: str, rest: str, settings: Settings) -> AnswerStore:
    from tokenmizer_mw.saving.cache.stores.sqlite import SqliteAnswers
    from tokenmizer_mw.store.choosing import sqlite_path

    path = sqlite_path(rest.partition("?")[0])
    return _process(url, rest, settings) if path is None else SqliteAnswers(path, settings.cache_bytes)


def _postgresql(url: str, rest: str, settings: Settings) -> AnswerStore:
    from tokenmizer_mw.store import postgres_address

    address = postgres_address.parse(rest)
    try:
        from tokenmizer_mw.saving.cache.stores.postgres import PostgresAnswers
    except ModuleNotFoundError as error:
        raise ConfigError(f"a cache in PostgreSQL needs the extra `postgres`: there is no {error.name}") from None
    return PostgresAnswers(address, settings.cache_bytes)


def _redis(url: str, rest: str, settings: Settings) -> AnswerStore:
    try:
        from tokenmizer_mw.saving.cache.stores.redis import RedisAnswers
    except ModuleNotFoundError as error:
        raise ConfigError(f"a cache in Redis needs the extra `redis`: there is no {error.name}") from None
    return RedisAnswers(url, settings.cache_bytes, prefix=settings.cache_prefix)


_OPENERS: Final[dict[str, Callable[[str, str, Settings], AnswerStore]]] = {
    "memory": _process,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
    "postgres": _postgresql,
    "redis": _redis,
    "rediss": _redis,
}
