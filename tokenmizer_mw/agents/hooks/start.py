"""Resume blocks (texts with the facts of a session) that one worker builds in advance, so that the next worker can
return them before it imports the package.

They answer the start of a session, and a prompt that waits for a block. Such an answer takes a quarter of the time of
the import. It is only given if the package would give the same answer: the sessions are as they were when the block was
built, and the transcript has no message that is not recorded.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tokenmizer_mw.errors import Conflict, StoreCorrupt, StoreError, TokenMizerError
from tokenmizer_mw.model.session import LOCAL_TENANT, SESSION_ID_MAX, SessionKey, project_of
from tokenmizer_mw.safety.fence import frame, nonce_for
from tokenmizer_mw.store.choosing import resolve_store, sqlite_path
from tokenmizer_mw.store.sqlite_blocks import (
    BlockName,
    BuiltBlock,
    at,
    chats_of,
    ends_of,
    find_block,
    has_project,
    keep_block,
    secret_of,
    sessions_of,
)

from . import WorkerFiles, store_address
from .events import Event, add_to_context, project_named, read_event, root_of
from .notes import Notes, length_of, part_of

if TYPE_CHECKING:
    from tokenmizer_mw.operations.agent_transcripts import ShownContext

FIRST_CHECKPOINT: Final = "checkpoint-1"
"""Id of a session's first checkpoint. The delimiters of the block for a new session are made for it."""

TRANSCRIPT_MAX: Final = 32 * 1024 * 1024
"""Most bytes of a transcript that are read here; an event with a longer one is left to the package, because it takes
long anyway."""

_LIMIT: Final = "TOKENMIZER_TRANSCRIPT_MAX"


def reader_of(spot: WorkerFiles) -> str:
    """Return the name under which blocks are stored for the worker with the files ``spot``. It is the same for all
    workers with the same settings."""
    return os.path.basename(spot.folder)


def answer_start(head: bytes, payload: bytes, environ: Mapping[str, str], spot: WorkerFiles) -> bytes:
    """Return the answer to the start of a session, or to a prompt that waits for a block: "ok", a line end, and the
    answer for the host, which may be empty. Returns b"" if only the package can answer. Errors of the store, of files
    and of the event give b"", too.

    - ``head``: event name, host, project and folder of the request, separated by 0x1F. ``payload``: the event as the
      host sent it, in JSON.
    - ``environ``: the environment variables. ``spot``: the files of this worker.
    """
    with suppress(TokenMizerError, sqlite3.Error, OSError, ValueError, TypeError):
        name, host, project, folder = head.decode("utf-8", "surrogateescape").split("\x1f")
        event = read_event(name, host, payload, project=project, folder=folder)
        path = path_of(resolve_store(store_address(environ), environ))
        if path and _LIMIT not in environ and _may_answer(event, spot):
            text = _find_text(path, event, spot)
            if text is not None:
                return b"ok\n" + (add_to_context(event, text).encode() if text else b"")
    return b""


def _may_answer(event: Event, spot: WorkerFiles) -> bool:
    """Return whether the event can be answered here: a start that carries no message, or a prompt whose session
    waits."""
    if event.name == "userpromptsubmit":
        return _has_transcript(event) and event.session in read_waiting_sessions(spot.pending)
    return bool(event.session) and not (event.prompt or event.reply)


def read_waiting_sessions(pending: str) -> list[str]:
    """Return the hosts' ids of the sessions whose next prompt should wait, from the file ``pending``. An empty list if
    it cannot be read."""
    try:
        return Path(pending).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def path_of(address: str) -> str:
    """Return the path of the SQLite file at a store's address, with links resolved; "" for any other store. Raises
    ``ConfigError`` for an invalid SQLite address."""
    scheme, _, rest = address.partition("://")
    path = sqlite_path(rest.partition("?")[0]) if scheme.lower() == "sqlite" else None
    return os.path.realpath(path) if path is not None else ""


def _find_text(path: str, event: Event, spot: WorkerFiles) -> str | None:
    """Return the block for the event, "" if none is due; ``None`` if only the package can find out."""
    if not os.path.exists(path):
        can_be_created = os.access(os.path.dirname(path), os.W_OK | os.X_OK)  # else the package says what is wrong
        return "" if can_be_created and not _has_transcript(event) else None
    with at(path) as cursor:
        return _find_in_store(cursor, event, spot)


def _has_transcript(event: Event) -> bool:
    return bool(event.transcript) and os.path.exists(event.transcript)


def _find_in_store(cursor: sqlite3.Cursor, event: Event, spot: WorkerFiles) -> str | None:
    recorded = sessions_of(cursor, event.session)
    if len(recorded) > 1:
        return None
    secret = secret_of(cursor)
    wanted = _wants_block(event, Notes(Path(spot.folder), secret), secret)
    if not wanted:
        return None if wanted is None else ""
    if recorded:
        found = find_block(cursor, BlockName(reader_of(spot), chat=event.session))
        return found.block if found is not None and found.session == recorded[0] else None
    project = project_named(root_of(event.folder))
    found = find_block(cursor, BlockName(reader_of(spot), project=project))
    if found is None:
        return None if has_project(cursor, project) else ""
    return _for_new_session(found, event.session, secret)


def _wants_block(event: Event, notes: Notes, secret: bytes) -> bool | None:
    """Return whether the model needs a block, according to the transcript; ``None`` if that has messages which are not
    recorded, has too much that was not read yet, or cannot be read."""
    if not _has_transcript(event):
        return True
    from tokenmizer_mw.operations.agent_transcripts import messages_in  # new sessions have none to read

    news = part_of(event.transcript, notes.of(event.transcript).end, TRANSCRIPT_MAX)
    if news is None or len(news) == TRANSCRIPT_MAX or messages_in(news)[0]:
        return None
    shown = read_shown_context(event.transcript, notes, secret, TRANSCRIPT_MAX)
    if event.name == "userpromptsubmit":
        return not (shown.last or shown.present)
    return not (must_wait(event.source, shown) or has_block(event.source, shown))


def _for_new_session(built: BuiltBlock, chat: str, secret: bytes) -> str | None:
    """Return a block that was built for any new session, with the delimiters of the session ``chat``; "" if it is
    empty, ``None`` if the session's id would be too long."""
    id = f"{built.siblings}{chat}"
    if not built.block or len(id) > SESSION_ID_MAX:
        return None if built.block else ""
    before, after = frame(nonce_for(secret, SessionKey(LOCAL_TENANT, id), FIRST_CHECKPOINT))
    return before + built.block.split("\n", before.count("\n"))[-1].rpartition("\n")[0] + after


_NEXT = "the next session of this project"
"""Stands for the host's session id while the block of a new session is built."""

_ATTEMPTS = 2
"""How often a block is built at most: building may extract facts first, which changes the session."""


class BlockBuilder:
    """Builds resume blocks in advance and stores them in the database file ``path``, so that a worker can answer the
    start of a session at once. A block that is there already and not outdated is not built again.

    - ``spot``: the worker's files; workers with the same settings share the blocks.
    - ``build``: gets a session's id and returns its block, "" for none.
    - ``separator``: the setting ``project_separator``.
    """

    def __init__(self, path: str, spot: WorkerFiles, build: Callable[[str], str], separator: str) -> None:
        self._path = path
        self._reader = reader_of(spot)
        self._build = build
        self._separator = separator

    def build_for(self, chat: str, session: str, project: str) -> None:
        """Build the block of the stored session ``session``, whose id with the host is ``chat``, and the block for a
        new session of ``project``. Errors of the store and of files are ignored: the next start then takes longer."""
        with suppress(StoreError, sqlite3.Error, OSError):
            self._keep(BlockName(self._reader, chat=chat), session, self._siblings(session))
            siblings = f"{project}{self._separator}"
            self._keep(BlockName(self._reader, project=project), f"{siblings}{_NEXT}", siblings)

    def build_again(self, project: str) -> None:
        """Build those blocks of ``project`` again that are outdated, because their session or another one of the
        project has changed. Errors are not raised: a session that is damaged or being written is skipped, and any other
        error of the store or of a file ends this."""
        with suppress(StoreError, sqlite3.Error, OSError):
            with at(self._path) as cursor:
                chats = chats_of(cursor, self._reader)
            for chat, session in chats.items():
                if project_of(session, self._separator) == project:
                    with suppress(StoreCorrupt, Conflict):
                        self._keep(BlockName(self._reader, chat=chat), session, self._siblings(session))

    def _siblings(self, session: str) -> str:
        project = project_of(session, self._separator)
        return f"{project}{self._separator}" if project else ""

    def _keep(self, name: BlockName, session: str, siblings: str) -> None:
        for _ in range(_ATTEMPTS):
            with at(self._path) as cursor:
                if find_block(cursor, name) is not None:
                    return
                ends = ends_of(cursor, session, siblings)
            if not ends or keep_block(self._path, name, BuiltBlock(session, siblings, ends, self._build(session))):
                return


def read_shown_context(transcript: str, notes: Notes, secret: bytes, most: int) -> ShownContext:
    """Return which resume blocks of this package the model has in its context, according to the last ``most`` bytes of
    the file ``transcript``. Returns an empty ``ShownContext`` if ``transcript`` is "" or cannot be read.

    ``notes``: the notes about transcripts. ``secret``: the store's secret, by which blocks are recognised.
    """
    from tokenmizer_mw.operations.agent_transcripts import ShownContext, find_shown_context  # as above

    start = max(0, length_of(transcript) - most) if transcript else 0
    raw = part_of(transcript, start, most) if transcript else None
    if raw is None:
        return ShownContext()
    given = notes.of(transcript).given
    return find_shown_context(raw, secret, max(0, given - start) if given >= 0 else -1)


def must_wait(source: str, shown: ShownContext) -> bool:
    """Return whether only the next prompt can show if a resume block is needed. That is so after a compaction
    (``source`` is "compact") if the newest block was at the end of the context, because most likely it is still there.
    ``shown``: what ``read_shown_context`` returned."""
    return source == "compact" and shown.last


def has_block(source: str, shown: ShownContext) -> bool:
    """Return whether a resumed session (``source`` is "resume") still has its resume block in the context; false for
    any other ``source``. ``shown``: what ``read_shown_context`` returned."""
    return source == "resume" and shown.present
