"""A chat as a model sees it after a cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, SystemMessage

from tokenmizer_mw.fitting import Shortened

SOURCE: Final = "tokenmizer_mw"
"""What the ``lc_source`` of messages that we put into a prompt says."""


def shortened(messages: Sequence[BaseMessage], cut: Shortened | None, recalled: str = "") -> list[Any]:
    """``messages`` with those that ``cut`` drops replaced by its block, and ``recalled`` before the newest question.

    Leading system messages stay where they are; without a cut everything does.
    """
    if cut is None:
        return list(messages)
    prefix = next((i for i, message in enumerate(messages) if not isinstance(message, SystemMessage)), len(messages))
    kept = [messages[place] for place in cut.kept]
    question = question_in(kept)
    if recalled and question is not None:
        kept.insert(question, _ours(recalled, "user"))
    block = [_ours(cut.block, cut.role)] if cut.block else []
    return [*messages[:prefix], *block, *kept]


def question_in(messages: Sequence[BaseMessage]) -> int | None:
    """Where the newest message of a person stands; ``None`` when there is none."""
    return next((i for i in reversed(range(len(messages))) if isinstance(messages[i], HumanMessage)), None)


def _ours(text: str, role: str) -> AnyMessage:
    kind = HumanMessage if role == "user" else SystemMessage
    return kind(text, additional_kwargs={"lc_source": SOURCE})
