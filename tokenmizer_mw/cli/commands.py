"""The commands that use a store. Each prints its result and returns nothing; errors are raised."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, UnknownNode, UnknownSession
from tokenmizer_mw.graph.outline import outline
from tokenmizer_mw.model.node import Node
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.operations.exports import Export, export_lines
from tokenmizer_mw.operations.imports import continues_session, import_into
from tokenmizer_mw.operations.transcripts import SIZE_MAX, ImportedTranscript, read_transcripts
from tokenmizer_mw.runtime.terminal import inert, show, show_json

from . import edits, keeping, pictures
from .answers import cache
from .compaction import compaction
from .listing import list_sessions
from .naming import complete_session
from .opening import Store, open_store
from .progress import Advance, progress
from .redaction import redact
from .stats import stats

_STEP: Final = 200
_STEPS_MAX: Final = 50


def run_command(arguments: argparse.Namespace) -> int:
    """Run the command in ``arguments`` on its store. Returns 0; errors are raised."""
    if arguments.command == "import":
        _import(arguments)
        return 0
    with open_store(arguments, writes=arguments.command in _WRITING) as store:
        complete_session(arguments, store.log, store.place)
        _COMMANDS[arguments.command](arguments, store)
    return 0


def _resume(arguments: argparse.Namespace, store: Store) -> None:
    resume = store.memory.resume(
        arguments.session, arguments.level, budget=arguments.budget, query=arguments.query, tenant=arguments.tenant
    )
    if arguments.json:
        show_json(asdict(resume))
    else:
        show(resume.text)


def _graph(arguments: argparse.Namespace, store: Store) -> None:
    graph = store.memory.graph(arguments.session, **_times(arguments), tenant=arguments.tenant)
    if arguments.json:
        show_json(graph.to_dict())
    elif arguments.tree:
        pictures.grow(graph, arguments.session, most=store.memory.settings.export_nodes_max)
    else:
        show("\n".join(outline(graph)) or "nothing is known of this session yet")


def _why(arguments: argparse.Namespace, store: Store) -> None:
    why = store.memory.why(arguments.session, arguments.text, tenant=arguments.tenant)
    if why is None:
        raise UnknownNode(f"nothing in session {arguments.session!r} matches {arguments.text!r}")
    if arguments.json:
        show_json(why.to_dict())
    else:
        show(why.text)


def _checkpoint(arguments: argparse.Namespace, store: Store) -> None:
    made = store.memory.checkpoint(arguments.session, tenant=arguments.tenant)
    if arguments.json:
        show_json({"id": made.id, "seq": made.seq, "tokens": made.tokens, "diff": made.diff.to_dict()})
        return
    show(f"{made.id} after event {made.seq}; a resume takes {made.tokens} tokens")
    if not (made.diff.added or made.diff.changed or made.diff.removed):
        show("no fact has changed since the last one")
    for sign, nodes in (("+", made.diff.added), ("~", [new for _, new in made.diff.changed]), ("-", made.diff.removed)):
        for node in nodes:
            show(f"{sign} {_short(node)}")


def _short(node: Node) -> str:
    return f"{node.type.value}: {node.label} ({node.status.value})"


def _forget(arguments: argparse.Namespace, store: Store) -> None:
    if not arguments.yes:
        _confirm(f"Erase session {arguments.session!r} for good?")
    keeping.forget(arguments, store)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise CallerError("nobody is there to confirm: say --yes")
    print(f"{inert(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise CallerError("nothing was erased")


def _times(arguments: argparse.Namespace) -> dict[str, float | None]:
    return {"recorded_at": _moment(arguments.recorded_at), "valid_at": _moment(arguments.valid_at)}


def _export(arguments: argparse.Namespace, store: Store) -> None:
    format_ = pictures.format_of(arguments.format, arguments.output)
    if format_ is None:
        _export_log(arguments, store)
        return
    text = store.memory.export(arguments.session, format_, **_times(arguments), tenant=arguments.tenant)
    if arguments.output is None:
        print(text, end="")
        return
    _write(Path(arguments.output), [text.removesuffix("\n")])
    if arguments.json:
        show_json({"session": arguments.session, "format": format_, "file": arguments.output})
    else:
        show(f"wrote {arguments.output}")


def _export_log(arguments: argparse.Namespace, store: Store) -> None:
    if any(time is not None for time in _times(arguments).values()):
        raise CallerError("the log is always whole: times are for the graph, say --format html or another")
    events = store.log.read(SessionKey(arguments.tenant, arguments.session))
    if not events:
        raise UnknownSession(f"no session {arguments.session!r}")
    lines = export_lines(arguments.session, events)
    if arguments.output is None:
        for line in lines:
            print(line)
        return
    with progress("lines", len(events) + 1) as advance:
        _write(Path(arguments.output), _counting(lines, advance))
    if arguments.json:
        show_json({"session": arguments.session, "events": len(events), "file": arguments.output})
    else:
        show(f"wrote {len(events):,} events to {arguments.output}")


def _counting(lines: Iterable[str], advance: Advance) -> Iterator[str]:
    for line in lines:
        yield line
        advance(1)


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write all of it or nothing: a full disk leaves what was there before."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _import(arguments: argparse.Namespace) -> None:
    name = "standard input" if arguments.file == "-" else arguments.file
    found = read_transcripts(_bytes(arguments.file), name)
    if len(found) > 1 and arguments.session:
        raise CallerError(
            f"{name} holds {len(found):,} conversations: without --session each gets a session of its own"
        )
    own_name = "" if arguments.file == "-" else Path(arguments.file).stem
    ids = [arguments.session or one.id or own_name for one in found]
    _require_own_sessions(arguments, found, ids)
    told = [_import_found(arguments, one, id_) for one, id_ in zip(found, ids, strict=True)]
    if arguments.json:
        show_json(told[0] if len(told) == 1 else told)
        return
    for added in told:
        id_ = added.pop("session")
        show(f"session {id_}: " + ", ".join(_format_count(count, what) for what, count in added.items()))


def _require_own_sessions(
    arguments: argparse.Namespace, found: Sequence[Export | ImportedTranscript], ids: Sequence[str]
) -> None:
    """Raise ``CallerError`` before anything is written where a session has no name, or one that cannot be, or where a
    file that names its sessions itself would write into one that began in another way."""
    if "" in ids:
        raise CallerError("say which session it is with --session")
    if wrong := next((id_ for id_ in ids if not SessionKey(arguments.tenant, id_).valid()), None):
        raise CallerError(f"{inert(wrong[:80])!r} can be no session's name: say another with --session")
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
    added = (
        _restore_export(arguments, found, id_)
        if isinstance(found, Export)
        else _record_transcript(arguments, found, id_)
    )
    return {"session": id_, **added}


def _format_count(count: int, what: str) -> str:
    return f"{count:,} {what[:-1] if count == 1 and what.endswith('s') else what}"


def _restore_export(arguments: argparse.Namespace, export: Export, id_: str) -> dict[str, int]:
    with open_store(arguments, writes=True) as store:
        found = import_into(store.memory, SessionKey(arguments.tenant, id_), export, now=time.time())
    return {"events": found.count, "new": found.new}


def _record_transcript(arguments: argparse.Namespace, transcript: ImportedTranscript, id_: str) -> dict[str, int]:
    """Feed the transcript as a client does, a longer history with every step: what is known already is not added."""
    count = len(transcript.messages)
    step = max(_STEP, count // _STEPS_MAX)
    added = 0
    with open_store(arguments, writes=True) as store, progress("messages", count) as advance:
        for start in range(0, count, step):
            end = min(start + step, count)
            added += store.memory.record(id_, transcript.messages[:end], tenant=arguments.tenant)
            advance(end - start)
        facts = len(store.memory.graph(id_, tenant=arguments.tenant))
    return {"messages": count, "new": added, "facts": facts}


def _bytes(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(SIZE_MAX + 1)
        with open(file, "rb") as stream:
            return stream.read(SIZE_MAX + 1)
    except OSError as error:
        raise CallerError(f"{file}: {error.strerror or error}") from None


def _moment(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise CallerError(f"{text!r} is not a time: use 2026-11-21T14:00 or seconds since 1970") from None


_WRITING: Final = frozenset({"checkpoint", "restore", *edits.COMMANDS})

_COMMANDS: Final[dict[str, Callable[[argparse.Namespace, Store], None]]] = {
    "sessions": list_sessions,
    "resume": _resume,
    "graph": _graph,
    "why": _why,
    **edits.COMMANDS,
    "checkpoint": _checkpoint,
    "stats": stats,
    "cache": cache,
    "compaction": compaction,
    "forget": _forget,
    "redact": redact,
    "export": _export,
    "backup": keeping.backup,
    "restore": keeping.restore,
    "retain": keeping.retain,
}
