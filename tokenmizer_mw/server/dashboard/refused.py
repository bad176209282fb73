"""Error pages: why a page is not shown, in one sentence, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .asked import Page
from .frame import trouble
from .markup import tag
from .words import link

_WHY: Final[Mapping[str, tuple[int, str, str]]] = {
    "host": (
        421,
        "Not known by this name",
        "The dashboard does not answer for the host that the request names: its owner can add it to hosts.",
    ),
    "afar": (
        403,
        "Only for this machine",
        "Without a token the dashboard answers this machine alone: give it a token, or authorize.",
    ),
    "nowhere": (404, "Nothing here", "There is no such page."),
    "method": (405, "Not like this", "This page does not take such a request."),
    "foreign": (403, "Not from here", "The request comes from a page that is not part of the dashboard."),
    "form": (400, "Not readable", "The form or the address could not be read."),
    "stale_form": (
        403,
        "This form is too old",
        "Nothing was changed: go back, load the page again, and repeat it there. The browser must take cookies.",
    ),
    "unauthorized": (401, "Who are you?", "The application around the dashboard did not say who asks."),
    "forbidden": (403, "Not allowed", "You may not do this with these sessions."),
    "no_verdict": (503, "Not now", "Who asks cannot be told at the moment: try again in a few seconds."),
    "too_many": (429, "Too many tries", "There were too many wrong tries: wait a minute."),
    "fault": (500, "Something went wrong here", "Nothing was changed that is not shown: load the page again."),
}
"""By a name of ours: the status, a heading and a sentence."""


class PageRefusal(Exception):
    """Raised to answer a request with the error ``page``."""

    def __init__(self, page: Page) -> None:
        super().__init__(page.title)
        self.page = page


def failure(name: str, status: int = 0, sentence: str = "") -> PageRefusal:
    """Return the error of that name. A name that is not in the table becomes "problem", with ``status`` and
    ``sentence``."""
    if name in _WHY:
        status, title, sentence = _WHY[name]
    else:
        title = "There is no such thing" if status == 404 else "That did not work"
    back = tag("p", link("./", "To the sessions", class_="button"))
    return PageRefusal(Page(title, trouble(title, sentence, back), status=status))


def page_of(refused: PageRefusal) -> Page:
    """Return the error page."""
    return refused.page
