"""Page that erases a session, after a confirmation."""

from __future__ import annotations

from tokenmizer_mw.errors import CallerError, UnknownSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.erasure import erase
from tokenmizer_mw.session import SessionState

from .asked import Page, PageRequest, See
from .frame import session_head
from .markup import join_markup, tag
from .titles import title_of
from .words import format_count, link, quote_line, to


def page(asked: PageRequest) -> Page:
    """Return the confirmation page."""

    def look(state: SessionState) -> tuple[str, int, int]:
        return title_of(state), len(state.transcript), len(state.graph)

    title, messages, facts = asked.memory.view(asked.id, look, tenant=asked.tenant)
    form = asked.form_of(
        "forget",
        tag("label", tag("input", type="checkbox", name="sure", value="yes", required=True), " Yes, erase it"),
        tag(
            "div",
            tag("button", "Erase for good", class_="danger"),
            link(to("session", id=asked.id), "Keep it", class_="button"),
            class_="actions",
        ),
        id=asked.id,
    )
    text = (
        f"Its {format_count(messages, 'message')} and {format_count(facts, 'fact')} are taken out of the store."
        " Backups that were made before keep them. This cannot be undone."
    )
    question = tag("h2", "Erase ", quote_line(asked.id), "?")
    body = join_markup(
        session_head(asked, "", title), tag("section", question, tag("p", text), form, class_="card narrow")
    )
    return Page(f"Erase {asked.id}", body, "", asked.id)


def forget(asked: PageRequest) -> See:
    """Erase the session that the form names, if the form confirms it."""
    if asked.form.get("sure") != "yes":
        raise CallerError("nothing was erased: tick the box to say that you are sure")
    gone = erase(asked.memory, asked.id, tenant=asked.tenant)
    asked.kept.titles.forget(asked.tenant, asked.id)
    asked.kept.pasts.forget(SessionKey(asked.tenant, asked.id))
    if not gone.events:
        raise UnknownSession
    return See(to("", done="forget"))
