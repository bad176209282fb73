"""Token counters: exact where a tokenizer's table is at hand, else an estimate that errs high. Never a download."""

from .counter import TokenCounter, counter_for
from .estimate import estimate
from .messages import ATTACHMENT_TOKENS, MessageCounter
from .models import ModelCounters

__all__ = ["ATTACHMENT_TOKENS", "MessageCounter", "ModelCounters", "TokenCounter", "counter_for", "estimate"]
