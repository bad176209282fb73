"""Tokens that compression saves on agent sessions, whether the agent could still go on, and what it costs.

An agent sends its whole session again with every request to the model. Requests that the model answers with tool calls
are replayed. A request is measured if it contains at least 1,500 tokens of tool output (300 for ``own`` and
``authored_dev``). Only ``cost`` counts all replayed requests.

- ``saved``: share of the tool output's tokens that is not forwarded, over all measured requests.
- ``coverage``: the names (paths, identifiers, addresses; as in ``retention``) in the arguments of the next 12 tool
  calls that occurred before the request. The figure is the share of these names that the forwarded messages still
  contain: the mean of a session's requests, then of the sessions. ``told by tools``: the same for names that occurred
  in tool output only.
- ``quoted lines``: the lines of 20 characters and more that the next 12 tool calls quote from tool output (the old text
  of an edit). The figure is the share of these lines that the forwarded messages contain unchanged. For the others an
  agent must read the file again.
- ``cost``: cost of the input divided by the cost without compression, if a provider charges a tenth of the price for
  the beginning that it has cached and 1.25 of the price for new input.

``keep`` is the number of newest tool results that stay whole. Older results are shortened each time they have reached
``step`` tokens. The transcripts contain at most 6,000 characters of an output, and a median of 6,000 tokens of tool
output. That is too little for the defaults (three results, 4,000 tokens), so these sessions are measured with ``keep 2,
step 500``. The defaults are measured on all these sessions joined to one. The settings were chosen with these figures
in view. So was the share of a file's text that the list of its names may take. ``own`` and ``authored_dev`` were run
once afterwards. Their sessions have about 300 tokens of output, so ``step`` is 100 there.

Facts: probes of numbers, negations, paths, quotes, code and tables in texts of every kind. A fact counts as changed if
the result does not contain it unchanged. Speed: CPU time of all stages over the texts of the sessions, and over twice
as many, without token counting. A token is four characters.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw import Settings
from tokenmizer_mw.saving.compress.chat import ChatPassage, PassageKind, PlacedPassage, put_back, read
from tokenmizer_mw.saving.compress.pipeline import Condensed, Options, condense
from tokenmizer_mw.saving.compress.requests import changes
from tokenmizer_mw.wire.messages import history

from .compression_probes import by_kind, changed, probes
from .labelled import Labelled, corpora
from .measure import at_least, at_most, cpu_seconds
from .probes import tokens
from .retention import _NAME as NAME
from .retention import CALLS_AFTER, _arguments, _text

LEAST: Final = 1_500
LEAST_SMALL: Final = 300
LINE: Final = 20
WRITE, SERVED = 1.25, 0.1
CAUSAL: Final = "filler,json,spaces,logs,listings,repeats,shorten"
SCALED: Final = Settings(compress="all", compress_keep=2, compress_step=500)
SWEPT: Final = [(keep, step) for keep in (2, 3, 5) for step in (500, 2_000)]
SPEED_BYTES: Final = 4_000_000
TIMED: Final = 9

Turns = Sequence[Mapping[str, Any]]


def run() -> dict[str, Any]:
    sets = {corpus.name: _agents(corpus.sessions) for corpus in corpora()}
    real = [one.turns for one in sets.get("real_dev", ())]
    unseen = [one.turns for name in ("own", "authored_dev") for one in sets.get(name, ())]
    figures: dict[str, Any] = {"own and authored_dev": judged(unseen, SCALED.with_(compress_step=100), LEAST_SMALL)}
    bars: list[dict[str, Any]] = []
    if real:
        figures |= _real(real)
        bars += _bars(figures)
    found = list(probes())
    wrong = [f"{probe.kind}: {probe.fact}" for probe in found if changed(probe)]
    figures["probes"] = {**by_kind(found), "changed": wrong}
    speed = _speed(real or unseen)
    figures["speed"] = speed
    bars += [
        at_least("probes of facts", len(found), 200),
        at_most("facts changed", len(wrong), 0),
        at_least("MB of text a second of CPU", speed["MB/s"], 5.0),
        at_most("time for twice the text", speed["twice the text"], 2.3),
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__, "page": list(_page(figures))}


def _real(real: Sequence[Turns]) -> dict[str, Any]:
    swept = {f"keep {k}, step {s}": judged(real, SCALED.with_(compress_keep=k, compress_step=s)) for k, s in SWEPT}
    joined = [_joined(real)]
    return {
        "without the history": judged(real, SCALED.with_(compress=CAUSAL)),
        **swept,
        "all as one session, defaults": judged(joined, Settings(compress="all")),
    }


def _bars(figures: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("keep 2, step 500", "all as one session, defaults"):
        yield at_least(f"tool output saved, {name}", figures[name]["saved"], 0.70)
        yield at_least(f"next-action coverage, {name}", figures[name]["coverage"], 0.98)
    yield at_least("next-action coverage, own and authored_dev", figures["own and authored_dev"]["coverage"], 0.98)


def _agents(sessions: Sequence[Labelled]) -> list[Labelled]:
    return [one for one in sessions if any(turn["role"] == "tool" for turn in one.turns)]


def _joined(sessions: Sequence[Turns]) -> Turns:
    """Sessions one after the other as one session, with the session's number before the ids of calls."""
    joined: list[Mapping[str, Any]] = []
    for number, turns in enumerate(sessions):
        for turn in turns:
            own = dict(turn)
            if own.get("tool_call_id"):
                own["tool_call_id"] = f"{number}-{own['tool_call_id']}"
            if own.get("tool_calls"):
                own["tool_calls"] = [{**call, "id": f"{number}-{call['id']}"} for call in own["tool_calls"]]
            own["session"] = number
            joined.append(own)
    return joined


@dataclass(slots=True)
class _Sums:
    """Sums over the measured requests of a session."""

    output: int = 0
    forwarded: int = 0
    cost: float = 0.0
    plain: float = 0.0
    coverage: list[float] = None  # type: ignore[assignment]
    by_tools: list[float] = None  # type: ignore[assignment]
    quoted: list[float] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.coverage, self.by_tools, self.quoted = [], [], []


def judged(sessions: Sequence[Turns], settings: Settings, least: int = LEAST) -> dict[str, float]:
    """Return the figures of these sessions, each sent call by call with ``settings``; only the number of sessions (0)
    if no request has at least ``least`` tokens of tool output."""
    found = [one for turns in sessions if (one := _session(turns, settings, least)).output]
    if not found:
        return {"sessions": 0.0}
    return {
        "sessions": float(len(found)),
        "tokens of output": statistics.fmean(one.output / max(1, len(one.coverage)) for one in found),
        "saved": 1 - sum(one.forwarded for one in found) / sum(one.output for one in found),
        "coverage": _mean(one.coverage for one in found),
        "told by tools": _mean(one.by_tools for one in found),
        "quoted lines": _mean(one.quoted for one in found),
        "cost": sum(one.cost for one in found) / sum(one.plain for one in found),
    }


def _mean(found: Iterator[list[float]]) -> float:
    return statistics.fmean(statistics.fmean(one) for one in found if one)


def _session(turns: Turns, settings: Settings, least: int) -> _Sums:
    sums = _Sums()
    placed, options = read(history(turns)), Options.of(settings)
    state: Condensed | None = None
    before = plain_before = ""
    for end in [at for at, turn in enumerate(turns) if turn.get("tool_calls")]:
        known = [one for one in placed if one.passage.message < end]
        state = condense([one.passage for one in known], options, state)
        sent = put_back(turns[:end], changes(known, state))
        plain, body = _written(turns[:end]), _written(sent)
        sums.plain, sums.cost = sums.plain + _billed(plain_before, plain), sums.cost + _billed(before, body)
        before, plain_before = body, plain
        output = sum(tokens(str(turn.get("content") or "")) for turn in turns[:end] if turn["role"] == "tool")
        if output >= least:
            _judge(sums, turns, end, sent, output)
    return sums


def _judge(sums: _Sums, turns: Turns, end: int, sent: Turns, output: int) -> None:
    sums.output += output
    sums.forwarded += sum(tokens(str(turn.get("content") or "")) for turn in sent if turn["role"] == "tool")
    mine = [turn for turn in turns[end:] if turn.get("session") == turns[end].get("session")]
    calls = [call for turn in mine for call in turn.get("tool_calls") or ()][:CALLS_AFTER]
    next_ = "\n".join(map(_arguments, calls))
    before, after = "\n".join(map(_text, turns[:end])), "\n".join(map(_text, sent))
    spoken = "\n".join(_text(turn) for turn in turns[:end] if turn["role"] != "tool")
    needed = {name for name in NAME.findall(next_) if name in before}
    by_tools = {name for name in needed if name not in spoken}
    lines = {line.strip() for line in next_.split("\n") if len(line.strip()) >= LINE}
    quoted = {line for line in lines if line in before and line not in spoken}
    for wanted, shares in ((needed, sums.coverage), (by_tools, sums.by_tools), (quoted, sums.quoted)):
        if wanted:
            shares.append(sum(one in after for one in wanted) / len(wanted))


def _written(turns: Turns) -> str:
    return "\n".join(json.dumps(turn, ensure_ascii=False) for turn in turns)


def _billed(before: str, body: str) -> float:
    """Cost of a request in tokens of new input at the plain price, if the provider has cached the request
    ``before``."""
    common = len(before) if body.startswith(before) else _common(before, body)
    return (common * SERVED + (len(body) - common) * WRITE) / 4


def _common(before: str, after: str) -> int:
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[:middle] == after[:middle] else (low, middle - 1)
    return low


def _speed(sessions: Sequence[Turns]) -> dict[str, float]:
    once = list(_passages(sessions))
    size = sum(len(one.text.encode()) for one in once)
    copies = max(1, SPEED_BYTES // 2 // size)
    half = [_copy(one, number) for number in range(copies) for one in once]
    whole = [*half, *(_copy(one, number + copies) for number in range(copies) for one in once)]
    options = Options.of(Settings(compress="all"))
    runs = [
        (cpu_seconds(lambda: condense(half, options)), cpu_seconds(lambda: condense(whole, options)))
        for _ in range(TIMED)
    ]
    small, large = min(run[0] for run in runs), min(run[1] for run in runs)
    return {"MB": 2 * copies * size / 1e6, "MB/s": 2 * copies * size / 1e6 / large, "twice the text": large / small}


def _passages(sessions: Sequence[Turns]) -> Iterator[ChatPassage]:
    for turns in sessions:
        placed: list[PlacedPassage] = read(history(turns))
        yield from (one.passage for one in placed)


def _copy(passage: ChatPassage, number: int) -> ChatPassage:
    """The passage with ``number`` at the end of each line, if it is a tool result, so that it is no repetition."""
    text = passage.text.replace("\n", f" {number}\n") if passage.kind is PassageKind.RESULT else passage.text
    return ChatPassage(passage.message, passage.kind, text, passage.tool, passage.path, passage.command)


def _page(figures: Mapping[str, Any]) -> Iterator[str]:
    names = ("sessions", "saved", "coverage", "told by tools", "quoted lines", "cost")
    yield f"| sessions sent call by call | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for row, by in figures.items():
        if "saved" in by:
            yield f"| {row} | {' | '.join(f'{by[name]:.3g}' for name in names)} |"
