"""A LlamaIndex memory block: returns a resume block for messages that have left the short-term memory of `Memory`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer
from llama_index.storage.chat_store.tokenmizer_mw.chats import OnStore, plain_errors
from llama_index.storage.chat_store.tokenmizer_mw.messages import written

from tokenmizer_mw.model.message import Message, Role, Written
from tokenmizer_mw.runtime.offload import CALLS, offload
from tokenmizer_mw.safety.fence import first_block, opens_block


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
        """Return ``content`` shortened by at least so many tokens; ``None`` if nothing would remain.

        The reminder is dropped first, then the last lines; the delimiters stay. A text without delimiters loses its
        last words.
        """
        wanted = len(self.tokenizer_fn(content)) - tokens_to_truncate
        if not opens_block(content):
            return self._first_words(content, wanted)
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

    def _first_words(self, text: str, most: int) -> str | None:
        """The longest beginning of ``text`` that ends with a word and takes at most so many tokens; ``None`` for none.
        It is found by halving."""
        ends = [place for place, char in enumerate(text) if char.isspace()] + [len(text)]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            fits = len(self.tokenizer_fn(text[: ends[middle - 1]])) <= most
            low, high = (middle, high) if fits else (low, middle - 1)
        return text[: ends[low - 1]].rstrip() or None if low else None

    def _session(self, session: object) -> str:
        if not isinstance(session, str) or not session:
            raise ValueError("the block does not know its session: give it a session_id, or use it inside a Memory")
        return session

    def _record(self, session: str, messages: Sequence[Message]) -> None:
        with plain_errors():
            self._memory.record(session, messages, excerpt=True, tenant=self.tenant)

    def _is_first_question(self, session: str, shown: Sequence[Message]) -> bool:
        """Whether a new session shows one message of the user: chat engines ask with ``input`` before they add it to
        the chat store, which would then store it a second time if the store has the same memory."""
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
    """The number of the first of the ``shown`` newest messages, the system's left out; ``None`` for none."""
    spoken = [one.number for one in recorded if one.message.role is not Role.SYSTEM]
    return spoken[-shown] if 0 < shown <= len(spoken) else None
