"""A request that was let in, as the work of a page sees it, and what that work gives."""

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
    """What a dashboard keeps between requests, all of it bounded."""

    titles: Summaries
    pasts: Pasts


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Who asks for what. ``form_token`` goes into every form of the page; ``now`` is in seconds since the epoch."""

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
        """Whose sessions."""
        return self.caller.tenant

    @property
    def id(self) -> str:
        """The session that is asked for, "" for none."""
        return self.form.get("id") or self.query.get("id", "")

    def form_of(self, action: str, *children: object, **fields: str | int) -> Markup:
        """A form that changes something, with its token."""
        told = {FORM_FIELD: self.form_token, **fields}
        hidden = [tag("input", type="hidden", name=name, value=value) for name, value in told.items()]
        return tag("form", hidden, *children, method="post", action=action)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Page:
    """A page. ``here`` names the entry of the navigation that it belongs to, ``session_id`` the session that it is
    about; ``live``: the address of the events that renew it, "" for none; ``note``: what was just done."""

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
    """A file to be saved: its name, its media type and its bytes."""

    name: str
    media: str
    body: bytes


@dataclass(frozen=True, slots=True)
class See:
    """Go there: a relative address."""

    address: str
