"""Token usage and cost of calls, as whole numbers that can be summed. Money is in billionths of a dollar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from tokenmizer_mw.model.message import short_repr


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply to a refinement prompt.

    - ``text``: the text of the reply, which may end early; "" if this package stopped reading it because of its size.
    - ``model``: the model that was asked, "" if unknown.
    - ``usage``: token counts that the provider reported, under this package's names; empty if it reported none.
    """

    text: str
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StageSaving:
    """What one stage of compression saved in a request: the tokens of the texts that it changed, before and after.
    ``stage``: the stage's name, as in the settings."""

    stage: str
    tokens_before: int
    tokens_after: int


CALL: Final = ""
"""The key in ``Stages`` under which the figures of the whole call are."""

CUT: Final = "cut"
"""Name of the stage that replaces old messages by a resume block."""

ANSWERED: Final = "cache"
"""Name of the stage that returns a cached answer, so that no provider is asked."""


REFINE: Final = "refine"
"""Name of the stage for calls that ask a model to refine a session (to correct its facts). These are calls of this
package and no chat calls; by themselves they save nothing."""


@dataclass(frozen=True, slots=True)
class UsageSums:
    """Sums of tokens and costs over calls. Costs are in billionths of a dollar.

    For whole calls (``CALL``):

    - ``input_tokens``, ``output_tokens``, ``cost``: what was sent and received, and what it cost.
    - ``client_tokens``, ``client_cost``: the input that the client would have sent without this package, and what it
      would have paid, with the discounts of the provider's cache that it would have had.

    For a stage: ``client_tokens`` before it, ``input_tokens`` after it, and ``client_cost``, what it saved (negative
    for a loss).

    - ``calls``: number of calls. ``estimated``: calls for which no provider reported the usage, so that this package
      counted the tokens.
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
        """The amount saved, in billionths of a dollar: ``client_cost`` minus ``cost``. Negative for a loss."""
        return self.client_cost - self.cost


NAMES: Final = tuple(each.name for each in fields(UsageSums))
"""Names of the fields of ``UsageSums``, in order. Stores use them as names of columns."""

Stages = Mapping[str, UsageSums]
"""Maps the name of each stage of a call to its figures, and ``CALL`` to the figures of the whole call."""


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """Cost and savings of one finished call. ``call``: its unique name; ``at``: when it ended, in seconds since the
    epoch; ``model``: the model that was called; ``stages``: its figures, see ``Stages``."""

    call: str
    at: float
    model: str
    stages: Stages = field(default_factory=dict)

    def __repr__(self) -> str:
        whole = self.stages.get(CALL, UsageSums())
        return short_repr(self, f"{self.call} {self.model}, {whole!r}")


@dataclass(frozen=True, slots=True)
class Sum:
    """A row of ``UsageLedger.sums``: the summed figures of all calls that have the same session, model, stage and day.

    A field is "" if the sums were not grouped by it. ``session`` is also "" for calls of sessions that were erased
    since or never existed, and ``stage`` for the figures of whole calls (``CALL``). ``day``: a date in UTC, such as
    "2026-11-21".
    """

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
