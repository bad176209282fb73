"""Compression of message lists, for frameworks, scripts and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tokenmizer_mw.context.tokens import counter_for
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.saving import StageSaving
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.messages import history

from .chat import put_back, read, texts
from .neural import Shrink
from .pipeline import Options, condense
from .requests import changes


@dataclass(frozen=True, slots=True)
class Compressed:
    """Compressed messages.

    - ``messages``: as passed in; changed ones are replaced by changed copies.
    - ``savings``: tokens saved by each stage.
    - ``tokens_before``, ``tokens_after``: tokens in the texts of all messages.
    - ``failed``: names of stages that raised an error; they changed nothing.
    """

    messages: list[Any]
    savings: tuple[StageSaving, ...]
    tokens_before: int
    tokens_after: int
    failed: tuple[str, ...] = ()


def compress(
    messages: Iterable[Message | Mapping[str, Any]],
    settings: Settings | None = None,
    *,
    model: str = "",
    shrink: Shrink | None = None,
) -> Compressed:
    """Compress ``messages`` with the stages that ``settings.compress`` names; without settings, with "all".

    Messages are ``Message`` objects or dictionaries in OpenAI's or Anthropic's format. User and system texts, and
    arguments of tool calls, are never changed. ``shrink``: the function that the stage "neural" calls to shorten prose.
    Secrets are not redacted here: do that before, or let a memory do both. Tokens are counted for ``model``.

    Raises ``InvalidMessage`` for anything that is not a chat message.
    """
    told = history(messages)
    failed: list[str] = []
    options = Options.of(settings or Settings(compress="all"), shrink, failed.append)
    placed = read(told)
    state = condense(texts(placed), options)
    counter = counter_for(model, settings.tokenizer_dir if settings is not None else None)
    before = sum(counter.count(passage.text) for passage in state.passages)
    saved = sum(
        counter.count(passage.text) - counter.count(text)
        for passage, text in zip(state.passages, state.texts, strict=True)
        if text is not passage.text
    )
    return Compressed(
        put_back(told.sent, changes(placed, state)),
        state.savings(counter),
        before,
        before - saved,
        tuple(dict.fromkeys(failed)),
    )
