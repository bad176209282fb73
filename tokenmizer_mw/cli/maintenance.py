"""The commands that maintain a store: backup, restore, retention by age, erasure, redaction, and ``import``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.agents.hooks.events import name_session
from tokenmizer_mw.errors import CallerError, ConfigError, UnknownSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.backups import (
    Backup,
    recorded_backups,
    remove_from_record,
    restore_backup,
    sessions_of,
    write_backup,
)
from tokenmizer_mw.operations.erasure import erase, expire
from tokenmizer_mw.operations.exports import Export, own_sessions
from tokenmizer_mw.operations.foreign_transcripts import conversation_mark
from tokenmizer_mw.operations.imports import continues_session, import_into
from tokenmizer_mw.operations.transcripts import SIZE_MAX, ImportedTranscript, read_transcripts, record_at
from tokenmizer_mw.runtime.terminal import inert, progress, show, show_json, show_result
from tokenmizer_mw.safety.request_redaction import RequestRedactor
from tokenmizer_mw.settings import Settings
from tokenmizer_mw.store.log import pages

from .running import confirm, read_input
from .store import Store, open_store

_UNITS: Final = {"d": 86_400, "h": 3_600, "w": 7 * 86_400, "y": 365 * 86_400}
_AGE: Final = re.compile(r"([0-9]{1,6})([dhwy])")


def backup(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``backup``: write a backup of all sessions and verify it, list the recorded backups (``--list``),
    or remove one from the record without deleting its file (``--drop``). Raises ``CallerError`` if no destination is
    given, if there is nothing to back up, or if the backup to remove is not on record."""
    if arguments.list:
        _list_backups(recorded_backups(store.log), arguments.json)
    elif arguments.drop is not None:
        _drop_backup(arguments, store)
    elif arguments.dest is None:
        raise CallerError("say where to: a new file, or a directory")
    elif not store.log.tenants():
        raise CallerError(f"nothing to back up: no sessions in {store.place}")
    else:
        made = _write_backup(arguments, store)
        show_result(arguments.json, _backup_to_dict(made), f"{made.path}: {made.sessions:,} sessions, verified")


def _write_backup(arguments: argparse.Namespace, store: Store) -> Backup:
    if arguments.dest.endswith(("/", os.sep)):
        _make_directory(Path(arguments.dest).expanduser())
    count = sum(1 for _ in own_sessions(store.log))
    with progress("sessions written and verified", 2 * count) as advance:
        where = Path(arguments.dest)
        return write_backup(store.log, where, now=time.time(), portable=arguments.portable, advance=advance)


def _make_directory(path: Path) -> None:
    """Create a directory that only its user can read, unless it exists. Raises ``CallerError`` if that fails."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CallerError(f"{path} cannot be created: {error.strerror}") from None


def _backup_to_dict(one: Backup) -> dict[str, Any]:
    return {**asdict(one), "there": one.here and Path(one.path).is_file()}


def _list_backups(found: Sequence[Backup], as_json: bool) -> None:
    if as_json:
        show_json([_backup_to_dict(one) for one in found])
        return
    for one in found:
        made = datetime.fromtimestamp(one.made_at).strftime("%Y-%m-%d %H:%M")
        gone = "" if not one.here or Path(one.path).is_file() else "  (not there)"
        show(f"{made}  {one.sessions:>7,} sessions  {one.host}:{one.path}{gone}")


def _drop_backup(arguments: argparse.Namespace, store: Store) -> None:
    path = str(Path(arguments.drop).expanduser().absolute())
    found = [one for one in recorded_backups(store.log) if one.path == path]
    if not found:
        raise CallerError(f"{path}: not on record")
    remove_from_record(store.log, found)
    show_result(
        arguments.json,
        [_backup_to_dict(one) for one in found],
        f"{path}: no longer on record; the file itself is yours to delete",
    )


def restore(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``restore``: restore the sessions of a backup file into the store. A session that the store holds
    with other content stays as it is, and is named on standard error."""
    path = Path(arguments.source).expanduser()
    count = sum(1 for _ in sessions_of(path))
    with progress("sessions", count) as advance:
        found = restore_backup(store.log, path, advance)
    if arguments.json:
        differ = [{"session": key.id, "tenant": key.tenant} for key in found.differ]
        show_json({"sessions": found.sessions, "events": found.events, "differ": differ})
        return
    show(f"{found.sessions:,} sessions, {found.events:,} new events in {store.place}")
    for key in found.differ:
        print(f"left alone, the store holds something else: {_format_key(key)}", file=sys.stderr)


def retain(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``retain``: erase the sessions that have been idle for longer than ``--older-than``, such as
    "90d". Only sessions of ``--tenant`` are erased, or of all tenants with ``--all-tenants``. With ``--dry-run``, only
    list them. Backups that may still contain erased sessions are named."""
    since = time.time() - _seconds(arguments.older_than)
    tenants = None if arguments.all_tenants else [arguments.tenant]
    found = expire(store.memory, since, tenants=tenants, dry_run=arguments.dry_run)
    if arguments.json:
        sessions = [{"session": key.id, "tenant": key.tenant} for key in found.sessions]
        show_json({"sessions": sessions, "erased": not arguments.dry_run, **_backups(found.backups)})
        return
    for key in found.sessions:
        show(_format_key(key))
    print(f"{'would erase' if arguments.dry_run else 'erased'} {len(found.sessions):,} sessions", file=sys.stderr)
    _warn_of_backups(found.backups)


def forget(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``forget``: erase a session for good. Without ``--yes``, the user is asked first. Raises
    ``UnknownSession`` if the session does not exist, and ``CallerError`` if the user does not confirm."""
    if not arguments.yes:
        if not store.log.read(SessionKey(arguments.tenant, arguments.session), upto=1):
            raise UnknownSession(f"no session {arguments.session!r}")
        confirm(f"Erase session {arguments.session!r} for good?", "pass --yes", "nothing was erased")
    gone = erase(store.memory, arguments.session, tenant=arguments.tenant)
    if not gone.events:
        raise UnknownSession(f"no session {arguments.session!r}")
    if arguments.json:
        show_json({"session": arguments.session, "erased": gone.events, **_backups(gone.backups)})
        return
    _warn_of_backups(gone.backups)
    show(f"erased {arguments.session}: {gone.events:,} events{_RECORDED_AGAIN}")


_RECORDED_AGAIN: Final = "; a chat that is still open is recorded again with its next request"


def _format_key(key: SessionKey) -> str:
    return f"{key.id} ({key.tenant})"


def _backups(backups: Sequence[Backup]) -> dict[str, list[str]]:
    return {"backups": [f"{one.host}:{one.path}" for one in backups]}


def _warn_of_backups(backups: Sequence[Backup]) -> None:
    for one in backups:
        print(f"may still be in the backup {one.host}:{one.path}", file=sys.stderr)


def _seconds(age: str) -> float:
    found = _AGE.fullmatch(age.strip().lower())
    if found is None:
        raise CallerError(f"{age!r} is not an age: use 90d, 12h, 8w or 1y")
    return float(found[1]) * _UNITS[found[2]]


def redact(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``redact``: print a file, or standard input, with secrets redacted.

    With ``--explain``, report what looked like a secret instead. With ``--stored``, redact the tenant's stored
    sessions, or only the one that ``--session`` names; it prints how many events changed. Raises ``ConfigError`` if the
    settings switch redaction off. Raises ``CallerError`` for options that contradict each other: ``--session`` without
    ``--stored``, or ``--stored`` with a file or ``--explain``.
    """
    redactor = store.memory.service.redaction.redactor
    if redactor is None:
        raise ConfigError("redaction is switched off by the settings")
    if arguments.session is not None and not arguments.stored:
        raise CallerError("--session goes with --stored")
    if arguments.stored and arguments.explain:
        raise CallerError("--explain reports on a text and changes nothing; --stored changes the stored sessions")
    if arguments.stored and arguments.file != "-":
        raise CallerError("--stored redacts the stored sessions, and takes no file")
    if arguments.stored:
        _redact_stored(arguments, store)
    elif arguments.explain:
        _explain_redaction(arguments, redactor)
    else:
        clean = redactor.text(read_text(arguments.file))
        if arguments.json:
            show_json({"text": clean})
        else:
            sys.stdout.write(clean)


def _redact_stored(arguments: argparse.Namespace, store: Store) -> None:
    listed = [info.key.id for info in store.memory.sessions(tenant=arguments.tenant)]
    ids = listed if arguments.session is None else [arguments.session]
    changed: dict[str, int] = {}
    with progress("sessions", len(ids)) as advance:
        for id_ in ids:
            if count := store.memory.redact_stored(id_, tenant=arguments.tenant):
                changed[id_] = count
            advance(1)
    if arguments.json:
        show_json({"sessions": len(ids), "changed": changed})
        return
    for id_, count in changed.items():
        show(f"{id_}: {count:,} events changed")
    show(f"{len(changed):,} of {len(ids):,} sessions held something")


def _explain_redaction(arguments: argparse.Namespace, redactor: RequestRedactor) -> None:
    rows = redactor.redactor.explain(read_text(arguments.file))
    if arguments.json:
        show_json(
            [{"kind": row.kind, "span": [row.start, row.end], "outcome": row.outcome, "why": row.why} for row in rows]
        )
        return
    for row in rows:
        show(f"{row.start:>7}-{row.end:<7} {row.outcome:<11} {row.kind}: {row.why}")
    if not rows:
        print("nothing in it looks like a secret", file=sys.stderr)


def read_text(file: str) -> str:
    """Return the content of a file, or of standard input for "-". Raises ``CallerError`` if it cannot be read or is not
    UTF-8."""
    try:
        return read_input(file).decode()
    except UnicodeDecodeError:
        raise CallerError(f"{'standard input' if file == '-' else file} is not text in UTF-8") from None


_PAGE: Final = 1_000
_STEP: Final = 200
_STEPS_MAX: Final = 50

_AGENTS_ID: Final = re.compile(r"(?:^|\W)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
"""Matches a session id that is a coding agent's (a UUID), or ends with one after a separator, such as "shop-01221a02/"
and the UUID. Group 1 is the UUID."""


def run_import(arguments: argparse.Namespace) -> int:
    """Run the command ``import``: read an export or a transcript from a file, or from standard input, into a session. A
    file with several conversations gives a session for each. Messages that were recorded before are not added again.
    Returns 0.

    Raises ``CallerError``, before anything is written, if the file has several conversations and ``--session`` is
    given, if a session id is missing, invalid or used twice, or if a stored session with the file's id began with other
    messages.
    """
    name = "standard input" if arguments.file == "-" else arguments.file
    found = read_transcripts(read_input(arguments.file, SIZE_MAX + 1), name)
    if len(found) > 1 and arguments.session:
        raise CallerError(
            f"{name} holds {len(found):,} conversations: without --session each gets a session of its own"
        )
    own_name = "" if arguments.file == "-" else Path(arguments.file).stem
    named = [arguments.session or one.id or own_name for one in found]
    folders = ["" if isinstance(one, Export) else one.folder for one in found]
    ids = named if arguments.session else _find_stored(arguments, named, folders)
    _require_own_sessions(arguments, found, ids)
    imported = [_import_found(arguments, one, id_) for one, id_ in zip(found, ids, strict=True)]
    if arguments.json:
        show_json(imported[0] if len(imported) == 1 else imported)
        return 0
    for name_in_file, added in zip(named, imported, strict=True):
        id_ = added.pop("session")
        counts = ", ".join(_format_count(count, what) for what, count in added.items())
        show(f"session {id_}: {counts}{_note(name_in_file, id_, added)}")
    return 0


def _note(named: str, id_: str, added: Mapping[str, int]) -> str:
    """Return a remark to add to the result of an import: that everything in the file was recorded before, or, for a
    coding agent's session stored under another id than the file's, that the rest was. "" if there is nothing to remark.

    ``named``: the session's id in the file. ``id_``: the id of the stored session. ``added``: the counts of the import;
    ``added["new"]`` is the number of new messages or events.
    """
    new = added["new"]
    if new and new == added.get("messages"):
        return ""
    if not new:
        return "; all of it was recorded before"
    return "; the rest was recorded before" if id_ != named and _AGENTS_ID.match(named) else ""


def _find_stored(arguments: argparse.Namespace, ids: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Return for each of ``ids``, which come from a file, the id of the session to import into.

    - If a session with the same id is stored: that id.
    - Else, if a stored id differs only in the conversation's title, or only has a project in front (as the hooks of
      coding agents store it): that stored id.
    - Else, for a coding agent's session: the id that the hooks would give it. It contains the project of the folder in
      which the agent was started; ``folders`` has one for each id, "" if unknown.
    - Else the id itself.
    """
    if not any(conversation_mark(id_) or _AGENTS_ID.match(id_) for id_ in ids):
        return list(ids)
    with open_store(arguments) as store:
        stored = [info.key.id for info in pages(store.log, arguments.tenant, _PAGE)]
    by_mark = {mark: id_ for id_ in stored if (mark := conversation_mark(id_))}
    by_agents_id = {found[1]: id_ for id_ in stored if (found := _AGENTS_ID.search(id_))}
    return [
        id_
        if id_ in stored
        else by_mark.get(conversation_mark(id_)) or by_agents_id.get(id_) or _name_with_project(arguments, id_, folder)
        for id_, folder in zip(ids, folders, strict=True)
    ]


def _name_with_project(arguments: argparse.Namespace, id_: str, folder: str) -> str:
    """Return the id under which hooks would store the session ``id_`` of a coding agent that was started in ``folder``.
    If ``folder`` is "" or ``id_`` is no UUID, return ``id_`` itself."""
    if not (folder and _AGENTS_ID.match(id_)):
        return id_
    return name_session(folder, id_, Settings.load(arguments.config).project_separator)


def _require_own_sessions(
    arguments: argparse.Namespace, found: Sequence[Export | ImportedTranscript], ids: Sequence[str]
) -> None:
    """Check the session ids of an import before anything is written. Raises ``CallerError`` for an empty, invalid or
    duplicate id. If ``--session`` is not given, it also raises it for a transcript whose id is that of a stored session
    which began with other messages."""
    if "" in ids:
        raise CallerError("say which session it is with --session")
    if wrong := next((id_ for id_ in ids if not SessionKey(arguments.tenant, id_).valid()), None):
        raise CallerError(f"{inert(wrong[:80])!r} is not a valid session id: pass another one with --session")
    if len(set(ids)) < len(ids):
        raise CallerError("two conversations of the file have one name")
    if arguments.session:
        return
    with open_store(arguments, writes=True) as store:
        for one, id_ in zip(found, ids, strict=True):
            if isinstance(one, ImportedTranscript) and not continues_session(
                store.memory, SessionKey(arguments.tenant, id_), one
            ):
                raise CallerError(
                    f"session {id_!r} exists and began in another way: --session {id_!r} adds to it, any other name"
                    " makes a new one"
                )


def _import_found(arguments: argparse.Namespace, found: Export | ImportedTranscript, id_: str) -> dict[str, Any]:
    if isinstance(found, Export):
        return {"session": id_, **_restore_export(arguments, found, id_)}
    return {"session": id_, **_record_transcript(arguments, found, id_)}


def _format_count(count: int, what: str) -> str:
    return f"{count:,} {what[:-1] if count == 1 and what.endswith('s') else what}"


def _restore_export(arguments: argparse.Namespace, export: Export, id_: str) -> dict[str, int]:
    with open_store(arguments, writes=True) as store:
        found = import_into(store.memory, SessionKey(arguments.tenant, id_), export, now=time.time())
    return {"events": found.count, "new": found.new}


def _record_transcript(arguments: argparse.Namespace, transcript: ImportedTranscript, id_: str) -> dict[str, int]:
    """Record the messages of a transcript in a session. If the transcript has times, each message gets its own time.
    Otherwise, they are recorded in steps as a client would send them: each step has all messages so far, and known ones
    are not added again. Returns the numbers of messages in the file, of newly recorded messages, and of facts in the
    session."""
    count, messages, times = len(transcript.messages), transcript.messages, transcript.times
    key = SessionKey(arguments.tenant, id_)
    step = max(_STEP, count // _STEPS_MAX)
    added = 0
    with open_store(arguments, writes=True) as store, progress("messages", count) as advance:
        if times:
            added = record_at(store.memory, key, messages, times, time.time(), advance=advance)
        for start in range(0, 0 if times else count, step):
            end = min(start + step, count)
            added += store.memory.record(id_, messages[:end], tenant=arguments.tenant)
            advance(end - start)
        facts = len(store.memory.graph(id_, tenant=arguments.tenant))
    return {"messages": count, "new": added, "facts": facts}
