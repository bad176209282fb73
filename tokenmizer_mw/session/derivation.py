"""What messages say, as events of a session: own blocks left out, suspicious words named, facts derived. Pure."""

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
    """Draws facts as the settings say. ``secret`` is the installation's, by which its own blocks are known."""

    settings: Settings
    secret: bytes

    def facts(self, state: SessionState, news: Sequence[MessageRecorded] = ()) -> list[Event]:
        """The events of extraction for what waits in ``state`` and for ``news``."""
        waiting = [*state.undrawn, *((event.turn, event.message) for event in news)]
        if not waiting:
            return []
        seen = [(turn, without_own_blocks(message, self.secret)) for turn, message in waiting]
        found = {turn: judge(message) for turn, message in seen} if self.settings.guard != "off" else {}
        flagged = {turn: suspicion.signals for turn, suspicion in found.items() if suspicion.flagged}
        return derive(state.graph, seen, list(state.recent), self.settings, flagged)

    def news(self, state: SessionState, spoken: History, known: tuple[int, int] | None = None) -> list[Event]:
        """The events of what is new in a history, and of its facts. ``known``: what ``first_new`` says, or knows
        better."""
        news = joining(state.transcript, spoken, known=known)
        return [*news, *self.facts(state, news)]

    def believed(self, state: SessionState) -> SessionGraph:
        """The graph with all facts drawn, also those that a store which cannot be written did not take."""
        if not state.undrawn:
            return state.graph
        graph = state.graph.fork()
        for event in self.facts(state):
            graph.apply(event, state.recorded_at)
        return graph
