"""Settings: one frozen object, read once at the edge and passed in."""

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
    """Everything that can be tuned, with the defaults that suit most applications. Sizes are bytes unless named.

    Reading a request
        ``session_header`` and ``session_field`` name where a session id is looked for (the field in the request's
        JSON body; "" switches one off); ``keep_session_field`` leaves the field for the inner application.
        ``request_max``: larger requests pass untouched. ``capture_max``: of a response, more is not remembered.
        ``known_requests_max``: characters of recent requests kept so that a history that is sent again is not read
        again, which takes several times as many bytes; 0 keeps none.
    When to cut
        ``context_window``: tokens that the model takes in; ``None`` looks the model up in a table and falls back to
        ``default_window``. ``cut_at`` is the share of it at which the old transcript is replaced, ``cut_to`` the
        share that it is brought down to. ``block_tokens`` is the budget of the resume block that takes its place,
        ``block_role`` the role of the message that carries it. ``cut``: "window" cuts only then; "economy" also when a
        cut pays, net of what providers take for cached input: with ``cut_to``, at most two fifths, as the share of
        what is sent word for word that stays, and never so that a chat that ended right then would have cost more than
        ``cut_risk`` above what it costs uncut (0.01: one percent).
        ``embeddings``: a sentence-transformers model, its directory or its name where it is installed, by whose vectors
        recall and reminders also find what is said in other words; ``None``: by words alone. Needs the extra
        ``embeddings``. A request waits ``embedding_wait_seconds`` for the vector of its question.
        ``reminder_tokens``: once a cut is in force, each request carries what the cut took out and the newest message
        is about, in at most so many tokens; 0: none does.
    Compaction by contract (the proxy answers it)
        ``compaction``: "provider" leaves to a provider what it offers by itself, and answers for all others; behind a
        compaction of the provider's, the rules and decisions of the session follow in a block of ``block_tokens``.
        "both": the same, and the work that is open and done follows, in a block of ``compaction_tokens``. "ours"
        answers for every provider. ``agent_compaction``: what becomes of the request by which Claude Code or Codex has
        a chat summed up: "provider" has the model do it, and a block is put in front of what goes on from its summary;
        "both" has the model do it, and rules, decisions with reasons and the work follow in the summary itself; "ours"
        answers it with a block, and no model is asked. ``compaction_tokens``: the budget of the block that takes the
        place of a history, or follows a summary with "both".
    What is believed
        ``confidence_floor``: facts below it are not kept. ``nodes_max``: cap of the nodes that may be pruned.
        ``message_max``: characters of one message that extraction reads. ``labels_max``: new facts per message.
        ``stages``: the stages of extraction that run, names with commas between them: "structure" (tool traffic, edits,
        checklists), "rules" (what sentences say), "dialogue" (what answers adopt and refuse; needs rules), "model" (the
        learned classifier, where rules read nothing; needs rules).
        ``semantic``: a directory with a sentence model for which there is a head, which the learned classifier then
        asks about meaning, too; ``None``: it looks at words alone. ``semantic_sha256``: the digest that the model's
        weights must have, "" for whichever the head was trained on. Needs the extra ``semantic`` or ``embeddings``.
    What earlier sessions tell (off unless a separator is named)
        ``project_separator``: sessions of a tenant whose ids share all before the last one ("/" in "shop/monday")
        belong to one project, and a resume offers the rules, decisions and environment of the others, each with its
        session; ``project_sessions``: how many of them are asked, the most recently updated first.
    What is taken out
        ``redact``: secrets become placeholders before anything else sees a request, and in replies before they are
        kept; ``redact_pii``: e-mail addresses, phone, card and account numbers too; ``redact_rules``: a YAML file with
        rules of your own and what to let through.
    What is suspected
        ``guard``: what is done about words of users and tools that read like an attempt to take over the model. "flag"
        counts them and keeps their facts out of the smallest resume; "fence" draws nothing from their prose;
        "block" refuses a request that brings such words for the first time; "off" looks at nothing.
    Counting
        ``tokenizer_dir``: a directory with tiktoken's tables; ``None`` looks in tiktoken's own cache and in the
        copies that installed packages carry. Nothing is ever downloaded.
    Asking a model (off unless one is named here or handed over)
        ``llm_url``: address of a provider that speaks OpenAI's chat dialect ("http://localhost:11434/v1");
        ``llm_model``: its model; ``llm_key_variable``: the environment variable that holds the key ("": none is sent);
        ``llm_schema`` sends the reply's JSON schema along, for providers that take one.
        When: ``llm_every``: after so many turns, in the background; 0: never by itself; ``llm_at_checkpoint``: at each
        checkpoint, in the background; ``llm_at_window``: once before each cut, in the background, from the first
        request on that takes this share of the window (or four fifths of ``cut_at``, where that is less); 0: not
        before cuts. ``llm_keeps_unconfirmed``: facts read from words stay although the model does not state them.
        How much: ``llm_input_tokens`` of a session, the newest messages first; ``llm_output_tokens`` of a reply, of
        which ``llm_reply_max`` bytes are read. ``llm_calls_per_session`` and ``llm_calls_per_hour`` bound the calls;
        ``llm_attempts`` is how often one question is asked when calls fail, ``llm_timeout`` the seconds that a call may
        take. After ``llm_failures_max`` failures in a row nothing is asked for ``llm_rest_seconds``.
    Answers that are given again (off unless switched on)
        ``cache``: "exact" gives the same request the same answer, "semantic" also a question of the same meaning, which
        needs the extra ``semantic`` and a sentence model: ``cache_model`` is its directory, ``cache_model_sha256`` the
        digest that its weights must have. ``cache_scope``: whose answers are given: those of the same "session", or of
        any session of the "tenant". ``cache_url`` is where they are kept: ``memory://``, "store" (in the database of
        the sessions), or an address of SQLite, PostgreSQL or Redis, there under names that begin with
        ``cache_prefix``; ``cache_bytes`` bounds them all, ``cache_entry_max`` one of them, ``cache_request_max`` the
        requests that are looked at, ``cache_vectors_max`` what a process holds for comparing. They are given for
        ``cache_seconds``.
        ``cache_temperature_max``: requests with a higher temperature are answered anew (1 where they name none);
        ``cache_similarity``: from which cosine on questions are compared closely, ``cache_question_tokens``: how long
        such a question may be. ``cache_wait_seconds``: how long a request waits for the same one that is being
        answered. ``cache_header``: the header by which a client passes the cache by ("bypass") or has it renewed
        ("refresh"), and that says in a response how it was found. ``cache_ignored_headers``: names, with commas
        between them, of further request headers that say nothing about the answer.
    How long a chat waits for the store
        ``store_wait_seconds``: a chat waits so long for its turn to be durable, and so long in all for a cut; then it
        goes on without. 0: it never waits. After ``store_failures_max`` failures in a row no chat waits until the store
        answers a probe again; one goes out every ``store_rest_seconds``. Turns that were not written in time wait in
        memory: at most ``spool_turns``, with at most ``spool_bytes`` of requests and replies; more are lost, and
        counted.
    Work in the background
        ``queue_max``: sessions waiting for extraction and turns that were broken off, ``queue_bytes``: what those
        turns hold; ``drain_seconds``: how long closing waits for them.
        ``sessions_cached``: folded sessions kept in process, fewer where they have more than ``events_cached`` events
        together: an event takes about half a kilobyte.
        ``messages_cached``: characters of messages kept in process for those who ask for texts (``recall``,
        ``messages``, ``context`` and others), those used last. ``passages_max``: the newest passages (paragraphs
        of messages) of a session that ``recall`` looks through; a message has two to three, and their index takes about
        as much memory as the messages.
        ``snapshot_every``: after so many events of a session its folded state is kept in the store, so that another
        process opens it without folding all of its log; 0: never. ``snapshot_max``: of such a state, before it is
        compressed; larger ones are not kept.
    What is sent in fewer tokens (off unless stages are named)
        ``compress``: names of stages with commas between them, see ``docs/compression.md``: those of ``COMPRESSION``,
        "all" for all of these, and of ``COMPRESSION_ASKED``. ``compress_result_max``: tokens of one tool result, of
        a longer one "shorten" leaves out the middle. "history" leaves the newest ``compress_keep`` results whole and
        prunes the others whenever ``compress_step`` tokens of them have gathered. ``compress_marked``: requests that
        mark their messages for a provider's cache are compressed, too. ``compress_known_max``: characters of recent
        requests that are kept as they were sent, so that only what is new is looked at. ``trim_replies``: replies that
        are not streamed, of at most ``capture_max``, lose pleasantries at their beginning and end.
    Analysis of files
        ``file_memory_max``: memory that reading one workbook, PDF document, archive or structured document may take in
        its own process, beyond what an interpreter takes. ``file_seconds``: time that it may take. What was read until
        then is reported.
    What calls cost
        ``savings``: keep books of what calls cost and saved, in the store and in the background. ``prices``: a YAML
        file of prices that win over the published ones: by the start of a model's name, ``input``, ``cached``,
        ``write`` and ``output`` in dollars for a million tokens.
    Coding agents
        ``transcript_max``: of an agent's transcript so much is read at a time, and looked through for a block.
    Routes over HTTP, and what is kept for how long
        ``api_body_max``: of the body of a request to a route, ``import_max``: of one that imports JSON Lines
        (``request_max`` bounds a line, and an import that is one document); more is refused.
        ``page_max``: sessions on a page of a listing. ``export_nodes_max``: facts that an export of a graph shows, the
        most important ones. ``retain_days``: a server erases sessions that nothing was added
        to for so many days; ``None``: it keeps them.
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
        """The share of the window from which on a model is asked before a cut; 0: it is not."""
        if self.llm_at_window < self.cut_at:
            return self.llm_at_window
        return _BEFORE_CUT * self.cut_at

    @property
    def compress_named(self) -> frozenset[str]:
        """The stages of compression that run."""
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
        """The stages of extraction that run."""
        return {name.strip() for name in self.stages.split(",") if name.strip()}

    @classmethod
    def load(cls, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
        """Settings from a YAML file (``None``: no file), then from ``TOKENMIZER_<NAME>`` variables, which win.

        Raises ``ConfigError`` that names the file and the setting when one is unknown or has the wrong type.
        """
        given = read_mapping(Path(path)) if path is not None else {}
        return cls.given(given, environ, where=str(path) if path is not None else "environment")

    @classmethod
    def given(
        cls, mapping: Mapping[str, Any], environ: Mapping[str, str] | None = None, *, where: str = "settings"
    ) -> Settings:
        """Settings from a mapping, then from the environment as in ``load``. ``where`` names the mapping in the message
        of the ``ConfigError`` that is raised when one is unknown or has the wrong type."""
        given = dict(mapping)
        variables = os.environ if environ is None else environ
        for name in (field.name for field in fields(cls)):
            if (text := variables.get(ENVIRONMENT_PREFIX + name.upper())) is not None:
                given[name] = None if text == "" else text
        return cls._validated(given, where=where)

    def with_(self, **changes: Any) -> Settings:
        """A copy with some settings changed. Raises ``ConfigError`` for a value out of range."""
        return replace(self, **changes)

    @classmethod
    def _validated(cls, given: dict[str, Any], where: str) -> Settings:
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
    """The mapping in a YAML file; an empty file is an empty one. Raises ``ConfigError`` that names the file."""
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
