"""Every error that tokenmizer-mw raises on purpose.

    TokenMizerError
    |-- CallerError             the code that calls us passed something unusable
    |   |-- UnknownSession      no such session in this tenant
    |   |-- UnknownNode         no fact of the session, or more than one, matches
    |   |-- InvalidMessage      a message that cannot be read
    |   |-- InvalidSession      a session id or tenant that is not a text of 1 to 256 printable characters
    |   `-- BudgetTooSmall      a token budget that cannot hold even an empty resume block
    |-- ConfigError             a setting, a store address or a configuration file is wrong
    |-- StoreError              the disk, the database or its contents
    |   |-- StoreUnavailable    cannot be opened, read or written now (missing, read-only, full, locked)
    |   |-- StoreCorrupt        opened, but what is in it cannot be read
    |   |-- StoreTooNew         written by a newer version of tokenmizer-mw
    |   `-- Conflict            somebody else appended first: re-read and try again
    `-- PeerError               the other side of a chat call sent something unusable
        |-- MalformedRequest    a request body that breaks its dialect (the API format of its path)
        |-- Untranslatable      a request that the provider's API format cannot express
        |-- ForeignReply        a provider's reply that cannot be used
        |-- ModelFailed         a model that was asked about a session gave nothing usable
        `-- RequestBlocked      the guard refuses a request, because the settings say so

Each class says whose fault it is in ``fault``: "caller", "config", "store" or "peer". While a chat call passes through
this package, none of these reaches the application: the call goes on, without the step that failed or with the original
bytes, and a counter gives the reason. ``RequestBlocked`` is the exception: clients get it as a response.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

Fault = Literal["caller", "config", "store", "peer"]


class TokenMizerError(Exception):
    """Base of all errors of this package. ``fault``: whose fault it is, "caller", "config", "store" or "peer" (the
    client or the provider of a chat call)."""

    fault: ClassVar[Fault] = "caller"


class CallerError(TokenMizerError):
    """The calling code passed an argument that cannot be used."""


class UnknownSession(CallerError):
    """The session has no stored events in this tenant: it was never recorded, was erased, or belongs to another
    tenant."""


class UnknownNode(CallerError):
    """No fact, or more than one, matches the given id or text."""


class InvalidMessage(CallerError):
    """A value that was passed as a chat message cannot be parsed as one."""


class InvalidSession(CallerError):
    """A session id or a tenant is not a text of 1 to 256 printable characters, or an object of another kind was passed
    in its place."""


class BudgetTooSmall(CallerError):
    """A token budget is negative, or too small for even an empty resume block."""


class ConfigError(TokenMizerError):
    """A setting, a store address or a configuration file is wrong."""

    fault = "config"


StoreCause = Literal[
    "",
    "closed",
    "damaged",
    "disk_full",
    "disk_unreadable",
    "late",
    "locked",
    "no_access",
    "no_answer",
    "overloaded",
    "read_only",
    "unreachable",
]
"""Why a store failed, in one word for logs, counters and health checks. "closed": this object was closed. "no_access":
the file or directory is missing, or access was denied. "locked": another process holds the lock. "unreachable": no
connection to the database. "late": it did not answer in time. "no_answer": it ended the call, or did not answer before
its deadline. "overloaded": it has too many writers or connections, or no memory left. "": another reason, which the
message says."""


class StoreError(TokenMizerError):
    """A store operation failed.

    ``cause``: the reason in one word, such as "locked"; "" if only the message says it. ``place``: the path of the
    database file, or the database's host and name without any password; "" if unknown.
    """

    fault = "store"

    def __init__(self, message: str = "", *, cause: StoreCause = "", place: str = "") -> None:
        super().__init__(message)
        self.cause = cause
        self.place = place

    def again(self, message: str | None = None) -> Self:
        """Return a new error of the same class with the same cause and place, for raising in another thread.
        ``message`` replaces the message; ``None`` keeps it."""
        return type(self)(str(self) if message is None else message, cause=self.cause, place=self.place)


class StoreUnavailable(StoreError):
    """The store cannot be opened, read or written at the moment, for example because the disk is full or another
    process has locked it."""


class StoreCorrupt(StoreError):
    """The store was opened, but its content cannot be read: it is damaged or is not a store of this package."""


class StoreTooNew(StoreError):
    """The store was written by a newer version of this package."""


class Conflict(StoreError):
    """Another writer appended events to the session after the caller had read it. The caller reads the new events and
    tries again."""


class PeerError(TokenMizerError):
    """The client or the provider of a chat call sent something unusable."""

    fault = "peer"


class MalformedRequest(PeerError):
    """A request body that does not conform to its dialect (the API format of its path)."""


class Untranslatable(PeerError):
    """A request uses a feature that the provider's API format cannot express. ``field``: the path of that feature in
    the client's request. ``reason``: the error message; "" makes one that names ``field``."""

    def __init__(self, field: str, reason: str = "") -> None:
        super().__init__(reason or f"the provider's dialect has no counterpart for {field}")
        self.field = field


class ForeignReply(PeerError):
    """A provider's reply that cannot be used: it breaks the provider's API format, reports an error, is too long, or
    has content that the client's API format cannot express.
    """


class ModelFailed(PeerError):
    """A model that was asked to refine a session (to read its messages and list its facts) returned no usable reply.

    ``again``: whether a retry may help. ``after``: seconds to wait before the retry, if the provider gives them.
    """

    def __init__(self, reason: str, *, again: bool = True, after: float | None = None) -> None:
        super().__init__(reason)
        self.again = again
        self.after = after


class RequestBlocked(PeerError):
    """The prompt-injection guard refused a request because its text looks like an attempt to take over the model.

    ``signals``: names of the attack patterns found. ``body``: the error response for the client, in its API format, to
    be sent with the HTTP status ``STATUS``; empty for a caller that passed messages instead of an HTTP body.
    """

    STATUS: ClassVar = 400
    MESSAGE: ClassVar = "the request was blocked: it reads like an attempt to take over the model"

    def __init__(self, signals: tuple[str, ...] = (), body: bytes = b"") -> None:
        super().__init__(self.MESSAGE)
        self.signals = signals
        self.body = body


def raised_at(error: BaseException) -> str:
    """Return the function and line that raised ``error``, as "name:line"; "?" for an error that was never raised."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f"{frame.tb_frame.f_code.co_name}:{frame.tb_lineno}" if frame is not None else "?"


def name_type(value: object) -> str:
    """Return the name of a value's type with its article, such as "an int", for error messages; "None" for ``None``."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
