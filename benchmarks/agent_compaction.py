"""The real Claude Code through the proxy: a session of 60 prompts in which it compacts its chat three times.

- The model is scripted and knows only what a request contains. Asked for the next module, it writes the first module
  of which the request does not say that it was written; so whatever a compaction loses is written twice. Its own
  summaries say only what is being built.
- Every tenth prompt states a rule or a decision.
- A run passes if every later request contains each such statement (in the history or in a block), every module was
  written once and in order, no tool call failed, and no request was one that a provider would refuse.
- "ours": no provider is asked for a summary. "both": a provider is asked each time. "without": the same session once
  without this server, to show that the summary alone does not suffice.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.hooks.agent import Desk, Session, desk, new_name, program
from tests.proxy.serving import configured, serving
from tests.upstream.answer import Scripted
from tests.upstream.request import Received
from tests.upstream.server import Upstream
from tokenmizer_mw.context.compaction.request import may_sum_up

from .measure import at_least

RUNS: Final = 10
WITHOUT: Final = "without"
PROMPTS: Final = 60
COMPACTIONS: Final = 3
SETTINGS: Final = ("ours", "both")
STATED: Final = (
    ("Never push to the main branch.", "push to the main branch"),
    ("Always answer in French.", "answer in French"),
    ("We use PostgreSQL because the orders must be joined with the customers.", "PostgreSQL"),
    ("Never delete the backups.", "delete the backups"),
    ("Use tabs, never spaces, for indentation.", "tabs"),
    ("Always run the tests before a commit.", "run the tests before a commit"),
)
"""What the user states, and the words by which a request is recognised to contain it."""

NEXT: Final = "Go on with the next module."
SUMMARY: Final = "<analysis>\nA shop.\n</analysis>\n\n<summary>\n1. They build a shop in modules.\n</summary>"
_MODULE: Final = re.compile(r"module_([0-9]{2})\.py")


class ClaudeCode(Session):
    """Claude Code without our plugin, through the proxy alone."""

    plugin = False


@dataclass(slots=True)
class Builder:
    """The scripted model, called with each received request; it writes modules into ``folder`` and returns ``None`` for
    requests that are no messages.

    ``written``: the modules that it wrote, in order; ``summaries``: how often it was asked for a summary; ``errors``:
    how many tool calls failed.
    """

    folder: Path
    written: list[int] = field(default_factory=list)
    summaries: int = 0
    errors: int = 0

    def __call__(self, received: Received) -> Scripted | None:
        if received.method != "POST" or not received.path.endswith("/messages"):
            return None
        body = received.json
        newest = _newest(body["messages"])
        if may_sum_up(json.dumps(newest).encode()):
            self.summaries += 1
            return Scripted(text=SUMMARY)
        results = [block for block in newest if block["type"] == "tool_result"]
        if results:
            self.errors += sum(bool(block.get("is_error")) for block in results)
            return Scripted(text=f"Module {self.written[-1]} is written.")
        if not body.get("tools") or NEXT not in json.dumps(newest):
            return Scripted(text="Understood.")
        return self._write(_told(body))

    def _write(self, told: set[int]) -> Scripted:
        number = next(number for number in range(1, 100) if number not in told)
        self.written.append(number)
        path = str(self.folder / f"module_{number:02}.py")
        return Scripted(text="", calls=(("Write", {"file_path": path, "content": f"NUMBER = {number}\n"}),))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one run.

    - ``lost``: for each request that lacks a statement, the number of its prompt (from 0) and the statement's words.
    - ``written``: the written modules in order; ``errors``: failed tool calls; ``refused``: requests that a provider
      would refuse; ``summaries``: how often a summary was asked for.
    """

    lost: list[tuple[int, str]]
    written: list[int]
    errors: int
    refused: int
    summaries: int

    def passes(self, setting: str, modules: int, compactions: int) -> bool:
        """Whether nothing was lost, written twice or refused, and summaries were asked for as often as ``setting``
        means: at each of the ``compactions`` for "both", else never."""
        in_order = self.written == list(range(1, modules + 1))
        asked = self.summaries == (compactions if setting == "both" else 0)
        return in_order and asked and not (self.lost or self.errors or self.refused)


def run_session(folder: Path, setting: str, prompts: int = PROMPTS, compactions: int = COMPACTIONS) -> Outcome:
    """Run one session in ``folder`` with ``setting`` as the value of ``agent_compaction``, or straight to the provider
    (``WITHOUT``), and return its outcome."""
    with ExitStack() as stack:
        upstream = stack.enter_context(Upstream())
        url = upstream.url
        if setting != WITHOUT:
            url = stack.enter_context(serving(configured(upstream, memory={"agent_compaction": setting}))).url
        at_desk = stack.enter_context(desk(folder, url))
        upstream.model = model = Builder(at_desk.project)
        lost = _talk(at_desk, upstream, prompts, compactions)
        return Outcome(lost, model.written, model.errors, upstream.statistics.refused, model.summaries)


def prompt_of(number: int) -> str:
    """Return the prompt of this number, counted from 0."""
    stated = number // 10
    return STATED[stated][0] if number % 10 == 0 and stated < len(STATED) else NEXT


def count_modules(prompts: int) -> int:
    """Return how many modules the first ``prompts`` prompts ask for."""
    return sum(prompt_of(number) == NEXT for number in range(prompts))


def _talk(at_desk: Desk, upstream: Upstream, prompts: int, compactions: int) -> list[tuple[int, str]]:
    lost: list[tuple[int, str]] = []
    with ClaudeCode(at_desk, upstream, new_name()) as session:
        for number in range(prompts):
            sent = session.say(prompt_of(number))
            stated = [words for text, words in STATED if text in map(prompt_of, range(number + 1))]
            texts = [json.dumps(one.json, ensure_ascii=False) for one in sent if one.json.get("tools")]
            lost += [(number, words) for text in texts for words in stated if words not in text]
            if (number + 1) % (prompts // (compactions + 1)) == 0 and number + 1 < prompts:
                session.say("/compact")
    return lost


def _told(body: Mapping[str, Any]) -> set[int]:
    """The numbers of the modules that a request names."""
    text = json.dumps([body.get("system"), body["messages"]], ensure_ascii=False)
    return {int(number) for number in _MODULE.findall(text)}


def _newest(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The content blocks after the last message of the model."""
    last = max((place for place, one in enumerate(messages) if one["role"] == "assistant"), default=-1)
    return [block for message in messages[last + 1 :] for block in _blocks(message)]


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def run() -> dict[str, Any]:
    """Return the benchmark's result; without Claude Code it has no figures and no bars."""
    if program("claude") is None:
        missing = "Not run: Claude Code is not installed (make agents)."
        return {"figures": {}, "bars": [], "notes": missing, "lines": [missing]}
    figures = {setting: _runs(setting, RUNS) for setting in SETTINGS}
    bars = [
        at_least(f"{setting}: runs in which nothing was lost, done twice or refused", found["passed"], RUNS, "", 0)
        for setting, found in figures.items()
    ]
    return {"figures": {**figures, WITHOUT: _runs(WITHOUT, 1)}, "bars": bars, "notes": __doc__}


def _runs(setting: str, runs: int) -> dict[str, Any]:
    outcomes = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            outcomes.append(run_session(Path(folder), setting))
    return {
        "runs": runs,
        "passed": sum(one.passes(setting, count_modules(PROMPTS), COMPACTIONS) for one in outcomes),
        "prompts": PROMPTS,
        "compactions": COMPACTIONS,
        "modules": count_modules(PROMPTS),
        "written_twice": sum(len(one.written) - len(set(one.written)) for one in outcomes),
        "statements_lost": sum(len(one.lost) for one in outcomes),
        "calls_failed": sum(one.errors for one in outcomes),
        "requests_refused": sum(one.refused for one in outcomes),
    }
