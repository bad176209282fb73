"""Messages that a cut keeps with compression, compared with those that it keeps without.

An agent works for 30 turns; in each it reads files and runs tests, and sends its history again with every call. Each
call is sent in its dialect through the memory, once with ``compress="all"`` and once without, at two window sizes. In
the small window the three newest results, which are never shortened, nearly fill what a cut may keep. The agent and
its outputs are generated; how far an output can be shortened depends on its kind.

- messages behind a cut: the messages that follow the block, in the mean over all calls behind a cut; "kept at a cut":
  at the cuts alone.
- largest request: its size divided by the window, as the memory counts tokens.
- figures also have, for calls without a new cut, the share that begins with all messages of the call before; stage
  ``history`` changes older messages in steps by itself, too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tokenmizer_mw.chat.exchange import open_exchange
from tokenmizer_mw.context.tokens import ModelCounters
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.request import Dialect

from .conversations import WRITERS, Answered, Asked, Called, Item, Returned, Told, Writer
from .measure import at_least, at_most
from .windows import dialects

TURNS: Final = 30
WINDOWS: Final = (4_000, 8_000)
WAYS: Final[Mapping[str, str]] = {"without": "", "with": "all"}
_KEY: Final = SessionKey(LOCAL_TENANT, "agent")
_FILES: Final = ("billing/invoice.py", "billing/rounding.py", "api/routes.py", "store/ledger.py", "mail/queue.py")


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name, dialect in dialects().items():
        for window in WINDOWS:
            ways = {way: sent(dialect, WRITERS[name], window, compress) for way, compress in WAYS.items()}
            more = ways["with"]["messages behind a cut"] / ways["without"]["messages behind a cut"]
            figures[f"{name}, {window}"] = {**ways, "times the messages": more}
    return {"figures": figures, "bars": list(_bars(figures)), "notes": __doc__, "page": list(_page(figures))}


def _bars(figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, row in figures.items():
        least = 1.2 if name.endswith(f" {WINDOWS[-1]}") else 1.0
        more = row["times the messages"]
        yield at_least(f"{name}: messages behind a cut, times those without compression", more, least)
    larger = max(row["with"]["largest request"] / row["without"]["largest request"] for row in figures.values())
    yield at_most("largest request, times the largest without compression", larger, 1.05)


def _page(figures: Mapping[str, Any]) -> Iterator[str]:
    yield "| dialect, window | messages behind a cut without / with | kept at a cut | cuts | largest request |"
    yield "|---|---|---|---|---|"
    for name, row in figures.items():
        one, other = row["without"], row["with"]
        pairs = (
            f"{one[figure]:.1f} / {other[figure]:.1f}" for figure in ("messages behind a cut", "kept at a cut", "cuts")
        )
        yield f"| {name} | {' | '.join(pairs)} | {one['largest request']:.2f} / {other['largest request']:.2f} |"


def calls(turns: int = TURNS) -> Iterator[tuple[Item, ...]]:
    """Iterate over the histories that the calls of a generated agent send, over so many turns; the same in every
    run."""
    rng = random.Random("an agent that reads and tests")
    items: list[Item] = [Told("You are a coding agent. Never push to main.")]
    for turn in range(turns):
        items.append(Asked(f"Step {turn}: look at invoice {turn + 100} again, and say what rounds it."))
        yield tuple(items)
        for step in range(rng.randint(1, 3)):
            call = _call(rng, f"call-{turn}-{step}")
            items += [Answered("", calls=(call,)), Returned(((call, _output(rng, call)),))]
            yield tuple(items)
        items.append(Answered(f"The total of step {turn} is {turn}.50, and `{rng.choice(_FILES)}` rounds it."))


def _call(rng: random.Random, id: str) -> Called:
    name = rng.choice(("read_file", "run_tests"))
    return Called(id, name, {"path": rng.choice(_FILES)})


def _output(rng: random.Random, call: Called) -> str:
    """A generated tool result of about 500 tokens: a file that has changed somewhere since it was last read, or the
    lines of a test run."""
    stem = str(call.arguments["path"]).rpartition("/")[2].removesuffix(".py")
    if call.name == "read_file":
        lines = [f"    total_{at} = compute_{stem}(row_{at}, {at * 7 % 13}.{at})" for at in range(40)]
        lines[rng.randrange(40)] = f"    total_x = compute_{stem}(row_{rng.randrange(999)}, 0)"
        return "\n".join([f"class {stem.title()}:", *lines])
    rows = [f"tests/test_{stem}.py::test_case_{at} PASSED in 0.{rng.randrange(99):02}s" for at in range(24)]
    rows[rng.randrange(24)] = f"tests/test_{stem}.py::test_half_{rng.randrange(999)} FAILED: assert 12.35 == 12.34"
    return "\n".join([*rows, "1 failed, 23 passed in 1.23s"])


def sent(dialect: Dialect, writer: Writer, window: int, compress: str, turns: int = TURNS) -> dict[str, float]:
    """Return the figures of one agent whose calls pass through a new memory. ``window``: the context window in tokens;
    ``compress``: the setting of that name."""
    settings = Settings(context_window=window, compress=compress, reminder_tokens=0)
    memory = SessionMemory.open("memory://", settings)
    behind: list[int] = []
    kept: list[int] = []
    largest, same, between = 0.0, 0, 0
    before: list[Any] = []
    for items in calls(turns):
        body, count, made = _forwarded(memory, dialect, writer, writer.write(items).body)
        elements = json.loads(body)[writer.list_name]
        if memory.counters().get("cut_made"):
            behind.append(len(elements) - 1)
        if made:
            kept.append(len(elements) - 1)
        else:
            between += 1
            same += elements[: len(before)] == before
        largest, before = max(largest, count / window), elements
    memory.close()
    return {
        "messages behind a cut": sum(behind) / max(1, len(behind)),
        "kept at a cut": sum(kept) / max(1, len(kept)),
        "cuts": float(len(kept)),
        "largest request": largest,
        "begins with the call before": same / between,
    }


def _forwarded(memory: SessionMemory, dialect: Dialect, writer: Writer, body: bytes) -> tuple[bytes, int, bool]:
    """The body that is forwarded, its tokens, and whether a new cut was made for it."""
    opened = open_exchange(dialect, (), body, memory.settings, path=writer.path, session_id=_KEY.id)
    rewrite, cut = memory.service.cuts.prepare(_KEY, opened.request)
    condensed = memory.service.cuts.condense(_KEY, opened.request, rewrite)
    forwarding = opened.forward(rewrite, condensed)
    memory.service.turns.commit_turn(_KEY, opened.request.messages, None, cut=cut)
    request = dialect.read(forwarding.forwarded, path=writer.path)
    counter = ModelCounters(None).of(request.model)
    tokens = counter.text(request.overhead) + sum(counter.request_counts(request))
    return forwarding.forwarded, tokens, rewrite is not None and rewrite.made
