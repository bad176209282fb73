"""Terminal output of the demonstration: each turn while it runs; at the end the graph, tokens, times and where the data
is.

If standard output is no terminal, the output is plain lines without colour.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tokenmizer_mw.context.compaction.contract import CompactionWish
from tokenmizer_mw.context.loss_report import LossReport
from tokenmizer_mw.graph.explanation import mark_uncertain
from tokenmizer_mw.graph.export.documents import outline
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.runtime.installing import install_hint
from tokenmizer_mw.runtime.terminal import inert, one_line
from tokenmizer_mw.wire.dialects import ROUTES

from .app import CutSeen, ProbeOutcome, RunFigures
from .conversation import SESSION

WIDTH_MAX: Final = 110
_BAR: Final = 10
_LIVE_LINES: Final = 10
_REMINDER_LINES: Final = 3
"""Maximum number of facts and quotations that are printed of a reminder (text that the middleware appended to the
newest message)."""

_ENTRY_STARTS: Final = ("[", "- ")
"""In a reminder (text that the middleware appended to the newest message), a line that states a fact or quotes a
message begins with one of these."""

_MARGIN: Final = 10
_ENVIRONMENT: Final = ".venv-demo"
"""Name of the folder with the Python environment that ``make demo`` creates."""

_FIXED: Final = 43
"""Width in characters of a table row without the user's message."""


class Screen:
    """Prints the demonstration to the terminal. ``window``: the model's context window in tokens.

    The argument ``style`` of its methods is a style of the library rich, such as "bold red"; "" for none.
    """

    def __init__(self, window: int) -> None:
        self._window = window
        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
        self.width = min(self._console.width, WIDTH_MAX)
        self._live: Live | None = None
        self._lines: list[Text] = []
        self._reply = ""

    def heading(self, text: str) -> None:
        """Print ``text`` as the heading of a part of the demonstration."""
        self._console.print()
        self._console.print(Text(f"== {text} {'=' * max(0, self.width - len(text) - 4)}", style="bold cyan"))

    def lines(self, lines: Iterable[str], style: str = "", *, rows: int | None = None) -> None:
        """Print lines of text, wrapped to the width of the screen with hanging indents. ``rows``: maximum number of
        rows per line; the rest of the line is replaced by "..." (``None``: no limit)."""
        for line in lines:
            for piece in _wrap_line(inert(line), self.width, rows):
                self._console.print(Text(piece, style=style))

    def verbatim(self, text: str, style: str = "") -> None:
        """Print a text line by line, neither wrapped nor indented. Control characters are made harmless."""
        for line in text.splitlines():
            self._console.print(Text(inert(line), style=style), soft_wrap=True)

    def paragraph(self, text: str) -> None:
        """Print ``text`` as one wrapped paragraph. Line breaks and runs of spaces in ``text`` become single spaces."""
        self.lines([" ".join(text.split())])

    # -- a turn ----------------------------------------------------------------------------------------------

    def table_head(self) -> None:
        """Print an explanation of the columns and the header of the table of turns."""
        self.paragraph(
            """Tokens: the longest request of the turn as the model receives it. First byte: milliseconds from the
            turn's first request to the beginning of its reply, with the middleware and without it."""
        )
        words = f"{'turn':>4}  {'the person says':<{self._words_width()}}"
        self._console.print(Text(f"{words}  tool  tokens sent to   first byte", style="bold"))
        limit = f"model, of {self._window:,}"
        self._console.print(Text(f"{'':>{len(words)}}  calls {limit:<15} with/without", style="bold"))

    def begins(self, number: int, user: str) -> None:
        """Show that turn ``number`` has begun with the user's message ``user``. Only on a terminal; the display is
        updated until ``stop`` or ``ends``."""
        self._lines = [Text(f"turn {number}, the person: {one_line(user)}", style="yellow")]
        self._reply = ""
        if self._console.is_terminal:
            self._live = Live(self._current(), console=self._console, transient=True, refresh_per_second=20)
            self._live.start()

    def show_text(self, text: str) -> None:
        """Append a piece of the model's text to the live display of the current turn."""
        self._reply += text
        self._refresh()

    def show_tool_call(self, call: str) -> None:
        """Append a tool call to the live display of the current turn. ``call``: the line that ``summary`` returned for
        the call."""
        if self._reply:
            self._lines.append(Text(inert(self._reply)))
            self._reply = ""
        self._lines.append(Text(f"  {one_line(call)}", style="dim", overflow="ellipsis", no_wrap=True))
        self._refresh()

    def ends(self, number: int, user: str, tools: int, tokens: int, first: float, without: float | None) -> None:
        """End the live display and print the finished turn as a row of the table.

        - ``number``, ``user``: number of the turn and the user's message.
        - ``tools``: number of tool calls. ``tokens``: tokens of the turn's longest request, as the model received it.
        - ``first``, ``without``: seconds to the first byte with memory and without it; ``without`` is ``None`` if not
          measured.
        """
        self.stop()
        times = f"{first * 1000:.0f}" + (f"/{without * 1000:.0f}" if without is not None else "")
        filled = min(_BAR, round(tokens / self._window * _BAR))
        row = Text(f"{number:>4}  {_cut(one_line(user), self._words_width())}  {tools or '-':>3}  {tokens:>6,} ")
        row.append("#" * filled, style="red" if filled >= _BAR * 0.85 else "green")
        row.append("." * (_BAR - filled), style="dim")
        row.append(f"  {times:>7} ms")
        self._console.print(row, no_wrap=True)

    def stop(self) -> None:
        """End the live display of the current turn, if there is one."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    # -- what matters ----------------------------------------------------------------------------------------

    def cut(self, cut: CutSeen, threshold: int, *, show_block: bool) -> None:
        """Print that old messages were replaced by a resume block because the request exceeded ``threshold`` tokens.
        ``show_block``: also print the text of the block."""
        before, after = cut.held, cut.seen.received
        count = sum(message["role"] != "system" for message in cut.seen.kept)
        self._console.print(Text(f"  >>> context full at turn {cut.turn}: {before:,} tokens -> {after:,}", "bold red"))
        text = (
            f"The limit is {threshold:,} tokens, {threshold / self._window:.0%} of the window, so that a reply still "
            f"fits. {cut.seen.dropped} old messages were replaced by one resume block; "
            f"the last {count} stay word for word. The stream began after {cut.first_byte * 1000:.0f} ms."
        )
        self.lines([f"      {text}"], style="red")
        if show_block:
            self.lines(["      This is what the model gets in their place, exactly as it is sent:"], style="red")
            self.verbatim(cut.seen.block, style="magenta")

    def reminder(self, text: str) -> None:
        """Print the first ``_REMINDER_LINES`` facts and quotations of a reminder, and how many more there are. A
        reminder is text that the middleware appended to the newest message. ``text``: the whole reminder."""
        self.lines(["      After the newest message: what was recalled from the replaced ones for it:"], style="red")
        entries = list(_split_reminder(text))
        lines = [_cut(line, self.width - _MARGIN).rstrip() for line in entries[:_REMINDER_LINES]]
        rest = [f"... and {len(entries) - len(lines)} more"] if len(lines) < len(entries) else []
        self.lines([f"      | {line}" for line in (*lines, *rest)], style="magenta")

    def probe(self, question: str, answered: ProbeOutcome, dropped: int) -> None:
        """Print a question about an old fact, the model's answer and whether it is right. ``question``: the user's
        message. ``dropped``: number of old messages that the request no longer contains."""
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


def _split_reminder(text: str) -> Iterator[str]:
    """Yield the facts and quotations in the text of a reminder (text that the middleware appended to the newest
    message), each joined to one line. Other lines are left out."""
    entry = ""
    for line in text.splitlines():
        if line.startswith(_ENTRY_STARTS):
            if entry:
                yield entry
            entry = line
        elif entry and not line.startswith("</"):
            entry += f" {line.strip()}"
    if entry:
        yield entry


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


TIERS: Final = ("critical", "standard", "full")
_NAME: Final = "tokenmizer-mw"
_PER_SECTION: Final = 6
_PER_REPORT: Final = 12
_PER_BLOCK: Final = 4


def show_memory(screen: Screen, memory: SessionMemory) -> None:
    """Print what the memory has stored of the demonstration's session: the graph of facts, the decisions that were
    replaced, the three resume blocks, and the loss report (the facts that the last cut removed and its block does not
    state)."""
    graph = memory.graph(SESSION)
    screen.heading("The session graph")
    facts, relations = len(graph), len(graph.edges())
    screen.lines([f"{facts} facts, {relations} relations; #n is the message that a fact comes from."])
    screen.lines(_shorten_sections(outline(graph)), rows=2)
    screen.heading("Decisions that replaced others")
    screen.lines(_transitions(graph))
    screen.heading("Resume blocks")
    screen.lines(["The whole session in at most 100, 300 and 600 tokens; what matters most comes first."])
    for tier in TIERS:
        resume = memory.resume(SESSION, tier)
        screen.heading(f"Resume block, {tier}: {resume.tokens} tokens")
        screen.verbatim(resume.text)
    screen.heading("Loss report")
    screen.lines(_describe_losses(memory.loss_report(SESSION)))


def show_compaction(screen: Screen, memory: SessionMemory, body: Mapping[str, Any]) -> None:
    """Print the answer that the proxy would give to a client that asks for a compaction (one text in place of the whole
    session), and how long it took to make. ``body``: the JSON body of the client's chat request. Prints nothing if no
    compaction can be made."""
    request = ROUTES["/chat/completions"].read(json.dumps(body).encode())
    began = perf_counter()
    made = memory.service.compaction.compact(SessionKey(LOCAL_TENANT, SESSION), request, CompactionWish())
    took = (perf_counter() - began) * 1_000
    if made is None:
        return
    screen.heading("A compaction, as clients ask for it by contract")
    tokens = memory.service.access.counters.of(request.model).text(made.block)
    size = f"{len(request.messages)} messages of {made.tokens:,} tokens become {tokens:,}, in {took:.0f} ms"
    answered = "So the proxy answers Claude Code's /compact and OpenAI's /v1/responses/compact."
    screen.lines([f"{size} and without a model. {answered} It begins:"])
    screen.lines(made.block.splitlines()[2 : 2 + _PER_BLOCK], rows=2)


def _describe_losses(report: LossReport) -> Iterator[str]:
    yield (
        f"{report.dropped} messages before #{report.before_turn} are no longer sent. "
        f"Of the facts extracted from them, the block in their place leaves out {len(report.items) or 'none'}:"
    )
    for node in report.items[:_PER_REPORT]:
        values = " (brought back by a reminder)" if node.id in report.returned else ""
        yield f"  #{node.source.turn} {node.type.value}: {node.label}{values}"
    if len(report.items) > _PER_REPORT:
        yield f"  ... and {len(report.items) - _PER_REPORT} more"
    if report.quoted:
        yield f"Reminders quoted messages {', '.join(f'#{number}' for number in report.quoted)}."
    yield "memory.recall finds them, memory.restore gives the messages back word for word."


def show_figures(screen: Screen, figures: RunFigures, counted_by: str) -> None:
    """Print the tokens and times in ``figures``, with and without memory. ``counted_by``: name of the tokenizer that
    counted."""
    screen.heading("What it cost and what it saved")
    screen.lines(_figures(figures, counted_by))


def show_store(screen: Screen, database: Path, *, own_folder: bool) -> None:
    """Print where the data of the demonstration is stored, commands that show the data, and how to remove it.

    ``database``: path of the SQLite file. ``own_folder``: whether the demonstration created the file's folder; the
    printed command then removes the whole folder, else only the database.
    """
    screen.heading("Look for yourself")
    screen.lines(["The database of this run is no other chat's; each command names it:"])
    for command in (f"graph {SESSION}", f"resume {SESSION} --level full", f'why {SESSION} "PostgreSQL"'):
        _show_command(screen, command, database)
    screen.lines(["", "or in a browser, with the graph through time and changes by hand:"])
    _show_command(screen, "dashboard", database)
    screen.lines(
        ["", f"This run leaves {'a folder with its database' if own_folder else 'its database'}; to remove it:"]
    )
    path = shlex.quote(str(database.parent)) if own_folder else f"{shlex.quote(str(database))}*"
    screen.verbatim(f"\n  rm {'-r ' if own_folder else ''}\\\n    {path}")
    if Path(sys.prefix).name == _ENVIRONMENT:
        screen.lines(["", "`make demo` has also set up an environment of its own; to remove it:"])
        screen.verbatim(f"\n  rm -r \\\n    {shlex.quote(sys.prefix)}")


def _show_command(screen: Screen, command: str, database: Path) -> None:
    """Print a command of this program with the option for the database, on two lines that are not wrapped, so that they
    can be copied. ``command``: the command with its arguments, such as ``graph coldwatch``."""
    screen.verbatim(f"\n  {_program()} {command} \\\n    --store {shlex.quote(f'sqlite:///{database}')}")


def show_next(screen: Screen) -> None:
    """Print commands with which users can try the package with their own chats."""
    program = _program()
    screen.heading("Try it with your own chats")
    screen.lines(["A chat that you have (ChatGPT, Claude, Claude Code, Codex, aider, JSON):"])
    screen.verbatim(f"  {program} import conversations.json")
    screen.lines(["Claude Code, from its next chat on (also codex, cursor, vscode):"])
    _show_with_extra(screen, program, "install claude-code", "mcp", needs="mcp")
    screen.lines(["Any client with a base URL, through the proxy:"])
    _show_with_extra(screen, program, "serve", "proxy", needs="httptools")
    screen.lines(["Your ASGI application:", "  app.add_middleware(TokenMizerMiddleware, memory=memory)"])


def _show_with_extra(screen: Screen, program: str, command: str, extra: str, *, needs: str) -> None:
    """Print a command of this program. If the module ``needs`` is not installed, first print how to install the extra
    ``extra``. ``program``: the program's name or path."""
    if find_spec(needs) is None:
        screen.verbatim(f"  {install_hint(extra)}")
        program = _NAME  # in whichever environment that was
    screen.verbatim(f"  {program} {command}")


def _program() -> str:
    """Return how to call this program here: its name if that is on the ``PATH``, else its path relative to the current
    directory."""
    called = Path(sys.argv[0])
    if called.name != _NAME or shutil.which(called.name):
        return _NAME
    return os.path.relpath(called)


def _shorten_sections(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a printed graph with at most ``_PER_SECTION`` facts per section, and a line "... and n more"
    where facts were left out."""
    facts = 0
    for place, line in enumerate(lines):
        if not line.startswith(" "):
            facts = 0
        elif not line.startswith("      "):
            facts += 1
        if facts <= _PER_SECTION:
            yield line
        last = place + 1 == len(lines) or not lines[place + 1].startswith(" ")
        if last and facts > _PER_SECTION:
            yield f"      ... and {facts - _PER_SECTION} more"


def _transitions(graph: SessionGraph) -> Iterator[str]:
    steps = graph.transitions()
    if not steps:
        yield "none"
    for step in steps:
        old, new = graph.get(step.old), graph.get(step.new)
        was = f"{old.label if old else step.old}{mark_uncertain(new)}"
        yield f"{was} -> {new.label if new else step.new} (message {step.trigger})"
        if step.reason:
            yield f"    why: {step.reason}"
        if step.evidence:
            yield f'    evidence: "{step.evidence}"'


def _figures(figures: RunFigures, counted_by: str) -> Iterator[str]:
    yield f"tokens of {figures.requests} requests ({counted_by}):"
    yield f"    {figures.tokens_sent:,} without, {figures.tokens_received:,} with: {figures.saved_share():.0%} saved"
    yield "    (the sum over all requests: each sends the whole chat again, or the block in"
    yield "    place of its older part)"
    if figures.refused_without:
        yield f"    {figures.refused_without} of them would have been longer than the window: models refuse those"
    yield "requests at which old messages were replaced, before and after:"
    for cut in figures.cuts:
        yield f"    at turn {cut.turn}: {cut.held:,} tokens -> {cut.seen.received:,}"
    if figures.without_memory:
        without, with_ = median(figures.without_memory) * 1000, median(figures.with_memory) * 1000
        yield "time to the first byte of a reply, median:"
        yield f"    {without:.1f} ms without, {with_:.1f} ms with: {with_ - without:+.1f} ms"
        yield "    (client, model and application share this machine and one process;"
        yield "    docs/benchmarks.md has the delay of the middleware alone)"
        if figures.cuts:
            slowest = max(cut.first_byte for cut in figures.cuts) * 1000
            yield f"    slowest request at which the transcript was replaced: {slowest:.0f} ms"
    right = sum(answer.right for answer in figures.answers)
    yield f"old facts asked for: {right} of {len(figures.answers)} known"
    yield "    (the person's questions about earlier turns that were answered rightly)"
