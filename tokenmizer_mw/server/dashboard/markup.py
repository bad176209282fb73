"""Generates HTML: elements with escaped content, and numbers, times, links and facts in the form in which people read
them. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Final
from urllib.parse import urlencode

from tokenmizer_mw.graph.export.appearance import STATUSES, TYPES, name_status
from tokenmizer_mw.model.node import DecisionKind, Node, NodeType, Status
from tokenmizer_mw.safety.labels import flatten


class Markup(str):
    """A text that is HTML already, so that ``tag`` and ``join_markup`` do not escape it."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]
"""Content of an element: ``Markup``, which is not changed; other text and numbers, which are escaped; ``None`` for
nothing; or an iterable of these."""

_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """Return the HTML element ``name``. For example, ``tag("p", "a < b", class_="hint")`` returns '<p class="hint">a
    &lt; b</p>'.

    ``children``: the content of the element. In the names of ``attributes``, underscores become dashes, and one at the
    end is dropped (``class_``). The value ``True`` gives an attribute without a value; ``None`` and ``False`` omit the
    attribute.
    """
    written = "".join(
        f" {_attribute_name(key)}" if value is True else f' {_attribute_name(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join_markup(*children)}</{name}>")


def join_markup(*children: Child) -> Markup:
    """Return ``children``, one after the other, as HTML. Text that is not ``Markup`` is escaped."""
    return Markup("".join(map(_render_child, children)))


def _render_child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return escape(str(child))
    return "".join(map(_render_child, child))


def _attribute_name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


QUOTE_MAX: Final = 1_000
_WIDE: Final = "\u2e80"
"""Characters from this one on mostly belong to scripts without spaces between words, such as Chinese."""
_STEPS: Final = ((60, "second"), (3_600, "minute"), (86_400, "hour"), (86_400 * 60, "day"))
_SIZES: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}


def to(page: str, /, **query: str | int | float | None) -> str:
    """Return the relative address of a page: ``to("fact", id="a", from_=1)`` is "fact?id=a&from=1". The page "" is the
    list of sessions, "./". Parameters that are ``None`` or "" are omitted; an underscore at the end of a name is
    dropped."""
    written = {key.removesuffix("_"): value for key, value in query.items() if value not in (None, "")}
    return f"{page or './'}?{urlencode(written)}" if written else page or "./"


def link(address: str, /, *children: object, **more: str | bool | None) -> Markup:
    """Return an HTML link to ``address``. ``children``: its content, as in ``tag``. ``more``: further attributes."""
    return tag("a", *children, href=address, **more)  # type: ignore[arg-type]


def moment(seconds: float, now: float) -> Markup:
    """Return a time (seconds since the epoch) as an HTML element with a text such as "3 minutes ago". The exact time is
    in the tooltip and, for programs, in an attribute. ``now``: the current time in seconds since the epoch."""
    exact = datetime.fromtimestamp(seconds, UTC)
    return tag(
        "time", ago(now - seconds), datetime=exact.isoformat(timespec="seconds"), title=f"{exact:%Y-%m-%d %H:%M:%S} UTC"
    )


def format_exact_time(seconds: float) -> str:
    """Format a time (seconds since the epoch) as "2026-11-21 14:00:00 UTC"."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def ago(seconds: float) -> str:
    """Format how long ago something was, such as "just now" or "3 minutes ago". ``seconds``: how many seconds ago."""
    if seconds < 2:
        return "just now"
    for limit, unit in _STEPS:
        if seconds < limit:
            return f"{format_count(int(seconds // _SIZES[unit]) or 1, unit)} ago"
    return f"{format_count(int(seconds // 86_400), 'day')} ago"


def format_count(number: int, what: str) -> str:
    """Format a number with a noun: "1 fact", "2 facts". ``what``: the noun in the singular, whose plural ends in
    "s"."""
    return f"{number:,} {what if number == 1 else what + 's'}"


def quote_line(text: str) -> Markup:
    """Return a text of a user or a model as HTML on one line, of at most ``QUOTE_MAX`` characters. Its writing
    direction (for example of Arabic) does not affect the text around it."""
    return tag("bdi", flatten(text, QUOTE_MAX))


def is_repeated(text: str, label: str) -> bool:
    """Return whether ``label`` contains all the words of ``text`` as one passage, ignoring case and punctuation at the
    end, so that a page need not show both. False for an empty ``text``."""
    words = flatten(text).rstrip(".!?\u3002 ").casefold()
    before, found, behind = flatten(label).casefold().partition(words) if words else ("", "", "")
    return bool(found) and not (_ends_in_word(before) or _ends_in_word(behind[:1]))


def _ends_in_word(text: str) -> bool:
    """Return whether the last character of ``text`` belongs to a word. False for an empty text, and for scripts without
    spaces between words."""
    return text[-1:].isalnum() and text[-1:] < _WIDE


def icon(type_: NodeType, *, done: bool = False) -> Markup:
    """Return the icon of a fact type as HTML. Screen readers ignore the icon, so callers must show the type's name
    beside it. ``done``: whether a task is shown as ticked."""
    path = tag("path", d=TYPES[type_].shape(done), class_="tm-icon")
    return tag("svg", path, class_=f"icon tm-type-{type_.value}", viewBox="0 0 20 20", aria_hidden="true")


def type_of(node: Node) -> Markup:
    """Return the icon and the name of a fact's type as HTML, such as "task". For a decision that is no choice, the name
    is that of its kind, such as "rule"."""
    kind = node.kind.value if node.kind not in (None, DecisionKind.CHOICE) else TYPES[node.type].word
    return tag("span", icon(node.type, done=node.status is Status.COMPLETED), kind, class_="type")


def status_of(node: Node) -> Markup:
    """Return a sign and a word for the status of a fact as HTML, such as "replaced"."""
    mark = tag("span", STATUSES[node.status].mark, aria_hidden="true")
    return tag("span", mark, " ", name_status(node), class_=f"status is-{node.status.value}")


def fact_link(session_id: str, node: Node) -> Markup:
    """Return a link to the page of a fact. Its text is the fact's label."""
    return link(to("fact", id=session_id, node=node.id), quote_line(node.label), class_="fact-link")


def origin_link(session_id: str, node: Node) -> Markup:
    """Return a link with the text "message 12" to the message that states a fact. For a fact that was added by hand,
    return the text "by hand"."""
    if node.source.is_by_hand:
        return tag("span", "by hand", class_="turn")
    return message_link(session_id, node.source.turn)


def message_link(session_id: str, number: int) -> Markup:
    """Return a link with the text "message 12" to that message in the transcript. For a number below 1, return the text
    "no message"."""
    if number < 1:
        return tag("span", "no message", class_="turn")
    return link(f"{to('transcript', id=session_id, message=number)}#m{number}", f"message {number}", class_="turn")


def pinned_badge(node: Node) -> Markup | None:
    """Return the badge "pinned" for a pinned fact; ``None`` for any other."""
    return tag("span", "pinned", class_="badge") if node.pinned else None


def nothing(text: str) -> Markup:
    """Return ``text``, such as "No facts yet.", as the paragraph that is shown in place of an empty list."""
    return tag("p", text, class_="nothing")


def hidden_fields(fields: Mapping[str, str | int | None]) -> list[Markup]:
    """Return hidden input elements of a form, one for each of ``fields`` whose value is not ``None``, "" or 0."""
    return [tag("input", type="hidden", name=name, value=value) for name, value in fields.items() if value]


def filter_form(action: str, fields: Mapping[str, str | int | None], *children: Child) -> Markup:
    """Return a form that requests the page ``action`` with the values of its fields as query parameters. ``children``:
    its visible fields. ``fields``: further parameters, which are sent by hidden fields."""
    return tag("form", hidden_fields(fields), *children, method="get", action=action, class_="filters")


def select_field(name: str, title: str, options: Iterable[tuple[str, str]], value: str) -> Markup:
    """Return a drop-down list with the label ``title``. ``name``: name of the form field. ``options``: pairs of a value
    and its text. ``value``: the selected value."""
    given = [tag("option", text, value=key, selected=key == value) for key, text in options]
    return tag("label", tag("span", title), tag("select", given, name=name), class_="field")


def rest_link(count: int, address: str) -> Markup | None:
    """Return a link to ``address`` with a text such as "12 more". ``count``: number of rows that a list leaves out;
    ``None`` is returned if it is 0 or less."""
    return tag("p", link(address, f"{count:,} more"), class_="hint") if count > 0 else None


def figure_list(rows: Iterable[tuple[Child, str]]) -> Markup:
    """Return a row of numbers with their names, such as "12 messages". ``rows``: pairs of a number (as text) and its
    name."""
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for value, name in rows], class_="figures")


def page_links(
    number: int, last: int, label: str, words: tuple[str, str], name: str, **query: str | None
) -> Markup | None:
    """Return links to the pages before and after page ``number`` of ``last``; ``None`` if there is only one page.

    - ``label``: name of the links for screen readers. ``words``: texts of the two links.
    - ``name``, ``query``: the address of the list, as in ``to``.
    """
    if last == 1:
        return None
    before = link(to(name, **query, page=number - 1), words[0], class_="button", rel="prev") if number > 1 else None
    after = link(to(name, **query, page=number + 1), words[1], class_="button", rel="next") if number < last else None
    return tag("nav", before, tag("span", f"Page {number:,} of {last:,}"), after, class_="pages", aria_label=label)


def card(
    title: str,
    *children: object,
    id: str | None = None,
    live: bool = False,
    load: str | None = None,
    more: object = None,
    goal: bool = False,
) -> Markup:
    """Return a section of a page with the heading ``title`` and the content ``children``.

    - ``id``: HTML id of the section. ``more``: content beside the heading.
    - ``live``: whether the browser refreshes the section when the session changes.
    - ``load``: address from which the browser loads the section after the page; ``None`` if the content is complete.
    - ``goal``: whether the heading is a session's goal. It is then formatted like a sentence, so that names of files
      and values keep their spelling.
    """
    head = tag("div", tag("h2", title, class_="goal" if goal else None), more, class_="card-head")  # type: ignore[arg-type]
    return tag("section", head, join_markup(*children), class_="card", id=id, data_live=live, data_load=load)  # type: ignore[arg-type]
