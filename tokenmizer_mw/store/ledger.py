"""The port of what keeps the books: figures of calls, added up by session, model, stage and day.

A call is added once however often it is reported: an addition whose answer was lost can be made again. Additions of
several workers all count. Where a session is erased its calls are erased, and what they add up to stays with the tenant
under no session's name: figures that say nothing of what was said, and without which a bill of the past would change
each time that somebody's data are deleted. The same goes for calls of sessions that the store does not have.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, date, datetime
from typing import Final, Literal, Protocol, get_args

from tokenmizer_mw.errors import CallerError, InvalidSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.model.spending import NAMES, Spent, Stages, Sum, UsageSums

By = Literal["session", "model", "stage", "day"]
"""What sums can be told apart by."""

BY: Final = get_args(By)
BY_STAGE: Final[tuple[By, ...]] = ("stage",)
NAME_MAX: Final = 200
"""Characters that are kept of a model's name."""


class UsageLedger(Protocol):
    """What the calls of a store's sessions cost and saved. Sync, and safe to call from several threads and processes.

    Lives in the store that it belongs to, and ends with it. Raises ``StoreUnavailable`` as the store does.
    """

    def add(self, session: SessionKey, spent: Spent) -> bool:
        """Add a call's figures. False, and nothing done, when the tenant's call of that name was added before."""

    def sums(
        self,
        tenant: str,
        *,
        by: Collection[By] = BY_STAGE,
        session: str | None = None,
        model: str | None = None,
        since: str = "",
        until: str = "",
    ) -> list[Sum]:
        """What the tenant's calls add up to, told apart ``by``, in the order of that: of one ``session`` or all, of one
        ``model`` or all, on the days from ``since`` up to and including ``until`` ("": without bound)."""

    def calls(self, session: SessionKey, *, limit: int) -> list[Spent]:
        """The newest ``limit`` calls of a session, the newest first."""


def day_of(at: float) -> str:
    """The date in UTC, such as "2026-11-21", of a time in seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def require_day(day: str) -> None:
    """Raise ``CallerError`` unless the text is a date such as "2026-11-21"."""
    try:
        if date.fromisoformat(day).isoformat() == day:
            return
    except ValueError:
        pass
    raise CallerError(f"a day is a date such as 2026-11-21, not {day!r:.40}")


def require_by(by: Collection[str]) -> None:
    """Raise ``CallerError`` for what sums cannot be told apart by."""
    if unknown := sorted(set(by) - set(BY)):
        raise CallerError(f"sums are told apart by {', '.join(BY)}, not {', '.join(unknown)}")


def require_call(spent: Spent) -> None:
    """Raise ``InvalidSession`` for a call that cannot be kept under its name."""
    if not spent.call or len(spent.call) > NAME_MAX or not spent.call.isprintable():
        raise InvalidSession(f"a call's name is 1 to {NAME_MAX} printable characters")


def plain_model(model: str) -> str:
    """A model's name as it is kept."""
    return "".join(sign if sign.isprintable() else "?" for sign in model[:NAME_MAX])


def encoded(stages: Stages) -> str:
    """A call's figures as text: zeros are left out."""
    return json.dumps(
        {
            stage: {name: value for name in NAMES if (value := getattr(figures, name))}
            for stage, figures in sorted(stages.items())
        }
    )


def decoded(text: str) -> Stages:
    """The inverse of ``encoded``. Raises ``ValueError`` for what is none."""
    try:
        return {stage: UsageSums(**figures) for stage, figures in json.loads(text).items()}
    except (TypeError, AttributeError) as error:
        raise ValueError("no figures of a call") from error
