"""Summaries of sessions for lists: goal and counts, as far as they are cheap to compute."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.node import NodeType
from tokenmizer_mw.runtime.forking import make_lock
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.log import SessionInfo

KEPT_MAX: Final = 2_000
"""Summaries that are remembered."""

EVENTS_MAX: Final = 600
"""Events that are read for the summaries of one page; sessions beyond that have none until somebody opens them."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A session in a list: its newest goal ("" if it has none), and its number of messages, facts and open tasks."""

    title: str = ""
    messages: int = 0
    facts: int = 0
    open: int = 0


class Summaries:
    """Cache of session summaries. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[int, float, Summary]] = OrderedDict()
        self._guard = make_lock()

    def of(self, memory: SessionMemory, infos: Sequence[SessionInfo], most: int = EVENTS_MAX) -> Mapping[str, Summary]:
        """Return the summaries of these sessions by id, as far as they are cached or need at most ``most`` events.

        A summary of an earlier state is used until it is cheap to compute again.
        """
        found: dict[str, Summary] = {}
        left = most
        for info in infos:
            known = self._get_known(info)
            stale = known is None or known[:2] != (info.seq, info.created_at)
            if stale and info.seq <= left:
                left -= info.seq
                found[info.key.id] = self._learn_summary(memory, info)
            elif known is not None and known[1] == info.created_at:
                found[info.key.id] = known[2]
        return found

    def forget(self, tenant: str, id: str) -> None:
        """Drop a session that was erased from the cache."""
        with self._guard:
            self._kept.pop((tenant, id), None)

    def _learn(self, info: SessionInfo, summary: Summary) -> None:
        place = (info.key.tenant, info.key.id)
        with self._guard:
            self._kept[place] = (info.seq, info.created_at, summary)
            self._kept.move_to_end(place)
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)

    def _get_known(self, info: SessionInfo) -> tuple[int, float, Summary] | None:
        with self._guard:
            return self._kept.get((info.key.tenant, info.key.id))

    def _learn_summary(self, memory: SessionMemory, info: SessionInfo) -> Summary:
        try:
            summary = memory.view(info.key.id, summary_of, tenant=info.key.tenant)
        except TokenMizerError:  # erased meanwhile, or not readable: its own page says so
            return Summary()
        self._learn(info, summary)
        return summary


def summary_of(state: SessionState) -> Summary:
    """Return the summary of a session."""
    graph = state.graph
    return Summary(title_of(state), len(state.transcript), len(graph), len(graph.unfinished_nodes()))


def title_of(state: SessionState) -> str:
    """Return the newest current goal; "" if there is none."""
    goals = [node for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return goals[-1].label if goals else ""
