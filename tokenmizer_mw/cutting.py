"""How one request of a session is shortened: the plan carried out, and what becomes part of the log by it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenmizer_mw.drawing import Drawing
from tokenmizer_mw.fence import nonce_for
from tokenmizer_mw.model.event import Checkpointed, Event, MessageRecorded
from tokenmizer_mw.model.message import Role, digest
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.resume import build_resume
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.tokens import MessageCounter
from tokenmizer_mw.window import Cut, Plan, Replay, Rewrite, Untouched, block_budget, plan
from tokenmizer_mw.wire.dialect import ChatRequest

Known = tuple[int, int]
"""What ``Transcript.first_new`` says of a history."""


@dataclass(frozen=True, slots=True)
class Decided:
    """``rewrite`` is ``None`` when the request goes out as it is; ``events`` join the log; ``counted`` names what
    happened."""

    rewrite: Rewrite | None = None
    events: Sequence[Event] = ()
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cutting:
    """Decides for the requests of one session. ``counter`` counts as the model of ``request`` does."""

    drawing: Drawing
    key: SessionKey
    request: ChatRequest
    counter: MessageCounter

    def decide(self, state: SessionState) -> Decided:
        """What is to be done with the request, given what the session has."""
        known = state.transcript.first_new(self.request.messages.spoken())
        edited = state.transcript.edited(self._marks(), *known) if state.cut is not None else None
        known = edited or known
        decision = self._planned(state.cut)
        if isinstance(decision, Replay) and known[0] < self._spoken_before(decision.keep_from):
            # The client changed something in what the cut in force leaves out: its block does not stand for it.
            decision = self._planned(None)
        decided = self._carried_out(state, decision, known)
        if edited is None or decided.events:
            return decided
        return Decided(decided.rewrite, self._news(state, known), decided.counted)

    def _planned(self, frozen: Checkpointed | None) -> Plan:
        counts, overhead = self.counter.request_counts(self.request), self.counter.text(self.request.overhead)
        return plan(self.request, counts, overhead=overhead, frozen=frozen, settings=self.drawing.settings)

    def _carried_out(self, state: SessionState, decision: Plan, known: Known) -> Decided:
        role = self.drawing.settings.block_role
        match decision:
            case Cut(keep_from, otherwise):
                drawn = self._news(state, known)
                cut = self._cut(state, drawn, keep_from, known)
                if cut is not None:
                    return Decided(Rewrite(keep_from, cut.block, role), [*drawn, cut], ("cut_made",))
                return Decided(self._carried_out(state, otherwise, known).rewrite, drawn, ("cut_not_worth_it",))
            case Replay(keep_from, block):
                return Decided(Rewrite(keep_from, block, role))
            case Untouched():
                return Decided()

    def _cut(self, state: SessionState, drawn: list[Event], keep_from: int, known: Known) -> Checkpointed | None:
        """The cut before message ``keep_from``, where ``drawn`` is what is new; ``None`` when no block is worth it."""
        graph = state.graph.fork()
        for event in drawn:
            graph.apply(event)
        id, request = state.next_checkpoint, self.request
        turn = len(state.transcript) + sum(isinstance(event, MessageRecorded) for event in drawn)
        budget = block_budget(request.model, self.drawing.settings)
        nonce = nonce_for(self.drawing.secret, self.key, id)
        resume = build_resume(graph, budget=budget, counter=self.counter.counter, nonce=nonce, turn=turn)
        dropped = request.messages[request.prefix : keep_from]
        if not resume.text or resume.tokens >= sum(self.counter.counts(dropped)):
            return None
        place = state.transcript.behind(*known, self._spoken_before(keep_from))
        return Checkpointed(
            id=id,
            turn=turn,
            tokens=resume.tokens,
            block=resume.text,
            anchor=digest(request.messages[keep_from]),
            anchor_turn=place + 1,
            dropped=len(dropped),
            carried=resume.node_ids,
        )

    def _news(self, state: SessionState, known: Known) -> list[Event]:
        return self.drawing.news(state, self.request.messages.spoken(), known)

    def _marks(self) -> list[str]:
        """The digests of the messages that are not the system's."""
        messages = self.request.messages
        marks = messages.column("digest", lambda news: map(digest, news))
        return [mark for mark, role in zip(marks, messages.roles, strict=True) if role is not Role.SYSTEM]

    def _spoken_before(self, index: int) -> int:
        """How many messages before ``index`` are not the system's."""
        return sum(role is not Role.SYSTEM for role in self.request.messages.roles[:index])
