"""What cuts that are made to save money take from a model: names of its next answer that its context lacks.

Conversations of the benchmark ``savings`` are sent to the simulated Anthropic API with ``Settings(cut="economy")``.
Of each answer and its tool calls, those names (paths, files, identifiers, ports) are looked at that occur in the
client's whole history. The figure is the share of them that the request as sent still contains, over the calls after
the first cut: all of them, and the ten calls after each cut. It is compared with the system prompt and the newest
messages alone, of as many bytes as were sent. Without a cut the share is 1 until the window is full. What
``memory.recall`` would find is not counted. The conversations are development data.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tokenmizer_mw import Settings

from .conversations import Answered
from .measure import at_least
from .savings import PROVIDERS, families, replay

BEHIND: Final = 10
"""How many calls after each cut have a figure of their own."""
CONVERSATIONS: Final = 2
_NAME: Final = re.compile(r"(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.[a-z]{1,5}\b|\b[a-z]+(?:[A-Z]\w+)+\b|\b\w+_\w+\b|:\d{4,5}\b")


@dataclass(slots=True)
class Looked:
    """Counts names over the calls of a conversation. Called with the body of the client, the body that was sent, and
    the answer."""

    counts: Counter[str] = field(default_factory=Counter)
    since: int = -1
    before: bytes = b""

    def __call__(self, client: bytes, sent: bytes, answer: Answered) -> None:
        if len(sent) >= len(client):
            return
        head = sent[: min(len(sent), len(self.before)) // 2]
        self.since = self.since + 1 if self.before and self.before.startswith(head) else 0
        self.before = sent
        wanted = _names(answer)
        whole, kept = client.decode(), sent.decode()
        shared = next(at for at, pair in enumerate(zip(whole, kept, strict=False)) if pair[0] != pair[1])
        newest = whole[:shared] + whole[shared - len(kept) :]
        for name in wanted:
            if name in whole:
                near = self.since < BEHIND
                self.counts.update(
                    {
                        "names": 1,
                        "kept": name in kept,
                        "newest": name in newest,
                        "near": near,
                        "near kept": near * (name in kept),
                    }
                )


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for family, conversations in families().items():
        if family == "short":
            continue
        counts: Counter[str] = Counter()
        cuts = 0
        for items in conversations[:CONVERSATIONS]:
            looked = Looked()
            cuts += replay(items, PROVIDERS["anthropic"], Settings(cut="economy"), looked).cuts
            counts += looked.counts
        figures[family] = _shares(counts) | {"cuts": cuts, "names": counts["names"]}
    bars = [
        at_least(
            f"{family}: names of the next answer / with the newest messages alone", row["kept"] / row["newest"], 1.0
        )
        for family, row in figures.items()
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    names, near = max(1, counts["names"]), max(1, counts["near"])
    return {
        "kept": round(counts["kept"] / names, 3),
        "newest": round(counts["newest"] / names, 3),
        "kept just behind a cut": round(counts["near kept"] / near, 3),
    }


def _names(answer: Answered) -> set[str]:
    arguments = [json.dumps(dict(call.arguments), ensure_ascii=False) for call in answer.calls]
    return set(_NAME.findall("\n".join((answer.text, *arguments))))
