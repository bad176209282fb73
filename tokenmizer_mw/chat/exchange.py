"""One chat call as a state machine over bytes, without I/O.

    exchange = ChatExchange(dialect, headers, body, settings)
    exchange.find_session()                         find the session; parses the body only if necessary
    exchange.replace_body(clean)                    replace the body by its redacted form
    exchange.forward(rewrite)                       compute exchange.forwarded, the body for the inner application
    exchange.start_reply(status, headers)           the response begins
    exchange.receive(chunk)                         collect a piece; True: commit before the client gets it
    closed = exchange.close()                       parse the reply; return what is recorded

``SessionService`` carries out these steps. A body is parsed as late as possible. If a header names the session, the
body is parsed only after the response. If the session field's name does not occur in the body's bytes, the body is not
parsed to find the session. If it does, a short body is only checked to be JSON in which the field can be told by its
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.chat.reply_collector import ReplyCollector
from tokenmizer_mw.model.message import Outcome
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey, is_usable_id
from tokenmizer_mw.runtime.forking import make_brief_lock
from tokenmizer_mw.session.naming import Reason, names_session, session_in_header_map
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest, Reply
from tokenmizer_mw.wire.http import Headers, by_name
from tokenmizer_mw.wire.known import SHORTEST, KnownRequests
from tokenmizer_mw.wire.passages import append_edits, apply_edits
from tokenmizer_mw.wire.request import Dialect
from tokenmizer_mw.wire.unparsed import TextMember, find_text_member

if TYPE_CHECKING:
    from tokenmizer_mw.chat.usage import EndedCall
    from tokenmizer_mw.context.assembly import Reminder
    from tokenmizer_mw.context.window import Rewrite
    from tokenmizer_mw.model.usage import StageSaving
    from tokenmizer_mw.saving.cache.answers import CacheLookup
    from tokenmizer_mw.saving.compress.requests import CondensedRequest, Moved
    from tokenmizer_mw.session.truncation import HeldCut


_UNNAMED: Final = SessionKey(LOCAL_TENANT, "")


class ChatExchange:
    """One chat call: its request, its session, the request that is forwarded, and the reply as it is collected.

    Arguments:

    - ``headers``: the first value of each header, by lower-case name. ``path``: path of the request, in which some
      dialects name the model.
    - ``session_id``: overrides the session that headers and body name; ``otherwise``: used when they name none, or an
      invalid one. ``None``: not given. ``tenant``: the tenant of the session.
    - ``fixed``: the request must be forwarded unchanged, for example because it is signed.
    - ``block``: resume block that replaces what came before the request's messages, "" for none; ``checkpoint``: id of
      the checkpoint at which it was made, "" for none.
    - ``known``: cache of recent requests; a beginning that this request shares with one of them is not parsed again.

    Attributes:

    - ``sent``: the body as the client sent it; ``body``: the same, after redaction without its secrets; ``forwarded``:
      the body that is forwarded; ``left_out``: the member of ``sent`` that names the session, if it is not forwarded.
    - ``rewrite``: how the transcript was shortened, ``None`` if it was not. ``savings``: what compression stages saved;
      ``moved``: the old tool results that were pruned for the first time in this request, ``None`` for none.
    - ``collector``: collects the reply, and knows whether the request was refused.
    - ``held_cut``: events of a new cut; they are recorded with the turn, once the application has accepted the request.
      ``None`` for no new cut.
    - ``observer``: gets the reply as it arrives, such as the answer cache.
    - ``uncounted_model``: the model whose token counter is to be loaded once the client has the reply; ``None`` for
      none.
    """

    __slots__ = (
        "_known", "_request", "_settings", "_without_field", "block", "body", "checkpoint", "collector", "dialect",
        "drop", "ended", "extraction", "fixed", "forwarded", "given_session", "headers", "held_cut", "is_committed",
        "is_released", "is_settled", "key", "left_out", "lock", "moved", "observer", "otherwise", "path", "reason",
        "receive", "rewrite", "savings", "sent", "session_id", "start_reply", "tenant", "uncounted_model",
    )  # fmt: skip

    def __init__(
        self,
        dialect: Dialect,
        headers: Mapping[bytes, bytes],
        body: bytes,
        settings: Settings,
        *,
        path: str = "",
        tenant: str = LOCAL_TENANT,
        session_id: str | None = None,
        otherwise: str | None = None,
        fixed: bool = False,
        block: str = "",
        checkpoint: str = "",
        known: KnownRequests | None = None,
    ) -> None:
        self.dialect = dialect
        self.headers = headers
        self.body = self.sent = body
        self.path = path
        self.tenant = tenant
        self.session_id = self.given_session = session_id
        self.otherwise = otherwise
        self.fixed = fixed
        self.block = block
        self.checkpoint = checkpoint
        self.drop: tuple[str, ...] = ()
        self.left_out = b""
        self.reason: Reason | None = None
        self.key = _UNNAMED
        self.forwarded: bytes | None = None
        self.rewrite: Rewrite | None = None
        self.held_cut: HeldCut | None = None
        self.savings: Sequence[StageSaving] = ()
        self.moved: Moved | None = None
        self.observer: CacheLookup | None = None
        self.is_settled = self.is_committed = self.is_released = False
        self.ended: EndedCall | None = None
        self.uncounted_model: str | None = None
        self.extraction = [True]  # taken out by whoever schedules it, so that it is scheduled once
        self.lock = make_brief_lock()
        self._settings = settings
        self._known = known
        self._request: ChatRequest | None = None
        self._without_field: bytes | None = None
        self.collector = ReplyCollector(dialect, settings.capture_max)
        self.start_reply = self.collector.start
        self.receive = self.collector.receive

    # -- the request -------------------------------------------------------------------------------------------------

    @property
    def may_name_session(self) -> bool:
        """Whether the body may contain the session field, so that it must be parsed to find the session."""
        return self.session_id is None and names_session(self.body, self._settings)

    def find_session(self, *, in_body: bool | None = None) -> bool:
        """Find the session of the call and set ``key``. Returns whether there is a usable one. If there is none, or the
        tenant is unusable, it returns false, and ``reason`` says why.

        The body field ``Settings.session_field`` is used before the header ``Settings.session_header``; if the field is
        missing, null or invalid, the header is used. A field that named the session is removed from the forwarded body,
        unless ``Settings.keep_session_field`` is on; in all other cases the field stays. ``in_body``: the value of
        ``may_name_session``, if the caller has it already; ``None``: it is computed.

        Raises ``MalformedRequest`` when the field must be looked up in a body that is not a chat request.
        """
        named = self.session_id
        if named is None:
            named = session_in_header_map(self.headers, self._settings)
            if names_session(self.body, self._settings) if in_body is None else in_body:
                named = self._session_in_field(named)
        if named is None:
            self.reason = Reason.NO_SESSION
        elif not is_usable_id(named):
            named, self.reason = None, Reason.SESSION_INVALID
        self.session_id = self.otherwise if named is None else named
        self.key = SessionKey(self.tenant, self.session_id or "")
        tenant_usable = self.tenant == LOCAL_TENANT or is_usable_id(self.tenant)
        if tenant_usable and (named is not None or is_usable_id(self.otherwise)):
            return True
        self.reason = self.reason or Reason.SESSION_INVALID
        return False

    def _session_in_field(self, in_header: str | None) -> str | None:
        found = self._find_plain_field()
        if found is None:
            return self._parse_field(in_header)
        if not self._settings.keep_session_field:
            self.drop = (self._settings.session_field,)
            self.left_out, self._without_field = found.written, found.rest
        return found.value

    def _find_plain_field(self) -> TextMember | None:
        """Return the session field if it has a usable id and the dialect surely accepts the request, so that the
        request is parsed later. ``None`` if not, and for requests of which a cached one may have been parsed before."""
        accepts = getattr(self.dialect, "accepts", None)  # dialects of applications may have none
        if accepts is None or len(self.body) >= SHORTEST:
            return None
        found = find_text_member(self.body, self._settings.session_field)
        return found if found is not None and is_usable_id(found.value) and accepts(found.values) else None

    def _parse_field(self, in_header: str | None) -> str | None:
        request, field = self.request, self._settings.session_field
        in_field = request.fields.get(field)
        if not is_usable_id(in_field):
            return in_header if in_header is not None or in_field is None else ""
        if not self._settings.keep_session_field:
            self.drop = (field,)
            for start, end in (span for name, span in request.members if name == field):
                self.left_out = request.text[start:end].encode()
        named: str = in_field
        return named

    def replace_body(self, body: bytes) -> None:
        """Replace the request's body, for example by one without secrets. ``request`` is parsed anew when it is next
        used; ``sent`` stays."""
        self.body, self._request, self._without_field = body, None, None

    @property
    def request(self) -> ChatRequest:
        """The parsed request; parsed at first access. Raises ``MalformedRequest``."""
        if self._request is None:
            self._request = self.dialect.read(self.body, self._known, path=self.path)
        return self._request

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the request may name, found in the path or the bytes of the body without parsing it; ``()``
        if that does not tell, so that it may be any model."""
        return self.dialect.models(self.body, self.path)

    def forward(self, rewrite: Rewrite | None = None, condensed: CondensedRequest | None = None) -> ChatExchange:
        """Compute ``forwarded``, the body that the inner application gets. Returns the exchange itself.

        Without a rewrite, compression or field to remove, it is ``body`` itself, unparsed. A rewrite that removes
        messages but would not make the body shorter is tried without its reminder, and otherwise not applied.
        ``rewrite``: how the request is cut; ``condensed``: the request with compressed texts; ``None`` for neither.
        Raises ``MalformedRequest`` for a body that is not a chat request, if it must be cut or a field removed.
        """
        self.rewrite, self.savings, self.moved = None, (), None
        if rewrite is None and condensed is None and not self.drop:
            self.forwarded = self.body
            return self
        if rewrite is None and condensed is None and self._without_field is not None:
            self.forwarded = self._without_field
            return self
        request = self.request
        if condensed is not None:
            request, self.savings, self.moved = condensed.request, condensed.savings, condensed.moved
        plain = condensed is None and not self.drop
        self.forwarded = self.body if plain else self.dialect.rewrite(request, drop=self.drop)
        for one in _ways(rewrite):
            shorter = self._shorten_body(request, one)
            if len(shorter) < len(self.forwarded) or one.keep_from == request.prefix:
                self.forwarded, self.rewrite = shorter, one
                break
        return self

    def _shorten_body(self, request: ChatRequest, rewrite: Rewrite) -> bytes:
        """Return the body of ``request``, cut and with its reminder as ``rewrite`` says."""
        if rewrite.reminder is not None:
            places = rewrite.reminder.places
            request = apply_edits(
                request, [edit for at, part in places for edit in append_edits(request, at, part.text)]
            )
        return self.dialect.rewrite(
            request, drop=self.drop, keep_from=rewrite.keep_from, block=rewrite.block, role=rewrite.role
        )

    @property
    def is_changed(self) -> bool:
        """Whether the body that is forwarded differs from the one that the client sent; false before ``forward``."""
        return self.forwarded is not None and self.forwarded is not self.sent

    @property
    def reminder(self) -> Reminder | None:
        """The reminder that the forwarded request contains; ``None`` for none."""
        return self.rewrite.reminder if self.rewrite is not None else None

    # -- the reply ---------------------------------------------------------------------------------------------------

    @property
    def held(self) -> int:
        """Number of bytes that this call holds in memory: its request body, and what was collected of its reply."""
        return len(self.body) + self._settings.capture_max - self.collector.room

    def close(self, outcome: Outcome | None = None) -> ClosedExchange:
        """Parse the collected reply, and return what is to be recorded.

        ``outcome``: how the call ended, if the caller knows: the client left, or the application failed; else ``None``.
        An end that the provider itself reported takes precedence, because clients disconnect when they see it. May be
        called again after more pieces arrived. Raises ``MalformedRequest`` when the request was not parsed before and
        is invalid.
        """
        request, collector = self.request, self.collector
        reply = collector.read(stream=request.stream)
        if reply is not None and outcome is not None and not (reply.error or reply.finish_reason):
            reply = replace(reply, outcome=outcome)
        return ClosedExchange(request, reply, collector.is_complete(reply), collector.reasons())


def open_exchange(
    dialect: Dialect,
    headers: Headers,
    body: bytes,
    settings: Settings,
    *,
    path: str = "",
    session_id: str | None = None,
    known: KnownRequests | None = None,
) -> ChatExchange:
    """Return the ``ChatExchange`` of a request, whose session has been looked up: ``ChatExchange.key`` names it.

    - ``dialect``: the API format of the request. ``path``: the request's path, in which some dialects name the model.
    - ``session_id``: overrides the session that headers and body name; ``None``: they name it.
    - ``known``: cache of recent requests; ``None``: no cache.

    Raises ``MalformedRequest`` when the session must be looked up in a body that is not a chat request.
    """
    exchange = ChatExchange(dialect, by_name(headers), body, settings, path=path, session_id=session_id, known=known)
    exchange.find_session()
    return exchange


def _ways(rewrite: Rewrite | None) -> list[Rewrite]:
    """Return the rewrites to try in order: ``rewrite``, then the same without its reminder, because the reminder must
    not make a request longer than the client's."""
    if rewrite is None:
        return []
    return [rewrite] if rewrite.reminder is None else [rewrite, replace(rewrite, reminder=None)]


@dataclass(frozen=True, slots=True)
class ClosedExchange:
    """A finished call to a model, as it is recorded in the session.

    - ``request``: the client's own request, before any rewriting.
    - ``reply``: ``None`` if the response cannot be parsed (another content type, or an unknown encoding). A reply
      without a message stands for a response that failed.
    - ``settled``: false if the end of the reply was not received, so that the rest may still arrive.
    - ``reasons``: why less was recorded than was sent; empty: nothing is missing.
    """

    request: ChatRequest
    reply: Reply | None
    settled: bool
    reasons: tuple[Reason, ...] = ()
