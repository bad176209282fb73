"""A LlamaIndex memory that stores the whole transcript and returns as much of it as fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr, field_validator
from llama_index.core.llms.llm import LLM
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY, BaseChatStoreMemory
from llama_index.core.storage.chat_store.base import BaseChatStore
from llama_index.core.utils import get_tokenizer
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore
from llama_index.storage.chat_store.tokenmizer_mw.chats import Store, plain_errors
from llama_index.storage.chat_store.tokenmizer_mw.messages import chat_message

from tokenmizer_mw.context.assembly import Context
from tokenmizer_mw.context.tokens import MessageCounter, TokenCounter
from tokenmizer_mw.runtime.offload import CALLS, offload

DEFAULT_TOKEN_LIMIT = 30_000
DEFAULT_TOKEN_LIMIT_RATIO = 0.75


class TokenMizerMemory(BaseChatStoreMemory):
    """The memory of one chat, for ``memory=`` of chat engines and agents.

    ``get`` returns the whole chat as long as it fits ``token_limit``; then the newest turns word for word, and a
    message with a resume block in place of the older ones, which stays the same until the limit is near again.
    ``get_all`` always returns every message. ``chat_store``: a ``TokenMizerChatStore``, a path, an address or an open
    ``SessionMemory``; ``chat_store_key``: the chat's key in it.

    Tokens are counted with ``tokenizer_fn``, including roles, tool calls and attachments. Tool calls stay with their
    results. The end of a chat is never cut, however long it is. If the settings of the store switch compression on, old
    tool results are shortened before turns are cut.
    """

    chat_store: TokenMizerChatStore = Field(default_factory=TokenMizerChatStore)
    token_limit: int = Field(default=DEFAULT_TOKEN_LIMIT, ge=1, description="Tokens that `get` may give.")
    tokenizer_fn: Callable[[str], list[Any]] = Field(default_factory=get_tokenizer, exclude=True)

    _counter: MessageCounter = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Set up the token counter with ``tokenizer_fn``."""
        tokenizer = self.tokenizer_fn
        self._counter = MessageCounter(TokenCounter("llama_index", False, lambda text: len(tokenizer(text))))

    @field_validator("chat_store", mode="before")
    @classmethod
    def _as_store(cls, value: Any) -> Any:
        if value is None:
            return TokenMizerChatStore()
        return value if isinstance(value, BaseChatStore | dict) else TokenMizerChatStore(value)

    @classmethod
    def class_name(cls) -> str:
        """Name of the class in its serialised form."""
        return "TokenMizerMemory"

    @classmethod
    def from_defaults(
        cls,
        chat_history: list[ChatMessage] | None = None,
        llm: LLM | None = None,
        chat_store: TokenMizerChatStore | Store | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        token_limit: int | None = None,
        tokenizer_fn: Callable[[str], list[Any]] | None = None,
        *,
        session_id: str | None = None,
        **kwargs: Any,
    ) -> TokenMizerMemory:
        """Create a memory with the arguments of ``ChatMemoryBuffer``; ``session_id`` is another name for
        ``chat_store_key``.

        Messages in ``chat_history`` replace those of the chat; an empty one changes nothing. ``token_limit`` is by
        default three quarters of the window of ``llm``, or 30,000. Raises ``ValueError`` for unknown arguments.
        """
        if kwargs:
            raise ValueError(f"Unexpected kwargs: {kwargs}")
        if token_limit is None and llm is not None:
            token_limit = int(llm.metadata.context_window * DEFAULT_TOKEN_LIMIT_RATIO)
        made = cls(
            chat_store=cls._as_store(chat_store),
            chat_store_key=chat_store_key if session_id is None else session_id,
            token_limit=DEFAULT_TOKEN_LIMIT if token_limit is None else token_limit,
            tokenizer_fn=tokenizer_fn or get_tokenizer(),
        )
        if chat_history:
            made.set(chat_history)
        return made

    def get(self, input: str | None = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:
        """Return the messages for a model, within the token limit minus ``initial_token_count``.

        Once old messages are replaced by a block, what they contain about the newest message (or about ``input``, the
        next question) is added as a reminder: after the message that it belongs to, or as the last message.

        Raises ``ValueError`` if ``initial_token_count`` alone exceeds the limit.
        """
        if initial_token_count > self.token_limit:
            raise ValueError("Initial token count exceeds token limit")
        memory = self.chat_store.memory
        with plain_errors():
            context = memory.context(
                self.chat_store_key,
                limit=self.token_limit,
                reserved=initial_token_count,
                counter=self._counter,
                question=input or "",
                tenant=self.chat_store.tenant,
            )
        role = MessageRole(memory.settings.block_role)
        block = [ChatMessage(role=role, content=context.block)] if context.block else []
        return [*map(chat_message, context.instructions), *block, *_recent(context)]

    async def aget(self, input: str | None = None, initial_token_count: int = 0, **kwargs: Any) -> list[ChatMessage]:
        """Async form of ``get``, in a worker thread."""
        return await offload(partial(self.get, input, initial_token_count, **kwargs), CALLS)

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Append messages atomically."""
        self.chat_store.add_messages(self.chat_store_key, messages)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Async form of ``put_messages``, in a worker thread."""
        await offload(partial(self.put_messages, messages), CALLS)


def _recent(context: Context) -> Iterator[ChatMessage]:
    """Yield the newest messages, with shortened tool results, each followed by the reminder that belongs after it."""
    behind = context.reminder.text_behind if context.reminder is not None else lambda place: ""
    for place, written in enumerate(context.recent):
        message, text = chat_message(written), behind(place)
        if place in context.results:
            others = [block for block in message.blocks if not isinstance(block, TextBlock)]
            message.blocks = [TextBlock(text="\n".join(context.results[place])), *others]
        if text:
            message.blocks = [*message.blocks, TextBlock(text=text)]
        yield message
    if own := behind(len(context.recent)):
        yield ChatMessage(role=MessageRole.USER, content=own)
