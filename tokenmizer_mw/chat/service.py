"""The service that handles chat calls: finds the session, prepares the request, records the turn, and runs background
work.

    exchange = ChatExchange(dialect, headers, body, settings)
    if await service.aprepare(exchange):            redact, guard, cut; False: the call passes unrecorded
        exchange.forwarded                          the body to forward
        service.start_reply(exchange, status, headers)
        exchange.receive(piece)                     True: commit before the piece is passed on
        await service.acommit(exchange, last)       until durable, or until the deadline
        service.schedule_extraction(exchange)       the client has received the last piece
        service.leave(exchange, outcome)            the call is over; a turn not yet recorded is, in the background

Failures of this package are not raised: the chat continues, without the step that failed or with the original bytes
(see ``ExchangeOpening``), and a counter and a log line report the failure. The only exception is ``RequestBlocked``, if
the settings let the guard block requests.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from tokenmizer_mw.chat.client_compaction import ClientCompaction
from tokenmizer_mw.chat.content_redaction import ContentRedaction
from tokenmizer_mw.chat.cuts import CutPreparation
from tokenmizer_mw.chat.exchange import ChatExchange
from tokenmizer_mw.chat.exchange_commit import ExchangeCommit
from tokenmizer_mw.chat.exchange_opening import ExchangeOpening
from tokenmizer_mw.chat.host_requests import HostRequests
from tokenmizer_mw.chat.reports import FailureReports, ServiceCounters
from tokenmizer_mw.chat.request_guard import RequestGuard
from tokenmizer_mw.chat.session_access import SessionAccess
from tokenmizer_mw.chat.turns import ExtractionSchedule, TurnCommit
from tokenmizer_mw.chat.usage import UsageAccounting
from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.context.tokens import ModelCounters
from tokenmizer_mw.errors import ConfigError, name_type
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.background import BackgroundQueue, Pauses
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.tracing import LimitedLog, print_unconfigured
from tokenmizer_mw.session.refinement.client import Complete
from tokenmizer_mw.session.refinement.plan import RefinementWork
from tokenmizer_mw.session.refinement.runner import RefinementRunner
from tokenmizer_mw.session.reminder import ReminderService
from tokenmizer_mw.session.resent import forget_recent_messages
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import EventLog
from tokenmizer_mw.store.resilience.bounded_log import BoundedLog
from tokenmizer_mw.store.resilience.monitor import StoreMonitor
from tokenmizer_mw.wire.http import Headers
from tokenmizer_mw.wire.known import KnownRequests

if TYPE_CHECKING:
    from tokenmizer_mw.context.embedding import Mark, PassageEmbedding
    from tokenmizer_mw.saving.cache.answers import Answers, CacheLookup
    from tokenmizer_mw.saving.compress.neural import Shrink
    from tokenmizer_mw.saving.compress.requests import Compression

T = TypeVar("T")

_logger = logging.getLogger("tokenmizer_mw")


class SessionService:
    """The service behind a ``SessionMemory``: middleware, transports, the proxy and frameworks call it for each chat.

    - ``log``: the event log (the stored events of all sessions); ``url``: the address of its store, "" if unknown.
    - ``complete``: asks a model, for refinements; ``None``: the provider that the settings name, if any.
    - ``embed``: turns a list of texts into one vector per text; ``None``: the model that the settings name, if any.

    Attributes: ``known`` caches the text of recent requests, so that a resent history is not parsed again; ``answers``
    is the response cache, ``None`` if it is off.
    """

    def __init__(
        self,
        log: EventLog,
        settings: Settings,
        *,
        complete: Complete | None = None,
        embed: Callable[[list[str]], Any] | None = None,
        url: str = "",
    ) -> None:
        print_unconfigured()
        self.settings = settings
        self.known = KnownRequests(settings.known_requests_max, make_lock())
        self.counters = ServiceCounters(settings.session_header, settings.session_field)
        self.count = self.counters.add
        self.store_monitor = StoreMonitor(settings.store_failures_max, settings.store_wait_seconds)
        limited_log = LimitedLog(_logger)
        self.reports = FailureReports(self.store_monitor, limited_log, self.count)
        self.background = self._open_queue()
        bounded_log = BoundedLog(log, self.store_monitor)
        if (when_replaced := getattr(log, "when_replaced", None)) is not None:
            when_replaced(lambda: self.count("store_replaced"))
        self.redaction = ContentRedaction(settings, bounded_log.secret, self.count)
        self.access = SessionAccess(
            log,
            settings,
            redaction=self.redaction,
            bounded_log=bounded_log,
            counters=ModelCounters(settings.tokenizer_dir),
            notice=lambda key, events: self.refinement.notice(key, events),  # noqa: PLW0108 - it is made later
            defer=self.background.put,
            count=self.count,
        )
        self.usage = UsageAccounting(log, settings, self.access.counters, self.count)
        self.embedding = self._open_embedding(embed)
        self.extraction = ExtractionSchedule(
            settings,
            self.access,
            self.redaction,
            reminders=lambda: self.reminders,
            embedding=self.embedding,
            soon=self.background.put,
            defer=self.background.put_later,
            count=self.count,
        )
        self.refinement = self._open_refinement(complete)
        self.shrink: Shrink | None = None
        self.answers = open_cache(settings, CacheHost(self.redaction, self.background, self.count), embed, url)
        self.turns = TurnCommit(settings, self.access, self.redaction, self.count)
        self.guard = RequestGuard(settings, self.access, self.count)
        self.cuts = CutPreparation(
            settings,
            self.access,
            self.redaction,
            compression=lambda: self.compression,
            reminders=lambda: self.reminders,
            refinement=self.refinement,
            soon=self.background.put,
            log=limited_log,
            count=self.count,
        )
        self.hosts = HostRequests(settings, self.access, self.redaction, self.cuts, self.guard, self.count)
        self.compaction = ClientCompaction(settings, self.access, self.redaction, self.guard, self.count)
        opening = ExchangeOpening(
            settings, self.access, self.redaction, self.cuts, self.guard, self.reports, self.count
        )
        commit = ExchangeCommit(
            self.access,
            self.redaction,
            self.turns,
            self.extraction,
            self.usage,
            self.background,
            self.reports,
            self.count,
            self.cuts,
        )
        self.prepare, self.aprepare = opening.prepare, opening.aprepare
        self.start_reply, self.take_piece, self.give_up = commit.start_reply, commit.take_piece, commit.give_up
        self.commit, self.acommit, self.leave = commit.commit, commit.acommit, commit.leave
        self.schedule_extraction, self.report_failure = commit.schedule_extraction, self.reports.report_failure

    # -- a chat call -------------------------------------------------------------------------------------------------

    def ask_cache(
        self, exchange: ChatExchange, headers: Headers, *, host: str = "", query: bytes = b""
    ) -> CacheLookup | None:
        """Return the cache lookup for the prepared call ``exchange``, and let the lookup observe the call's reply.
        Returns ``None`` if the cache is off, does not handle the call, or fails, and if the client bypasses it.

        ``headers``: all request headers, as received. ``host``: the host that the call is sent to, "" for the
        application itself. ``query``: the query of the request's URL.
        """
        if self.answers is None or exchange.fixed:
            return None
        header = self.settings.cache_header.lower().encode("latin-1", "replace")
        wish = exchange.headers.get(header, b"").strip().lower()
        if wish == b"bypass":
            self.count("cache_bypassed")
            return None
        from tokenmizer_mw.saving.cache.question import place_of  # most applications have no cache

        try:
            place = place_of(exchange.path, headers, self.settings, host=host, query=query)
            rewritten = exchange.rewrite is not None
            asking = self.answers.ask(exchange, exchange.key, place, rewritten=rewritten, looks=wish != b"refresh")
        except Exception as error:
            self.report_failure("cache_failed", error)
            return None
        exchange.observer = asking
        return asking

    # -- all sessions ------------------------------------------------------------------------------------------------

    def forget(self, keys: Iterable[SessionKey]) -> None:
        """Remove the erased sessions ``keys`` from the caches of this process. Caches in which sessions cannot be told
        apart (of parsed requests, recognised messages, redaction, compression and token counts) are emptied."""
        self.known.clear()
        forget_recent_messages()
        if self.redaction.redactor is not None:
            self.redaction.redactor.forget()
        if self.compression is not None:
            self.compression.forget()
        self.access.counters.clear()
        for key in keys:
            self.drop(key)

    def drop(self, key: SessionKey) -> None:
        """Remove the state and the messages of a session from the caches of this process, and its responses from the
        response cache. Nothing in the event log changes."""
        self.access.drop(key)
        if self.answers is not None:
            self.answers.purge(key.tenant, key.id)

    def flush(self, seconds: float | None = None) -> bool:
        """Wait for background work, including writing of queued turns, at most ``seconds`` (``None``:
        ``Settings.drain_seconds``).
        Returns whether everything was done in time.
        """
        limit = self.settings.drain_seconds if seconds is None else seconds
        deadline = time.monotonic() + limit

        def seconds_left() -> float:
            return max(0.0, deadline - time.monotonic())

        done = self.background.flush(seconds_left()) and self.turns.spool.flush(seconds_left())
        # What was written has its facts derived, what was broken off is spooled: each makes work for the other.
        while done and not (self.background.flush(0) and self.turns.spool.flush(0)):
            done = self.background.flush(seconds_left()) and self.turns.spool.flush(seconds_left())
        if self.embedding is not None:
            done = self.embedding.flush(seconds_left()) and done
        return done and self.refinement.flush(seconds_left())

    def close(self) -> None:
        """Finish background work, for at most ``Settings.drain_seconds``, and close the store. Turns that could not be
        written in that time are lost and counted (``turn_lost``).
        """
        deadline = time.monotonic() + self.settings.drain_seconds
        self.background.flush(self.settings.drain_seconds)
        if self.embedding is not None:
            self.embedding.close(max(0.0, deadline - time.monotonic()))
        drained = self.turns.spool.close(max(0.0, deadline - time.monotonic()))
        drained = self.background.close(max(0.0, deadline - time.monotonic())) and drained
        if not (self.refinement.close(max(0.0, deadline - time.monotonic())) and drained):
            self.count("closed_with_work_left")
        if self.answers is not None:
            self.answers.close()
        self.access.log.close()

    # -- its parts ---------------------------------------------------------------------------------------------------

    @cached_property
    def compression(self) -> Compression | None:
        """The compressor of requests; ``None`` if no compression stage is on."""
        if not self.settings.compress_named:
            return None
        from tokenmizer_mw.saving.compress.requests import Compression  # what is off costs nothing, not even its import

        return Compression(
            self.settings,
            shrink=self.shrink,
            failed=lambda stage: self.count(f"compress_{stage}_failed"),
            lock=make_lock(),
        )

    @cached_property
    def reminders(self) -> ReminderService:
        """The service that makes reminders (texts with what a cut removed and the newest message asks about). The first
        access reads the store's secret, and raises ``StoreError`` if that fails."""
        return ReminderService(
            self.settings,
            self.redaction.secret,
            states=self.access.sessions.read,
            texts=self.access.messages.read,
            count=self.count,
            embed=self.embedding.embed_question if self.embedding is not None else None,
            lock=make_lock(),
        )

    def _open_embedding(self, embed: Callable[[list[str]], Any] | None) -> PassageEmbedding | None:
        """Return the object that computes vectors of passages and questions; ``None`` if no sentence model is
        configured. Raises ``ConfigError`` if the configured one cannot be used."""
        if embed is None and self.settings.embeddings is None:
            return None
        if find_spec("numpy") is None:
            raise ConfigError(f"embeddings and embed need numpy: {install_hint('embeddings')}")
        from tokenmizer_mw.context.embedding import (
            PassageEmbedding,  # most applications have no sentence model
            find_model,
            host_model,
        )

        model = host_model(embed) if embed is not None else find_model(self.settings.embeddings or "")
        return PassageEmbedding(model, self.settings, log=self.access.log, read=self._read_passages, count=self.count)

    def _read_passages(self, key: SessionKey, look: Callable[[PassageIndex, Mark], T]) -> T:
        def view(history: HistoryMessages) -> T:
            passages = history.passages(self.redaction.remove_blocks, self.settings.passages_max)
            return look(passages, (history.seq, history.recorded_at))

        return self.access.messages.read(key, view)

    def _open_refinement(self, complete: Complete | None) -> RefinementRunner:
        settings, redaction = self.settings, self.redaction
        return RefinementRunner(
            self,
            lambda: RefinementWork(settings, redaction.secret, redaction.redact_message, redaction.redact_text),
            self.access.log,
            self.access.sessions,
            extract=self.extraction.extract,
            count=self.count,
            record_usage=self.usage.add_refinement,
            counter=lambda: self.access.counters.of(settings.llm_model).counter,
            background=self._open_queue(),
            complete=complete,
        )

    def _open_queue(self) -> BackgroundQueue:
        settings = self.settings
        return BackgroundQueue(
            capacity=settings.queue_max,
            size_max=settings.queue_bytes,
            failed=self.reports.report_background,
            drain_seconds=settings.drain_seconds,
            pauses=Pauses(
                settings.extract_pause_seconds,
                settings.extract_wait_seconds,
                tasks_max=settings.sessions_cached // 2,
                times_max=settings.extract_turns_max,
                missed=lambda: self.count("extraction_under_load"),
            ),
        )


def check_wiring(service: object, routes: object) -> None:
    """Raise ``ConfigError`` unless ``service`` is the service of a memory and ``routes`` a mapping of routes.

    Otherwise nothing would be recorded and only the log would say so. Also loads the model of the answer cache, so that
    an unusable one is reported here.
    """
    if not isinstance(service, SessionService):
        raise ConfigError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {service!r:.60}")
    if service.answers is not None:
        service.answers.prepare()
    if not isinstance(routes, Mapping):
        raise ConfigError(f"routes is a mapping of path endings to dialects, not {name_type(routes)}")
    dialects = {ending: dialect for ending, dialect in routes.items() if not isinstance(dialect, type)}
    if wrong := [f"{ending!r:.60}" for ending in routes if not hasattr(dialects.get(ending), "collect")]:
        raise ConfigError(f"a route leads to a dialect, such as a CustomChat or one of ROUTES: {', '.join(wrong)}")


class CacheHost:
    """The functions of the memory's service that the response cache calls: ``later`` (background work), ``clean`` (a
    check for secrets) and ``count`` (increments the counter of a name)."""

    def __init__(self, redaction: ContentRedaction, background: BackgroundQueue, count: Callable[..., None]) -> None:
        self._redaction = redaction
        self._background = background
        self.count = count

    def later(self, work: Callable[[], object], size: int) -> bool:
        """Run ``work``, which holds ``size`` bytes of memory, in the background. Returns whether it was queued; false
        when the queue is full: ``work`` is then not run."""
        return self._background.put(object(), work, size)

    def clean(self, text: str) -> bool:
        """Return whether ``text`` contains no secret; always true if redaction is off."""
        return self._redaction.redact_text(text) is text


def open_cache(
    settings: Settings, host: CacheHost, embed: Callable[[list[str]], Any] | None, url: str
) -> Answers | None:
    """Make the response cache; ``None`` if the settings switch it off.

    Its store is opened at first use, so nothing is raised here for one that cannot be reached. Raises ``ConfigError``
    for an invalid store address, and for one that needs an extra which is not installed.

    - ``host``: the functions of the service that the cache calls.
    - ``embed``: turns a list of texts into one vector per text; ``None`` for the model that the settings name.
    - ``url``: address of the session store, used if ``Settings.cache_url`` is "store".
    """
    if settings.cache == "off":
        return None
    from tokenmizer_mw.saving.cache.answers import Answers  # most applications have none

    return Answers(host, settings, beside=url, embed=embed)
