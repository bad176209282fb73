"""One chat call as the shells see it: whose it is, how it goes on, and that its turn is kept exactly once.

    turn = remember(call), or await aremember(call)      None: it passes untouched, a counter says why
    turn.body                                            what goes on
    turn.starts(status, headers)                         the response begins
    turn.collect(piece)                                  True: commit before the piece is released
    turn.commit(last), then turn.extract_later()         waits for the store until the deadline, not longer
    turn.leave(outcome)                                  it is over; what was not committed is, in the background

Nothing here raises because of us: whatever fails, the chat goes on with the original bytes, and a counter and a line
in the log say so. Only a guard that the settings let block raises ``RequestBlocked``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.chat.ended_call import Booked
from tokenmizer_mw.chat.exchange import (
    Closed,
    Forwarding,
    Opened,
    Reason,
    may_have_session,
    names_session,
    open_exchange,
)
from tokenmizer_mw.context.window import Rewrite
from tokenmizer_mw.errors import ConfigError, MalformedRequest, RequestBlocked, StoreUnavailable, raised_at
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.runtime.offload import CPU, STORE, offload
from tokenmizer_mw.runtime.tracing import span
from tokenmizer_mw.safety.ingress import Beginning
from tokenmizer_mw.session import tools_digest
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.resilience.spool import SpooledTurn
from tokenmizer_mw.wire.dialect import ChatRequest, Dialect, Reply
from tokenmizer_mw.wire.headers import Headers
from tokenmizer_mw.wire.host_texts import is_side_call
from tokenmizer_mw.wire.refusal import refusal

if TYPE_CHECKING:
    from tokenmizer_mw.chat.request_path import RequestPath
    from tokenmizer_mw.saving.cache.answer import CachedAnswer
    from tokenmizer_mw.saving.cache.answers import Answers, CacheLookup
    from tokenmizer_mw.saving.compress.requests import CondensedRequest

ATTEMPT_FAILED: Final = "attempt_failed"
"""Counter of outgoing calls without a usable response: nothing of them is recorded, an SDK may make them again."""

INLINE_MAX: Final = 32 * 1024
"""Bytes of a request body that may be read on the event loop; longer ones are read in a worker thread."""

_LENGTH_DIGITS: Final = 18

_log = logging.getLogger("tokenmizer_mw")


def check_wiring(memory: object, routes: object) -> None:
    """Raises ``ConfigError`` for what is no memory or no table of routes: later on nothing would be remembered, and
    only the log would say so. So it is for a cache whose model cannot be used, which is loaded here."""
    if not hasattr(memory, "settings"):
        raise ConfigError(f"memory is a SessionMemory, such as SessionMemory.open(...), not {memory!r:.60}")
    if (answers := getattr(memory, "answers", None)) is not None:
        answers.prepare()
    if not isinstance(routes, Mapping):
        raise ConfigError(f"routes is a mapping of path endings to dialects, not a {type(routes).__name__}")
    dialects = {ending: dialect for ending, dialect in routes.items() if not isinstance(dialect, type)}
    if wrong := [f"{ending!r:.60}" for ending in routes if not hasattr(dialects.get(ending), "collect")]:
        raise ConfigError(f"a route leads to a dialect, such as a CustomChat or one of ROUTES: {', '.join(wrong)}")


def refused(headers: Mapping[bytes, bytes], settings: Settings, *, named: bool) -> Reason | None:
    """Why a call with these headers passes without a look at its body. ``named``: its session is known already."""
    if not named and not may_have_session(headers.items(), settings):
        return Reason.NO_SESSION
    if headers.get(b"content-encoding", b"identity") not in (b"", b"identity"):
        return Reason.REQUEST_ENCODED
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length[:_LENGTH_DIGITS]) > settings.request_max:
        return Reason.REQUEST_TOO_LARGE
    return None


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a chat route. ``headers``: the first value of each, by its name in lower case; ``given``: all of
    them as they came, ``None`` where there are no others.

    ``session_id`` wins over what headers and body name, ``otherwise`` is the session when they name none. ``fixed``:
    the request must go on as it is. ``host``: where it goes to, "" for the application itself; ``query``: of its path.
    ``block`` stands for what was before the request's messages, "" for nothing.
    """

    memory: RequestPath
    dialect: Dialect
    headers: Mapping[bytes, bytes]
    body: bytes
    path: str
    tenant: str = LOCAL_TENANT
    session_id: str | None = None
    otherwise: str | None = None
    fixed: bool = False
    host: str = ""
    query: bytes = b""
    given: Headers | None = None
    block: str = ""

    @property
    def in_body(self) -> bool:
        """Whether the body may name the session."""
        return self.session_id is None and names_session(self.body, self.memory.settings)

    def open(self, *, in_body: bool) -> Remembered | None:
        """The call with its session; ``None`` when it has none, counted. Raises ``MalformedRequest``."""
        memory = self.memory
        opened = open_exchange(
            self.dialect,
            self.headers.items(),
            self.body,
            memory.settings,
            path=self.path,
            session_id=self.session_id,
            in_body=in_body,
            known=memory.known,
        )
        named = self.otherwise if opened.session_id is None else opened.session_id
        key = SessionKey(self.tenant, named or "")
        if key.valid():
            return Remembered(memory, key, opened, self.fixed, self.block)
        memory.count((opened.reason or Reason.SESSION_INVALID).value)
        return None

    def turn(self, *, in_body: bool) -> Turn | None:
        """The call on its way; ``None`` when it passes. Raises ``MalformedRequest``."""
        remembered = self.open(in_body=in_body)
        return remembered.turn(remembered.known()) if remembered is not None else None

    def clean(self, *, in_body: bool) -> Turn | Remembered | None:
        """``open``, then ``Remembered.clean_turn``. Raises ``MalformedRequest``."""
        remembered = self.open(in_body=in_body)
        return remembered.clean_turn(remembered.known()) if remembered is not None else None


def remember(call: Call) -> Turn | None:
    """The call on its way; ``None`` when it passes untouched: a counter says why. Raises ``RequestBlocked``."""
    try:
        with span("request", bytes=len(call.body)):
            return _asking(call, call.turn(in_body=call.in_body))
    except RequestBlocked:
        raise
    except Exception as error:
        _passes(call, error)
    return None


async def aremember(call: Call) -> Turn | None:
    """``remember``, with all that takes long in a worker thread."""
    try:
        with span("request", bytes=len(call.body)):
            return _asking(call, await _opened(call))
    except RequestBlocked:
        raise
    except Exception as error:
        _passes(call, error)
    return None


async def _opened(call: Call) -> Turn | None:
    """What computes and what waits for the store have threads of their own: neither kind holds up the other."""
    in_body = call.in_body
    if not call.memory.is_ready:
        return await offload(partial(call.turn, in_body=in_body), STORE)
    if in_body and len(call.body) > INLINE_MAX:
        found = await offload(partial(call.clean, in_body=True), CPU)
    else:
        remembered = call.open(in_body=in_body)
        if remembered is None:
            return None
        known = remembered.known()
        clean = partial(remembered.clean_turn, known)
        inline = remembered.quick(known) and not (remembered.compresses or remembered.block)
        found = clean() if inline else await offload(clean, CPU)
    return await offload(found.decided, STORE) if isinstance(found, Remembered) else found


def _asking(call: Call, turn: Turn | None) -> Turn | None:
    """``turn`` with what it asks of the cache, where there is one and the client does not pass it by."""
    answers = call.memory.answers
    if answers is None or turn is None or call.fixed:
        return turn
    wish = call.headers.get(call.memory.settings.cache_header.lower().encode("latin-1", "replace"), b"")
    if wish.strip().lower() == b"bypass":
        call.memory.count("cache_bypassed")
    else:
        turn.ask(answers, call, looks=wish.strip().lower() != b"refresh")
    return turn


def answered(turn: Turn) -> CachedAnswer | None:
    """An answer that is given again; ``None``: the model is to be asked. Blocks."""
    return turn.asking.look() if turn.asking is not None else None


async def aanswered(turn: Turn) -> CachedAnswer | None:
    """``answered``, with all that takes long in a worker thread."""
    return await turn.asking.alook() if turn.asking is not None else None


def _passes(call: Call, error: Exception) -> None:
    if isinstance(error, MalformedRequest):
        call.memory.unreadable(call.path, str(error))
    else:
        failed(call.memory, "open_failed", error)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A call whose session is known. ``block`` stands for what was before its messages, "" for nothing."""

    memory: RequestPath
    key: SessionKey
    opened: Opened
    fixed: bool = False
    block: str = ""

    def turn(self, known: Beginning | None) -> Turn | None:
        """The call without secrets, cut where it must be; ``None`` when it passes. Raises ``MalformedRequest``."""
        clean = self.clean(known)
        return clean.decided() if clean is not None else None

    def clean_turn(self, known: Beginning | None) -> Turn | Remembered | None:
        """The call on its way, without secrets; where the store has a say in that, the call itself without secrets, to
        be ``decided``; ``None`` when it passes. Does not wait for the store. Raises ``MalformedRequest``."""
        clean = self.clean(known)
        if clean is None or clean.guarded or clean.block or clean.may_cut():
            return clean
        return clean.forward()

    @property
    def guarded(self) -> bool:
        """Whether the request may be refused for what it says."""
        return self.memory.settings.guard == "block"

    def decided(self) -> Turn:
        """The call as it goes on, cut where it must be. Raises ``RequestBlocked``, and ``MalformedRequest``."""
        if self.guarded:
            self._guard()
        if self.block:
            return self.forward(Rewrite(self.opened.request.prefix, self.block, self.memory.settings.block_role))
        return self.cut() if self.may_cut() else self.forward()

    def known(self) -> Beginning | None:
        """How a request of the session began before, if this one begins the same."""
        ingress = self.memory.ingress
        return ingress.known(self.key, self.opened.body) if ingress is not None else None

    def quick(self, known: Beginning | None) -> bool:
        """Whether ``clean`` is quick enough for an event loop."""
        ingress = self.memory.ingress
        return ingress is None or ingress.quick(self.opened.body, known)

    def clean(self, known: Beginning | None) -> Remembered | None:
        """The call without secrets; ``None`` when that failed: then nothing of it may be kept, and it passes."""
        ingress, body = self.memory.ingress, self.opened.body
        if ingress is None:
            return self
        try:
            clean = ingress.clean(body, known)
        except UnicodeError:
            self.memory.unreadable(self.opened.path, "not JSON in UTF-8")
            return None
        except Exception as error:
            failed(self.memory, "redaction_failed", error)
            return None
        if clean is body:
            return self
        self.memory.count("request_redacted")
        return replace(self, opened=self.opened.with_body(clean))

    def _guard(self) -> None:
        request = self.opened.request
        try:
            suspicion = self.memory.attempt(self.key, request)
            if suspicion.flagged:  # what was refused is on record, so that it does not count as news for ever
                self.memory.commit(self.key, request.messages, Reply(None, Outcome.ERROR))
        except Exception as error:
            failed(self.memory, "guard_failed", error)
            return
        if suspicion.flagged:
            self.memory.count("request_blocked")
            name, blocked = self.opened.dialect.name, RequestBlocked
            body = refusal(name, blocked.STATUS, "blocked_by_guard", blocked.MESSAGE)
            raise RequestBlocked(suspicion.signals, body)

    def may_cut(self) -> bool:
        """Whether it is worth a look, which reads the store, to see if the transcript must be cut. Cheap."""
        if self.fixed:
            return False
        opened, linked = self.opened, self.opened.dialect.linked
        if self.memory.longest.may_be_compacted(self.key, opened.body):
            return True
        return self.memory.may_cut(opened.body, linked) and self.memory.may_cut(opened.body, linked, opened.models)

    def forward(self, rewrite: Rewrite | None = None) -> Turn:
        """The call as it is, without a field of ours; cut as ``rewrite`` says, compressed where the settings say so."""
        condensed = self._condensed(rewrite) if self.compresses else None
        return Turn(self.memory, self.key, self.opened.forward(rewrite, condensed), fixed=self.fixed)

    @property
    def compresses(self) -> bool:
        """Whether texts of the request may go on shorter than they came."""
        return bool(self.memory.settings.compress) and not self.fixed

    def _condensed(self, rewrite: Rewrite | None) -> CondensedRequest | None:
        try:
            return self.memory.condense(self.key, self.opened.request, rewrite)
        except MalformedRequest:
            raise
        except Exception as error:
            failed(self.memory, "compress_failed", error)
            return None

    def cut(self) -> Turn:
        """The call with its transcript cut, where that is due. Raises ``MalformedRequest``."""
        opened, memory = self.opened, self.memory
        request = opened.request
        try:
            compacted = memory.longest.may_be_compacted(self.key, opened.body)
            if compacted or memory.may_cut(opened.body, opened.dialect.linked, (request.model,)):
                return self.forward(self._prepared(request, compacted))
        except Exception as error:
            failed(memory, "cut_failed", error)
        return self.forward()

    def _prepared(self, request: ChatRequest, compacted: bool) -> Rewrite | None:
        rewrite = self.memory.prepare(self.key, request, compacted=compacted)
        if rewrite is not None:
            in_front = rewrite.keep_from == request.prefix
            self.memory.longest.note_block(self.key, len(self.opened.body), tools_digest(request), in_front=in_front)
        return rewrite


class Turn:
    """A call on its way, whose turn is to be recorded: made for it, gone with it.

    ``collect`` is ``Forwarding.receive_data``. ``committed``: the turn is durable. ``done``: its reply was read, and it
    is durable or on its way to the store.
    """

    __slots__ = (
        "_booked",
        "_done",
        "_extraction",
        "_forwarding",
        "_key",
        "_lock",
        "_released",
        "asking",
        "collect",
        "committed",
        "fixed",
        "memory",
    )

    asking: CacheLookup | None
    collect: Callable[[bytes], bool]

    def __init__(self, memory: RequestPath, key: SessionKey, forwarding: Forwarding, *, fixed: bool = False) -> None:
        self.memory = memory
        self.fixed = fixed
        self.committed = False
        self.collect = forwarding.receive_data
        self._key = key
        self._forwarding = forwarding
        self._lock = make_lock()
        self._done = False
        self._released = False
        self._extraction = [key]  # taken out by whoever schedules it, so that it is scheduled once
        self._booked: Booked | None = None
        self.asking = None

    def ask(self, answers: Answers, call: Call, *, looks: bool) -> None:
        """Ask the cache: ``asking`` is what is asked, ``None`` where that is nothing."""
        from tokenmizer_mw.saving.cache.question import place_of  # most applications have no cache

        try:
            opened, settings = self._forwarding.opened, self.memory.settings
            given = call.headers.items() if call.given is None else call.given
            place = place_of(call.path, given, settings, host=call.host, query=call.query)
            self.asking = answers.ask(
                opened, self._key, place, rewritten=self._forwarding.rewrite is not None, looks=looks
            )
        except Exception as error:
            failed(self.memory, "cache_failed", error)

    @property
    def key(self) -> SessionKey:
        """Whose turn it is."""
        return self._key

    @property
    def done(self) -> bool:
        """Whether nothing that comes now can add to the turn."""
        return self._done

    @property
    def changed(self) -> bool:
        """False when ``body`` is the original one."""
        return self._forwarding.changed

    @property
    def body(self) -> bytes:
        """The request's body as it goes on, unless it is ``fixed``."""
        return self._forwarding.body

    def starts(self, status: int, headers: Headers) -> None:
        """The response begins."""
        try:
            self._forwarding.receive_start(status, headers)
            if self.asking is not None:
                self.asking.starts(status, headers)
        except Exception as error:
            self.give_up(error)

    def takes(self, piece: bytes) -> bool:
        """``collect``, for pieces of any kind, empty ones too; what fails inside is counted."""
        if self.asking is not None:
            self.asking.takes(bytes(piece))
        if self._done or not piece:
            return False
        try:
            return self.collect(piece if type(piece) is bytes else bytes(piece))
        except Exception as error:
            self.give_up(error)
            return False

    def give_up(self, error: Exception) -> None:
        """A failure of ours: nothing more is collected, nothing is kept."""
        self._done = True
        failed(self.memory, "collect_failed", error)
        if self.asking is not None:
            self.asking.over()

    def commit(self, last: bool, outcome: Outcome | None = None, *, attempt: bool = False) -> None:
        """``settle``, then wait until the turn is durable, at most until the deadline. Blocks."""
        self.memory.wait_for(self.settle(last, outcome, attempt=attempt))

    async def acommit(self, last: bool) -> None:
        """``commit`` from an event loop. Raises nothing because of us."""
        try:
            await self.memory.await_for(partial(self.settle, last))
        except Exception as error:
            failed(self.memory, "commit_failed", error)

    def settle(self, last: bool, outcome: Outcome | None = None, *, attempt: bool = False) -> SpooledTurn | None:
        """Read the reply if it is complete, or its ``last`` piece was seen, and have the turn written. Does not wait
        for that; ``None``: there is nothing to wait for.

        ``outcome`` is what the shell knows better. An ``attempt`` may be made again: when nothing came of it but a
        failure, nothing is recorded, and a reply that says how it ended has ended so.
        """
        if last and outcome is None and not attempt and self.asking is not None:
            self.asking.ended()
        with self._lock:
            if self._done:
                return None
            try:
                closed = self._forwarding.close(None if attempt else outcome)
                self._done = last or closed.settled
                if self._done:
                    return self._submit(_interrupted(closed, outcome) if attempt else closed)
            except MalformedRequest as error:
                self._done = True
                self.memory.unreadable(self._forwarding.path, str(error))
            except Exception as error:
                self._done = True
                failed(self.memory, "commit_failed", error)
            return None

    def _submit(self, closed: Closed | None) -> SpooledTurn | None:
        if closed is None:
            self.memory.count(ATTEMPT_FAILED)
            return None
        return self.memory.submit(
            self._key,
            closed.messages,
            closed.reply,
            size=self._forwarding.held,
            after=partial(self._after_commit, closed),
            reminder=self._forwarding.reminder,
        )

    def _after_commit(self, closed: Closed) -> None:
        """The turn is durable, in time or later. Runs in the thread that wrote it."""
        if self.asking is not None:
            self.asking.replied(closed.reply)
        if self.memory.books.open:
            forwarding = self._forwarding
            again = self.asking is not None and self.asking.found is not None
            self._booked = Booked(
                forwarding.opened.request,
                closed.reply,
                forwarding.rewrite,
                forwarding.savings,
                answered=again,
                moved=forwarding.moved,
            )
        for reason in closed.reasons:
            self.memory.count(reason.value)
        if not is_side_call(closed.messages):
            opened = self._forwarding.opened
            self.memory.longest.note(self._key, len(opened.body), tools_digest(opened.request))
        if self.memory.ingress is not None:
            opened = self._forwarding.opened
            self.memory.ingress.note(self._key, opened.sent, opened.body, opened.request)
        self.committed = True
        self._extract_when_due()

    def closes(self) -> None:
        """Nothing more of the response will be read."""
        if self.asking is not None:
            self.asking.over()

    def extract_later(self) -> None:
        """The client has its last piece: derive facts in the background, as soon as the turn is durable."""
        self._released = True
        self._extract_when_due()

    def _extract_when_due(self) -> None:
        """Schedule extraction once the turn is durable and the client has its last piece, whichever comes last."""
        if not (self.committed and self._released):
            return
        try:
            key = self._extraction.pop()
        except IndexError:
            return
        try:
            self.memory.extract_later(key)
            self._book_later()
        except Exception as error:
            failed(self.memory, "extract_failed", error)

    def leave(self, outcome: Outcome | None, *, attempt: bool = False) -> None:
        """The call is over. What was not settled is, in the background: nobody waits for it."""
        if self.asking is not None and (self._done or outcome is not None):
            self.asking.over()
        self.extract_later()
        try:
            if not self._done:  # it may be under way still, when the caller was cancelled meanwhile
                work = partial(self._settle_late, outcome, attempt)
                if not self.memory.later(work, self._forwarding.held) and self.asking is not None:
                    self.asking.over()  # nobody else will tell those who wait
        except Exception as error:
            failed(self.memory, "commit_failed", error)

    def _settle_late(self, outcome: Outcome | None, attempt: bool) -> None:
        turn = self.settle(True, outcome, attempt=attempt)
        if turn is not None:
            turn.result.add_done_callback(self._closes_after)
        elif self.asking is not None:
            self.asking.over()

    def _closes_after(self, _: object) -> None:
        self.closes()

    def _book_later(self) -> None:
        booked, self._booked = self._booked, None
        if booked is not None:
            self.memory.book_later(self._key, booked, self._forwarding.held)


def _interrupted(closed: Closed, outcome: Outcome | None) -> Closed | None:
    """An attempt that broke off, or that the caller broke off (``outcome``); ``None`` when nothing came of it."""
    reply = closed.reply
    if outcome is None:
        return closed if reply is not None and reply.message is not None else None
    if reply is None or reply.outcome is not Outcome.TRUNCATED or reply.finish_reason:
        return closed
    return replace(closed, reply=replace(reply, outcome=outcome))


def failed(memory: RequestPath, counter: str, error: BaseException) -> None:
    """Count a failure of ours and log it: its kind and place, never its text, which may hold what was said.

    A store that is not available is logged by its cause and its address, once a minute.
    """
    memory.count(counter)
    if isinstance(error, StoreUnavailable):
        memory.store_monitor.report(error.cause or type(error).__name__, error.place)
        return
    _log.warning("%s: %s in %s; the chat went on without", counter, type(error).__name__, raised_at(error))
