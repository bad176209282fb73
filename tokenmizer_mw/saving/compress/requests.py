"""Compresses texts in the bytes of a chat request, or in a list of messages; all other bytes stay.

``Compression`` does so for the sessions of one process, and caches the previous results, so that only new messages are
processed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw.context.tokens import TokenCounter, counter_for
from tokenmizer_mw.context.window import Rewrite, count_resent_messages
from tokenmizer_mw.model.message import Message
from tokenmizer_mw.model.usage import StageSaving
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.wire.dialect import ChatRequest, message_markers
from tokenmizer_mw.wire.messages import history
from tokenmizer_mw.wire.passages import Steps, apply_edits, spot_edits

from .chat import PassageKind, PlacedPassage, put_back, read, read_results, texts
from .neural import Shrink
from .pipeline import Condensed, Options, condense
from .tool_results import pruned_before

MARKED: Final = "compress_marked"
BOUND: Final = "compress_bound"
_MARKS: Final = ("cache_control", "cachePoint")
_NEVER: Final = frozenset(
    {"history_on_server", "provider_compacts", "messages_twice", "unknown_role", "not_rewritable", "no_list"}
)
"""Reasons not to rewrite a request (``ChatRequest.stand_down``) that also forbid compression, because earlier messages
or the speakers of messages are not known."""


@dataclass(frozen=True, slots=True)
class CondensedRequest:
    """A compressed chat request.

    - ``request``: the request to send, the same object if nothing changed.
    - ``state``: to pass with the session's next request, so that only new messages are processed.
    - ``savings``: tokens saved by each stage.
    - ``moved``: what the stage "history" pruned since the previous call, ``None`` for nothing.
    """

    request: ChatRequest
    state: Condensed
    savings: tuple[StageSaving, ...] = ()
    moved: Moved | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """Old tool results that the stage "history" has just pruned, for the first time in this request.

    ``message``: index of the first message that differs from the previous request; from there on the provider's prompt
    cache cannot be used. ``left_out``: tokens that all stages removed from the messages before it.
    """

    message: int
    left_out: int


def refusal(request: ChatRequest, *, marked: bool) -> str:
    """Return why a request is not compressed, as the name of a counter; "" if it may be.

    ``marked``: whether to compress requests whose messages contain prompt cache marks for the provider. Requests with
    signed reasoning are never compressed, because no message before the reasoning may change.
    """
    if request.stand_down in _NEVER:
        return request.stand_down
    if request.bound:
        return BOUND
    return MARKED if not marked and _has_mark(request) else ""


def condense_request(
    request: ChatRequest,
    options: Options,
    counter: TokenCounter,
    *,
    start: int | None = None,
    before: Condensed | None = None,
    cut: int | None = None,
) -> CondensedRequest:
    """Compress the messages of ``request`` from index ``start`` on (``None``: all after the leading system messages).

    - ``before``: the state of the session's previous request; it must not be used again. ``None``: start anew.
    - ``cut``: index of the newest message when the current cut was made; ``None`` if there is no cut.
    """
    placed = read(request.messages, request.prefix if start is None else start)
    state = condense(texts(placed), options, before, cut=cut)
    changed = changes(placed, state)
    if not changed:
        return CondensedRequest(request, state)
    edits = [edit for number, new in changed.items() for edit in spot_edits(request.text, request.spans[number], new)]
    return CondensedRequest(
        apply_edits(request, edits), state, state.savings(counter), _find_move(request, state, options, counter, cut)
    )


def _find_move(
    request: ChatRequest, state: Condensed, options: Options, counter: TokenCounter, cut: int | None
) -> Moved | None:
    """Return what the stage "history" pruned since the session's previous request, as far as this request shows what
    that was; ``None`` for nothing."""
    if not state.pruned:
        return None
    known = count_resent_messages(request)
    sent = [passage for passage in state.passages if passage.message < known]
    before = pruned_before(sent, keep=options.keep, step=options.step, cut=cut)
    if before >= state.pruned:
        return None
    first = state.passages[before].message
    found = zip(state.passages, state.texts, strict=True)
    changed = ((one.text, text) for one, text in found if one.message < first and text is not one.text)
    return Moved(first, sum(counter.count(whole) - counter.count(text) for whole, text in changed))


def changes(placed: Sequence[PlacedPassage], state: Condensed) -> dict[int, dict[Steps, str]]:
    """Return the texts that compression changed, by message index and by their path in the message.

    ``placed``: the compressed passages with their positions; ``state``: the result of ``condense`` for them.
    """
    found: dict[int, dict[Steps, str]] = {}
    for one, text in zip(placed, state.texts, strict=True):
        if one.spot is not None and text is not one.passage.text and text != one.passage.text:
            found.setdefault(one.passage.message, {})[one.spot.steps] = one.spot.spell(text)
    return found


def results(placed: Sequence[PlacedPassage], state: Condensed) -> dict[int, tuple[str, ...]]:
    """Return, for each message in which compression changed a tool result, the texts of all its tool results,
    in order, by message index.

    ``placed``: the compressed passages with their positions; ``state``: the result of ``condense`` for them.
    """
    found: dict[int, list[str]] = {}
    changed = set()
    for one, text in zip(placed, state.texts, strict=True):
        if one.passage.kind is PassageKind.RESULT:
            found.setdefault(one.passage.message, []).append(text)
            if text != one.passage.text:
                changed.add(one.passage.message)
    return {number: tuple(texts) for number, texts in found.items() if number in changed}


def shares(state: Condensed, messages: int) -> list[float]:
    """Return for each message the share of its text that compression removes: 0 for nothing, 1 for everything.

    ``state``: the result of ``condense``; ``messages``: number of messages of the chat. A message without compressed
    passages has 0.
    """
    whole, gone = [0] * messages, [0] * messages
    for passage, text in zip(state.passages, state.texts, strict=True):
        whole[passage.message] += len(passage.text)
        gone[passage.message] += len(passage.text) - len(text)
    return [left / size if size else 0.0 for left, size in zip(gone, whole, strict=True)]


def _has_mark(request: ChatRequest) -> bool:
    """Whether a message of the request, or a part of one, has a member that tells the provider where to cache the
    prompt ("cache_control" or "cachePoint")."""
    if not any(f'"{name}"' in request.text for name in _MARKS):
        return False
    sent = [one for raw in request.messages.sent for one in (raw if isinstance(raw, tuple) else (raw,))]
    return any(True for _ in message_markers([{"content": [one]} for one in sent], _MARKS))


@dataclass(frozen=True, slots=True)
class Compressed:
    """The result of ``compress``.

    - ``messages``: as passed in; changed ones are replaced by changed copies.
    - ``savings``: tokens saved by each stage.
    - ``tokens_before``, ``tokens_after``: tokens in the texts of all messages.
    - ``failed``: names of stages that raised an error; they changed nothing.
    """

    messages: list[Any]
    savings: tuple[StageSaving, ...]
    tokens_before: int
    tokens_after: int
    failed: tuple[str, ...] = ()


def compress(
    messages: Iterable[Message | Mapping[str, Any]],
    settings: Settings | None = None,
    *,
    model: str = "",
    shrink: Shrink | None = None,
) -> Compressed:
    """Compress ``messages`` with the stages that ``settings.compress`` names; without settings, with "all".

    Messages are ``Message`` objects or dictionaries in OpenAI's or Anthropic's format. User and system texts, and
    arguments of tool calls, are never changed. Secrets are not redacted by this function: redact them before, or let a
    memory do both.

    ``model``: the model whose tokens are counted; "": an unknown model. ``shrink``: the function that the stage
    "neural" calls to shorten prose; ``None``: that stage changes nothing.

    Raises ``InvalidMessage`` for anything that is not a chat message.
    """
    transcript = history(messages)
    failed: list[str] = []
    options = Options.of(settings or Settings(compress="all"), shrink, failed.append)
    placed = read(transcript)
    state = condense(texts(placed), options)
    counter = counter_for(model, settings.tokenizer_dir if settings is not None else None)
    before = sum(counter.count(passage.text) for passage in state.passages)
    saved = sum(
        counter.count(passage.text) - counter.count(text)
        for passage, text in zip(state.passages, state.texts, strict=True)
        if text is not passage.text
    )
    return Compressed(
        put_back(transcript.sent, changes(placed, state)),
        state.savings(counter),
        before,
        before - saved,
        tuple(dict.fromkeys(failed)),
    )


class Compression:
    """Compresses the requests of many sessions. Thread-safe if a ``lock`` is passed.

    It caches the result of each session's last request, only to save time. ``failed``: called with the name of a stage
    that raised an error.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        shrink: Shrink | None = None,
        failed: Callable[[str], None] = lambda stage: None,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._options = Options.of(settings, shrink, failed)
        self._marked = settings.compress_marked
        self._known_max = settings.compress_known_max
        self._known: OrderedDict[Hashable, Condensed] = OrderedDict()
        self._held = 0
        self._lock = lock if lock is not None else nullcontext()

    def condense(
        self, key: Hashable, request: ChatRequest, counter: TokenCounter, rewrite: Rewrite | None = None
    ) -> CondensedRequest | str:
        """Compress the request of session ``key`` as it is sent after the cut ``rewrite`` (``None``: no cut).

        If the request must not be compressed, returns the name of a counter instead; "" if there was nothing to
        shorten.
        """
        if why := refusal(request, marked=self._marked):
            return why
        with self._lock:
            before = self._take_known(key)
        start, cut = (None, None) if rewrite is None else (rewrite.keep_from, rewrite.through)
        found = condense_request(request, self._options, counter, start=start, before=before, cut=cut)
        with self._lock:
            self._keep(key, found.state)
        return found if found.request is not request else ""

    def compression_shares(
        self, key: Hashable, request: ChatRequest, start: int | None = None, cut: int | None = None
    ) -> Sequence[float]:
        """Return for each message of session ``key`` the share of its text that compression removes (0 to 1); empty if
        the request is not compressed.

        ``start``: index of the first message that is sent (``None``: all after the leading system messages). ``cut``:
        index of the newest message when the cut was made (``None``: no cut).
        """
        if refusal(request, marked=self._marked):
            return ()
        placed = read(request.messages, request.prefix if start is None else start)
        return shares(self._condense((key, "spared", cut), placed, cut), len(request.messages))

    def spared_results(
        self, key: Hashable, messages: Sequence[Message], start: int, cut: int | None = None
    ) -> Sequence[float]:
        """Return for each message of session ``key`` the share of its text that compression removes (0 to 1), if only
        tool results are compressed. For hosts that pass messages instead of a request.

        ``start``: index of the first message that is sent. ``cut``: index of the newest message when the cut was made
        (``None``: no cut).
        """
        placed = read_results(messages, range(start, len(messages)))
        return shares(self._condense((key, "results", cut), placed, cut), len(messages))

    def shorter_results(
        self, key: Hashable, messages: Sequence[Message], places: Sequence[int], cut: int | None = None
    ) -> dict[int, tuple[str, ...]]:
        """Return the tool results of each message of session ``key`` in which compression shortens one: all their
        texts, in order, by message index. Only the messages with an index in ``places`` are read.

        ``cut``: index of the newest message when the chat was cut; the stage "history" then prunes the old results
        before it at once. ``None`` if the chat was not cut.
        """
        placed = read_results(messages, places)
        return results(placed, self._condense((key, "results", cut), placed, cut))

    def _condense(self, known: Hashable, placed: Sequence[PlacedPassage], cut: int | None) -> Condensed:
        """Compress passages; those that did not change since the last call with the key ``known`` are taken from the
        cache."""
        with self._lock:
            before = self._take_known(known)
        state = condense(texts(placed), self._options, before, cut=cut)
        with self._lock:
            self._keep(known, state)
        return state

    @property
    def held(self) -> int:
        """Number of characters of all requests whose compressed form is cached; at most
        ``Settings.compress_known_max``."""
        return self._held

    def forget(self) -> None:
        """Drop the cached results of all sessions; their next requests are compressed anew."""
        with self._lock:
            self._known.clear()
            self._held = 0

    def _take_known(self, key: Hashable) -> Condensed | None:
        """Remove a cached state and return it; ``None`` if there is none. Another thread that needs it meanwhile starts
        anew."""
        known = self._known.pop(key, None)
        self._held -= known.size if known is not None else 0
        return known

    def _keep(self, key: Hashable, state: Condensed) -> None:
        self._take_known(key)
        self._known[key] = state
        self._held += state.size
        while self._held > self._known_max:
            self._take_known(next(iter(self._known)))
