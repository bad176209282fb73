"""The input and output types of page functions, and downloads of tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.responses import RedirectResponse, Response

from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.server.access.caller import Caller
from tokenmizer_mw.server.api.health import Health

from .caches import PastGraphs, Summaries
from .markup import Markup, hidden_fields, tag

FORM_FIELD = "form_token"
"""The field by which a form is known to be ours."""


@dataclass(frozen=True, slots=True)
class DashboardState:
    """Caches that a dashboard keeps between requests, all of bounded size."""

    titles: Summaries
    pasts: PastGraphs


@dataclass(frozen=True, slots=True)
class PageRequest:
    """An authorized request. ``form_token`` is put into every form of the page; ``now``: seconds since the epoch."""

    memory: SessionMemory
    caller: Caller
    query: Mapping[str, str]
    form: Mapping[str, str]
    form_token: str
    health: Health
    caches: DashboardState
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
        hidden = hidden_fields({FORM_FIELD: self.form_token, **fields})
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


def redirect(address: str) -> Response:
    """Return a redirect to a relative address."""
    return RedirectResponse(address, 303)


def download(name: str, media: str, text: str) -> Response:
    """Return a file to be saved under ``name``."""
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), headers=disposition, media_type=media)


Records = Sequence[Mapping[str, object]]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell for a formula."""


def csv_file(name: str, records: Records) -> Response:
    """Return records as CSV with a header. Text that a spreadsheet would evaluate as a formula gets a leading
    apostrophe."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(records[0].keys() if records else ())
    writer.writerows([_cell(value) for value in record.values()] for record in records)
    return download(name, "text/csv; charset=utf-8", written.getvalue())


def json_file(name: str, records: Records) -> Response:
    """Return records as a JSON array."""
    text = json.dumps(records, ensure_ascii=False, indent=1)
    return download(name, "application/json", text)


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
