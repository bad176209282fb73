"""The search page: facts of one session, or of the most recently active sessions."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.errors import UnknownSession
from tokenmizer_mw.graph.search import SearchHit, former_nodes, search
from tokenmizer_mw.graph.views import edits_in_force
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import SessionState

from .asked import Page, PageRequest
from .frame import heading, session_head
from .markup import Markup, join_markup, tag
from .titles import title_of
from .words import card, fact_link, format_count, link, message_link, nothing, quote_line, status_of, to, type_of

TEXT_MAX: Final = 200
HITS: Final = 20
PER_SESSION: Final = 5
EVENTS_MAX: Final = 1_500
"""Events of the sessions, the newest first, that a search of all looks into."""

SESSIONS_MAX: Final = 20


def page(asked: PageRequest) -> Page:
    """Return the search results."""
    text = flatten(asked.query.get("q", ""), TEXT_MAX)
    if asked.id:
        return _within(asked, text)
    lead = tag("p", "Facts by their words, or by what they are: \u201cdatabase\u201d finds PostgreSQL.", class_="lead")
    found = _everywhere(asked, text) if text else None
    return Page("Search", join_markup(heading("Search", lead), form(asked, text), found), "search")


def form(asked: PageRequest, text: str) -> Markup:
    """Return the search form."""
    where = tag("input", type="hidden", name="id", value=asked.id) if asked.id else None
    return tag(
        "form",
        where,
        tag("label", "Words of a fact", for_="q", class_="visually-hidden"),
        tag("input", type="search", name="q", id="q", value=text, maxlength=TEXT_MAX, placeholder="Words of a fact"),
        tag("button", "Search"),
        method="get",
        action="search",
        class_="find",
        role="search",
    )


def _within(asked: PageRequest, text: str) -> Page:
    def look(state: SessionState) -> tuple[str, list[SearchHit]]:
        former = former_nodes(state.graph, edits_in_force([one.edit for one in state.edits.values()]))
        return title_of(state), search(state.graph, text, k=HITS, former=former) if text else []

    title, hits = asked.memory.view(asked.id, look, tenant=asked.tenant)
    shown = _hits(asked, asked.id, hits) if hits else nothing("Nothing shares words with that." if text else "")
    body = join_markup(session_head(asked, "", title), form(asked, text), tag("section", shown, class_="card"))
    return Page(f"Search - {title or asked.id}", body, "search", asked.id)


def _everywhere(asked: PageRequest, text: str) -> Markup:
    cards, looked_at, left = [], 0, EVENTS_MAX
    for info in asked.memory.log.sessions(asked.tenant, limit=SESSIONS_MAX):
        if info.seq > left:
            continue
        left -= info.seq
        looked_at += 1
        try:
            title, hits = asked.memory.view(
                info.key.id,
                lambda state: (title_of(state), search(state.graph, text, k=PER_SESSION)),
                tenant=asked.tenant,
            )
        except UnknownSession:  # erased meanwhile
            continue
        if hits:
            more = link(to("search", id=info.key.id, q=text), "only here")
            cards.append(card(title or info.key.id, _hits(asked, info.key.id, hits), more=more))
    which = (
        f"Looked into {format_count(looked_at, 'session')} of those last active. Longer and older ones have a search of"
        " their own."
    )
    none = nothing("Nothing shares words with that.") if not cards else None
    return tag("div", none, cards, tag("p", which, class_="hint"))


def _hits(asked: PageRequest, session_id: str, hits: list[SearchHit]) -> Markup:
    rows = [
        tag(
            "li",
            type_of(hit.node),
            fact_link(session_id, hit.node),
            status_of(hit.node.status),
            message_link(session_id, hit.node.source.turn),
            tag("q", quote_line(hit.node.source.quote), class_="quote") if hit.node.source.quote else None,
        )
        for hit in hits
    ]
    return tag("ul", rows, class_="facts found")
