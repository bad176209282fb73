"""The page that compares a request to the model before and after this package changed it. One side is the client's
transcript. The other side has the resume block, which replaced old messages in a cut, and the reminder: facts and
quotations appended to the newest message.

A session that was only recorded by hooks, by an import or by ``SessionMemory.record`` has messages but no requests; for
it, the page explains that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.context.tokens import MessageCounter, ModelCounters
from tokenmizer_mw.context.window import budget_for
from tokenmizer_mw.model.event import Checkpointed, Reminded
from tokenmizer_mw.model.message import Role, Written
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.outdated_block import find_renewed_blocks

from .caches import title_of
from .markup import (
    Markup,
    card,
    fact_link,
    figure_list,
    filter_form,
    format_count,
    join_markup,
    link,
    message_link,
    nothing,
    quote_line,
    select_field,
    tag,
    to,
    type_of,
)
from .page import Page, PageRequest, session_page

ROWS: Final = 60
"""Maximum number of messages that each side lists; the newest ones are listed."""

LINE_MAX: Final = 160
"""Maximum number of characters that are shown of each listed message."""

CUTS: Final = 100
"""Maximum number of cuts that the form offers; the newest ones are offered. In a cut, a resume block replaces old
messages."""


@dataclass(frozen=True, slots=True)
class RequestView:
    """The content of the page about one request.

    - ``title``: the goal of the session, "" if it has none.
    - ``cuts``: the session's cuts (in each, a resume block replaced old messages), oldest first. ``cut``: the selected
      one, ``None`` without cuts.
    - ``answers``: numbers of the messages that answer those requests after the cut which had a reminder.
    - ``answer``: number of the message that answers the shown request.
    - ``reminder``: the reminder in the request (facts and quotations appended to the newest message), ``None`` for
      none. ``facts``: the facts that it states.
    - ``numbers``: numbers of the messages in the request.
    - ``unseen``: set if only messages of the session were recorded and no request; otherwise ``None``.
    """

    title: str
    cuts: Sequence[Checkpointed]
    cut: Checkpointed | None
    answers: Sequence[int]
    answer: int
    reminder: Reminded | None
    facts: Sequence[Node]
    numbers: frozenset[int]
    unseen: MessagesOnly | None


def show_request(request: PageRequest) -> Page:
    """Return the page about one request. If the query's ``turn`` is the number of a message that answers a request with
    a reminder (text appended to the newest message), it is that request. Otherwise, it is the first request after the
    cut (old messages replaced by a resume block) that ``cut`` in the query names, by default the newest cut."""
    number = request.query.get("turn", "")
    wanted = int(number) if number.isdecimal() and len(number) < 9 else 0

    all_ = request.memory.messages(request.id, tenant=request.tenant)
    is_answered = bool(all_) and all_[-1].message.role is Role.ASSISTANT
    last = all_[-1].number + (not is_answered) if all_ else 1

    def look(state: SessionState) -> RequestView:
        return _view_request(state, request.query.get("cut", ""), wanted, last)

    found = request.memory.view(request.id, look, tenant=request.tenant)
    messages = [one for one in all_ if one.number in found.numbers]
    shown = _nothing_cut(request, found) if found.cut is None else _sides(request, found, found.cut, messages)
    choice = _choice(request, found) if found.cuts else None
    return session_page(request, "request", found.title, choice, shown, name="Requests")


def _view_request(state: SessionState, name: str, number: int, last: int) -> RequestView:
    """Return the content of the page about the request that message ``number`` answers, if that request had a reminder
    (text appended to the newest message) after the cut ``name`` (old messages replaced by a resume block). Otherwise,
    it is about the first request after that cut.

    ``last``: number of the newest message that answers a request. A question that a client sent again after it was
    answered has no answer of its own.
    """
    cuts = [mark.checkpoint for mark in state.checkpoints if mark.checkpoint.anchor]
    cut = next((one for one in cuts if one.id == name), cuts[-1] if cuts else None)
    of_cut = {min(one.turn, last): one for one in state.recent_reminders if cut is not None and one.cut == cut.id}
    answer = number if number in of_cut or cut is None else min(cut.turn + 1, last)
    reminder = of_cut.get(answer)
    facts = [node for id in reminder.nodes if (node := state.graph.get(id))] if reminder is not None else []
    numbers = _path(state, answer - 1)
    return RequestView(title_of(state), cuts, cut, [*of_cut], answer, reminder, facts, numbers, messages_only(state))


def _path(state: SessionState, newest: int) -> frozenset[int]:
    """Return the numbers of message ``newest`` and of all messages before it in the same branch of the chat. A chat has
    branches if the client went back and continued differently."""
    found, place = set(), min(newest, len(state.transcript)) - 1
    while place >= 0:
        found.add(place + 1)
        place = state.transcript.parents[place]
    return frozenset(found)


def _nothing_cut(request: PageRequest, found: RequestView) -> Markup:
    if found.unseen is not None:
        return tag("section", explain_no_requests(request, found.unseen), class_="card")
    text = "Nothing was cut: requests go out as the client writes them."
    return tag("section", nothing(text), tag("p", describe_fill(request), class_="hint"), class_="card")


def describe_fill(request: PageRequest) -> str:
    """Return a text for people: how many tokens the session's messages have, and above how many tokens a request is
    cut."""
    settings = request.memory.settings
    calls = request.memory.list_usage(request.id, limit=1, tenant=request.tenant)
    model = calls[0].model if calls else ""
    window = budget_for(model, settings)
    counter = ModelCounters(settings.tokenizer_dir).of(model)
    messages = request.memory.messages(request.id, tenant=request.tenant)
    tokens = _tokens(counter, [one for one in messages if not one.archived])
    full = int(window * settings.cut_at)
    if settings.context_window is not None:
        whose = "of the setting context_window"
    else:
        whose = f"of {model}" if model else "that is assumed where the model is not known here"
    earlier = " (earlier where a cut saves money)" if settings.cut == "economy" else ""
    return (
        f"The messages have {format_count(tokens, 'token')}, {tokens / full:.0%} of the {full:,} above which a"
        f" request is cut{earlier}: {settings.cut_at:.0%} of the window of {window:,} tokens {whose}."
        " The system prompt and the tools of a request count, too."
    )


def _choice(request: PageRequest, found: RequestView) -> Markup:
    chosen = found.cut.id if found.cut is not None else ""
    cuts = found.cuts[-CUTS:][::-1]
    renewed = find_renewed_blocks(found.cuts)
    anew = {one.id: ", block made anew" if one.id in renewed else "" for one in cuts}
    options = [(one.id, f"{one.id}, at message {one.turn}{anew[one.id]}") for one in cuts]
    answers = [(str(number), f"answered by message {number}") for number in sorted({*found.answers, found.answer})]
    return filter_form(
        "request",
        {"id": request.id},
        select_field("cut", "Cut", options, chosen),
        select_field("turn", "Request", answers, str(found.answer)),
        tag("button", "Show"),
    )


def _sides(request: PageRequest, found: RequestView, cut: Checkpointed, messages: Sequence[Written]) -> Markup:
    counter = ModelCounters(request.memory.settings.tokenizer_dir).of("")
    left_out = {one.number for one in messages if one.number < cut.anchor_turn and one.message.role is not Role.SYSTEM}
    shown = [one for one in messages if one.number not in left_out]
    reminded = found.reminder.tokens if found.reminder is not None else 0
    before, after = _tokens(counter, messages), _tokens(counter, shown) + cut.tokens + reminded
    client = card(
        "As the client had it",
        _sum(len(messages), before),
        _list_messages(request, counter, messages, left_out),
        id="before",
    )
    model = card(
        "As the model received it",
        _sum(len(shown), after),
        _block(request, cut, len(left_out)),
        _list_messages(request, counter, shown, ()),
        _reminder(request, found, messages),
        id="after",
    )
    note = tag("p", "Tokens are counted here, without tools and whatever else a request holds.", class_="hint")
    jump = tag("p", link("#after", "As the model received it"), class_="hint jump")  # shown on narrow screens
    return join_markup(note, jump, tag("div", client, model, class_="beside"))


def _tokens(counter: MessageCounter, messages: Sequence[Written]) -> int:
    return sum(counter.counts(one.message for one in messages))


def _sum(messages: int, tokens: int) -> Markup:
    return figure_list(((f"{messages:,}", "messages"), (f"{tokens:,}", "tokens")))


def _list_messages(
    request: PageRequest, counter: MessageCounter, messages: Sequence[Written], gone: set[int] | tuple[()]
) -> list[Markup]:
    listed = messages[-ROWS:]
    rows = [_line(request, counter, one, one.number in gone) for one in listed]
    more = len(messages) - len(listed)
    earlier = tag("p", f"{format_count(more, 'earlier message')}, not listed here", class_="hint") if more else None
    return [join_markup(earlier, tag("ol", rows, class_="lines"))]


def _line(request: PageRequest, counter: MessageCounter, written: Written, gone: bool) -> Markup:
    message = written.message
    return tag(
        "li",
        tag("span", message.role.value, class_="who"),
        message_link(request.id, written.number),
        tag("span", f"{counter.count(message):,} tokens", class_="turn"),
        tag("span", "left out", class_="badge") if gone else None,
        tag("p", quote_line(_begin(written))),
        class_="left-out" if gone else None,
    )


def _begin(written: Written) -> str:
    """Return the beginning of a message's text or of its tool results. If there is none, the names of the tools that it
    calls, or else "no text"."""
    message = written.message
    text = flatten(message.text or " ".join(one.text for one in message.tool_results), LINE_MAX)
    calls = ", ".join(call.name for call in message.tool_calls)
    return text or (f"calls {calls}" if calls else "no text")


def _block(request: PageRequest, cut: Checkpointed, count: int) -> Markup:
    head = tag("h3", f"Resume block for {format_count(count, 'message')}, {format_count(cut.tokens, 'token')}")
    then = link(to("compare", id=request.id, to=cut.id), "what held then")
    text = tag("pre", cut.block, class_="block", tabindex="0", aria_label="The block as it was sent", dir="auto")
    return join_markup(head, text, tag("p", then, class_="hint"))


def _reminder(request: PageRequest, found: RequestView, messages: Sequence[Written]) -> Markup | None:
    reminder = found.reminder
    if reminder is None:
        return None
    facts = [tag("li", type_of(node), fact_link(request.id, node)) for node in found.facts]
    texts = {one.number: _begin(one) for one in messages}
    quoted = [
        tag("li", "quoted ", message_link(request.id, number), tag("p", quote_line(texts.get(number, ""))))
        for number in reminder.messages
    ]
    head = tag("h3", f"Reminder behind the newest message, {format_count(reminder.tokens, 'token')}")
    note = tag("p", "Its text is not kept: these facts and passages were in it.", class_="hint")
    return tag("div", head, note, tag("ul", facts, quoted, class_="facts"), id="reminder")


_SEEN_NONE: Final = (
    "No request of this session was seen: hooks, an import or memory.record stored its messages. Cuts, reminders and"
    " cost belong to requests."
)


@dataclass(frozen=True, slots=True)
class MessagesOnly:
    """What is known of a session with messages but without requests. ``checkpoints``: how many it has. ``message``:
    number of the newest message at the last checkpoint, 0 if there is none."""

    checkpoints: int = 0
    message: int = 0


def messages_only(state: SessionState) -> MessagesOnly | None:
    """Return what is known of a session of which this package has seen no request. ``None`` if it has seen one, or if
    old messages were replaced by a resume block."""
    if state.outcomes or state.cut is not None:
        return None
    last = state.checkpoints[-1].checkpoint.turn if state.checkpoints else 0
    return MessagesOnly(len(state.checkpoints), last)


def explain_no_requests(request: PageRequest, found: MessagesOnly) -> Markup:
    """Return a text for people: why the session has no requests to show, when the coding agent compacted its chat
    (``found``), and how to see requests in the future."""
    return join_markup(nothing(_SEEN_NONE), _mention_compactions(request, found), _suggest_proxy())


def _mention_compactions(request: PageRequest, found: MessagesOnly) -> Markup:
    if not found.checkpoints:
        return tag("p", "A compaction by an agent itself leaves no trace here without hooks.", class_="hint")
    marks = link(to("history", id=request.id), format_count(found.checkpoints, "checkpoint"))
    place = message_link(request.id, found.message) if found.message else "the beginning"
    return tag(
        "p",
        *("Hooks set a checkpoint before each compaction of the agent; this session has ", marks),
        *(", the last one at ", place, "."),
        class_="hint",
    )


def _suggest_proxy() -> Markup:
    return tag(
        "p",
        *("To see an agent's requests and what they cost, let it use the proxy: ", tag("code", "tokenmizer-mw serve")),
        ".",
        class_="hint",
    )
