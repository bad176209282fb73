"""A LlamaIndex memory block: returns a resume block for messages that have left the short-term memory of `Memory`."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer
from llama_index.storage.chat_store.tokenmizer_mw.chats import OnStore, plain_errors
from llama_index.storage.chat_store.tokenmizer_mw.messages import written

from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.safety.fence import first_block, opens_block

_JOINED: Final = frozenset({"Mn", "Mc", "Me", "Cs"})
"""Categories of characters that belong to the one before them: marks, and the second half of a surrogate pair."""
_JOINER: Final = "\u200d"


class TokenMizerMemoryBlock(OnStore, BaseMemoryBlock[str]):
    """A block for ``Memory(memory_blocks=[...])``: decisions with what they replaced, rules, tasks, files, errors.

    It derives facts from the messages that it receives, without a model call, and returns nothing as long as the
    short-term memory still contains the whole session (unless ``always`` is set). Its text has at most ``budget``
    tokens; facts that match the newest question come first. Archived messages that match the question and are not
    covered by facts follow as a reminder, in at most ``Settings.reminder_tokens`` more tokens. With ``priority`` above
    0, ``Memory`` may ask for a shorter text: the reminder is dropped first, then the least important lines.

    ``store`` may be that of a ``TokenMizerAsyncChatStore`` in the same ``Memory``: messages are then stored only once.
    ``session_id``: the session, if ``Memory`` does not name one.
    """

    name: str = Field(default="session_record", description="Name of the block, and of the tag around it.")
    tenant: str = Field(default="local", description="Whose sessions these are.")
    session_id: str | None = Field(default=None, description="The session, where nobody says which.")
    budget: int = Field(default=600, ge=1, description="Tokens that the block may take.")
    always: bool = Field(default=False, description="Whether it speaks of what the short-term memory still holds.")
    tokenizer_fn: Callable[[str], list[Any]] = Field(default_factory=get_tokenizer, exclude=True)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        session = block_kwargs.get("session_id") or self.session_id
        return await offload(partial(self._resume, self._session(session), messages or []), CALLS)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        if not messages:
            return
        session = messages[0].additional_kwargs.get("session_id") or self.session_id
        await offload(partial(self._record, self._session(session), [written(one).message for one in messages]), CALLS)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return ``content`` shortened by at least ``tokens_to_truncate`` tokens; ``None`` if nothing would remain.

        The reminder is dropped first, then the last lines; the delimiters stay. A text without delimiters loses its
        last words; where it has no white space, its last characters.
        """
        wanted = len(self.tokenizer_fn(content)) - tokens_to_truncate
        if not opens_block(content):
            return self._shorten(content, wanted)
        block = first_block(content)
        if block != content and len(self.tokenizer_fn(block)) <= wanted:
            return block
        opening, *lines, closing = block.split("\n")
        while lines[1:]:  # the first one says what the block is
            lines.pop()
            shorter = "\n".join([opening, *lines, closing])
            if lines[1:] and len(self.tokenizer_fn(shorter)) <= wanted:
                return shorter
        return None

    def _shorten(self, text: str, most: int) -> str | None:
        """Return the longest beginning of ``text`` of at most ``most`` tokens; ``None`` if not even a character fits.

        It ends at white space if that keeps half of what fits, else between two characters.
        """
        end = bisect_right(range(len(text) + 1), most, key=lambda end: len(self.tokenizer_fn(text[:end]))) - 1
        while end > 0:
            end = _last_boundary(text, end)
            shorter = text[:end].rstrip()
            if not shorter:
                return None
            if len(self.tokenizer_fn(shorter)) <= most:  # a shorter text can have a token more
                return shorter
            end -= 1
        return None

    def _session(self, session: object) -> str:
        if not isinstance(session, str) or not session:
            raise ValueError("the block does not know its session: give it a session_id, or use it inside a Memory")
        return session

    def _record(self, session: str, messages: Sequence[Message]) -> None:
        with plain_errors():
            self._memory.record(session, messages, excerpt=True, tenant=self.tenant)

    def _is_first_question(self, session: str, shown: Sequence[Message]) -> bool:
        """Whether the session is new and ``shown`` is one message of the user. Chat engines pass such a question as
        ``input`` before they add it to the chat store. If it were recorded here and the store had the same memory, it
        would be stored twice."""
        if len(shown) != 1 or not shown[0].opens_turn:
            return False
        with plain_errors():
            return not self._memory.messages(session, tenant=self.tenant)

    def _resume(self, session: str, messages: Sequence[ChatMessage]) -> str:
        shown = [one.message for one in map(written, messages) if one.message.role is not Role.SYSTEM]
        if not self._is_first_question(session, shown):
            self._record(session, shown)
        with plain_errors():
            recorded = self._memory.messages(session, tenant=self.tenant)
            content = sum(one.message.role is not Role.SYSTEM for one in recorded)
            if not content or (content <= len(shown) and not self.always):
                return ""
            query = next((one.text for one in reversed(shown) if one.opens_turn), None)
            resume = self._memory.resume(session, budget=self.budget, query=query, tenant=self.tenant)
            before = _number_of_first(recorded, len(shown))
            reminder = self._memory.remind(session, query or "", beside=resume, before=before, tenant=self.tenant)
            return "\n\n".join(filter(None, (resume.text, reminder.text)))


def _number_of_first(recorded: Sequence[Written], shown: int) -> int | None:
    """Return the number of the first of the newest ``shown`` messages, not counting system messages; ``None`` for
    none."""
    spoken = [one.number for one in recorded if one.message.role is not Role.SYSTEM]
    return spoken[-shown] if 0 < shown <= len(spoken) else None


def _last_boundary(text: str, end: int) -> int:
    """Return where to cut a text, at ``end`` or before: at white space in the second half, else between characters."""
    if end == len(text):
        return end
    space = next((place for place in range(end, end // 2, -1) if text[place].isspace()), None)
    if space is not None:
        return space
    place = end
    while place and _joins(text[place - 1], text[place]):
        place -= 1
    return place or end


def _joins(before: str, after: str) -> bool:
    """Whether two characters belong to one visible character, such as a letter and its accent."""
    is_skin_tone = "\U0001f3fb" <= after <= "\U0001f3ff"
    return _JOINER in (before, after) or is_skin_tone or unicodedata.category(after) in _JOINED
