"""Opens the store that a command uses, and completes session ids that the user typed only in part."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from tokenmizer_mw.errors import CallerError, UnknownSession
from tokenmizer_mw.memory import SessionMemory
from tokenmizer_mw.model.session import LOCAL_TENANT, SessionKey
from tokenmizer_mw.operations.exports import BACKUPS_TENANT
from tokenmizer_mw.operations.summaries import summarize_session
from tokenmizer_mw.runtime.collection import uncollected_imports
from tokenmizer_mw.runtime.terminal import inert
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.address import without_password
from tokenmizer_mw.store.choosing import STORE_VARIABLE, resolve_store, sqlite_path
from tokenmizer_mw.store.log import EventLog, SessionInfo, pages
from tokenmizer_mw.store.open import describe_place, find_missing, open_log

_PAGE: Final = 1_000
_CANDIDATES_MAX: Final = 8

_TITLE_MAX: Final = 60
"""Maximum number of characters of a session's title in an error message."""

_NEAR: Final = 0.5
"""Similarity of two ids, from 0 to 1. An error about an unknown session suggests the stored ids that are at least this
similar."""

_OPTIONS: Final = ("session", "calls")
"""Names of the attributes of the parsed arguments that may contain the id of a stored session."""


def complete_session(arguments: argparse.Namespace, store: Store) -> None:
    """Replace a partial session id in ``arguments`` by the id of the only stored session that it matches.

    The matches of the first rule that has any count: ids that begin or end with the text, or have it after a "/"; the
    same, ignoring case; ids that contain the text, ignoring case. An id that is stored as it is stays unchanged, as
    does a text that matches nothing and is not similar to any id; the command then reports an unknown session. With
    ``--create``, nothing is replaced.

    Raises ``UnknownSession`` if no id matches but some are similar; the message names them. Raises ``CallerError`` if
    several sessions match, or if ``forget`` gets a partial id and runs without asking (``--yes``, or no terminal).
    """
    if getattr(arguments, "create", False):
        return
    for option in _OPTIONS:
        given = getattr(arguments, option, None)
        if isinstance(given, str) and given:
            setattr(arguments, option, _complete_session_id(arguments, store, given))


def _complete_session_id(arguments: argparse.Namespace, store: Store, given: str) -> str:
    key = SessionKey(arguments.tenant, given)
    if not key.valid() or store.log.read(key, upto=1):
        return given
    infos = {info.key.id: info for info in pages(store.log, arguments.tenant, _PAGE)}
    ids = list(infos)
    found = [id_ for id_ in ids if _is_part(given, id_)]
    found = found or [id_ for id_ in ids if _is_part(given.casefold(), id_.casefold())]
    found = found or [id_ for id_ in ids if given.casefold() in id_.casefold()]
    if not found:
        near = get_close_matches(given, ids, _CANDIDATES_MAX, _NEAR)
        if near:
            raise UnknownSession(f"no session {given!r} (nearest: {_join_candidates(near)})")
        return given
    if len(found) > 1:
        described = [_describe_session(store.memory, infos[id_]) for id_ in found[:_CANDIDATES_MAX]]
        listed = _join_candidates([*described, *found[_CANDIDATES_MAX:]])
        raise CallerError(f"{given!r} names {len(found):,} sessions in {store.place}: {listed}")
    if _erases_unseen(arguments):
        raise CallerError(f"{given!r} is not the whole name: with --yes or a piped answer, pass {found[0]!r}")
    if sys.stderr.isatty():
        print(f"session {inert(found[0])}", file=sys.stderr)
    return found[0]


def _erases_unseen(arguments: argparse.Namespace) -> bool:
    """Return whether the command is ``forget`` and runs without the user seeing its question, which names the session:
    with ``--yes``, or if standard input is no terminal."""
    return "yes" in arguments and (arguments.yes or sys.stdin is None or not sys.stdin.isatty())


def _describe_session(memory: SessionMemory, info: SessionInfo) -> str:
    """Return a session in one line: id, time of the last change, and title (its goal or first question)."""
    changed = datetime.fromtimestamp(info.updated_at).strftime("%Y-%m-%d %H:%M")
    try:
        title = flatten(summarize_session(memory, info.key).title, _TITLE_MAX)
    except UnknownSession:  # erased meanwhile
        title = ""
    return f"{info.key.id} ({changed}{title and ', '}{title})"


def _is_part(given: str, id_: str) -> bool:
    """Return whether the session id ``id_`` begins or ends with ``given``, or has ``given`` after a "/". Upper and
    lower case are different."""
    return id_.startswith(given) or id_.endswith(given) or f"/{given}" in id_


def _join_candidates(ids: list[str]) -> str:
    shown = ", ".join(map(inert, ids[:_CANDIDATES_MAX]))
    return f"{shown} and {len(ids) - _CANDIDATES_MAX:,} more" if len(ids) > _CANDIDATES_MAX else shown


def suggest_command(arguments: argparse.Namespace, command: str) -> str:
    """Return a command line for the user to paste: "tokenmizer-mw", ``command``, and the store, configuration file and
    tenant that ``arguments`` name. ``command`` is used as it is, so it has to be quoted for the shell. A password in
    the store's address is left out."""
    words = ["tokenmizer-mw", command]
    if store := getattr(arguments, "store", None):
        words += ["--store", shlex.quote(without_password(store))]
    if config := getattr(arguments, "config", None):
        words += ["--config", shlex.quote(config)]
    if (tenant := getattr(arguments, "tenant", None)) not in (None, LOCAL_TENANT):
        words += ["--tenant", shlex.quote(tenant)]
    return " ".join(words)


_SQLITE: Final = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Store:
    """An open store for one command: its session memory and its event log. If a command only reads and its store does
    not exist, this is an empty store in memory.

    - ``memory``: the sessions. ``log``: the stored events.
    - ``place``: where the store is, for messages to people.
    - ``missing``: whether the user named a store (with ``--store`` or the environment variable) that does not exist.
    """

    memory: SessionMemory
    log: EventLog
    place: str
    missing: bool = False

    def require(self) -> None:
        """Raise ``CallerError`` if the user named this store and it does not exist. A missing default store is no
        error."""
        if self.missing:
            raise CallerError(f"there is no store in {self.place}")


@contextmanager
def open_store(arguments: argparse.Namespace, *, writes: bool = False) -> Iterator[Store]:
    """Open the store that ``arguments`` name, else the default store, and close it at the end of the ``with`` block.

    ``writes``: whether the command writes. If not, nothing is created: a missing database file or PostgreSQL schema is
    treated as an empty store. Raises ``ConfigError`` for an invalid address or setting, and ``StoreError`` if the store
    cannot be opened. An ``UnknownSession`` raised in the block is raised again with a message that names the store.
    """
    settings = Settings.load(arguments.config)
    address = resolve_store(arguments.store)
    missing = "" if writes else find_missing(address)
    url = "memory://" if missing else address
    folder = _missing_folder(address) if writes else None
    log = open_log(url)
    with uncollected_imports():
        memory = SessionMemory(log, settings, url=url)
    place = describe_place(address) + (missing and f" ({missing})")
    try:
        yield Store(memory, log, place, bool(missing and (arguments.store or os.environ.get(STORE_VARIABLE))))
        if folder is not None and folder.is_dir():
            print(f"created the folder {inert(str(folder))} for the store", file=sys.stderr)
    except UnknownSession as error:
        where = f"{error} in {place}{hint_other_tenants(log, arguments.tenant)}"
        listing = suggest_command(arguments, "sessions")
        raise UnknownSession(f"{where}; `{listing}` lists those that are there") from None
    finally:
        memory.close()


def _missing_folder(address: str) -> Path | None:
    """Return the folder of the SQLite file at ``address`` if that folder does not exist yet. ``None`` if it exists, and
    for stores without a file."""
    path = sqlite_path(address.partition("://")[2].partition("?")[0]) if address.startswith(_SQLITE) else None
    folder = Path(path).parent if path is not None else None
    return folder if folder is not None and not folder.exists() else None


def hint_other_tenants(log: EventLog, tenant: str) -> str:
    """Return a hint for a user whose ``tenant`` has no sessions, if other tenants of the store ``log`` have some; "" if
    none has. It begins with "; ", to be appended to a message."""
    others = any(name not in (tenant, BACKUPS_TENANT) for name in log.tenants())
    return "; other tenants have sessions here: see --tenant" if others else ""
