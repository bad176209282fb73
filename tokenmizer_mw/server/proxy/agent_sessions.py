"""Maps a coding agent's session id to the recorded session, which the agent's hooks may have prefixed with a project
name."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio

from tokenmizer_mw.runtime.offload import STORE, offload

if TYPE_CHECKING:
    from tokenmizer_mw.memory import SessionMemory

NEWEST: Final = 200
"""Sessions, the most recently updated first, among which an agent's is looked for."""

KNOWN_MAX: Final = 4_096
"""Ids of agents whose sessions are remembered in process."""


class AgentSessions:
    """Finds sessions by agents' ids, so that hooks and proxy of one installation record the same session.

    A session stored under the agent's id itself is used first; else one whose id ends with the project separator and
    the agent's id ("shop/<id>"). A found id is cached. A lookup waits at most ``Settings.store_wait_seconds``.
    """

    def __init__(self, memory: SessionMemory) -> None:
        self._memory = memory
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def resolve(self, agents_id: str, tenant: str) -> str:
        """Return the session's id in the store; ``agents_id`` if the store has none or does not answer in time."""
        key = (tenant, agents_id)
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known
        found: str | None = None
        try:
            with anyio.move_on_after(self._memory.settings.store_wait_seconds):
                found = await offload(partial(self._find, agents_id, tenant), STORE)
        except Exception:
            self._memory.service.count("session_lookup_failed")
        if found is None:
            return agents_id
        self._known[key] = found
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return found

    def _find(self, agents_id: str, tenant: str) -> str | None:
        end = (self._memory.settings.project_separator or "/") + agents_id
        ids = [info.key.id for info in self._memory.sessions(limit=NEWEST, tenant=tenant)]
        return agents_id if agents_id in ids else next((id for id in ids if id.endswith(end)), None)
