"""Parsers of other programs' transcripts: chats exported by ChatGPT and Claude, and Markdown. Pure.

ChatGPT writes a tree of messages for each conversation and names the newest one: the path to it is the conversation;
edits and regenerated replies are beside it. Claude writes a list. Messages of neither the user nor the model (system
messages, hidden ones, calls of the site's tools) are dropped.

SpecStory writes a line like ``_**User**_`` or ``_**Assistant (model)**_`` before each message and a rule between
messages. aider writes user text after ``####`` with two blanks at each line end, its own output after ``>``, and
replies as they are. A message may quote such a mark: it does not count inside a code block or a folded section, nor
without the rule before it or the blanks after it.

People who write a transcript by hand begin each message with ``**User:**`` or ``**Assistant:**``. Such a mark counts at
the beginning of a paragraph, outside of code blocks and folded sections.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final

from tokenmizer_mw.model.message import Message, Role
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.wire.request import get_text

from .agent_transcripts import read_time

_CHATGPT_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}
_CLAUDE_ROLES: Final = {"human": Role.USER, "assistant": Role.ASSISTANT}


def is_chat_export(value: object) -> bool:
    """Return whether ``value``, parsed JSON, is a conversation exported by ChatGPT or Claude, or a list that begins
    with one."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    return isinstance(first.get("mapping"), dict) or isinstance(first.get("chat_messages"), list)


_TITLE_MAX: Final = 60
_MARK_LENGTH: Final = 8
_MARKED: Final = re.compile(rf" [0-9a-f]{{{_MARK_LENGTH}}}$")


def conversation_mark(session_id: str) -> str:
    """Return the end of an imported conversation's session id, which stays the same if the title before it changes,
    such as " 01234567"; "" for other ids."""
    found = _MARKED.search(session_id)
    return found.group() if found is not None else ""


def _session_name(conversation: dict[str, Any], id_: str) -> str:
    """Return a session id for a conversation: its title, which people search for, and the first eight digits of its own
    id ``id_``, which stay if the title changes. Without a title, or if ``id_`` does not begin with eight hexadecimal
    digits, it is ``id_`` alone."""
    title = next((conversation[key] for key in ("title", "name") if isinstance(conversation.get(key), str)), "")
    named = f"{flatten(title, _TITLE_MAX).replace('/', '-')} {id_[:_MARK_LENGTH]}"
    return named if title.strip() and conversation_mark(named) else id_


_Timed = tuple[Message, float | None]
"""A message, and when it was written, in seconds since the epoch (``None`` if the file does not say)."""


def read_chat_export(value: object) -> Iterator[tuple[str, list[_Timed]]]:
    """Yield a session id and the messages of each conversation in ``value``, parsed JSON of ChatGPT or Claude. Each
    message comes with the time when it was written (seconds since the epoch, ``None`` if unknown). The id begins with
    the conversation's title if it has one. Conversations without messages, and other values, are skipped."""
    for number, one in enumerate(value if isinstance(value, list) else [value], 1):
        if not is_chat_export(one):
            continue
        values = _chatgpt(one) if isinstance(one.get("mapping"), dict) else _claude(one["chat_messages"])
        messages = [one for one in values if one[0].text.strip()]
        name = next((one[key] for key in ("conversation_id", "id", "uuid") if isinstance(one.get(key), str)), "")
        if messages:
            yield _session_name(one, name) or f"conversation-{number}", messages


def _chatgpt(conversation: dict[str, Any]) -> list[_Timed]:
    nodes, place = conversation["mapping"], conversation.get("current_node")
    if not isinstance(place, str) or place not in nodes:
        place = next((name for name, node in reversed(nodes.items()) if isinstance(node, dict)), None)
    found: list[_Timed] = []
    seen: set[str] = set()
    while isinstance(place, str) and place not in seen and isinstance(node := nodes.get(place), dict):
        seen.add(place)
        message = _chatgpt_message(node.get("message"))
        found += [message] if message is not None else []
        place = node.get("parent")
    return found[::-1]


def _chatgpt_message(message: object) -> _Timed | None:
    if not isinstance(message, dict):
        return None
    author, content, about = (message.get(name) for name in ("author", "content", "metadata"))
    hidden = isinstance(about, dict) and about.get("is_visually_hidden_from_conversation") is True
    role = _CHATGPT_ROLES.get(str(author.get("role"))) if isinstance(author, dict) else None
    to_tool = message.get("recipient") not in (None, "all")
    if role is None or hidden or to_tool or not isinstance(content, dict):
        return None
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    return Message(role, "\n\n".join(texts)), read_time(message.get("create_time"))


def _claude(messages: list[Any]) -> Iterator[_Timed]:
    for message in messages:
        role = _CLAUDE_ROLES.get(str(message.get("sender"))) if isinstance(message, dict) else None
        if role is not None:
            yield Message(role, _claude_text(message)), read_time(message.get("created_at"))


def _claude_text(message: dict[str, Any]) -> str:
    blocks = message.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type", "text") == "text" and isinstance(block.get("text"), str)
    ]
    return "\n\n".join(texts) if texts else get_text(message, "text")


_SPEAKER: Final = re.compile(r"(?m)^_\*\*(User|Assistant|Agent)\b[^\n*]*\*\*_[ \t]*$")
_AIDER: Final = re.compile(r"(?m)^# aider chat started at ")
_LABEL: Final = re.compile(
    r"(?mi)^ {0,3}\*\*(?:(User|Human|You|Me)|Assistant|AI|ChatGPT|Claude)(?::\*\*|\*\*[ \t]*:)[ \t]*"
)
"""How a message begins in a transcript that people write by hand. The group is the name of the user, if it is the
user's."""
_RULE: Final = re.compile(r"\n---[ \t]*$")
_ASKS: Final = "#### "

_ENDS: Final = "  "
"""How aider ends the lines of the user, unless an editor has removed the blanks."""

_AIDER_STARTS: Final = ("> ", "# aider chat started")
"""How the lines of aider's own output begin."""

_MARK: Final = re.compile(
    r"(?m)^[ \t]*(?:(`{3,}|~{3,})([^\n`~]*)|<details\b(?:(?!</details>)[^\n])*|(</details>)[ \t]*)$"
)

_FOLD: Final = "<details>"


def is_markdown_transcript(text: str) -> bool:
    """Return whether ``text`` is a Markdown transcript of SpecStory or aider, or one written by hand with messages of
    both sides."""
    if _SPEAKER.search(text) is not None or _AIDER.search(text) is not None:
        return True
    return len({match[1] is None for match in _labels(_with_plain_ends(text))}) > 1


def read_markdown_transcript(text: str) -> list[Message]:
    """Return the non-empty messages of a Markdown transcript, in order: of aider, of SpecStory, or one written by hand
    with "**User:**" and "**Assistant:**". ``[]`` if the text has no such mark of a message."""
    if _AIDER.search(text) is not None:
        values = _aider(text)
    elif _SPEAKER.search(text) is not None:
        values = _between(text, [(match, match[1] == "User") for match in _speakers(text)])
    else:
        text = _with_plain_ends(text)
        values = _between(text, [(match, match[1] is not None) for match in _labels(text)])
    return [message for message in values if message.text]


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _between(text: str, marks: list[tuple[re.Match[str], bool]]) -> Iterator[Message]:
    """Yield one message for each of ``marks``: the text between it and the next mark, without a rule ("---") at its
    end. Each mark is the match that begins a message, and true if the user wrote that message, false for the
    assistant."""
    ends = [match.start() for match, _ in marks[1:]] + [len(text)]
    for (match, is_user), end in zip(marks, ends, strict=True):
        shown = _RULE.sub("", text[match.end() : end].rstrip()).strip()
        yield Message(Role.USER if is_user else Role.ASSISTANT, shown)


def _labels(text: str) -> Iterator[re.Match[str]]:
    """Yield the labels of a transcript written by hand that begin a message: at the start of a paragraph and not
    quoted."""
    for match in _find_unquoted(text, _LABEL):
        above = text[text.rfind("\n", 0, max(0, match.start() - 1)) + 1 : match.start()].strip()
        if not above or above.startswith(_ABOVE):
            yield match


_ABOVE: Final = ("#", "---")
"""How lines begin (headings and rules) after which a new paragraph begins without a blank line."""


def _speakers(text: str) -> Iterator[re.Match[str]]:
    """Yield SpecStory's lines that begin a message: the first one, and those after a rule; quoted ones are left out."""
    first = True
    for match in _find_unquoted(text, _SPEAKER):
        if first or _is_behind_rule(text, match.start()):
            first = False
            yield match


def _find_unquoted(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of ``pattern`` in ``text`` that begin outside of fenced code blocks and of folded sections
    ("<details>"), in order."""
    quoted = list(_find_quoted_blocks(text))
    starts = [start for start, _ in quoted]
    for match in pattern.finditer(text):
        place = bisect_right(starts, match.start()) - 1
        if place < 0 or match.start() >= quoted[place][1]:
            yield match


def _is_behind_rule(text: str, place: int) -> bool:
    """Return whether the last non-blank line before index ``place`` of ``text`` is "---", a rule in Markdown."""
    while place > 0 and text[place - 1].isspace():
        place -= 1
    line = text.rfind("\n", 0, place) + 1
    return text[line:place] == "---"


def _find_quoted_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end index of each fenced code block and each folded section ("<details>"), in order; those
    without an end are left out."""
    opened, start = "", 0
    for match in _MARK.finditer(text):
        fence, language, closes = match.groups()
        if not opened:
            opened, start = ("" if closes else fence or _FOLD), match.start()
        elif (opened == _FOLD and closes) or (fence and fence.startswith(opened) and not (language or "").strip()):
            yield start, match.end()
            opened = ""


def _aider(text: str) -> Iterator[Message]:
    every = text.replace("\r\n", "\n").split("\n")
    ends = _ENDS if any(line.startswith(_ASKS) and line.endswith(_ENDS) for line in every) else ""
    role, lines = Role.ASSISTANT, list[str]()
    for line in every:
        if line.rstrip() == ">" or line.startswith(_AIDER_STARTS):
            continue
        speaks = Role.USER if line.startswith(_ASKS) and line.endswith(ends) else Role.ASSISTANT
        if speaks is not role and (line.strip() or speaks is Role.USER):
            yield Message(role, "\n".join(lines).strip())
            role, lines = speaks, []
        lines.append(line.removeprefix(_ASKS) if speaks is Role.USER else line)
    yield Message(role, "\n".join(lines).strip())
