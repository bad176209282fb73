"""Applies a cut to LangChain messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, SystemMessage

from tokenmizer_mw.context.assembly import Shortened

SOURCE: Final = "tokenmizer_mw"
"""The value of ``lc_source`` in ``additional_kwargs`` of messages that this package adds to a prompt."""


def shortened(messages: Sequence[BaseMessage], cut: Shortened | None) -> list[Any]:
    """Return ``messages`` with those that ``cut`` drops replaced by its block, and its reminder after the message it
    belongs to.

    Leading system messages stay; if ``cut`` is ``None``, all messages do. Messages are never changed: one with a
    reminder or a shortened tool result is a copy.
    """
    if cut is None:
        return list(messages)
    prefix = next((i for i, message in enumerate(messages) if not isinstance(message, SystemMessage)), len(messages))
    behind = cut.reminder.text_behind if cut.reminder is not None else lambda place: ""
    recent = [_append_text(_with_result(messages[place], cut.results.get(place)), behind(place)) for place in cut.kept]
    block = [_ours(cut.block, cut.role)] if cut.block else []
    own = behind(len(messages))
    return [*messages[:prefix], *block, *recent, *([_ours(own, "user")] if own else [])]


def question_in(messages: Sequence[BaseMessage]) -> int | None:
    """Return the index of the newest user message; ``None`` if there is none."""
    return next((i for i in reversed(range(len(messages))) if isinstance(messages[i], HumanMessage)), None)


def _append_text(message: BaseMessage, text: str) -> BaseMessage:
    """Return a copy of ``message`` with ``text`` after its content, as a part of its own if the content is a list of
    parts."""
    if not text:
        return message
    values = message.content
    content = f"{values}\n\n{text}" if isinstance(values, str) else [*values, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})


def _with_result(message: BaseMessage, texts: Sequence[str] | None) -> BaseMessage:
    """Return a copy of a tool message with ``texts[0]`` in place of all its text; other parts of its content stay."""
    if not texts:
        return message
    content = message.content
    if isinstance(content, str):
        return message.model_copy(update={"content": texts[0]})
    others = [part for part in content if not (isinstance(part, str) or part.get("type") == "text")]
    return message.model_copy(update={"content": [{"type": "text", "text": texts[0]}, *others]})


def _ours(text: str, role: str) -> AnyMessage:
    kind = HumanMessage if role == "user" else SystemMessage
    return kind(text, additional_kwargs={"lc_source": SOURCE})
