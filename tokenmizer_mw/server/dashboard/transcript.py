"""The transcript page: the messages of a session word for word. Passages are links to the facts that were derived from
them."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.graph.explanation import qualify_replacement
from tokenmizer_mw.graph.export.appearance import TYPES
from tokenmizer_mw.model.event import Checkpointed, Reminded
from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.model.node import Node, Transition
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import SessionState

from .caches import title_of
from .markup import (
    Markup,
    fact_link,
    format_count,
    hidden_fields,
    join_markup,
    link,
    moment,
    nothing,
    page_links,
    select_field,
    status_of,
    tag,
    to,
    type_of,
)
from .page import Page, PageRequest, session_page

TEXT_MAX: Final = 12_000
"""Maximum number of characters of a message that are shown in the list. A link leads to the rest."""

WHOLE_MAX: Final = 1_000_000
"""Maximum number of characters of a message that is shown alone on the page."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_SHOWN: Final = frozenset("\n\t\u200d")


def visible(text: str) -> str:
    """Return ``text`` without characters that are not seen: control, format, private-use and unassigned ones. Line ends
    (as "\\n"), tabs, and the zero-width joiner that combines emoji stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(char for char in text if char in _SHOWN or unicodedata.category(char) not in _HIDDEN)


def mark_passages(session_id: str, text: str, nodes: Iterable[Node], limit: int = TEXT_MAX) -> Markup:
    """Return the first ``limit`` characters of a message's ``text`` as HTML. Each passage from which one of the facts
    ``nodes`` was derived is marked, and is a link to the page of that fact.

    Of overlapping passages, only the one that begins first is marked.
    """
    pieces: list[Markup | str] = []
    done = 0
    for start, end, node in _passages(text, nodes):
        if start < done or start >= limit:
            continue
        pieces += [visible(text[done:start]), _mark(session_id, text[start : min(end, limit)], node)]
        done = min(end, limit)
    return tag("bdi", join_markup(*pieces, visible(text[done:limit])))


def _mark(session_id: str, words: str, node: Node) -> Markup:
    name = f"{TYPES[node.type].word}: {flatten(node.label)}"
    address = to("fact", id=session_id, node=node.id)
    return tag("mark", link(address, visible(words), title=name, class_=f"tm-type-{node.type.value}"))


def _passages(text: str, nodes: Iterable[Node]) -> list[tuple[int, int, Node]]:
    """Return start, end and fact of each passage of ``text`` from which a fact was derived, in order. Spaces around the
    passage are not included. Facts whose words are not in ``text`` are left out."""
    return sorted(_spans(text, nodes), key=lambda found: (found[0], -found[1], found[2].id))


def _spans(text: str, nodes: Iterable[Node]) -> Iterator[tuple[int, int, Node]]:
    for node in nodes:
        start, end = node.source.span or _find_quote(text, node.source.quote)
        words = text[start:end]
        start += len(words) - len(words.lstrip())
        end = start + len(words.strip())
        if 0 <= start < end:
            yield start, end, node


def _find_quote(text: str, quote: str) -> tuple[int, int]:
    at = text.find(quote) if quote else -1
    return (at, at + len(quote)) if at >= 0 else (0, 0)


PER_PAGE: Final = 40

ALONE_MIN: Final = 10
"""Minimum number of messages on the last page. If fewer are left, they are added to the page before."""

FIND_MAX: Final = 200
"""Maximum number of characters of a text to search messages for."""

PREVIEW_MAX: Final = 90
"""Maximum number of characters of a tool call or a tool's result that are shown before it is unfolded."""

TOOL_MAX: Final = 4_000
"""Maximum number of characters of a tool call or a tool's result that are shown after it is unfolded."""


@dataclass(frozen=True, slots=True)
class MessageIndex:
    """What the transcript page shows in addition to the messages.

    - ``title``: the goal of the session, "" if it has none. ``seq``: number of its newest event.
    - ``facts``: number of a message -> facts derived from it.
    - ``steps``: number of a message -> replacements of facts that it caused, each with the old and the new fact
      (``None`` if that was removed).
    - ``cuts``: number of a message -> cuts in which a resume block replaced the messages before it.
    - ``reminders``: number of a message -> reminder (text appended to the newest message) in the request that it
      answers.
    """

    title: str
    seq: int
    facts: Mapping[int, Sequence[Node]]
    steps: Mapping[int, Sequence[tuple[Transition, Node | None, Node | None]]]
    cuts: Mapping[int, Sequence[Checkpointed]]
    reminders: Mapping[int, Reminded]


def index_messages(state: SessionState) -> MessageIndex:
    """Return what the transcript page shows in addition to the messages, for the session with this ``state``."""
    graph = state.graph
    facts: dict[int, list[Node]] = defaultdict(list)
    steps: dict[int, list[tuple[Transition, Node | None, Node | None]]] = defaultdict(list)
    cuts: dict[int, list[Checkpointed]] = defaultdict(list)
    for node in graph.nodes():
        if not node.source.is_by_hand:
            facts[node.source.turn].append(node)
    for step in graph.transitions():
        steps[step.trigger].append((step, graph.get(step.old), graph.get(step.new)))
    for mark in state.checkpoints:
        if mark.checkpoint.anchor:
            cuts[mark.checkpoint.anchor_turn].append(mark.checkpoint)
    reminders = {one.turn: one for one in state.recent_reminders}
    return MessageIndex(title_of(state), state.seq, facts, steps, cuts, reminders)


def show_transcript(request: PageRequest) -> Page:
    """Return the transcript page, by default with the newest messages. With ``message`` in the query, it is the page
    with that message. With ``q`` or ``role``, only messages that contain this text, or have this role, are listed."""
    found = request.memory.view(request.id, index_messages, tenant=request.tenant)
    messages = request.memory.messages(request.id, tenant=request.tenant)
    words = flatten(request.query.get("q", ""), FIND_MAX)
    role = request.query.get("role", "")
    fitting = [one for one in messages if _fits(one.message, words, role)]
    shown, number, last = _page_of(request, fitting)
    alone = len(shown) == 1 and request.query.get("whole") == "1"
    limit = WHOLE_MAX if alone else TEXT_MAX
    rows = [_message(request, found, written, limit) for written in shown]
    query = {"id": request.id, "q": words, "role": role}
    return session_page(
        request,
        "transcript",
        found.title,
        _tools(request, words, role),
        tag("p", _describe_count(shown, len(fitting), len(messages), words or role), class_="hint"),
        tag("ol", rows, class_="messages", id="messages", data_live=True) if rows else nothing("No message matches."),
        page_links(number, last, "Pages of the transcript", ("Earlier", "Later"), "transcript", **query),
        name="Transcript",
        seq=found.seq if number == last and not words else None,
    )


def _describe_count(shown: Sequence[Written], fitting: int, all_: int, chosen: str) -> str:
    if chosen:
        return f"{fitting:,} of {format_count(all_, 'message')}, the oldest first."
    if len(shown) < 2:
        return format_count(all_, "message") + "."
    return f"Messages {shown[0].number:,} to {shown[-1].number:,} of {all_:,}, the oldest first."


def _fits(message: Message, words: str, role: str) -> bool:
    if role and message.role.value != role:
        return False
    texts = (message.text, *(result.text for result in message.tool_results))
    return not words or any(words.casefold() in text.casefold() for text in texts)


def _page_of(request: PageRequest, messages: Sequence[Written]) -> tuple[Sequence[Written], int, int]:
    """Return three values: the messages of the page that the query asks for, the number of that page, and the number of
    the last page.

    By default it is the last page; with ``message`` in the query, the page with that message, or only that message if
    ``whole`` is "1". If fewer than ``ALONE_MIN`` messages are left for a page of their own, they are added to the page
    before.
    """
    last = max(1, len(messages) // PER_PAGE + (len(messages) % PER_PAGE >= ALONE_MIN))
    number = _natural(request.query.get("page", "")) or last
    if wanted := _natural(request.query.get("message", "")):
        if request.query.get("whole") == "1":
            return [one for one in messages if one.number == wanted], 1, 1
        number = sum(one.number < wanted for one in messages) // PER_PAGE + 1
    number = min(number, last)
    end = number * PER_PAGE if number < last else len(messages)
    return messages[(number - 1) * PER_PAGE : end], number, last


def _natural(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0


def _tools(request: PageRequest, words: str, role: str) -> Markup:
    roles = [("", "Everybody"), *((one.value, one.value.capitalize()) for one in Role)]
    return tag(
        "form",
        hidden_fields({"id": request.id}),
        tag(
            "label",
            tag("span", "Words of a message"),
            tag("input", type="search", name="q", value=words, maxlength=FIND_MAX),
            class_="field",
        ),
        select_field("role", "Said by", roles, role),
        tag("button", "Find"),
        link(to("transcript", id=request.id), "Show all", class_="quiet") if words or role else None,
        method="get",
        action="transcript",
        class_="filters",
        role="search",
    )


def _message(request: PageRequest, found: MessageIndex, written: Written, limit: int) -> list[Markup]:
    """Return the list items of a message: the cuts before it (old messages replaced by a resume block), the reminder
    (text appended to the newest message) in the request that it answers, and the message itself, with at most ``limit``
    characters of its text."""
    number, message = written.number, written.message
    nodes = found.facts.get(number, ())
    head = tag(
        "p",
        tag("strong", message.role.value),
        link(f"{to('transcript', id=request.id, message=number)}#m{number}", f"message {number}", class_="turn"),
        tag("span", "archived", class_="badge") if written.archived else None,
        moment(written.recorded_at, request.now),
        class_="said-by",
    )
    text = message.text or message.refusal
    words = (
        tag("div", mark_passages(request.id, text, nodes, limit), class_="words", dir="auto") if text.strip() else None
    )
    row = tag(
        "li",
        head,
        words,
        _link_rest(request, number, len(text) - limit),
        _traffic(message),
        _link_facts(request, found, number, nodes),
        id=f"m{number}",
        class_=f"message by-{message.role.value}",
    )
    return [
        *(_cut(cut) for cut in found.cuts.get(number, ())),
        *_render_reminder(request, found.reminders.get(number)),
        row,
    ]


def _link_rest(request: PageRequest, number: int, count: int) -> Markup | None:
    if count <= 0:
        return None
    address = f"{to('transcript', id=request.id, message=number, whole=1)}#m{number}"
    return tag("p", link(address, f"{count:,} more characters"), class_="hint")


def _traffic(message: Message) -> list[Markup]:
    """Return the tool calls and tool results of a message, each hidden until it is unfolded, and the kinds of what was
    attached to the message."""
    calls = [_render_folded(f"Calls {call.name}", call.arguments) for call in message.tool_calls]
    results = [
        _render_folded("Error of a tool" if one.is_error else "Result of a tool", one.text)
        for one in message.tool_results
    ]
    attached = [tag("p", f"Attached: {', '.join(message.attachments)}", class_="hint")] if message.attachments else []
    return calls + results + attached


def _render_folded(title: str, text: str) -> Markup:
    more = f"\n... {len(text) - TOOL_MAX:,} more characters" if len(text) > TOOL_MAX else ""
    shown = tag("pre", visible(text[:TOOL_MAX]), more, tabindex="0", dir="auto")
    return tag("details", tag("summary", flatten(title), " ", tag("small", _preview(text), class_="preview")), shown)


def _preview(text: str) -> str:
    """Return the beginning of a text on one line, followed by the length of the text if it is longer than that."""
    begin = flatten(text[: 4 * PREVIEW_MAX], PREVIEW_MAX)
    return begin if len(text) <= PREVIEW_MAX else f"{begin} ({format_count(len(text), 'character')})"


def _link_facts(request: PageRequest, found: MessageIndex, number: int, nodes: Sequence[Node]) -> Markup | None:
    rows = [tag("li", type_of(node), fact_link(request.id, node), status_of(node)) for node in nodes]
    for _, old, new in found.steps.get(number, ()):
        if old is not None and new is not None:
            word = tag("span", qualify_replacement(new, "replaced"), class_="type")
            rows.append(tag("li", word, fact_link(request.id, old), class_="gone"))
    return tag("ul", rows, class_="facts led-to", aria_label=f"Facts of message {number}") if rows else None


def _cut(cut: Checkpointed) -> Markup:
    what = (
        f"the block stands for {format_count(cut.dropped, 'message')} above" if cut.dropped else "a compacted history"
    )
    return tag("li", f"{cut.id}, a cut: {what}", class_="cut-here")


def _render_reminder(request: PageRequest, reminder: Reminded | None) -> list[Markup]:
    if reminder is None:
        return []
    address = to("request", id=request.id, cut=reminder.cut, turn=reminder.turn)
    text = f"This request carried a reminder of {format_count(reminder.tokens, 'token')}"
    return [tag("li", link(address, text), class_="reminded-here")]
