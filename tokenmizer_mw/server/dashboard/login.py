"""The sign-in page."""

from __future__ import annotations

from typing import Final

from .asked import FORM_FIELD, Page
from .markup import tag
from .table import NAMES
from .words import to

_BACK_MAX: Final = 1_000


def page(asks: str, form_token: str, back: str, *, wrong: bool = False) -> Page:
    """Return the form for the token or API key.

    ``back``: where to go after sign-in; ``wrong``: true after a failed attempt.
    """
    hint = {
        "token": "The token is what whoever started the dashboard was shown, or has set.",
        "API key": "The API key of the server that you use; it begins with tmz_ and needs the scope read.",
    }[asks]
    field = tag(
        "input",
        type="password",
        name="secret",
        id="secret",
        autocomplete="current-password",
        required=True,
        autofocus=True,
        spellcheck="false",
        aria_describedby="hint wrong" if wrong else "hint",
        aria_invalid="true" if wrong else None,
    )
    form = tag(
        "form",
        tag("input", type="hidden", name=FORM_FIELD, value=form_token),
        tag("input", type="hidden", name="next", value=back[:_BACK_MAX]),
        tag("label", asks[0].upper() + asks[1:], for_="secret"),
        field,
        tag("p", f"That {asks} is not known.", id="wrong", class_="wrong", role="alert") if wrong else None,
        tag("p", hint, id="hint", class_="hint"),
        tag("button", "Sign in", class_="main"),
        method="post",
        action="login",
        id="login",
        class_="card login",
    )
    title = tag("h1", "What the memory believes")
    body = tag("div", title, tag("p", "Sign in to look at sessions.", class_="lead"), form, class_="narrow")
    return Page("Sign in", body, status=401 if wrong else 200)


def address(back: str) -> str:
    """Return the address of the sign-in page that leads to ``back``."""
    return to("login", next=back[:_BACK_MAX])


def inside(back: str) -> str:
    """Return where to go after sign-in: always a page of the dashboard."""
    name, mark, query = back.partition("?")
    known = name in NAMES and name.isalpha() and query.isascii() and query.isprintable()
    return f"{name}{mark}{query}" if known else "./"
