"""Token counters: exact where a tokenizer's table is at hand, else an estimate that errs high. Never a download."""

from tokenmizer_mw.context.tokens.counter import (
    ATTACHMENT_TOKENS,
    MessageCounter,
    ModelCounters,
    TokenCounter,
    counter_for,
)
from tokenmizer_mw.context.tokens.estimate import estimate

__all__ = ["ATTACHMENT_TOKENS", "MessageCounter", "ModelCounters", "TokenCounter", "counter_for", "estimate"]
