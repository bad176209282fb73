"""The command ``import``."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.exports import Export
from tokenmizer_mw.operations.foreign_transcripts import conversation_mark
from tokenmizer_mw.operations.imports import continues_session, import_into, record_at
from tokenmizer_mw.operations.transcripts import SIZE_MAX, ImportedTranscript, read_transcripts
from tokenmizer_mw.runtime.terminal import inert, progress, show, show_json
from tokenmizer_mw.store.log import pages

from .running import read_input
from .store import open_store

_PAGE: Final = 1_000
_STEP: Final = 200
_STEPS_MAX: Final = 50

_AGENTS_ID: Final = re.compile(r"(?:^|\W)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
"""The id of a coding agent's session, with or without the project before it."""


def run_import(arguments: argparse.Namespace) -> int:
    """Run the command ``import``: read transcripts from a file into one or several sessions. Returns 0; errors are
    raised."""
    name = "standard input" if arguments.file == "-" else arguments.file
    found = read_transcripts(read_input(arguments.file, SIZE_MAX + 1), name)
    if len(found) > 1 and arguments.session:
        raise CallerError(
            f"{name} holds {len(found):,} conversations: without --session each gets a session of its own"
        )
    own_name = "" if arguments.file == "-" else Path(arguments.file).stem
    named = [arguments.session or one.id or own_name for one in found]
    ids = named if arguments.session else _find_stored(arguments, named)
    _require_own_sessions(arguments, found, ids)
    imported = [_import_found(arguments, one, id_) for one, id_ in zip(found, ids, strict=True)]
    if arguments.json:
        show_json(imported[0] if len(imported) == 1 else imported)
        return 0
    for name_in_file, added in zip(named, imported, strict=True):
        id_ = added.pop("session")
        counts = ", ".join(_format_count(count, what) for what, count in added.items())
        show(f"session {id_}: {counts}{_note(name_in_file, id_, added['new'])}")
    return 0


def _note(named: str, id_: str, new: int) -> str:
    """What to know of an import into a session that was there before."""
    by_hooks = " by the agent's hooks" if id_ != named and _AGENTS_ID.match(named) else ""
    if not new:
        return f"; all of it was recorded before{by_hooks}"
    return f"; the rest was recorded before{by_hooks}" if by_hooks else ""


def _find_stored(arguments: argparse.Namespace, ids: Sequence[str]) -> list[str]:
    """``ids`` with those of stored sessions in place of those that differ in the title alone, and of those to which the
    hooks of a coding agent gave the name of its project."""
    if not any(conversation_mark(id_) or _AGENTS_ID.match(id_) for id_ in ids):
        return list(ids)
    with open_store(arguments) as store:
        stored = [info.key.id for info in pages(store.log, arguments.tenant, _PAGE)]
    by_mark = {mark: id_ for id_ in stored if (mark := conversation_mark(id_))}
    by_agents_id = {found[1]: id_ for id_ in stored if (found := _AGENTS_ID.search(id_))}
    return [
        id_ if id_ in stored else by_mark.get(conversation_mark(id_)) or by_agents_id.get(id_) or id_ for id_ in ids
    ]


def _require_own_sessions(
    arguments: argparse.Namespace, found: Sequence[Export | ImportedTranscript], ids: Sequence[str]
) -> None:
    """Raise ``CallerError`` before anything is written where a session has no name, or one that cannot be, or where a
    file that names its sessions itself would write into one that began in another way."""
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
    """Feed the transcript as a client does, a longer history with every step: what is known already is not added."""
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
