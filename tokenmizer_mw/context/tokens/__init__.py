"""Token counters: exact if a tokenizer's table is on this machine, else an upper estimate. Nothing is downloaded."""

from tokenmizer_mw.context.tokens.counter import (
    ATTACHMENT_TOKENS,
    MessageCounter,
    ModelCounters,
    TokenCounter,
    counter_for,
    estimate,
)

__all__ = ["ATTACHMENT_TOKENS", "MessageCounter", "ModelCounters", "TokenCounter", "counter_for", "estimate"]
