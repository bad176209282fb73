"""Runs the compression stages, in order, over the text passages of a chat (texts, tool results).

The result for a passage depends only on it and on earlier passages. Therefore a growing chat is always sent with the
same beginning, which the provider's prompt cache can serve. The only exception is the stage "history", which from time
to time prunes several old results at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.model.usage import StageSaving
from tokenmizer_mw.settings import Settings

from . import filler, formatting, runs, tool_results
from .chat import ChatPassage, OutputKind, PassageKind
from .names import KnownNames
from .neural import Shrink, in_fewer_words
from .repeats import ForwardedLines
from .sorts import sort_of


@dataclass(frozen=True, slots=True)
class Options:
    """Which compression stages are on, and their parameters.

    - ``stages``: names from ``STAGES``, and "history".
    - ``result_max``: tokens that "shorten" leaves of a tool result.
    - ``keep``: number of newest tool results that "history" leaves whole; ``step``: tokens in older ones that make it
      prune them.
    - ``shrink``: function of the stage "neural"; ``None`` switches that stage off.
    - ``failed``: called with the name of a stage that raised an error.
    """

    stages: frozenset[str]
    result_max: int
    keep: int
    step: int
    shrink: Shrink | None = None
    failed: Callable[[str], None] = lambda stage: None

    @classmethod
    def of(
        cls, settings: Settings, shrink: Shrink | None = None, failed: Callable[[str], None] = lambda stage: None
    ) -> Options:
        """Return the compression options that ``settings`` name, with the functions ``shrink`` (shortens prose;
        ``None``: the stage "neural" does nothing) and ``failed`` (called with the name of a stage that raised)."""
        return cls(
            settings.compress_named,
            settings.compress_result_max,
            settings.compress_keep,
            settings.compress_step,
            shrink,
            failed,
        )


@dataclass(frozen=True, slots=True)
class StageInput:
    """The input of a compression stage.

    - ``passage``: the passage with its text as the previous stages left it; ``sort``: what kind of tool output it is.
    - ``before``: the lines that earlier passages have already sent.
    - ``whole``: whether no previous stage changed the text.
    """

    passage: ChatPassage
    sort: OutputKind
    options: Options
    before: ForwardedLines
    whole: bool = True


Stage = Callable[[StageInput], str]
"""A compression stage: returns the new text of the passage, not longer than before; the same object if there is nothing
to do."""


def _on(sorts: Collection[OutputKind], change: Callable[[str], str]) -> Stage:
    """Make a stage that applies ``change`` to outputs of the kinds ``sorts``, and leaves others alone."""
    return lambda work: change(work.passage.text) if work.sort in sorts else work.passage.text


def _comments(work: StageInput) -> str:
    text, path = work.passage.text, work.passage.path
    return formatting.without_comments(text, path) if work.sort is OutputKind.FILE and path else text


def _shorten(work: StageInput) -> str:
    return tool_results.shorten_passage(work.passage, work.sort, work.options.result_max, whole=work.whole)


def _neural(work: StageInput) -> str:
    text, shrink = work.passage.text, work.options.shrink
    return text if shrink is None or work.sort is not OutputKind.TEXT else in_fewer_words(text, shrink)


STAGES: Final[Mapping[str, tuple[PassageKind, Stage]]] = {
    "filler": (PassageKind.VISIBLE, lambda work: filler.without_filler(work.passage.text)),
    "json": (PassageKind.RESULT, _on({OutputKind.JSON}, formatting.json_closer)),
    "spaces": (PassageKind.RESULT, _on(formatting.PRINTED, formatting.render_printed)),
    "comments": (PassageKind.RESULT, _comments),
    "logs": (PassageKind.RESULT, _on({OutputKind.LOG}, runs.condense_log)),
    "listings": (PassageKind.RESULT, _on({OutputKind.LISTING, OutputKind.FOUND}, runs.shorten_listings)),
    "neural": (PassageKind.RESULT, _neural),
    "shorten": (PassageKind.RESULT, _shorten),
    "repeats": (PassageKind.RESULT, lambda work: work.before.shorter(work.passage.text)),
}
"""The stages in their order, each with the kind of passage that it changes. "repeats" is last, so that no later stage
removes a reference that it made, or the lines that a reference points to. The stage "history" is not among them,
because it needs the whole chat."""


@dataclass(slots=True)
class Condensed:
    """A compressed chat: the result of ``condense``.

    - ``texts``: the new texts of ``passages``; ``changes``: the stage, the text before and the text after of each
      change.
    - ``pruned``: tool results before the passage with this index were pruned by the stage "history".
    - ``forwarded``, ``known``: lines and names so far, for the passages that follow.
    - ``size``: number of characters of all passages.
    - ``counted``, ``counted_by``, ``counts``: number of changes whose tokens were counted, by which counter, and tokens
      before and after by stage.
    """

    passages: list[ChatPassage] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    changes: list[tuple[str, str, str]] = field(default_factory=list)
    pruned: int = 0
    forwarded: ForwardedLines = field(default_factory=ForwardedLines)
    known: KnownNames = field(default_factory=KnownNames)
    size: int = 0
    counted: int = 0
    counted_by: str = ""
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def savings(self, counter: TokenCounter) -> tuple[StageSaving, ...]:
        """Return the tokens before and after each stage that changed something, in the order of the stages, counted by
        ``counter``. Counts are stored, so that later calls with the same counter count only new changes."""
        if self.counted_by != counter.name:
            self.counted_by, self.counted, self.counts = counter.name, 0, {}
        for stage, before, after in self.changes[self.counted :]:
            so_far = self.counts.get(stage, (0, 0))
            self.counts[stage] = (so_far[0] + counter.count(before), so_far[1] + counter.count(after))
        self.counted = len(self.changes)
        return tuple(StageSaving(stage, *self.counts[stage]) for stage in (*STAGES, HISTORY) if stage in self.counts)


HISTORY: Final = "history"


def condense(
    passages: Sequence[ChatPassage], options: Options, before: Condensed | None = None, *, cut: int | None = None
) -> Condensed:
    """Compress the passages of a chat, in order.

    - ``before``: the result for an earlier state of this chat with the same options; only new passages are then
      processed, and ``before`` must not be used again.
    - ``cut``: index of the newest message when the chat was cut; the stage "history" then prunes the old results before
      it at once. ``None`` if the chat was not cut.
    """
    pruned = 0
    if HISTORY in options.stages:
        pruned = tool_results.pruned_before(passages, keep=options.keep, step=options.step, cut=cut)
    state = before if before is not None and _goes_on(before, passages, pruned) else Condensed(pruned=pruned)
    for passage in passages[len(state.passages) :]:
        _take(state, passage, options)
    return state


def _goes_on(before: Condensed, passages: Sequence[ChatPassage], pruned: int) -> bool:
    known = len(before.passages)
    return before.pruned == pruned and known <= len(passages) and list(passages[:known]) == before.passages


def _take(state: Condensed, passage: ChatPassage, options: Options) -> None:
    place = len(state.passages)
    text = passage.text
    sort = sort_of(passage) if passage.kind is PassageKind.RESULT else OutputKind.TEXT
    if place < state.pruned:
        if passage.kind is PassageKind.RESULT:
            text = _try_stage(
                state, HISTORY, lambda: tool_results.prune_result(passage, sort, state.known), text, options
            )
        state.known.learn(text)
    if text is passage.text:
        text = _run_stages(state, passage, sort, options)
    state.size += len(passage.text)
    state.passages.append(passage)
    state.texts.append(text)
    if "repeats" in options.stages:
        state.forwarded.learn(passage, text)


def _run_stages(state: Condensed, passage: ChatPassage, sort: OutputKind, options: Options) -> str:
    text = passage.text
    for name, (kind, stage) in STAGES.items():
        if kind is passage.kind and name in options.stages:
            whole = text is passage.text
            changed = passage if whole else replace(passage, text=text)
            work = StageInput(changed, sort, options, state.forwarded, whole)
            text = _try_stage(state, name, partial(stage, work), text, options)
    return text


def _try_stage(state: Condensed, name: str, stage: Callable[[], str], text: str, options: Options) -> str:
    """Run a stage and return its text; ``text`` if the stage fails or does not make it shorter."""
    try:
        shorter = stage()
    except Exception:  # a stage may be somebody else's: the chat goes on without it
        options.failed(name)
        return text
    if shorter is text or len(shorter) >= len(text):
        return text
    state.changes.append((name, text, shorter))
    return shorter
