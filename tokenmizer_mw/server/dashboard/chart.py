"""A bar chart of savings by day, as SVG that the content security policy allows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final

from tokenmizer_mw.model.spending import UsageSums

from .markup import Markup, tag

DAYS: Final = 30
_WIDTH: Final = 720
_HEIGHT: Final = 180
_LEFT: Final = 8
_BOTTOM: Final = 24
_TOP: Final = 16


def chart(days: Mapping[str, UsageSums]) -> Markup | None:
    """Return a chart of input tokens by day (UTC), sent and saved, for the ``DAYS`` days up to the newest one with
    calls.

    ``None`` without calls.
    """
    if not days:
        return None
    newest = date.fromisoformat(max(days))
    listed = [(newest - timedelta(days=back)).isoformat() for back in range(DAYS - 1, -1, -1)]
    most = max(max(each.input_tokens, each.client_tokens) for each in days.values()) or 1
    step = (_WIDTH - 2 * _LEFT) / DAYS
    bars = [_bar(day, days[day], _LEFT + place * step, step, most) for place, day in enumerate(listed) if day in days]
    base = _HEIGHT - _BOTTOM
    axis = tag("path", d=f"M{_LEFT} {base}H{_WIDTH - _LEFT}", class_="axis")
    ends = [
        tag("text", listed[0], x=_LEFT, y=_HEIGHT - 6),
        tag("text", listed[-1], x=_WIDTH - _LEFT, y=_HEIGHT - 6, class_="end-label"),
        tag("text", f"{most:,} tokens", x=_LEFT, y=11),
    ]
    label = f"Input tokens by day from {listed[0]} to {listed[-1]}: sent, and not sent"
    drawing = tag(
        "svg", axis, *bars, *ends, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", class_="chart", role="img", aria_label=label
    )
    keys = (tag("span", "sent", class_="key is-sent"), tag("span", "not sent", class_="key is-saved"))
    return tag("figure", drawing, tag("figcaption", "Input tokens by day: ", *keys, class_="hint"), class_="by-day")


def _bar(day: str, figures: UsageSums, x: float, step: float, most: int) -> Markup:
    room = _HEIGHT - _BOTTOM - _TOP
    sent = figures.input_tokens / most * room
    saved = max(0, figures.client_tokens - figures.input_tokens) / most * room
    base = _HEIGHT - _BOTTOM
    name = f"{day}: {figures.input_tokens:,} sent, {figures.client_tokens - figures.input_tokens:,} not sent"

    def box(top: float, height: float, class_: str) -> Markup:
        at = {"x": f"{x + 1:.1f}", "y": f"{top:.1f}", "width": f"{step - 2:.1f}", "height": f"{height:.1f}"}
        return tag("rect", class_=class_, **at)

    parts = (box(base - sent, sent, "is-sent"), box(base - sent - saved, saved, "is-saved"))
    return tag("g", tag("title", name), *parts)
