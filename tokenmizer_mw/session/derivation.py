"""Derive events from messages: own resume blocks removed, prompt injection flagged, facts extracted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenmizer_mw.extract.derive import derive
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.event import Event, MessageRecorded
from tokenmizer_mw.safety.fence import without_own_blocks
from tokenmizer_mw.safety.guard import judge
from tokenmizer_mw.session import SessionState, joining
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.history import History


@dataclass(frozen=True, slots=True)
class Drawing:
    """Extracts facts as ``settings`` say. ``secret`` is the store's secret, by which own resume blocks are
    recognised.
    """

    settings: Settings
    secret: bytes

    def facts(self, state: SessionState, news: Sequence[MessageRecorded] = ()) -> list[Event]:
        """Return the events of extraction for the messages of ``state`` without facts and for ``news``; ``[]`` if there
        are none.
        """
        waiting = [*state.undrawn, *((event.turn, event.message) for event in news)]
        if not waiting:
            return []
        seen = [(turn, without_own_blocks(message, self.secret)) for turn, message in waiting]
        found = {turn: judge(message) for turn, message in seen} if self.settings.guard != "off" else {}
        flagged = {turn: suspicion.signals for turn, suspicion in found.items() if suspicion.flagged}
        return derive(state.graph, seen, list(state.recent), self.settings, flagged)

    def news(self, state: SessionState, spoken: History, known: tuple[int, int] | None = None) -> list[Event]:
        """Return the events that add the new messages of a resent transcript, followed by those of their facts.

        ``known`` overrides the result of ``Transcript.first_new``.
        """
        news = joining(state.transcript, spoken, known=known)
        return [*news, *self.facts(state, news)]

    def derived_graph(self, state: SessionState) -> SessionGraph:
        """Return the graph with all facts extracted, including facts that could not be written to the store."""
        if not state.undrawn:
            return state.graph
        graph = state.graph.fork()
        for event in self.facts(state):
            graph.apply(event, state.recorded_at)
        return graph
