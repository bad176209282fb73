"""What an assistant says by calling a tool: its report at the end of a task, and its questions.

Some clients have the model end its work or ask with a call; the words count as the assistant's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.message import Message, Role, ToolCall

from .tools import normalise_tool_name, read_arguments

WORDS_MAX: Final = 20_000
"""Characters of one call that are heard."""

_VOICES: Final = frozenset(
    {
        "attemptcompletion",
        "finish",
        "completetask",
        "taskcomplete",
        "taskcompletion",
        "submitandexit",
        "askfollowupquestion",
        "askquestion",
        "askuser",
        "planmoderespond",
        "notifyuser",
        "messageuser",
        "respondtouser",
    }
)
"""Tools that speak to the user, without "_" and "-"."""
_WORDS: Final = ("result", "message", "question", "response", "summary", "text", "content")


def add_voiced_text(message: Message) -> Message:
    """The message with the words of its calls appended to its text; unchanged if they have none."""
    if message.role is not Role.ASSISTANT or not any(is_speech(call) for call in message.tool_calls):
        return message
    said = [_words(call) for call in message.tool_calls if is_speech(call)]
    new = [words for words in said if words and words not in message.text]
    return replace(message, text="\n\n".join([message.text, *new] if message.text else new)) if new else message


def is_speech(call: ToolCall) -> bool:
    """Whether a call only speaks to the user."""
    return normalise_tool_name(call.name) in _VOICES


def _words(call: ToolCall) -> str:
    return read_arguments(call).text(_WORDS)[:WORDS_MAX].strip()
