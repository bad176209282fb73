"""The input and output types of page functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.api.health import Health

from .markup import Markup, tag
from .past import Pasts
from .titles import Summaries

FORM_FIELD = "form_token"
"""The field by which a form is known to be ours."""


@dataclass(frozen=True, slots=True)
class DashboardState:
    """Caches that a dashboard keeps between requests, all of bounded size."""

    titles: Summaries
    pasts: Pasts


@dataclass(frozen=True, slots=True)
class PageRequest:
    """An authorized request. ``form_token`` is put into every form of the page; ``now``: seconds since the epoch."""

    memory: SessionMemory
    caller: Caller
    query: Mapping[str, str]
    form: Mapping[str, str]
    form_token: str
    health: Health
    kept: DashboardState
    now: float

    @property
    def tenant(self) -> str:
        """Tenant of the caller."""
        return self.caller.tenant

    @property
    def id(self) -> str:
        """Id of the requested session; "" if there is none."""
        return self.form.get("id") or self.query.get("id", "")

    def form_of(self, action: str, *children: object, **fields: str | int) -> Markup:
        """Return an HTML form for an action, with its token."""
        told = {FORM_FIELD: self.form_token, **fields}
        hidden = [tag("input", type="hidden", name=name, value=value) for name, value in told.items()]
        return tag("form", hidden, *children, method="post", action=action)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    ``here``: its entry in the navigation; ``session_id``: the session it shows; ``live``: address of the event stream
    that refreshes it, "" for none; ``note``: a message about the action just done.
    """

    title: str
    body: Markup
    here: str = ""
    session_id: str = ""
    live: str = ""
    note: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class File:
    """A file to download: name, media type and content."""

    name: str
    media: str
    body: bytes


@dataclass(frozen=True, slots=True)
class See:
    """A redirect to a relative address."""

    address: str
