"""The savings page: net savings in total, by stage, by model and by day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final, Literal

from tokenmizer_mw.chat.usage import has_prices, name_prices
from tokenmizer_mw.context.savings import Savings
from tokenmizer_mw.model.usage import CALL, UsageSums
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.settings import Settings

from .caches import title_of
from .markup import Child, Markup, card, figure_list, format_count, join_markup, nothing, tag
from .page import Page, PageRequest, heading, session_head
from .request import MessagesOnly, explain_no_requests, messages_only
from .savings_tables import group_sums, is_priced, money, render_tables


def show_savings(request: PageRequest) -> Page:
    """Return the savings of a session, or of the whole tenant."""
    title, unseen = request.memory.view(request.id, _look, tenant=request.tenant) if request.id else ("", None)
    found = request.memory.savings(request.id or None, tenant=request.tenant)
    lead = tag("p", "What calls cost, and what they would have cost without the memory.", class_="lead")
    head = session_head(request, "savings", title) if request.id else heading("Savings", lead)
    shown = _render_savings(request, found) if found.rows else _empty(request, unseen)
    return Page(
        f"Savings - {title or request.id}" if request.id else "Savings", join_markup(head, shown), "savings", request.id
    )


def _look(state: SessionState) -> tuple[str, MessagesOnly | None]:
    return title_of(state), messages_only(state)


def _empty(request: PageRequest, unseen: MessagesOnly | None) -> Markup:
    if unseen is not None:
        return tag("section", explain_no_requests(request, unseen), class_="card")
    in_code = tag("code", "Settings(savings=True)")
    in_environment = tag("code", "TOKENMIZER_SAVINGS=true")
    where = ", in the environment of the proxy and of applications that use "
    text = tag(
        "p",
        *("To account for what calls cost and saved, set ", in_code, ", or ", in_environment, where),
        *(tag("code", "Settings.load()"), "."),
    )
    more = tag("p", "The first call that ends after that shows here.", class_="hint")
    hooks = "Hooks of coding agents record messages, not calls: the proxy counts an agent's calls."
    return tag("section", nothing("No calls are recorded."), text, more, tag("p", hooks, class_="hint"), class_="card")


def _render_savings(request: PageRequest, found: Savings) -> Markup:
    whole = found.whole
    return join_markup(
        _verdict(whole, request.memory.settings),
        _by_day(request),
        *render_tables(request),
        _remarks(whole),
    )


def _verdict(whole: UsageSums, settings: Settings) -> Markup:
    if not is_priced(whole):
        return card("Tokens", figure_list(_count_rows(whole)), tag("p", *_explain_no_price(settings), class_="hint"))
    lost = whole.saved < 0
    share = f": {abs(whole.saved) / whole.client_cost:.1%} {'more' if lost else 'less'}" if whole.client_cost else ""
    rows = ((money(abs(whole.saved)), "lost" if lost else "saved"), *_count_rows(whole))
    figures = figure_list(rows)
    text = f"The input cost {money(whole.cost)} in place of {money(whole.client_cost)} without the memory{share}."
    loss = tag("p", "What was written anew cost more than was saved so far.", class_="warning") if lost else None
    return card("Net of prompt caching", figures, loss, tag("p", text, class_="hint"))


def _count_rows(whole: UsageSums) -> tuple[tuple[str, str], ...]:
    return (
        (f"{whole.saved_tokens:,}", "tokens not sent"),
        (f"{whole.calls:,}", "call" if whole.calls == 1 else "calls"),
        (f"{whole.input_tokens:,}", "tokens sent"),
        (f"{whole.cached_tokens:,}", "read from the provider's cache"),
    )


def _explain_no_price(settings: Settings) -> list[Child]:
    """Why there are tokens without money, and what to do."""
    own: list[Child] = ["name a file with your prices in the setting ", tag("code", "prices"), "."]
    if has_prices(settings):
        return ["Only tokens are shown: no price of these models is known. To have prices, ", *own]
    command = tag("code", install_hint("prices"))
    return ["Only tokens are shown: no prices are installed. To have them, ", command, ", or ", *own]


def _by_day(request: PageRequest) -> Markup | None:
    by: tuple[Literal["day"]] = ("day",)
    sums = request.memory.savings(request.id or None, by=by, tenant=request.tenant).rows
    drawn = draw_chart(group_sums((row.day, row) for row in sums if row.stage == CALL))
    return card("Day by day", drawn) if drawn is not None else None


def _remarks(whole: UsageSums) -> Markup | None:
    lines = [f"Prices of {name_prices()}, and your own where the settings name a file."] if is_priced(whole) else []
    if whole.estimated:
        lines.append(f"{format_count(whole.estimated, 'call')} came without usage: their tokens are counted here.")
    if whole.unpriced and is_priced(whole):
        lines.append(
            f"{format_count(whole.unpriced, 'call')} went to models without a known price: they cost nothing here."
        )
    return tag("p", " ".join(lines), class_="hint") if lines else None


DAYS_DRAWN: Final = 30
_WIDTH: Final = 720
_HEIGHT: Final = 160
_TICKS: Final = 5
_STEPS: Final = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)
_UNITS: Final = ((10**9, "B"), (10**6, "M"), (10**3, "k"))


def draw_chart(days: Mapping[str, UsageSums]) -> Markup | None:
    """Return a bar chart of input tokens per day: sent and saved. Returns ``None`` if ``days`` is empty.

    ``days`` maps UTC dates ("2026-11-29") to the sums of days with calls. The chart covers ``DAYS_DRAWN`` days and ends
    at the newest of them.
    """
    if not days:
        return None
    newest = date.fromisoformat(max(days))
    listed = [(newest - timedelta(days=back)).isoformat() for back in range(DAYS_DRAWN - 1, -1, -1)]
    most = _round_up(max(max(days[day].input_tokens, days[day].client_tokens) for day in listed if day in days))
    step = _WIDTH / DAYS_DRAWN
    bars = [_bar(day, days[day], place * step, step, most) for place, day in enumerate(listed) if day in days]
    lines = [tag("path", d=f"M0 {y}H{_WIDTH}", class_="grid") for y in (0.5, _HEIGHT / 2, _HEIGHT - 0.5)]
    drawing = tag(
        "svg",
        *lines,
        *bars,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        class_="chart",
        role="img",
        aria_label=f"Input tokens by day from {listed[0]} to {listed[-1]}: sent, and not sent",
    )
    keys = (tag("span", "sent", class_="key is-sent"), tag("span", "not sent", class_="key is-saved"))
    scale = tag("div", [tag("span", compact(number)) for number in (most, most // 2, 0)], class_="scale")
    ticks = [listed[round(place * (DAYS_DRAWN - 1) / (_TICKS - 1))] for place in range(_TICKS)]
    dates = tag("div", [tag("span", _spell_day(day)) for day in ticks], class_="dates")
    return tag("figure", tag("figcaption", "Input tokens by day: ", *keys), scale, drawing, dates, class_="by-day")


def _bar(day: str, figures: UsageSums, x: float, step: float, most: int) -> Markup:
    sent = figures.input_tokens / most * _HEIGHT
    saved = max(0, figures.client_tokens - figures.input_tokens) / most * _HEIGHT
    name = f"{day}: {figures.input_tokens:,} sent, {figures.client_tokens - figures.input_tokens:,} not sent"

    def box(top: float, height: float, class_: str) -> Markup:
        at = {"x": f"{x + 3:.1f}", "y": f"{top:.1f}", "width": f"{step - 6:.1f}", "height": f"{height:.1f}"}
        return tag("rect", class_=class_, **at)

    parts = (box(_HEIGHT - sent, sent, "is-sent"), box(_HEIGHT - sent - saved, saved, "is-saved"))
    return tag("g", tag("title", name), *parts)


def _round_up(number: int) -> int:
    """The next number that is easy to read at the end of a scale, such as 1,200,000."""
    power: int = 10 ** max(0, len(str(number)) - 1)
    return max(2, next(round(step * power) for step in _STEPS if step * power >= number))


def compact(number: int) -> str:
    """Format a number with at most three digits and a unit: 10.2M."""
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number}"


def _spell_day(day: str) -> str:
    found = date.fromisoformat(day)
    return f"{found.day} {found:%b}"
