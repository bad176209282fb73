"""Terminal output of the demonstration; without a terminal, plain lines without colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tokenmizer_mw.runtime.terminal import inert, one_line

from .app import CutSeen, ProbeOutcome

WIDTH_MAX: Final = 110
_BAR: Final = 10
_LIVE_LINES: Final = 10
_FIXED: Final = 43
"""Columns of a row of the table beside the person's words."""


class Screen:
    """The terminal output; ``window``: the model's context window in tokens."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
        self.width = min(self._console.width, WIDTH_MAX)
        self._live: Live | None = None
        self._lines: list[Text] = []
        self._reply = ""

    def heading(self, text: str) -> None:
        """Print the heading of a part of the demonstration."""
        self._console.print()
        self._console.print(Text(f"== {text} {'=' * max(0, self.width - len(text) - 4)}", style="bold cyan"))

    def lines(self, lines: Iterable[str], style: str = "", *, rows: int | None = None) -> None:
        """Print lines of text, wrapped with hanging indents, at most ``rows`` rows (``None``: all)."""
        for line in lines:
            for piece in _wrap_line(inert(line), self.width, rows):
                self._console.print(Text(piece, style=style))

    def verbatim(self, text: str, style: str = "") -> None:
        """Print a text unchanged, neither wrapped nor indented."""
        for line in text.splitlines():
            self._console.print(Text(inert(line), style=style), soft_wrap=True)

    def paragraph(self, text: str) -> None:
        """Print a paragraph."""
        self.lines([" ".join(text.split())])

    # -- a turn ----------------------------------------------------------------------------------------------

    def table_head(self) -> None:
        """Print the header of the table of turns."""
        words = f"{'turn':>4}  {'the person says':<{self._words_width()}}"
        self._console.print(Text(f"{words}  tool  tokens sent to   first byte", style="bold"))
        limit = f"model, of {self._window:,}"
        self._console.print(Text(f"{'':>{len(words)}}  calls {limit:<15} with/without", style="bold"))

    def begins(self, number: int, user: str) -> None:
        """Show that a turn of the demonstration has begun."""
        self._lines = [Text(f"turn {number}, the person: {one_line(user)}", style="yellow")]
        self._reply = ""
        if self._console.is_terminal:
            self._live = Live(self._current(), console=self._console, transient=True, refresh_per_second=20)
            self._live.start()

    def show_text(self, text: str) -> None:
        """Show a piece of the model's text."""
        self._reply += text
        self._refresh()

    def show_tool_call(self, call: str) -> None:
        """Show a tool call."""
        if self._reply:
            self._lines.append(Text(inert(self._reply)))
            self._reply = ""
        self._lines.append(Text(f"  {one_line(call)}", style="dim", overflow="ellipsis", no_wrap=True))
        self._refresh()

    def ends(self, number: int, user: str, tools: int, tokens: int, first: float, without: float | None) -> None:
        """Print a finished turn of the demonstration as a row of the table."""
        self.stop()
        times = f"{first * 1000:.0f}" + (f"/{without * 1000:.0f}" if without is not None else "")
        filled = min(_BAR, round(tokens / self._window * _BAR))
        row = Text(f"{number:>4}  {_cut(one_line(user), self._words_width())}  {tools or '-':>3}  {tokens:>6,} ")
        row.append("#" * filled, style="red" if filled >= _BAR * 0.85 else "green")
        row.append("." * (_BAR - filled), style="dim")
        row.append(f"  {times:>7} ms")
        self._console.print(row, no_wrap=True)

    def stop(self) -> None:
        """End the live display of the current turn."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    # -- what matters ----------------------------------------------------------------------------------------

    def cut(self, cut: CutSeen, threshold: int, *, show_block: bool) -> None:
        """Print that the transcript was cut, and on request the block."""
        before, after = cut.held, cut.seen.received
        kept = sum(message["role"] != "system" for message in cut.seen.kept)
        self._console.print(Text(f"  >>> context full at turn {cut.turn}: {before:,} tokens -> {after:,}", "bold red"))
        text = (
            f"The limit is {threshold:,}. {cut.seen.dropped} old messages were replaced by one resume block; the last "
            f"{kept} stay word for word. The stream began after {cut.first_byte * 1000:.0f} ms."
        )
        self.lines([f"      {text}"], style="red")
        if show_block:
            self.lines(["      This is what the model gets in their place, exactly as it is sent:"], style="red")
            self.verbatim(cut.seen.block, style="magenta")

    def reminder(self, text: str) -> None:
        """Print the reminder that a request contained."""
        self.lines(["      Behind the newest message stands what it asks for of the replaced ones:"], style="red")
        self.lines([f"      | {line}" for line in text.splitlines()], style="magenta")

    def probe(self, question: str, answered: ProbeOutcome, dropped: int) -> None:
        """Print a question about an old fact, and its answer."""
        style = "green" if answered.right else "bold red"
        known = f"known from: {answered.source}" if answered.right else "the answer is wrong"
        note = f"asked for {answered.probe.question}; {dropped} old messages are no longer sent; {known}"
        self.lines([f"      person: {question}", f"      model: {answered.answer}", f"      [{note}]"], style=style)

    def _words_width(self) -> int:
        return max(20, self.width - _FIXED)

    def _current(self) -> Group:
        newest = inert(self._reply).splitlines()[-_LIVE_LINES:]
        return Group(*self._lines[-_LIVE_LINES:], Text("\n".join(newest), style="bold"))

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._current())


def _cut(text: str, width: int) -> str:
    return f"{text:<{width}}" if len(text) <= width else text[: width - 3].rstrip().ljust(width - 3) + "..."


def _wrap_line(line: str, width: int, rows: int | None) -> list[str]:
    indent = len(line) - len(line.lstrip(" "))
    body = line[indent:]
    more = "|   " if body.startswith("| ") else "    " if body.startswith(("[", "* ", "- ")) else ""
    return textwrap.wrap(
        body,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent + more,
        max_lines=rows,
        placeholder=" ...",
    ) or [""]
