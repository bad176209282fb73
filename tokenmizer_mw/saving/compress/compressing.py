"""Compression for callers with messages in hand: frameworks, scripts, the command line."""

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
    """``messages`` as they were handed over, those that changed replaced by changed copies. ``savings``: what each
    stage saved, in tokens; ``tokens_before`` and ``tokens_after`` count the texts of all messages. ``failed`` names
    stages that raised: their texts are as they were."""

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
    """``messages`` in fewer tokens, by the stages that ``settings.compress`` names; without settings, by "all".

    Messages are ``Message`` objects or dictionaries in the shape of OpenAI or Anthropic. What people and the system
    say, and the arguments of calls, stays word for word. ``shrink`` is what the stage "neural" asks to say prose in
    fewer words. Secrets are not taken out here: do that before, or let a memory do both. Tokens are counted as
    ``model`` counts them. Raises ``InvalidMessage`` for what is no message.
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
