"""Vectors of texts for search by meaning, from a sentence-transformers model or a function of the host application.
Passages are embedded in the background, a question within a time limit.

The store keeps the vectors of passages, so that a process that opens a session later need not compute them again. Needs
the extra ``embeddings`` (for a function of the host: numpy alone).
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, Protocol, TypeVar

from tokenmizer_mw.context.recall import PassageIndex
from tokenmizer_mw.context.recall.vectors import Matrix, pack_rows, unit_rows, unpack_rows
from tokenmizer_mw.errors import ConfigError, StoreError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.background import BackgroundQueue
from tokenmizer_mw.runtime.forking import make_lock, renew_in_child
from tokenmizer_mw.runtime.installing import install_hint, model_directory
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import EventLog, PassageRows

Embed = Callable[[list[str]], Any]
"""A function that turns a list of texts into vectors: one row of numbers per text, as lists or as an array."""

BATCH: Final = 4
"""Passages are embedded in groups of this many texts. A question waits until at most one group is finished."""


class SentenceModel:
    """Computes vectors of length one. Thread-safe.

    ``name`` identifies the model, because vectors of different models must not be compared. ``open`` returns the
    function that computes vectors. It is called when the first one is needed, because loading a model takes seconds.
    """

    def __init__(self, name: str, open: Callable[[], Embed]) -> None:
        self.name = name
        self._open = open
        self._embed: Embed | None = None
        self._lock = make_lock()

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of ``texts``, one row per text. Raises what the model raises, and ``ValueError`` if it
        returns anything but one vector per text."""
        with self._lock:
            if self._embed is None:
                self._embed = self._open()
            return unit_rows(self._embed(list(texts)), len(texts))


def find_model(named: str) -> SentenceModel:
    """Return the sentence-transformers model in the directory ``named``, in the installed package of that name, or in
    the local cache of models under it. Nothing is downloaded, and nothing loaded yet. Raises ``ConfigError`` if
    sentence-transformers is missing; so does the first use of the model if the model is missing."""
    if find_spec("sentence_transformers") is None:
        raise ConfigError(f"embeddings needs sentence-transformers: {install_hint('embeddings')}")
    return SentenceModel(named, lambda: sentence_transformer(str(model_directory(named))))


def host_model(embed: Embed) -> SentenceModel:
    """Return a model that calls the host's function ``embed``. Its name is the text
    ``embed.identity``, else "host"."""
    named = getattr(embed, "identity", None)
    return SentenceModel(named if isinstance(named, str) else "host", lambda: embed)


def sentence_transformer(directory: str) -> Embed:
    """Load a model with the package sentence-transformers, from a directory or the local cache of models.

    Downloads nothing. Raises ``ConfigError`` if the package or the model is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError:
        raise ConfigError("this needs the package sentence-transformers") from None
    try:
        model = SentenceTransformer(directory, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{directory} is no sentence model that is installed here: {error}") from None

    def embed(texts: list[str]) -> Any:
        return model.encode(texts, show_progress_bar=False)

    return embed


QUESTION_MAX: Final = 4_000
"""Only this many first characters of a question are embedded."""

LATE: Final = "embedding_late"
FAILED: Final = "embedding_failed"
NOT_KEPT: Final = "embedding_not_kept"

_AT_ONCE: Final = 64
"""At most this many passages of a session are embedded before it is another session's turn."""
_QUESTIONS_MAX: Final = 64
_WAITING_MAX: Final = 8
"""At most this many questions wait for the model; a further one is answered by words alone."""

_logger = logging.getLogger("tokenmizer_mw")
T = TypeVar("T")

Mark = tuple[int, float]
"""Number and time of the newest event that a session's index has."""


class ReadIndex(Protocol):
    """A function that calls ``look`` with a session's index and mark (number and time of the newest event in the index)
    while it holds the index's lock."""

    def __call__(self, key: SessionKey, look: Callable[[PassageIndex, Mark], T], /) -> T:
        """Call ``look(index, mark)`` for the session ``key`` while holding the index's lock; return what it returns."""


class PassageEmbedding:
    """Computes vectors of passages in the background, and of questions within a time limit. Thread-safe.

    - ``model``: computes the vectors.
    - ``log``: the event log that stores the vectors of passages.
    - ``read``: calls a function with a session's index and mark while it holds the index's lock.
    - ``count``: increments the counter of a given name.

    A failure of the model or the store is counted and logged. ``close`` ends the threads.
    """

    def __init__(
        self, model: SentenceModel, settings: Settings, *, log: EventLog, read: ReadIndex, count: Callable[[str], None]
    ) -> None:
        self._model = model
        self._log = log
        self._passages_max = settings.passages_max
        self._read = read
        self._count = count
        self._wait_seconds = settings.embedding_wait_seconds
        self._queue = BackgroundQueue(
            capacity=settings.queue_max,
            size_max=settings.queue_bytes,
            failed=self._note_failure,
            drain_seconds=settings.drain_seconds,
        )
        self._lock = make_lock()
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Replace the threads and the running computations by new, empty ones: a forked child process has no threads.
        Called automatically in the child after a fork."""
        self._workers = ThreadPoolExecutor(1, thread_name_prefix="tokenmizer-question")
        self._questions: OrderedDict[str, Future[Matrix]] = OrderedDict()

    def embed_question(self, text: str, wait_seconds: float | None = None) -> Matrix | None:
        """Return the vector of a question. Blocks for at most ``wait_seconds`` (``None``:
        ``Settings.embedding_wait_seconds``). Returns ``None`` and increments a counter if the vector is not ready by
        then, too many questions wait already, or the model fails."""
        under_way = self._submit(text[:QUESTION_MAX])
        try:
            if under_way is None:
                raise TimeoutError
            return under_way.result(self._wait_seconds if wait_seconds is None else wait_seconds)
        except TimeoutError:
            self._count(LATE)
        except Exception as error:  # whatever a model raises: words are left
            self._note_failure(error)
        return None

    def _submit(self, text: str) -> Future[Matrix] | None:
        """Return the vector of ``text`` as a future, which may have been started before; ``None`` if too many questions
        are waiting."""
        with self._lock:
            found = self._questions.get(text)
            if found is None:
                if sum(not one.done() for one in self._questions.values()) >= _WAITING_MAX:
                    return None
                found = self._questions[text] = self._workers.submit(lambda: self._model([text])[0])
            self._questions.move_to_end(text)
            while len(self._questions) > _QUESTIONS_MAX:
                self._questions.popitem(last=False)
            return found

    def embed_passages_later(self, key: SessionKey) -> None:
        """Start to compute the missing vectors of a session's passages in the background; never blocks. If the queue of
        background work is full, nothing is started and a counter is incremented."""
        if not self._queue.put(key, partial(self._embed_passages, key)):
            self._count("embedding_deferred_queue_full")

    def restore(self, key: SessionKey) -> None:
        """Read the stored vectors of a session's passages and put them into its index; does nothing if that was done
        for this index before. If the store fails, that is logged, and the vectors are computed again later."""
        if self._read(key, lambda index, mark: index.restored):
            return
        try:
            rows = self._log.passage_rows(key, self._model.name)
        except StoreError as error:
            self._note_not_kept(error)
            rows = {}
        self._read(key, lambda index, mark: index.restore_vectors(unpack_rows(rows)))

    def _embed_passages(self, key: SessionKey) -> None:
        self.restore(key)
        texts, mark = self._read(key, lambda index, mark: (index.without_vector(_AT_ONCE), mark))
        computed: dict[str, Matrix] = {}
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            vectors = dict(zip(batch, self._model(batch), strict=True))
            self._read(key, partial(_put, vectors=vectors))
            computed |= vectors
        if texts:
            self._keep(key, mark, computed)
            self.embed_passages_later(key)

    def _keep(self, key: SessionKey, mark: Mark, vectors: Mapping[str, Matrix]) -> None:
        """Store vectors of passages, by passage text. The store ignores them if the session was rewritten or erased
        since ``mark``. A failure of the store is counted and logged."""
        rows = PassageRows(*mark, self._model.name, pack_rows(vectors))
        try:
            self._log.keep_passage_rows(key, rows, most=self._passages_max)
        except StoreError as error:
            self._note_not_kept(error)

    def _note_not_kept(self, error: StoreError) -> None:
        self._count(NOT_KEPT)
        _logger.warning("embedding_not_kept: %s; vectors are computed again later", error)

    def _note_failure(self, error: BaseException) -> None:
        self._count(FAILED)
        _logger.warning("embedding_failed: %s; recall goes on by words", type(error).__name__)

    def flush(self, seconds: float) -> bool:
        """Wait at most ``seconds`` until no background work is left. Returns whether that was reached."""
        return self._queue.flush(seconds)

    def close(self, seconds: float) -> bool:
        """Wait at most ``seconds`` for background work, then end the threads. Returns whether all work was done.
        Questions that still wait for the model are cancelled at once. Passages without a vector get theirs when the
        session is next used."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        return self._queue.close(seconds)


def _put(index: PassageIndex, mark: Mark, vectors: Mapping[str, Matrix]) -> None:
    index.put_vectors(vectors)
