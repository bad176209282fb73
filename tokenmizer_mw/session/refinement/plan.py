"""Prepare the refinement of a session, and turn the model's reply into events. Pure: no model is asked here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.model.event import Checkpointed, Event, HistoryRevised, Recorded, Refined
from tokenmizer_mw.model.message import Message, Written
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.safety.fence import nonce_for, without_own_blocks
from tokenmizer_mw.session import SessionState
from tokenmizer_mw.session.refinement.handover import ground_handover
from tokenmizer_mw.session.refinement.merge import merge
from tokenmizer_mw.session.refinement.prompt import Prompt, prompt_of
from tokenmizer_mw.session.refinement.reply import RefinementReply, read_reply
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.host_texts import without_host_texts

REFINED: Final = "refined"


@dataclass(frozen=True, slots=True)
class Refinement:
    """The result of refining a session (a model listing its facts).

    ``outcome`` is one of:

    - "refined": the reply was merged.
    - "nothing_new": no new messages since the last refinement.
    - "busy": another refinement of the session is running.
    - "over_budget", "circuit_open", "failed": the model was not asked, or gave no usable reply; nothing changed.
    - "outdated": the session was revised or erased meanwhile; nothing changed.

    ``counts`` gives how many entries of the reply were "added", "confirmed", "moved", "replaced", "surplus", "unplaced"
    (nobody in the session said it, or only somebody who may not decide it) and "dropped" (did not match the schema),
    how many known facts were "archived", and how many sentences of the handover were stored ("handover_sentences") and
    dropped ("handover_dropped"). ``calls``: how often the model was asked; ``tokens``: size of the last prompt.
    """

    outcome: str
    counts: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class RefinementPrompt:
    """A prompt for a refinement, and the position in the session's log at which it was built."""

    prompt: Prompt
    seq: int
    recorded_at: float

    @property
    def turn(self) -> int:
        """The number of the newest message in the prompt."""
        return self.prompt.shown[-1][0]


@dataclass(frozen=True, slots=True)
class RefinementWork:
    """Builds refinement prompts and parses the replies, as the settings say.

    ``secret``: the store's secret; ``cleaned``: redacts secrets in a message; ``cleaned_text``: redacts secrets in a
    text.
    """

    settings: Settings
    secret: bytes
    cleaned: Callable[[Message], Message]
    cleaned_text: Callable[[str], str]

    def question(
        self, key: SessionKey, state: SessionState, history: Sequence[Written], counter: TokenCounter
    ) -> RefinementPrompt | Refinement:
        """Return the prompt for a session whose facts are extracted, or a ``Refinement`` that says why none is needed.
        ``history``: the session's messages without withdrawn ones.
        """
        messages = [(one.number, self._clean_message(one.message)) for one in history if one.number > 0]
        if not messages or messages[-1][0] <= state.refined:
            return Refinement("nothing_new")
        if state.asked >= self.settings.llm_calls_per_session:
            return Refinement("over_budget")
        prompt = prompt_of(
            messages,
            state.graph,
            nonce=nonce_for(self.secret, key, f"refining-{messages[-1][0]}"),
            counter=counter,
            tokens_max=self.settings.llm_input_tokens,
            cleaned=self.cleaned_text,
            handover=state.handover,
        )
        if prompt is None:
            return Refinement("over_budget")
        return RefinementPrompt(prompt, state.seq, state.recorded_at)

    def read(self, text: str) -> RefinementReply | None:
        """Parse a model's reply and redact secrets in it; ``None`` when it does not have the requested form."""
        return read_reply(
            self.cleaned_text(text), chars_max=self.settings.llm_reply_max, items_max=self.settings.labels_max
        )

    def events(
        self, state: SessionState, question: RefinementPrompt, reply: RefinementReply, calls: int
    ) -> tuple[list[Event], Mapping[str, int]]:
        """Return the events that ``reply`` adds to the log, and the counts for ``Refinement.counts``."""
        fenced = state.graph.flagged if self.settings.guard in ("fence", "block") else ()
        merged = merge(
            state.graph,
            reply,
            question.prompt.shown,
            self.settings,
            flagged=fenced,
            archives=not self.settings.llm_keeps_unconfirmed,
        )
        counts = Counter(merged.counts)
        counts["dropped"] += reply.dropped
        prompt = question.prompt
        written = ground_handover(
            reply.handover,
            prompt.shown,
            flagged=state.graph.flagged,
            known=prompt.known,
            breaks_off=reply.breaks_off,
        )
        counts["handover_sentences"] += len(written.sentences)
        counts["handover_dropped"] += written.dropped
        refined = Refined(question.turn, calls, prompt.tokens)
        if written.sentences:
            refined = replace(refined, handover=written.sentences, first=prompt.first)
        return [*merged.events, refined], counts

    def is_due(self, state: SessionState, events: Sequence[Event]) -> bool:
        """Whether the session should be refined in the background after ``events``, which were just recorded."""
        if self.settings.llm_at_checkpoint and any(isinstance(event, Checkpointed) for event in events):
            return True
        return 0 < self.settings.llm_every <= len(state.unrefined)

    def _clean_message(self, message: Message) -> Message:
        return self.cleaned(without_own_blocks(without_host_texts(message), self.secret))


def is_due_before_cut(state: SessionState) -> bool:
    """Whether no refinement was made since the current cut."""
    return state.refined <= (state.cut.turn if state.cut is not None else 0)


def always(state: SessionState) -> bool:
    """Return true, whatever the state of the session."""
    return True


def is_outdated(question: RefinementPrompt, tail: Sequence[Recorded]) -> bool:
    """Whether a reply to ``question`` can no longer be used: since the prompt was built, the session was revised or
    erased, or a later refinement covered the same messages. ``tail``: the events of the session after the prompt's
    position.
    """
    if not tail or (tail[0].seq, tail[0].recorded_at) != (question.seq, question.recorded_at):
        return True
    return any(isinstance(one.event, HistoryRevised) or _newer(one.event, question) for one in tail[1:])


def _newer(event: Event, question: RefinementPrompt) -> bool:
    return isinstance(event, Refined) and event.turn >= question.turn
