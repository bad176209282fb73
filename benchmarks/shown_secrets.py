"""Secrets in what is shown again with every call: labels, details, quotes and resume blocks.

Every generated secret of the redaction corpus is put into statements that become facts: the corpus's text after a
decision, and each credential that is recognised by its own form alone in a decision, a rule, a task, an error, a reason
and a goal. The same is done with what redaction leaves in messages and labels must not contain: beginnings of vendors'
keys, placeholders, and random runs of 20 characters. A secret counts as shown if so much of it survives that the
benchmark ``redaction`` would not count it as caught.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.safety.redact.shape import fakes

from .measure import at_least, at_most
from .redaction import is_hidden
from .redaction_corpus import Case, cases

WITHIN: Final = "We use Redis for the cache, and {text}"
BELOW: Final = "Never push to main.\n\n{text}"
"""Templates for a text of the corpus: within a sentence (``WITHIN``), or by itself after a statement."""

SENTENCES: Final = frozenset({"prose", "told", "anchored"})
"""Groups of the corpus whose texts can stand within a sentence."""

ALONE: Final = (
    "We decided to use {secret} for the importer.",
    "Never share {secret} with anybody.",
    "TODO: rotate {secret} in the staging config.",
    "The importer fails with {secret} as its key: TypeError: bad key.",
    "Decided: PostgreSQL for the orders, because {secret} is its key.",
    "My goal is to replace {secret} in all services.",
    "We switched from MySQL to PostgreSQL because {secret} is its key.",
    "- [x] put {secret} into config/settings.yaml",
)
"""Statements with a secret that no word announces."""

BEGINNINGS: Final = (
    *("sk-test-{d4}", "sk-{d4}", "whsec_{h4}", "glpat-{L3}", "ghp_{w5}", "xoxb-{d3}", "AKIA{t4}", "eyJ{W7}"),
    *("sk-ant-{L5}", "hvs.{w4}", "github_pat_{w4}", "npm_{w12}", "hf_{w12}", "sk-litellm-{w11}"),
)
"""Shapes of beginnings of vendors' keys, too short to be keys."""

PLACEHOLDERS: Final = ("your-api-key-here", "YOUR_API_KEY", "sk-your-key-here", "ghp_" + "x" * 12, "changeme123")
_MARK: Final = re.compile(r"session-record [0-9]+")
"""The marker of a resume block, whose random digits are no part of a secret."""

RUNS: Final = 200
RUN_SIZE: Final = 20
"""How many random runs are tried (``RUNS``), and how many characters each has."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A user's message with a secret. ``prefix``: how many characters of the secret are public; ``may_be_stored``:
    whether the stored message may keep it."""

    kind: str
    text: str
    secret: str
    prefix: int
    may_be_stored: bool


def run() -> dict[str, Any]:
    planted = list(_plant())
    shown: dict[str, list[str]] = {"messages": [], "labels": [], "quotes": [], "blocks": []}
    silent = 0
    with closing(SessionMemory.open("memory://")) as memory:
        for number, one in enumerate(planted):
            parts = _record(memory, f"session-{number}", one)
            silent += not parts["labels"]
            for part, text in parts.items():
                if not is_hidden(one.secret, one.prefix, text) and not (part == "messages" and one.may_be_stored):
                    shown[part].append(one.kind)
    stored = sum(not one.may_be_stored for one in planted)
    counts = {part: len(kinds) for part, kinds in shown.items()}
    return {
        "figures": {
            "statements": len(planted),
            "kinds": len({one.kind for one in planted}),
            "without a fact": silent,
            "shown": {part: dict(Counter(kinds)) for part, kinds in shown.items()},
        },
        "bars": [
            at_least("statements that became facts", 1 - silent / len(planted), 0.9),
            at_most("secrets in labels or details", counts["labels"], 0),
            at_most("secrets in quotes", counts["quotes"], 0),
            at_most("secrets in resume blocks", counts["blocks"], 0),
            at_most("secrets in stored messages, of those that redaction is for", counts["messages"] / stored, 0.005),
        ],
        "page": [_counts(len(planted), counts)],
        "notes": "Development data: the rules were written on the redaction corpus, which this benchmark uses, too."
        " Redaction leaves beginnings of keys, placeholders (`your-api-key-here`) and random runs of characters in"
        " stored messages, so they are not counted there. In labels, details, quotes and blocks they are counted.",
    }


def _counts(planted: int, counts: dict[str, int]) -> str:
    parts = ", ".join(f"{part} {count}" for part, count in counts.items())
    return f"Statements with a secret: {planted:,}. Of their secrets were shown or stored: {parts}."


def _plant() -> Iterator[Planted]:
    for case in cases("shown"):
        within = case.group in SENTENCES and "\n" not in case.text
        yield _planted(case, (WITHIN if within else BELOW).replace("{text}", case.text))
    for place, case in enumerate(case for case in cases("alone") if case.group == "anchored"):
        yield _planted(case, ALONE[place % len(ALONE)].replace("{secret}", case.secret), may_be_stored=True)
    for kind, secrets in (("beginning", _beginnings()), ("placeholder", PLACEHOLDERS), ("run", _runs())):
        for secret in secrets:
            for template in ALONE if kind != "run" else ALONE[:1]:
                prefix = secret.rindex("-") + 1 if secret.startswith("sk-litellm-") else 0
                yield Planted(kind, template.replace("{secret}", secret), secret, prefix, may_be_stored=True)


def _planted(case: Case, text: str, *, may_be_stored: bool = False) -> Planted:
    return Planted(case.kind, text, case.secret, case.prefix, may_be_stored)


def _beginnings() -> Iterator[str]:
    return (next(fakes(shape, "beginning")) for shape in BEGINNINGS)


def _runs() -> Iterator[str]:
    rng = random.Random(20)
    alphabets = (string.ascii_letters + string.digits, string.hexdigits[:16], string.ascii_lowercase + string.digits)
    for number in range(RUNS):
        yield "".join(rng.choice(alphabets[number % len(alphabets)]) for _ in range(RUN_SIZE))


def _record(memory: SessionMemory, session: str, planted: Planted) -> dict[str, str]:
    """Record a session of one message, and return what it stores and shows: texts of messages, labels (with details),
    quotes and blocks."""
    memory.record(session, [{"role": "user", "content": planted.text}])
    graph = memory.graph(session)
    nodes, steps = graph.nodes(), graph.transitions()
    return {
        "messages": "\n".join(message.text for message in memory.restore(session, [1])),
        "labels": "\n".join([*map(_words, nodes), *(step.reason for step in steps)]),
        "quotes": "\n".join([*(node.source.quote for node in nodes), *(step.evidence for step in steps)]),
        "blocks": _MARK.sub("", "\n".join(block.text for block in memory.resumes(session).values())),
    }


def _words(node: Node) -> str:
    return f"{node.label}\n{node.detail}\n{node.value}\n{node.slot}"
