"""Token usage and cost of calls, as whole numbers that can be summed. Money is in billionths of a dollar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from tokenmizer_mw.model.message import short_repr


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to a refinement prompt.

    - ``usage``: token counts that the provider reported, by our names; empty if it reported none.
    - ``model``: the model that was asked, "" if unknown.
    - ``text``: "" if the reply was not read to its end.
    """

    text: str
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StageSaving:
    """Tokens of the texts that a compression stage changed, before it and after it. ``stage``: its name in the
    settings."""

    stage: str
    tokens_before: int
    tokens_after: int


CALL: Final = ""
"""The stage that stands for a whole call."""

CUT: Final = "cut"
"""The stage that takes old messages out and puts a resume block in."""

ANSWERED: Final = "cache"
"""The stage that answers from earlier answers, so that no provider is asked."""


REFINE: Final = "refine"
"""The stage that asks a model about a session: it saves nothing by itself, and its calls are no chat."""


@dataclass(frozen=True, slots=True)
class UsageSums:
    """Sums of tokens and costs over calls.

    For whole calls (``CALL``): what was sent and what it cost, and what the client would have sent and paid without
    this package, including its own use of the provider's cache. For a stage: tokens before it (``client_tokens``) and
    after it (``input_tokens``), and what it saved (``client_cost``; negative for a loss).

    - ``estimated``: calls for which no provider reported the usage, so that this package counted the tokens.
    - ``unpriced``: calls to models without a known price; only their tokens count.
    - ``input_tokens``: all input, of which ``cached_tokens`` were read from the provider's cache and ``written_tokens``
      written to it.
    """

    calls: int = 0
    estimated: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    client_tokens: int = 0
    client_cost: int = 0

    def __add__(self, other: UsageSums) -> UsageSums:
        return UsageSums(*(getattr(self, name) + getattr(other, name) for name in NAMES))

    def __repr__(self) -> str:
        tokens = f"{self.input_tokens} + {self.output_tokens} tokens, {self.saved_tokens} saved"
        return short_repr(self, f"{self.calls} calls, {tokens}, ${self.cost / 1e9:.4f}")

    @property
    def saved_tokens(self) -> int:
        """Input tokens that did not have to be sent; negative if more were sent."""
        return self.client_tokens - self.input_tokens

    @property
    def saved(self) -> int:
        """The amount saved, in billionths of a dollar, net of the provider's cache; negative for a loss."""
        return self.client_cost - self.cost


NAMES: Final = tuple(each.name for each in fields(UsageSums))
"""The figures' names, in order: the columns of a store."""

Stages = Mapping[str, UsageSums]
"""A call's figures by stage, the whole call's under ``CALL``."""


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """Cost and savings of a finished call. ``call``: its unique name; ``at``: when it ended, in seconds since the
    epoch."""

    call: str
    at: float
    model: str
    stages: Stages = field(default_factory=dict)

    def __repr__(self) -> str:
        whole = self.stages.get(CALL, UsageSums())
        return short_repr(self, f"{self.call} {self.model}, {whole!r}")


@dataclass(frozen=True, slots=True)
class Sum:
    """Figures of all calls with the same session, model, stage and day. A field that was not grouped by is "", and so
    is ``session`` for sessions that were erased since. ``day``: a date in UTC, such as "2026-11-21"."""

    session: str
    model: str
    stage: str
    day: str
    figures: UsageSums


def total(figures: Iterable[UsageSums]) -> UsageSums:
    """Return the sum of ``figures``; zeros for none."""
    found = UsageSums()
    for each in figures:
        found = found + each
    return found
