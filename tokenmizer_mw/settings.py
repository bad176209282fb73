"""``Settings``: every option of the package in one frozen dataclass, loaded from arguments, YAML or the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from tokenmizer_mw.errors import ConfigError

ENVIRONMENT_PREFIX: Final = "TOKENMIZER_"
STAGES: Final = frozenset({"structure", "rules", "dialogue", "model"})
"""Stages of extraction that can be left out."""

COMPRESSION: Final = ("filler", "json", "spaces", "logs", "listings", "repeats", "shorten", "history")
"""Stages of compression that "all" stands for."""

COMPRESSION_ASKED: Final = ("comments", "neural")
"""Those that run only where they are named."""

_Role = Literal["user", "system", "developer"]
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
        ``request_max``: larger requests pass untouched. ``capture_max``: bytes of a response that are recorded at most.
        ``known_requests_max``: characters of recent requests that are cached, so that a resent history is not parsed
        again; the cache takes several times as many bytes; 0: no cache.
    When to cut
        ``context_window``: tokens that the model takes; ``None`` looks the model up in a table and falls back to
        ``default_window``. ``cut_at``: share of the window at which old messages are replaced by a resume block;
        ``cut_to``: share that remains after a cut. ``block_tokens``: token budget of the resume block; ``block_role``:
        role of the message that carries it. ``cut``: "window" cuts only when the window is full; "economy" also when a
        cut saves money, net of the provider's prompt cache. An economic cut keeps the share ``cut_to`` (at most two
        fifths) of the messages, and is made only if a chat that ended right then would have cost at most the share
        ``cut_risk`` (0.01: one percent) more than without cuts. ``embeddings``: directory or name of an installed
        sentence-transformers model; recall and reminders then also find passages by meaning; ``None``: by words alone.
        Needs the extra ``embeddings``. ``embedding_wait_seconds``: how long a request waits for the vector of its
        question. ``reminder_tokens``: token budget of the reminder that a request carries once a cut is in force: what
        the cut removed and the newest message asks for; 0: no reminders.
    Compaction by contract (in the proxy)
        ``compaction``: who answers a request for compaction. "provider": the provider if it offers compaction, the
        proxy for all others; after a compaction by the provider, a block of ``block_tokens`` with the session's rules
        and decisions follows. "both": the same, with open and finished work too, in a block of ``compaction_tokens``.
        "ours": always the proxy. ``agent_compaction``: who answers the prompt with which Claude Code or Codex has a
        chat summarised. "provider": the model; a resume block is inserted before the chat that continues from its
        summary. "both": the model; rules, decisions with reasons and the work are appended to its summary. "ours": the
        proxy answers with a block and asks no model. ``compaction_tokens``: token budget of the block that replaces a
        transcript, or of what "both" appends.
    Extraction and the graph
        ``confidence_floor``: facts with less confidence are dropped. ``nodes_max``: most nodes of prunable types in a
        graph. ``message_max``: characters of one message that are read. ``labels_max``: most new facts per message.
        ``stages``: extraction stages that run, comma-separated: "structure" (tool calls, edits, checklists), "rules"
        (sentences), "dialogue" (what replies accept and reject; needs rules), "model" (the learned classifier, where no
        rule matches; needs rules). ``semantic``: directory of a sentence model that the learned classifier uses for
        meaning, if the package has weights for it; ``None``: words alone. ``semantic_sha256``: SHA-256 that the model's
        weights must have; "": that of the model which the classifier was trained with. Needs the extra ``semantic`` or
        ``embeddings``.
    Projects (off unless a separator is set)
        ``project_separator``: sessions of a tenant whose ids are equal up to the last separator ("/" in "shop/monday")
        form a project. Resume blocks then include rules, decisions and environment of the project's other sessions,
        each with its session. ``project_sessions``: how many other sessions are read, the most recently updated first.
    Redaction
        ``redact``: replace secrets by placeholders, in requests before anything else reads them and in replies before
        they are stored. ``redact_pii``: also e-mail addresses, phone, card and account numbers. ``redact_rules``: YAML
        file with your own rules and exceptions.
    Prompt injection
        ``guard``: what happens to text of users and tools that reads like an attempt to take over the model. "flag": it
        is counted, and its facts stay out of the smallest resume block. "fence": also, no facts are extracted from its
        prose. "block": also, a request that contains such text for the first time is refused. "off": nothing is
        checked.
    Counting tokens
        ``tokenizer_dir``: directory with tiktoken's tables; ``None`` looks in tiktoken's own cache and in the copies
        that installed packages contain. Nothing is ever downloaded.
    Refinement: asking a model (off unless one is configured or passed in)
        ``llm_url``: address of a provider with the OpenAI Chat API ("http://localhost:11434/v1"). ``llm_model``: its
        model. ``llm_key_variable``: environment variable that holds the API key; "": no key is sent. ``llm_schema``:
        send the JSON schema of the reply, for providers that accept one. When: ``llm_every``: after this many turns, in
        the background; 0: never. ``llm_at_checkpoint``: at each checkpoint, in the background. ``llm_at_window``: once
        before each cut, in the background, as soon as a request fills this share of the window (or four fifths of
        ``cut_at`` if that is less); 0: never. ``llm_at_compaction``: before a compaction that a client or an agent
        requests at once, which then waits for the model. ``llm_keeps_unconfirmed``: keep facts read from prose that the
        model's reply omits; otherwise they are archived. How much: ``llm_input_tokens``: tokens of the session that the
        model reads, newest messages first. ``llm_output_tokens``: tokens of the reply. ``llm_reply_max``: bytes of the
        reply that are read. ``llm_calls_per_session`` and ``llm_calls_per_hour``: most calls. ``llm_attempts``: most
        attempts per question. ``llm_timeout``: time limit of a call. After ``llm_failures_max`` failures in a row no
        model is asked for ``llm_rest_seconds``.
    Answer cache (off by default)
        ``cache``: "exact" answers an identical request from the cache; "semantic" also answers a question with the same
        meaning. "semantic" needs the extra ``semantic`` and a sentence model: ``cache_model`` is its directory,
        ``cache_model_sha256`` the SHA-256 that its weights must have. ``cache_scope``: share answers within a "session"
        or a "tenant". ``cache_url``: where answers are stored: ``memory://``, "store" (in the database of the
        sessions), or an address of SQLite, PostgreSQL or Redis; in Redis under keys that begin with ``cache_prefix``.
        ``cache_bytes``: size of the cache; ``cache_entry_max``: of one answer; ``cache_request_max``: larger requests
        are not cached; ``cache_vectors_max``: memory of a process for vectors. ``cache_seconds``: lifetime of an
        answer. ``cache_temperature_max``: requests with a higher temperature are not answered from the cache (a request
        without one counts as 1). ``cache_similarity``: least cosine similarity of two questions that are compared
        closely; ``cache_question_tokens``: longest question that is compared. ``cache_wait_seconds``: how long a
        request waits for an identical one that is being answered. ``cache_header``: request header with which a client
        skips ("bypass") or renews ("refresh") the cached answer, and response header that reports how the answer was
        found. ``cache_ignored_headers``: further request headers, comma-separated, that do not influence the answer.
    Waiting for the store
        ``store_wait_seconds``: how long a chat waits for its turn to be durable, and how long in all for a cut; then it
        continues without. 0: it never waits. After ``store_failures_max`` failures in a row no chat waits until the
        store answers a probe, sent every ``store_rest_seconds``. Unwritten turns wait in memory: at most
        ``spool_turns`` turns with ``spool_bytes`` of requests and replies; further turns are lost and counted.
    Background work and caches
        ``queue_max``: most sessions waiting for extraction and aborted turns; ``queue_bytes``: bytes that these turns
        hold; ``drain_seconds``: how long closing waits for them. ``sessions_cached``: sessions in the session cache,
        fewer if they have more than ``events_cached`` events together (an event takes about half a kilobyte).
        ``messages_cached``: characters of messages cached for methods that return texts (``recall``, ``messages``,
        ``context`` and others), most recently used first. ``passages_max``: newest passages (paragraphs of messages) of
        a session that ``recall`` searches; a message has two to three, and their index takes about as much memory as
        the messages. ``snapshot_every``: after this many events the state of a session is stored as a snapshot, so that
        another process can open the session without reading its whole log; 0: never. ``snapshot_max``: size of a
        snapshot before compression; larger ones are not stored.
    Compression (off unless stages are named)
        ``compress``: stages that run, comma-separated, see ``docs/compression.md``: those of ``COMPRESSION``, "all" for
        all of these, and those of ``COMPRESSION_ASKED``. ``compress_result_max``: tokens of one tool result; "shorten"
        removes the middle of a longer one. "history" leaves the newest ``compress_keep`` tool results whole and prunes
        the older ones each time ``compress_step`` tokens of them have gathered. ``compress_marked``: also compress
        requests that contain prompt cache markers. ``compress_known_max``: characters of recent requests that are
        cached as they were sent, so that only new messages are processed. ``trim_replies``: remove pleasantries at the
        beginning and end of replies that are not streamed and have at most ``capture_max`` bytes.
    Analysis of files
        ``file_memory_max``: memory that the process reading one workbook, PDF document, archive or structured document
        may take beyond that of an interpreter. ``file_seconds``: its time limit; what was read until then is reported.
    Usage and cost
        ``savings``: store what calls cost and saved, in the background. ``prices``: YAML file of prices that override
        the published ones: by the start of a model's name, ``input``, ``cached``, ``write`` and ``output`` in dollars
        per million tokens.
    Coding agents
        ``transcript_max``: bytes of an agent's transcript that are read at a time, and searched for a block.
    HTTP routes and retention
        ``api_body_max``: largest request body of a route; ``import_max``: largest import of JSON Lines (``request_max``
        limits each line, and an import that is one document). Larger bodies are refused. ``page_max``: most sessions on
        a page of a listing. ``export_nodes_max``: most facts in a graph export, the most important ones.
        ``retain_days``: a server erases sessions that have not been updated for this many days; ``None``: never.
    """

    session_header: str = "x-session-id"
    session_field: str = "session_id"
    keep_session_field: bool = False
    request_max: int = 8 * 1024 * 1024
    capture_max: int = 2 * 1024 * 1024
    known_requests_max: int = 8 * 1024 * 1024
    context_window: int | None = None
    default_window: int = 128_000
    cut_at: float = 0.85
    cut_to: float = 0.50
    cut: _Cut = "window"
    cut_risk: float = 0.01
    block_tokens: int = 600
    reminder_tokens: int = 400
    block_role: _Role = "user"
    compaction: _Compaction = "provider"
    agent_compaction: _Compaction = "provider"
    compaction_tokens: int = 2_000
    embeddings: str | None = None
    embedding_wait_seconds: float = 0.25
    confidence_floor: float = 0.50
    nodes_max: int = 5_000
    message_max: int = 200_000
    labels_max: int = 200
    stages: str = "structure,rules,dialogue,model"
    semantic: str | None = None
    semantic_sha256: str = ""
    project_separator: str = ""
    project_sessions: int = 5
    redact: bool = True
    redact_pii: bool = False
    redact_rules: str | None = None
    guard: _Guard = "flag"
    tokenizer_dir: str | None = None
    llm_url: str | None = None
    llm_model: str = ""
    llm_key_variable: str = ""
    llm_schema: bool = False
    llm_every: int = 0
    llm_at_checkpoint: bool = False
    llm_at_window: float = 0.7
    llm_at_compaction: bool = False
    llm_keeps_unconfirmed: bool = False
    llm_input_tokens: int = 24_000
    llm_output_tokens: int = 4_000
    llm_reply_max: int = 256 * 1024
    llm_calls_per_session: int = 50
    llm_calls_per_hour: int = 120
    llm_attempts: int = 3
    llm_timeout: float = 60.0
    llm_failures_max: int = 5
    llm_rest_seconds: float = 300.0
    cache: _Cache = "off"
    cache_scope: _CacheScope = "session"
    cache_url: str = "memory://"
    cache_prefix: str = "tokenmizer"
    cache_bytes: int = 64 * 1024 * 1024
    cache_entry_max: int = 256 * 1024
    cache_request_max: int = 256 * 1024
    cache_vectors_max: int = 256 * 1024 * 1024
    cache_seconds: float = 86_400.0
    cache_temperature_max: float = 1.0
    cache_similarity: float = 0.92
    cache_question_tokens: int = 512
    cache_wait_seconds: float = 30.0
    cache_model: str | None = None
    cache_model_sha256: str = ""
    cache_header: str = "x-tokenmizer-cache"
    cache_ignored_headers: str = ""
    store_wait_seconds: float = 0.25
    store_failures_max: int = 3
    store_rest_seconds: float = 1.0
    spool_turns: int = 10_000
    spool_bytes: int = 64 * 1024 * 1024
    queue_max: int = 1_000
    queue_bytes: int = 64 * 1024 * 1024
    drain_seconds: float = 5.0
    sessions_cached: int = 256
    events_cached: int = 500_000
    messages_cached: int = 16 * 1024 * 1024
    passages_max: int = 20_000
    snapshot_every: int = 500
    snapshot_max: int = 32 * 1024 * 1024
    compress: str = ""
    compress_result_max: int = 8_000
    compress_keep: int = 3
    compress_step: int = 4_000
    compress_marked: bool = False
    compress_known_max: int = 8 * 1024 * 1024
    trim_replies: bool = False
    savings: bool = False
    prices: str | None = None
    file_memory_max: int = 256 * 1024 * 1024
    file_seconds: float = 20.0
    transcript_max: int = 256 * 1024 * 1024
    api_body_max: int = 1024 * 1024
    import_max: int = 64 * 1024 * 1024
    page_max: int = 1_000
    export_nodes_max: int = 2_000
    retain_days: int | None = None

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_cache()
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ConfigError(f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}")
        if unknown := self.stages_named - STAGES:
            raise ConfigError(f"stages are {', '.join(sorted(STAGES))}, not {', '.join(sorted(unknown))}")
        if unknown := set(self.compress_named) - {*COMPRESSION, *COMPRESSION_ASKED}:
            known = ", ".join((*COMPRESSION, *COMPRESSION_ASKED))
            raise ConfigError(f"compress names stages: all, {known}, not {', '.join(sorted(unknown))}")
        if not 0.0 < self.cut_to < self.cut_at <= 1.0:
            raise ConfigError("cut_to and cut_at are shares of the window: 0 < cut_to < cut_at <= 1")
        for name in (
            "drain_seconds",
            "embedding_wait_seconds",
            "llm_rest_seconds",
            "store_wait_seconds",
            "store_rest_seconds",
        ):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} cannot be negative")
        self._check_llm()

    def _check_llm(self) -> None:
        if self.llm_timeout <= 0:
            raise ConfigError("llm_timeout is more than 0 seconds")
        if not 0.0 <= self.llm_at_window <= 1.0:
            raise ConfigError("llm_at_window is a share of the window: 0 to 1")

    @property
    def share_before_cut(self) -> float:
        """The share of the window from which on a model refines the session before a cut; 0: never."""
        if self.llm_at_window < self.cut_at:
            return self.llm_at_window
        return _BEFORE_CUT * self.cut_at

    @property
    def compress_named(self) -> frozenset[str]:
        """The names of the compression stages that run, with "all" expanded."""
        named = {name.strip() for name in self.compress.split(",")} - {""}
        return frozenset(named - {"all"}) | (frozenset(COMPRESSION) if "all" in named else frozenset())

    def _check_cache(self) -> None:
        if not 0.0 < self.cache_similarity <= 1.0:
            raise ConfigError("cache_similarity lies between 0 and 1")
        if self.cache_seconds <= 0 or self.cache_wait_seconds < 0 or not self.cache_header:
            raise ConfigError("cache_seconds is more than 0, cache_wait_seconds not negative, cache_header not empty")

    def _check_numbers(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"{name} is a whole number of at least {least}, not {value!r}")
        for name in _NUMBERS:
            if not isinstance(getattr(self, name), int | float) or isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is a number, not {getattr(self, name)!r}")
        for name in ("confidence_floor", "cut_risk"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{name} lies between 0 and 1")
        for name in ("llm_timeout", "file_seconds"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is more than 0 seconds")

    @property
    def stages_named(self) -> set[str]:
        """The names of the extraction stages that run."""
        return {name.strip() for name in self.stages.split(",") if name.strip()}

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
        """Load settings from a YAML file, then from ``TOKENMIZER_<NAME>`` environment variables, which win.

        ``path``: ``None`` reads no file. ``environ``: ``None`` reads ``os.environ``. An empty variable sets ``None``.
        Raises ``ConfigError`` that names the file and the setting when a setting is unknown or invalid.
        """
        given = read_mapping(Path(path)) if path is not None else {}
        return cls.from_mapping(given, environ, where=str(path) if path is not None else "environment")

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[str, Any], environ: Mapping[str, str] | None = None, *, where: str = "settings"
    ) -> Settings:
        """Make settings from a mapping, then from the environment as ``load`` does.

        ``where`` names the mapping in the message of the ``ConfigError`` that an unknown or invalid setting raises.
        """
        given = dict(mapping)
        variables = os.environ if environ is None else environ
        for name in (field.name for field in fields(cls)):
            if (text := variables.get(ENVIRONMENT_PREFIX + name.upper())) is not None:
                given[name] = None if text == "" else text
        return cls._validate(given, where=where)

    def with_(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed. Raises ``ConfigError`` for a value out of range."""
        return replace(self, **changes)

    @classmethod
    def _validate(cls, given: dict[str, Any], where: str) -> Settings:
        if not given:
            return cls()
        from pydantic import TypeAdapter, ValidationError  # a third of the package's import time: only where used

        if unknown := sorted(given.keys() - {field.name for field in fields(cls)}):
            raise ConfigError(f"{where}: unknown setting {', '.join(map(str, unknown))}")
        try:
            return TypeAdapter(cls).validate_python(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = ".".join(map(str, first["loc"])) or "settings"
            raise ConfigError(f"{where}: {name}: {first['msg']}") from None


_LEAST: Final = {
    "request_max": 1,
    "capture_max": 1,
    "context_window": 1,
    "default_window": 1,
    "block_tokens": 40,
    "compaction_tokens": 200,
    "nodes_max": 1,
    "message_max": 1,
    "labels_max": 1,
    "cache_bytes": 1,
    "cache_entry_max": 1,
    "cache_request_max": 1,
    "cache_vectors_max": 1,
    "cache_question_tokens": 1,
    "store_failures_max": 1,
    "spool_turns": 1,
    "spool_bytes": 1,
    "queue_max": 1,
    "queue_bytes": 1,
    "sessions_cached": 1,
    "events_cached": 1,
    "messages_cached": 0,
    "passages_max": 1,
    "snapshot_every": 0,
    "snapshot_max": 1,
    "compress_result_max": 100,
    "compress_keep": 1,
    "compress_step": 1,
    "compress_known_max": 0,
    "file_memory_max": 16 * 1024 * 1024,
    "transcript_max": 1_024,
    "api_body_max": 1_024,
    "import_max": 1_024,
    "page_max": 1,
    "export_nodes_max": 1,
    "retain_days": 1,
    "known_requests_max": 0,
    "llm_every": 0,
    "llm_input_tokens": 4_000,
    "llm_output_tokens": 100,
    "llm_reply_max": 1_024,
    "llm_calls_per_session": 0,
    "llm_calls_per_hour": 0,
    "llm_attempts": 1,
    "llm_failures_max": 1,
}
_BEFORE_CUT: Final = 0.8
_OPTIONAL: Final = frozenset({"context_window", "retain_days"})
_NUMBERS: Final = (
    "cut_at",
    "cut_to",
    "cut_risk",
    "embedding_wait_seconds",
    "llm_at_window",
    "confidence_floor",
    "drain_seconds",
    "store_wait_seconds",
    "store_rest_seconds",
    "file_seconds",
    "llm_timeout",
    "llm_rest_seconds",
    "cache_seconds",
    "cache_temperature_max",
    "cache_similarity",
    "cache_wait_seconds",
)
_CHOICES: Final = {
    "block_role": get_args(_Role),
    "cut": get_args(_Cut),
    "compaction": get_args(_Compaction),
    "agent_compaction": get_args(_Compaction),
    "guard": get_args(_Guard),
    "cache": get_args(_Cache),
    "cache_scope": get_args(_CacheScope),
}


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping; an empty file gives ``{}``. Raises ``ConfigError`` that names the file."""
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
