"""What sessions are about, for lists of them: goal and counts, as far as that costs little."""

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
    """A session in a list: its newest goal ("" without one), and how many messages, facts and open tasks it has."""

    title: str = ""
    messages: int = 0
    facts: int = 0
    open: int = 0


class Summaries:
    """The summaries of sessions, remembered. Safe for threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[int, float, Summary]] = OrderedDict()
        self._guard = make_lock()

    def of(self, memory: SessionMemory, infos: Sequence[SessionInfo], most: int = EVENTS_MAX) -> Mapping[str, Summary]:
        """The summaries of these sessions by their ids, as far as they are known or cost at most ``most`` events. One
        that was learned when the session was shorter counts until it is cheap to ask again."""
        found: dict[str, Summary] = {}
        left = most
        for info in infos:
            known = self._known(info)
            stale = known is None or known[:2] != (info.seq, info.created_at)
            if stale and info.seq <= left:
                left -= info.seq
                found[info.key.id] = self._learned(memory, info)
            elif known is not None and known[1] == info.created_at:
                found[info.key.id] = known[2]
        return found

    def forget(self, tenant: str, id: str) -> None:
        """Nothing of a session that was erased stays here."""
        with self._guard:
            self._kept.pop((tenant, id), None)

    def _learn(self, info: SessionInfo, summary: Summary) -> None:
        place = (info.key.tenant, info.key.id)
        with self._guard:
            self._kept[place] = (info.seq, info.created_at, summary)
            self._kept.move_to_end(place)
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)

    def _known(self, info: SessionInfo) -> tuple[int, float, Summary] | None:
        with self._guard:
            return self._kept.get((info.key.tenant, info.key.id))

    def _learned(self, memory: SessionMemory, info: SessionInfo) -> Summary:
        try:
            summary = memory.view(info.key.id, summary_of, tenant=info.key.tenant)
        except TokenMizerError:  # erased meanwhile, or not readable: its own page says so
            return Summary()
        self._learn(info, summary)
        return summary


def summary_of(state: SessionState) -> Summary:
    """What a list shows of a session."""
    graph = state.graph
    return Summary(title_of(state), len(state.transcript), len(graph), len(graph.unfinished()))


def title_of(state: SessionState) -> str:
    """The newest goal that holds, "" without one."""
    goals = [node for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return goals[-1].label if goals else ""
