"""What calls cost and saved together, for people and for other programs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenmizer_mw.model.spending import CALL, Spent, Sum, UsageSums, total

from .prices import NANO


@dataclass(frozen=True, slots=True)
class Savings:
    """Sums of calls, grouped by stage and by whatever else was requested."""

    rows: Sequence[Sum]

    @property
    def whole(self) -> UsageSums:
        """All calls together."""
        return total(row.figures for row in self.rows if row.stage == CALL)

    @property
    def stages(self) -> Mapping[str, UsageSums]:
        """What each stage saved, by its name."""
        names = sorted({row.stage for row in self.rows} - {CALL})
        return {name: total(row.figures for row in self.rows if row.stage == name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data: the whole, the stages, and ``groups`` if grouped by more. Money is in
        dollars.
        """
        told: dict[str, Any] = {**whole_to_dict(self.whole), "stages": stages_to_list(self.stages)}
        groups = {(row.session, row.model, row.day): row for row in self.rows if row.stage == CALL}
        if any(any(key) for key in groups):
            told["groups"] = [
                {
                    **{name: value for name, value in zip(("session", "model", "day"), key, strict=True) if value},
                    **whole_to_dict(row.figures),
                }
                for key, row in groups.items()
            ]
        return told


def whole_to_dict(figures: UsageSums) -> dict[str, Any]:
    """A whole call, or several, as JSON."""
    return {
        "calls": figures.calls,
        "estimated": figures.estimated,
        "unpriced": figures.unpriced,
        "input_tokens": figures.input_tokens,
        "cached_tokens": figures.cached_tokens,
        "written_tokens": figures.written_tokens,
        "output_tokens": figures.output_tokens,
        "input_tokens_without": figures.client_tokens,
        "saved_tokens": figures.saved_tokens,
        "cost": dollars(figures.cost),
        "cost_without": dollars(figures.client_cost),
        "saved": dollars(figures.saved),
    }


def stages_to_list(stages: Mapping[str, UsageSums]) -> list[dict[str, Any]]:
    """What stages saved as JSON, the best first."""
    return [
        {
            "stage": name,
            "calls": figures.calls,
            "tokens_before": figures.client_tokens,
            "tokens_after": figures.input_tokens,
            "saved_tokens": figures.saved_tokens,
            "saved": dollars(figures.saved),
        }
        for name, figures in sorted(stages.items(), key=lambda one: (-one[1].saved, one[0]))
    ]


def call_to_dict(spent: Spent) -> dict[str, Any]:
    """One call as JSON."""
    whole = whole_to_dict(spent.stages.get(CALL, UsageSums()))
    stages = {name: figures for name, figures in spent.stages.items() if name != CALL}
    return {"call": spent.call, "at": spent.at, "model": spent.model, **whole, "stages": stages_to_list(stages)}


def dollars(nano: int) -> float:
    """Dollars, of billionths of one."""
    return nano / NANO
