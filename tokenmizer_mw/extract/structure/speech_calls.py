"""Read what an assistant says by calling a tool: some clients have the model report, or ask the user, in that way.

These words count as the assistant's text: its report at the end of a task, and its questions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tokenmizer_mw.model.message import Message, Role, ToolCall

from .tools import normalise_tool_name, read_arguments

WORDS_MAX: Final = 20_000
"""Number of characters of the words in one call that are read."""

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
"""Names of tools that speak to the user, without "_" and "-"."""
_WORDS: Final = ("result", "message", "question", "response", "summary", "text", "content")


def add_voiced_text(message: Message) -> Message:
    """Return ``message`` with the words of its calls that speak to the user (``is_speech``) appended to its text,
    unless they are in it already. The same object if there are none, or if the message is not the assistant's."""
    if message.role is not Role.ASSISTANT or not any(is_speech(call) for call in message.tool_calls):
        return message
    said = [_words(call) for call in message.tool_calls if is_speech(call)]
    new = [words for words in said if words and words not in message.text]
    return replace(message, text="\n\n".join([message.text, *new] if message.text else new)) if new else message


def is_speech(call: ToolCall) -> bool:
    """Whether a call only says something to the user ("ask_user")."""
    return normalise_tool_name(call.name) in _VOICES


def _words(call: ToolCall) -> str:
    return read_arguments(call).text(_WORDS)[:WORDS_MAX].strip()
