"""The transcript page: messages word for word, with links from passages to the facts derived from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.model.event import Checkpointed, Reminded
from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.model.node import Node, Transition
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session import SessionState

from .asked import Page, PageRequest
from .frame import session_head
from .live import mark_of_session
from .markup import Markup, join_markup, tag
from .passage import TEXT_MAX, WHOLE_MAX, mark_passages, visible
from .titles import title_of
from .words import fact_link, format_count, link, nothing, status_of, to, type_of

PER_PAGE: Final = 40
FIND_MAX: Final = 200
"""Characters of the words that messages are searched for."""

TOOL_MAX: Final = 4_000
"""Characters of a tool call or a tool's result that are shown."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the page shows besides messages: facts, replacements, cuts and reminders by message number."""

    title: str
    seq: int
    facts: Mapping[int, Sequence[Node]]
    steps: Mapping[int, Sequence[tuple[Transition, Node | None, Node | None]]]
    cuts: Mapping[int, Sequence[Checkpointed]]
    reminders: Mapping[int, Reminded]


def index_messages(state: SessionState) -> Spoken:
    """Return what was derived from the messages of a session, by message number."""
    graph = state.graph
    facts: dict[int, list[Node]] = defaultdict(list)
    steps: dict[int, list[tuple[Transition, Node | None, Node | None]]] = defaultdict(list)
    cuts: dict[int, list[Checkpointed]] = defaultdict(list)
    for node in graph.nodes():
        facts[node.source.turn].append(node)
    for step in graph.transitions():
        steps[step.trigger].append((step, graph.get(step.old), graph.get(step.new)))
    for mark in state.checkpoints:
        if mark.checkpoint.anchor:
            cuts[mark.checkpoint.anchor_turn].append(mark.checkpoint)
    reminders = {one.turn: one for one in state.recent_reminders}
    return Spoken(title_of(state), state.seq, facts, steps, cuts, reminders)


def page(asked: PageRequest) -> Page:
    """Return a page of messages: the newest ones, the page of the message in the query, or those that contain words."""
    found = asked.memory.view(asked.id, index_messages, tenant=asked.tenant)
    messages = asked.memory.messages(asked.id, tenant=asked.tenant)
    words = flatten(asked.query.get("q", ""), FIND_MAX)
    role = asked.query.get("role", "")
    fitting = [one for one in messages if _fits(one.message, words, role)]
    shown, number, last = _page_of(asked, fitting)
    alone = len(shown) == 1 and asked.query.get("whole") == "1"
    limit = WHOLE_MAX if alone else TEXT_MAX
    rows = [_message(asked, found, written, limit) for written in shown]
    body = join_markup(
        session_head(asked, "transcript", found.title),
        _tools(asked, words, role),
        tag("p", _describe_count(len(fitting), len(messages), words or role), class_="hint"),
        tag("ol", rows, class_="messages", id="messages", data_live=True) if rows else nothing("No message like that."),
        _pages(asked, words, role, number, last),
    )
    live = to("events", id=asked.id, since=mark_of_session(found.seq)) if number == last and not words else ""
    return Page(f"Transcript - {found.title or asked.id}", body, "", asked.id, live)


def _describe_count(fitting: int, all_: int, chosen: str) -> str:
    return (
        f"{fitting:,} of {format_count(all_, 'message')}."
        if chosen
        else f"{format_count(all_, 'message')}, the oldest first."
    )


def _fits(message: Message, words: str, role: str) -> bool:
    if role and message.role.value != role:
        return False
    texts = (message.text, *(result.text for result in message.tool_results))
    return not words or any(words.casefold() in text.casefold() for text in texts)


def _page_of(asked: PageRequest, messages: Sequence[Written]) -> tuple[Sequence[Written], int, int]:
    """The messages of a page, its number and that of the last page. Without a wish it is the last one."""
    last = max(1, -(-len(messages) // PER_PAGE))
    number = _natural(asked.query.get("page", "")) or last
    if wanted := _natural(asked.query.get("message", "")):
        if asked.query.get("whole") == "1":
            return [one for one in messages if one.number == wanted], 1, 1
        number = sum(one.number < wanted for one in messages) // PER_PAGE + 1
    number = min(number, last)
    return messages[(number - 1) * PER_PAGE : number * PER_PAGE], number, last


def _natural(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0


def _tools(asked: PageRequest, words: str, role: str) -> Markup:
    roles = [("", "Everybody"), *((one.value, one.value.capitalize()) for one in Role)]
    options = [tag("option", text, value=name, selected=name == role) for name, text in roles]
    return tag(
        "form",
        tag("input", type="hidden", name="id", value=asked.id),
        tag(
            "label",
            tag("span", "Words of a message"),
            tag("input", type="search", name="q", value=words, maxlength=FIND_MAX),
            class_="field",
        ),
        tag("label", tag("span", "Said by"), tag("select", options, name="role"), class_="field"),
        tag("button", "Find"),
        link(to("transcript", id=asked.id), "Show all", class_="quiet") if words or role else None,
        method="get",
        action="transcript",
        class_="filters",
        role="search",
    )


def _message(asked: PageRequest, found: Spoken, written: Written, limit: int) -> list[Markup]:
    """A message with what stands before it: the place of a cut, a reminder."""
    number, message = written.number, written.message
    nodes = found.facts.get(number, ())
    head = tag(
        "p",
        tag("strong", message.role.value),
        link(f"{to('transcript', id=asked.id, message=number)}#m{number}", f"message {number}", class_="turn"),
        tag("span", "archived", class_="badge") if written.archived else None,
        class_="said-by",
    )
    text = message.text or message.refusal
    words = (
        tag("div", mark_passages(asked.id, text, nodes, limit), class_="words", dir="auto") if text.strip() else None
    )
    row = tag(
        "li",
        head,
        words,
        _link_rest(asked, number, len(text) - limit),
        _traffic(message),
        _led_to(asked, found, number, nodes),
        id=f"m{number}",
        class_=f"message by-{message.role.value}",
    )
    return [
        *(_cut(cut) for cut in found.cuts.get(number, ())),
        *_render_reminder(asked, found.reminders.get(number)),
        row,
    ]


def _link_rest(asked: PageRequest, number: int, count: int) -> Markup | None:
    if count <= 0:
        return None
    address = f"{to('transcript', id=asked.id, message=number, whole=1)}#m{number}"
    return tag("p", link(address, f"{count:,} more characters"), class_="hint")


def _traffic(message: Message) -> list[Markup]:
    """Tool calls and what tools returned, closed."""
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
    return tag(
        "details", tag("summary", flatten(title), " ", tag("small", format_count(len(text), "character"))), shown
    )


def _led_to(asked: PageRequest, found: Spoken, number: int, nodes: Sequence[Node]) -> Markup | None:
    rows = [tag("li", type_of(node), fact_link(asked.id, node), status_of(node.status)) for node in nodes]
    for _, old, new in found.steps.get(number, ()):
        if old is not None and new is not None:
            rows.append(tag("li", tag("span", "replaced", class_="type"), fact_link(asked.id, old), class_="gone"))
    return tag("ul", rows, class_="facts led-to", aria_label=f"Facts of message {number}") if rows else None


def _cut(cut: Checkpointed) -> Markup:
    what = (
        f"the block stands for {format_count(cut.dropped, 'message')} above" if cut.dropped else "a compacted history"
    )
    return tag("li", f"{cut.id}, a cut: {what}", class_="cut-here")


def _render_reminder(asked: PageRequest, reminder: Reminded | None) -> list[Markup]:
    if reminder is None:
        return []
    address = to("request", id=asked.id, cut=reminder.cut, turn=reminder.turn)
    text = f"This request carried a reminder of {format_count(reminder.tokens, 'token')}"
    return [tag("li", link(address, text), class_="reminded-here")]


def _pages(asked: PageRequest, words: str, role: str, number: int, last: int) -> Markup | None:
    if last == 1:
        return None

    def at(page: int, text: str, rel: str) -> Markup:
        return link(to("transcript", id=asked.id, q=words, role=role, page=page), text, class_="button", rel=rel)

    earlier = at(number - 1, "Earlier", "prev") if number > 1 else None
    later = at(number + 1, "Later", "next") if number < last else None
    where = tag("span", f"Page {number:,} of {last:,}")
    return tag("nav", earlier, where, later, class_="pages", aria_label="Pages of the transcript")
