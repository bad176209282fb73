"""What sessions are about, for lists of them: their goals, as far as that costs little."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

from tokenmizer_mw.errors import TokenMizerError
from tokenmizer_mw.forking import make_lock
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.node import NodeType
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.store.log import SessionInfo

KEPT_MAX: Final = 2_000
"""Titles that are remembered."""

EVENTS_MAX: Final = 600
"""Events that are read for the titles of one page; sessions beyond that have none until somebody opens them."""


class Titles:
    """The titles of sessions, remembered. Safe for threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[int, float, str]] = OrderedDict()
        self._guard = make_lock()

    def of(self, memory: SessionMemory, infos: Sequence[SessionInfo]) -> Mapping[str, str]:
        """The titles of these sessions by their ids, as far as they are known or cheap to learn; "" for a session
        without a goal. One that was learned when the session was shorter counts until it is cheap to ask again."""
        found: dict[str, str] = {}
        left = EVENTS_MAX
        for info in infos:
            known = self._known(info)
            stale = known is None or known[:2] != (info.seq, info.created_at)
            if stale and info.seq <= left:
                left -= info.seq
                found[info.key.id] = self._learned(memory, info)
            elif known is not None and known[1] == info.created_at:
                found[info.key.id] = known[2]
        return found

    def learn(self, tenant: str, id: str, created_at: float, seq: int, title: str) -> None:
        """Remember a title that somebody has seen."""
        with self._guard:
            self._kept[tenant, id] = (seq, created_at, title)
            self._kept.move_to_end((tenant, id))
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)

    def forget(self, tenant: str, id: str) -> None:
        """Nothing of a session that was erased stays here."""
        with self._guard:
            self._kept.pop((tenant, id), None)

    def _known(self, info: SessionInfo) -> tuple[int, float, str] | None:
        with self._guard:
            return self._kept.get((info.key.tenant, info.key.id))

    def _learned(self, memory: SessionMemory, info: SessionInfo) -> str:
        try:
            title = memory.view(info.key.id, title_of, tenant=info.key.tenant)
        except TokenMizerError:  # erased meanwhile, or not readable: its own page says so
            return ""
        self.learn(info.key.tenant, info.key.id, info.created_at, info.seq, title)
        return title


def title_of(state: SessionState) -> str:
    """The newest goal that holds, "" without one."""
    goals = [node for node in state.graph.nodes(NodeType.GOAL) if node.current]
    return goals[-1].label if goals else ""
