"""Shorten one request of a session: decide about the cut (old messages are replaced by a resume block), carry it out,
and return the events to append. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from tokenmizer_mw.context.assembly import Context, Shortened, newest
from tokenmizer_mw.context.resume import Resume, Section, build_resume
from tokenmizer_mw.context.resume.sentences import ReadSentences, message_sentences
from tokenmizer_mw.context.tokens import MessageCounter
from tokenmizer_mw.context.tokens.counter import MESSAGE_TOKENS
from tokenmizer_mw.context.window import (
    Cut,
    Plan,
    Replay,
    Rewrite,
    Untouched,
    block_budget,
    budget_for,
    can_anchor,
    find_newest_at_cut,
    plan,
    reason_not_to_cut,
)
from tokenmizer_mw.errors import BudgetTooSmall
from tokenmizer_mw.model.event import Checkpointed, Event, MessageRecorded, Recorded
from tokenmizer_mw.model.message import Message, Role, Written, digest
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for, opens_block, without_own_blocks
from tokenmizer_mw.session import ResentHistory, ResentMessages, SessionState, begins_with_summary
from tokenmizer_mw.session.manual_edits import edits_in_force
from tokenmizer_mw.session.outdated_block import is_outdated
from tokenmizer_mw.session.state import FactDerivation
from tokenmizer_mw.session.transcript import Transcript
from tokenmizer_mw.session.transcript_edits import HistoryMessages
from tokenmizer_mw.settings import BLOCK_TOKENS_MIN
from tokenmizer_mw.wire.dialect import ChatRequest
from tokenmizer_mw.wire.history import History

Known = tuple[int, int]
"""How far a resent transcript is known: the result of ``Transcript.first_new``."""


_QUOTED_LEAST: Final = 2
"""A block quotes sentences only if the messages that it replaces have this many times its budget. For a shorter chat
the facts are enough."""

Spared = Callable[[int, int | None], Sequence[float]]
"""A function that returns, for each message of a request, the share that compression removes before sending. It gets
the index of the first message that is sent, and the index of the newest message when the cut was made, ``None`` without
a cut."""

_WHOLE: Final[Mapping[int, Sequence[str]]] = MappingProxyType({})

NOT_WORTH_IT: Final = "cut_not_worth_it"
"""Name of the counter of cuts that were not made, because no block would fit or save anything."""

_STEPS: Final = 4
"""A turn that is too long loses its middle in this many steps for each window. Between two steps, requests begin the
same, which the provider's prompt cache needs."""


@dataclass(frozen=True, slots=True)
class HeldCut:
    """The events of a cut that are not recorded yet: they wait until the application has accepted the request.

    - ``seq``, ``recorded_at``: those of the session's last event when the cut was decided; ``known``: number of its
      messages; ``checkpoint``: id of its next checkpoint; ``edits``: number of its manual edits.
    - ``events``: the new messages, their facts and the cut.
    - ``state``: the session with these events, not to be changed.
    """

    seq: int
    recorded_at: float
    known: int
    checkpoint: str
    edits: int
    events: Sequence[Event]
    state: SessionState

    @classmethod
    def of(cls, draft: SessionState, events: Sequence[Event]) -> HeldCut:
        """Return ``events`` as a held cut of the session ``draft``, and apply them to ``draft``."""
        before = draft.seq, draft.recorded_at, len(draft.transcript), draft.next_checkpoint, len(draft.edits)
        for seq, event in enumerate(events, draft.seq + 1):
            draft.apply(Recorded(seq, draft.recorded_at, event))
        return cls(*before, events, draft)

    def events_for(self, state: SessionState) -> Sequence[Event]:
        """Return the events to append to the session, whose current state is ``state``. Returns none if other messages,
        another cut or manual edits were recorded since the cut was decided. If other events were recorded, the returned
        events contain no facts; these are extracted later."""
        if (state.seq, state.recorded_at) == (self.seq, self.recorded_at):
            return self.events
        before = self.known, self.checkpoint, self.edits
        if (len(state.transcript), state.next_checkpoint, len(state.edits)) != before:
            return ()
        return [event for event in self.events if isinstance(event, MessageRecorded | Checkpointed)]

    def before_turn(self, state: SessionState) -> tuple[Transcript, Sequence[Event]]:
        """Return the transcript to which the messages of the request and its reply are appended, and the events that
        ``events_for`` returns, whose messages this transcript contains. ``state``: the current state of the session."""
        held = self.events_for(state)
        return self.state.transcript if held else state.transcript, held

    def add_messages(self, history: HistoryMessages, passages_max: int) -> HistoryMessages:
        """Return a copy of ``history``, the session's messages, that also has the new messages of this cut, for one
        search.

        That search finds the new messages only if the cut leaves some of them out. Otherwise they are in the request,
        and only their words are counted. ``passages_max``: maximum number of passages in the index.
        """
        anchor = self.state.cut.anchor_turn if self.state.cut is not None else 0
        new = [event for event in self.events if isinstance(event, MessageRecorded)]
        if any(event.turn < anchor for event in new):
            return history.with_messages(new)
        return history.beside(new, passages_max)


@dataclass(frozen=True, slots=True)
class CutDecision:
    """How to send a request. ``rewrite``: how it is shortened, ``None`` to send it unchanged; ``events``: the events to
    append to the log; ``counted``: names of counters to increment."""

    rewrite: Rewrite | None = None
    events: Sequence[Event] = ()
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockOrder:
    """Parameters of a resume block to build.

    - ``budget``: maximum number of tokens.
    - ``query``: facts that match this text come directly after the standing rules and what was pinned or changed by
      hand; "" for no such text.
    - ``sections``: include only facts of these sections, without quotations and without the handover (a model's
      summary); ``None``: facts of all sections, the handover, and quotations from the transcript.
    - ``id``: id of the block's checkpoint, which is then recorded even when there is no block; "": the next id, and no
      checkpoint without a block.
    """

    budget: int
    query: str = ""
    sections: Collection[Section] | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Truncation:
    """Decides how one request of a session is shortened. ``counter`` counts tokens as the request's model does.

    - ``numbers``: numbers in the session of the request's messages, if they come from the session itself; no message is
      new then.
    - ``reserved``: tokens of the context window that must stay free for what is not in the request.
    - ``spared``: what compression removes before sending; ``None``: nothing.
    - ``recorded``: returns the session's messages with numbers; set when the client may have compacted its chat.
    - ``read_sentences``: returns the sentences of a message that a block may quote.
    """

    derivation: FactDerivation
    key: SessionKey
    request: ChatRequest
    counter: MessageCounter
    numbers: Sequence[int] = ()
    reserved: int = 0
    spared: Spared | None = None
    recorded: Callable[[], Sequence[tuple[int, Message]]] | None = None
    read_sentences: ReadSentences = message_sentences

    def decide(self, state: SessionState) -> CutDecision:
        """Decide how to send the request: unchanged, with the session's current cut repeated, or with a new cut.

        Nothing is recorded: the returned decision contains the events to append (for a new cut the new messages, their
        facts and the cut; otherwise mostly none). If manual edits have made the block of the current cut wrong, a new
        block is made. If the client has compacted its chat by itself, a block is put before the whole chat.
        """
        if self.numbers:
            decision = self._make_plan(state.cut)
            return self._carry_out(state, decision, (len(self._spoken), -1), renew=True)
        spoken = self._spoken
        resent = ResentMessages(spoken, shared=True)
        known = state.transcript.first_new(spoken, resent=resent)
        placed = state.transcript.locate(resent, *known)
        changed = placed.changed if state.cut is not None else None
        known = changed or known
        anchor = self._find_anchor(state.cut, placed)
        decision = self._make_plan(state.cut, anchor)
        same = anchor is not None and changed is None
        if isinstance(decision, Replay) and not (same or self._stands(state, decision.keep_from, resent)):
            # The user changed something in what the cut in force leaves out: its block does not stand for it.
            decision = self._make_plan(None)
        if isinstance(decision, Untouched) and self._follows_compaction(state, known):
            return self._hand_back(state, known)
        result = self._carry_out(state, decision, known, placed, renew=True)
        if changed is None or result.events:
            return result
        return CutDecision(result.rewrite, self._news(state, known), result.counted)

    def _renew_outdated(self, state: SessionState, decision: Plan) -> Plan:
        """Return ``decision``, or a plan to make a new block for the current cut if manual edits have made its block
        wrong (``is_outdated``). The provider's prompt cache after the block is lost once.

        A block that was made because the client compacted its chat stays: there is no message that a new one could
        replace.
        """
        if not isinstance(decision, Replay) or self.request.stand_down or self.request.bound > decision.keep_from:
            return decision
        renews = decision.keep_from > self.request.prefix and is_outdated(state)
        return Cut(decision.keep_from, decision) if renews else decision

    def _follows_compaction(self, state: SessionState, known: Known) -> bool:
        """Whether the client has compacted its chat: the new messages begin with a summary of the session, and the
        request contains no resume block yet."""
        request = self.request
        if self.recorded is None or not len(state.transcript) or reason_not_to_cut(request):
            return False
        spoken = self._spoken
        if not (spoken and request.messages[request.prefix].opens_turn):
            return False
        replies = [message for _, message in (*state.recent, *state.unextracted)]
        if not begins_with_summary(spoken, known[0], replies):
            return False
        return not any(opens_block(message.text) for message in spoken)

    def _hand_back(self, state: SessionState, known: Known) -> CutDecision:
        """Put a resume block before the whole history, if the window has room for it. Done after a compaction by the
        client."""
        request, prefix = self.request, self.request.prefix
        drawn = self._news(state, known)
        resume = self._resume(state, drawn, self.recorded() if self.recorded is not None else ())
        if resume is None:
            return CutDecision(None, drawn, (NOT_WORTH_IT,))
        taken = self.counter.text(request.overhead) + sum(self.counter.request_counts(request))
        budget = budget_for(request.model, self.derivation.settings) * self.derivation.settings.cut_at
        if taken + resume.tokens + MESSAGE_TOKENS > budget:
            return CutDecision(None, drawn)
        number = self._numbers(state, prefix, known, None)[-1]
        cut = self._checkpoint(state, drawn, resume, prefix, number)
        rewrite = Rewrite(prefix, cut.block, self.derivation.settings.block_role, made=True)
        return CutDecision(rewrite, [*drawn, cut], ("block_handed_back",))

    def _find_anchor(self, frozen: Checkpointed | None, placed: ResentHistory) -> int | None:
        """Return the index, in the request, of the first message that the current cut kept (or of a message in which
        the client joined it with others). ``None`` if there is no cut, if ``placed``, the resent messages that were
        recognised, does not have it, or if the message there cannot be the first one after a block."""
        index = placed.index_of(frozen.anchor_turn - 1) if frozen is not None and frozen.anchor else None
        if index is None:
            return None
        places = [at for at, role in enumerate(self.request.messages.roles) if role is not Role.SYSTEM]
        return places[index] if can_anchor(self.request.messages[places[index]]) else None

    def _stands(self, state: SessionState, keep_from: int, resent: ResentMessages) -> bool:
        """Whether the block of the current cut may replace the messages before ``keep_from``: the user's messages among
        them are those that the cut removed."""
        anchor = state.cut.anchor_turn - 1 if state.cut is not None else -1
        if not 0 <= anchor < len(state.transcript):
            return False
        return state.transcript.same_words(resent, self._spoken_before(keep_from), state.transcript.parents[anchor])

    def filled_share(self, rewrite: Rewrite | None) -> float:
        """Return the share of the model's context window (1.0: all of it) that the request fills after ``rewrite`` has
        shortened it; ``None``: unshortened."""
        counts, prefix = self.counter.request_counts(self.request), self.request.prefix
        start, block = (prefix, "") if rewrite is None else (rewrite.keep_from, rewrite.block)
        taken = self.reserved + self.counter.text(self.request.overhead) + sum(counts[:prefix])
        taken += self._count_taken(block, [*self.request.staying(start), *range(start, len(counts))], counts)
        return taken / budget_for(self.request.model, self.derivation.settings)

    def context(self, recorded: Sequence[Written], fit: Shortened) -> Context:
        """Return the part of ``recorded`` (the messages of the request) to send to a model, shortened as ``fit``
        says."""
        recent = tuple(recorded[place] for place in fit.kept)
        places = [*fit.kept, len(recorded)]
        taken = self.count_taken(fit.block, fit.kept, fit.results)
        results = {places.index(place): texts for place, texts in fit.results.items()}
        context = Context(tuple(recorded[: self.request.prefix]), fit.block, recent, taken, results=results)
        if fit.reminder is None:
            return context
        behind = tuple((places.index(place), part) for place, part in fit.reminder.places)
        reminder = replace(fit.reminder, places=behind)
        return replace(context, tokens=taken + reminder.tokens, reminder=reminder)

    def count_taken(self, block: str, places: Sequence[int], results: Mapping[int, Sequence[str]] = _WHOLE) -> int:
        """Count the tokens of the leading system messages, a resume block, and the messages at ``places``. ``results``:
        shortened tool results that are counted instead of the original ones, by message."""
        counts = self.counter.request_counts(self.request)
        less = sum(self._text_tokens(place) - sum(map(self.counter.text, texts)) for place, texts in results.items())
        return sum(counts[: self.request.prefix]) + self._count_taken(block, places, counts) - less

    def _text_tokens(self, place: int) -> int:
        """Return the tokens of the tool results in the message at ``place``."""
        return sum(self.counter.text(result.text) for result in self.request.messages[place].tool_results)

    def left_out(
        self, state: SessionState, rewrite: Rewrite | None, fit: Shortened
    ) -> tuple[Checkpointed | None, Collection[int]]:
        """Return what stands for the messages that ``fit`` leaves out, and which older messages the request contains
        all the same (their numbers).

        The first part is the current cut (``None``: no cut). If ``fit`` leaves out more than that, it is a new
        ``Checkpointed``, which is not recorded.
        """
        places = fit.kept
        start = self.request.prefix if rewrite is None else rewrite.keep_from
        if not places or places == tuple(range(start, len(self.request.messages))):
            return state.cut, ()
        last = next(at for at in reversed(range(len(places))) if not at or places[at - 1] != places[at] - 1)
        numbers = self._numbers_by_place(state, places[last])
        anchor = numbers[places[last]]
        carried = state.cut.carried if state.cut is not None else ()
        dropped = len(self.request.messages) - self.request.prefix - len(places)
        tokens = self.counter.text(fit.block)
        cut = Checkpointed(f"resume-{anchor}", anchor, tokens, fit.block, "", anchor, dropped, carried)
        return cut, frozenset(numbers[place] for place in places[:last] if place in numbers)

    def _numbers_by_place(self, state: SessionState, last: int) -> dict[int, int]:
        """Return the numbers in the session of the request's messages up to index ``last``, by index, without system
        messages."""
        known = (len(self._spoken), -1) if self.numbers else state.transcript.first_new(self._spoken)
        roles = self.request.messages.roles
        places = [place for place in range(last + 1) if roles[place] is not Role.SYSTEM]
        return dict(zip(places, self._numbers(state, last, known, None), strict=False))

    def fit(self, state: SessionState, rewrite: Rewrite | None, limit: int) -> Shortened:
        """Shorten the request to ``limit`` tokens: first as ``rewrite`` says, then by leaving out more messages if
        necessary. If the block does not fit, a smaller one is made, or none if there is no room for that either."""
        counts, prefix = self.counter.request_counts(self.request), self.request.prefix
        start, block, through = (prefix, "", None)
        if rewrite is not None:
            start, block, through = rewrite.keep_from, rewrite.block, rewrite.through
        counts = self._subtract_compression(counts, start, through)
        places: Sequence[int] = range(start, len(counts))
        room = limit - self.count_fixed()
        if self._count_taken(block, places, counts) > room:
            step = max(1, limit // _STEPS)
            block = self._block(state) or block
            places = newest(self.request.messages, counts, start, room - self._count_taken(block, (), counts), step)
            if self._count_taken(block, places, counts) > room:
                left = room - MESSAGE_TOKENS - self._count_taken("", places, counts)
                block = self._block(state, left) if left >= BLOCK_TOKENS_MIN else ""
                places = places if block else newest(self.request.messages, counts, start, room, step)
        return Shortened(block, self.derivation.settings.block_role, tuple(places))

    def leaves_out(self, fit: Shortened) -> bool:
        """Return whether ``fit`` leaves out any message of the request, not counting the leading system messages."""
        return len(fit.kept) < len(self.request.messages) - self.request.prefix

    def count_kept(self, fit: Shortened) -> int:
        """Count the tokens of the messages that ``fit`` keeps, without block, reminder and leading system messages."""
        return self._count_taken("", fit.kept, self.counter.request_counts(self.request))

    def count_fixed(self) -> int:
        """Count the tokens that no cut removes: those of the leading system messages, those of the request beside its
        messages (such as tool definitions), and ``reserved``."""
        counts = self.counter.request_counts(self.request)
        return self.reserved + self.counter.text(self.request.overhead) + sum(counts[: self.request.prefix])

    def _count_taken(self, block: str, places: Sequence[int], counts: Sequence[int]) -> int:
        """Return the tokens of ``block`` as a message of its own (0 for "") and of the messages at the indexes
        ``places``. ``counts``: tokens of each message of the request."""
        return (self.counter.text(block) + MESSAGE_TOKENS if block else 0) + sum(counts[place] for place in places)

    def _block(self, state: SessionState, most: int | None = None) -> str:
        """Return a resume block of the session as it is now, without making a cut; "" if none fits. It has at most the
        tokens of a cut's block, and at most ``most`` if that is not ``None``."""
        budget = block_budget(self.request.model, self.derivation.settings)
        budget = budget if most is None else min(budget, most)
        nonce = nonce_for(self.derivation.secret, self.key, state.next_checkpoint)
        try:
            return build_resume(
                self.derivation.derived_graph(state),
                budget=budget,
                counter=self.counter.counter,
                nonce=nonce,
                handover=state.handover,
                explicit=self.derivation.settings.block_facts == "explicit",
            ).text
        except BudgetTooSmall:
            return ""

    def _make_plan(self, frozen: Checkpointed | None, anchor: int | None = None) -> Plan:
        counts, overhead = self.counter.request_counts(self.request), self.counter.text(self.request.overhead)
        if self.numbers and frozen is not None:
            anchor = self.numbers.index(frozen.anchor_turn) if frozen.anchor_turn in self.numbers else None
            frozen = None if anchor is None else frozen
        overhead += self.reserved

        def plan_with(counts: Sequence[int], shortest: Sequence[int] = ()) -> Plan:
            settings = self.derivation.settings
            return plan(
                self.request,
                counts,
                overhead=overhead,
                frozen=frozen,
                settings=settings,
                anchor=anchor,
                shortest=shortest,
            )

        decision = plan_with(counts)
        if self.spared is None or not isinstance(decision, Cut):
            return decision
        start, through = self.request.prefix, None
        if isinstance(decision.otherwise, Replay):
            start, through = decision.otherwise.keep_from, decision.otherwise.through
        sent = self._subtract_compression(counts, start, through)
        if not isinstance(plan_with(sent), Cut):
            return decision.otherwise
        leaner = plan_with(sent, self._subtract_compression(counts, start, len(counts) - 1))
        if not isinstance(leaner, Cut):
            return decision.otherwise
        same = type(leaner.otherwise) is type(decision.otherwise)
        return Cut(leaner.keep_from, decision.otherwise) if same else decision

    def _subtract_compression(self, counts: Sequence[int], start: int, through: int | None) -> list[int]:
        """Return ``counts`` without the tokens that compression removes from the messages that are sent after a cut."""
        shares = self.spared(start, through) if self.spared is not None else ()
        if not shares:
            return [*counts]
        return [round(count * (1 - share)) for count, share in zip(counts, shares, strict=True)]

    def compact(self, state: SessionState, order: BlockOrder) -> CutDecision:
        """Build a resume block for a transcript that is compacted (replaced by a summary): for the whole transcript,
        or, with ``order.sections``, only the facts of these sections, to be sent in addition to another summary.

        The request itself is not cut. The returned events record the new messages and, last, a ``Checkpointed`` with
        the block. Without facts there is no block: a ``Checkpointed`` without one is recorded if ``order.id`` is set,
        otherwise none.
        """
        spoken = self._spoken
        known = state.transcript.first_new(spoken, resent=ResentMessages(spoken, shared=True))
        drawn = self._news(state, known)
        end = len(self.request.messages)
        quotes = end and order.sections is None
        transcript = self._transcript(end, self._numbers(state, end - 1, known, None)) if quotes else ()
        resume = self._resume(state, drawn, transcript, order)
        newest = _newest_number(state, drawn)
        if resume is None:
            nothing = [Checkpointed(order.id, newest)] if order.id else []
            return CutDecision(None, [*drawn, *nothing], ("compaction_empty",))
        name = order.id or state.next_checkpoint
        made = Checkpointed(name, newest, resume.tokens, resume.text, carried=resume.node_ids)
        return CutDecision(None, [*drawn, made], ("compaction_made",))

    def _carry_out(
        self,
        state: SessionState,
        decision: Plan,
        known: Known,
        placed: ResentHistory | None = None,
        *,
        renew: bool = False,
    ) -> CutDecision:
        """Return how to send the request according to the plan ``decision``. For a new cut the block is built; if none
        is worth it, the plan's alternative is used.

        ``known``, ``placed``: which messages of the request the session has already, and where. ``renew``: whether the
        block of the current cut is made anew if manual edits have made it wrong.
        """
        role, planned = self.derivation.settings.block_role, decision
        decision = self._renew_outdated(state, planned) if renew else planned
        renewed = decision is not planned
        match decision:
            case Cut(keep_from, otherwise):
                drawn = self._news(state, known)
                numbers = self._numbers(state, len(self.request.messages) - 1, known, placed)
                cut = self._cut(state, drawn, keep_from, numbers)
                if cut is not None:
                    rewrite = Rewrite(keep_from, cut.block, role, made=True, through=find_newest_at_cut(cut, keep_from))
                    return CutDecision(rewrite, [*drawn, cut], ("block_renewed" if renewed else "cut_made",))
                return CutDecision(self._carry_out(state, otherwise, known, placed).rewrite, drawn, (NOT_WORTH_IT,))
            case Replay(keep_from, block, through):
                return CutDecision(Rewrite(keep_from, block, role, through=through))
            case Untouched():
                return CutDecision()

    def _cut(
        self, state: SessionState, drawn: list[Event], keep_from: int, numbers: Sequence[int]
    ) -> Checkpointed | None:
        """Return the cut before message ``keep_from``; ``None`` if no block is worth it. ``drawn``: the events of the
        new messages; ``numbers``: numbers in the session of all messages but system messages."""
        budget = block_budget(self.request.model, self.derivation.settings)
        counts, staying = self.counter.request_counts(self.request), self.request.staying(keep_from)
        replaced = sum(counts[self.request.prefix : keep_from]) - sum(counts[place] for place in staying)
        transcript = self._transcript(keep_from, numbers) if replaced > _QUOTED_LEAST * budget else ()
        beside = self._find_verbatim(keep_from, numbers)
        resume = self._resume(state, drawn, transcript, beside=beside) or self._resume(state, drawn, transcript)
        if resume is None or resume.tokens >= replaced:
            return None
        return self._checkpoint(state, drawn, resume, keep_from, numbers[self._spoken_before(keep_from)])

    def _find_verbatim(self, keep_from: int, numbers: Sequence[int]) -> frozenset[int]:
        """Return the numbers of the messages that are sent unchanged after a cut before message ``keep_from``.
        ``numbers``: those of all messages but system messages."""
        roles = self.request.messages.roles
        shares = self.spared(keep_from, len(roles) - 1) if self.spared is not None else ()
        places = (place for place, role in enumerate(roles) if role is not Role.SYSTEM)
        sent = ((place, number) for place, number in zip(places, numbers, strict=False) if place >= keep_from)
        return frozenset(number for place, number in sent if not (shares and shares[place]))

    def _resume(
        self,
        state: SessionState,
        drawn: Sequence[Event],
        transcript: Sequence[tuple[int, Message]],
        order: BlockOrder | None = None,
        beside: Collection[int] = (),
    ) -> Resume | None:
        """Build a resume block of the session with the events ``drawn``; ``None`` when there is nothing to state or no
        room.

        ``transcript``: the messages that it may quote. ``order``: its parameters, ``None`` for the block of a cut.
        ``beside``: numbers of messages that are sent together with the block.
        """
        order = order or BlockOrder(block_budget(self.request.model, self.derivation.settings))
        graph = state.graph.fork()
        for event in drawn:
            graph.apply(event)
        try:
            resume = build_resume(
                graph,
                budget=order.budget,
                counter=self.counter.counter,
                nonce=nonce_for(self.derivation.secret, self.key, order.id or state.next_checkpoint),
                query=order.query or None,
                turn=_newest_number(state, drawn),
                transcript=transcript,
                handover=state.handover if order.sections is None else None,
                read=self.read_sentences,
                sections=order.sections,
                edits=edits_in_force([one.edit for one in state.edits.values()]),
                beside=beside,
                explicit=self.derivation.settings.block_facts == "explicit",
            )
        except BudgetTooSmall:
            return None
        return resume if resume.text else None

    def _checkpoint(
        self, state: SessionState, drawn: Sequence[Event], resume: Resume, keep_from: int, number: int
    ) -> Checkpointed:
        """Return the event of a cut whose block replaces the messages before ``keep_from``. ``number``: that message's
        number in the session."""
        messages = self.request.messages
        return Checkpointed(
            id=state.next_checkpoint,
            turn=_newest_number(state, drawn),
            tokens=resume.tokens,
            block=resume.text,
            anchor=digest(messages[keep_from]),
            anchor_turn=number,
            dropped=keep_from - self.request.prefix,
            kept=len(messages) - keep_from if keep_from > self.request.prefix else 0,
            carried=resume.node_ids,
        )

    def _transcript(self, keep_from: int, numbers: Sequence[int]) -> list[tuple[int, Message]]:
        """Return the messages before index ``keep_from``, each with its number in the session, without system messages
        and without resume blocks of this package in their texts. ``numbers``: those of these messages, in order."""
        messages = self.request.messages
        places = [place for place in range(keep_from) if messages.roles[place] is not Role.SYSTEM]
        secret = self.derivation.secret
        return [(n, without_own_blocks(messages[place], secret)) for n, place in zip(numbers, places, strict=False)]

    def _numbers(self, state: SessionState, last: int, known: Known, placed: ResentHistory | None) -> list[int]:
        """Return the numbers in the session of the messages up to index ``last``, without system messages."""
        if self.numbers:
            roles = self.request.messages.roles[: last + 1]
            return [self.numbers[place] for place, role in enumerate(roles) if role is not Role.SYSTEM]
        preserved = state.transcript.find_preserved(ResentMessages(self._spoken, shared=True), *known)
        indexes = state.transcript.indexes(*known, self._spoken_before(last) + 1, preserved)
        for index, place in enumerate(placed.places[: min(known[0], len(indexes))] if placed is not None else ()):
            indexes[index] = place if place >= 0 else indexes[index]
        return [index + 1 for index in indexes]

    def _news(self, state: SessionState, known: Known) -> list[Event]:
        return self.derivation.news(state, self._spoken, known)

    @property
    def _spoken(self) -> History:
        """The messages of the request, without system messages."""
        return self.request.messages.without_system()

    def _spoken_before(self, index: int) -> int:
        """Return how many messages before ``index`` are not system messages."""
        return sum(role is not Role.SYSTEM for role in self.request.messages.roles[:index])


def _newest_number(state: SessionState, drawn: Sequence[Event]) -> int:
    """Return the number of the session's newest message after the events ``drawn``."""
    return len(state.transcript) + sum(isinstance(event, MessageRecorded) for event in drawn)
