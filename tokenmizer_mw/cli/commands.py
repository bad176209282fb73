"""The commands that open a store of sessions. Each is a function of the parsed arguments and the open store, which
prints its result and returns nothing; errors are raised."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path, PurePath
from shlex import quote
from typing import Any, Final

from tokenmizer_mw.errors import CallerError, UnknownNode, UnknownSession
from tokenmizer_mw.model.session import SessionKey
from tokenmizer_mw.runtime.terminal import Advance, progress, show, show_json, show_result

from .arguments import EDITS, FORMATS
from .store import Store, complete_session, open_store, suggest_command

_BY_SUFFIX: Final = {suffix: name for name, suffix in FORMATS.items()}
_LOG_SUFFIXES: Final = (".jsonl", ".ndjson")


def run_command(arguments: argparse.Namespace) -> int:
    """Open the store, complete a session id that the user typed only in part, and run the command whose name is
    ``arguments.command``.

    Returns 0. Errors are raised, such as ``UnknownSession`` for a session that is not stored.
    """
    with open_store(arguments, writes=_may_create(arguments)) as store:
        complete_session(arguments, store)
        if arguments.command in _COMMANDS:
            run = _COMMANDS[arguments.command]
        else:
            module, function = _ELSEWHERE[arguments.command]
            run = getattr(import_module(f"{__package__}.{module}"), function)
        run(arguments, store)
    return 0


def _may_create(arguments: argparse.Namespace) -> bool:
    """Return whether the command may create a store that does not exist: true for ``restore`` and for any command with
    ``--create``. All other commands treat a missing store as an empty one."""
    return arguments.command == "restore" or getattr(arguments, "create", False)


def _resume(arguments: argparse.Namespace, store: Store) -> None:
    resume = store.memory.resume(
        arguments.session, arguments.level, budget=arguments.budget, query=arguments.query, tenant=arguments.tenant
    )
    if not (resume.text or arguments.json):
        print("no fact fits into the budget, or none is known", file=sys.stderr)
        return
    show_result(arguments.json, asdict(resume), resume.text)


def _graph(arguments: argparse.Namespace, store: Store) -> None:
    graph = store.memory.graph(arguments.session, **_past(arguments), tenant=arguments.tenant)
    if arguments.json:
        show_json(graph.to_dict())
        return
    from tokenmizer_mw.graph.export.documents import outline, tree  # formats that other commands do not print

    if arguments.tree:
        drawn = tree(graph, arguments.session, most=store.memory.settings.export_nodes_max)
        from rich.console import Console  # an extra, which ``tree`` asks for

        Console(highlight=False, emoji=False, markup=False).print(drawn)
    else:
        past = _past(arguments) | {"valid_at": None}
        is_part = arguments.valid_at is not None
        whole = store.memory.graph(arguments.session, **past, tenant=arguments.tenant) if is_part else graph
        show("\n".join(outline(graph, ids=True, whole=whole)) or "nothing is known of this session yet")


def _why(arguments: argparse.Namespace, store: Store) -> None:
    why = store.memory.why(arguments.session, arguments.text, tenant=arguments.tenant)
    if why is None:
        asks = suggest_command(arguments, f"recall {quote(arguments.session)} {quote(arguments.text)}")
        message = f"no fact of session {arguments.session!r} matches {arguments.text!r}"
        raise UnknownNode(f"{message}; `{asks}` looks through its messages, too")
    show_result(arguments.json, why.to_dict(), why.text)


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
            show(f"{sign} {node.type.value}: {node.label} ({node.status.word})")


def _loss(arguments: argparse.Namespace, store: Store) -> None:
    store.memory.graph(arguments.session, tenant=arguments.tenant)  # a session that does not exist is an error here
    report = store.memory.loss_report(arguments.session, tenant=arguments.tenant)
    if arguments.json:
        show_json(report.to_dict())
    elif report.checkpoint:
        show(f"{report.checkpoint}: a block took the place of {report.dropped:,} messages")
        show(report.text or "it states or quotes every fact of them")
    else:
        show(
            "no request of this session was cut by the middleware or the proxy; for a coding agent's own compaction see"
            " resume (the block that hooks hand back), graph (all facts) and recall (what the messages say)"
        )


def _past(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that select an earlier state of the graph, as the keyword arguments ``message``,
    ``recorded_at`` and ``valid_at`` of ``SessionMemory.graph`` and ``SessionMemory.export``. The value of an option
    that is not given is ``None``."""
    times = {"recorded_at": _moment(arguments.recorded_at), "valid_at": _moment(arguments.valid_at)}
    return {"message": arguments.message, **times}


def _format_of(named: str | None, output: str | None) -> str | None:
    """Return the name of the export format, such as "html". ``None`` stands for the session's events as JSON Lines.

    ``named``: the value of ``--format``. If it is ``None``, the ending of the file name ``output`` decides, such as
    ".html". If ``output`` is ``None`` too, the result is ``None``. Raises ``CallerError`` for an unknown ending.
    """
    if named is not None:
        return None if named == "log" else named
    if output is None:
        return None
    suffix = PurePath(output).suffix.lower()
    if suffix not in _BY_SUFFIX and suffix not in _LOG_SUFFIXES:
        known = ", ".join((*_BY_SUFFIX, *_LOG_SUFFIXES))
        raise CallerError(f"{output}: which format is {suffix or 'a name without an ending'}? Use {known}, or --format")
    return _BY_SUFFIX.get(suffix)


def _export(arguments: argparse.Namespace, store: Store) -> None:
    format_ = _format_of(arguments.format, arguments.output)
    if format_ is None:
        _export_log(arguments, store)
        return
    text = store.memory.export(arguments.session, format_, **_past(arguments), tenant=arguments.tenant)
    if arguments.output is None:
        print(text, end="")
        return
    _write(Path(arguments.output), [text.removesuffix("\n")])
    show_result(
        arguments.json,
        {"session": arguments.session, "format": format_, "file": arguments.output},
        f"wrote {arguments.output}",
    )


def _export_log(arguments: argparse.Namespace, store: Store) -> None:
    if any(value is not None for value in _past(arguments).values()):
        raise CallerError(
            "the log is always whole: --message and times are for the graph, pass --format html or another"
        )
    events = store.log.read(SessionKey(arguments.tenant, arguments.session))
    if not events:
        raise UnknownSession(f"no session {arguments.session!r}")
    from tokenmizer_mw.operations.exports import export_lines  # as above

    lines = export_lines(arguments.session, events)
    if arguments.output is None:
        for line in lines:
            print(line)
        return
    with progress("lines", len(events) + 1) as advance:
        _write(Path(arguments.output), _count_lines(lines, advance))
    show_result(
        arguments.json,
        {"session": arguments.session, "events": len(events), "file": arguments.output},
        f"wrote {len(events):,} events to {arguments.output}",
    )


def _count_lines(lines: Iterable[str], advance: Advance) -> Iterator[str]:
    for line in lines:
        yield line
        advance(1)


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write the lines to a file, each with a line break at its end. If that fails, for example on a full disk, the old
    content of the file stays. Raises ``OSError``, also if the directory does not exist."""
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


def _moment(text: str | None) -> float | str | None:
    """Convert the time that a user typed: a number becomes a float, which means seconds since the epoch; any other
    text, such as an ISO 8601 time, is returned unchanged and not checked. ``None`` gives ``None``."""
    try:
        return float(text) if text is not None else None
    except ValueError:
        return text


_COMMANDS: Final[dict[str, Callable[[argparse.Namespace, Store], None]]] = {
    "resume": _resume,
    "graph": _graph,
    "why": _why,
    "checkpoint": _checkpoint,
    "loss": _loss,
    "export": _export,
}
_ELSEWHERE: Final = {
    **{name: ("edits", name) for name in EDITS},
    **dict.fromkeys(("complete", "archive", "separate"), ("edits", "change_status")),
    **{name: ("maintenance", name) for name in ("backup", "restore", "retain", "forget", "redact")},
    "refine": ("edits", "refine"),
    "sessions": ("reports", "list_sessions"),
    "stats": ("reports", "show_savings"),
    "cache": ("reports", "show_cache"),
    "compaction": ("reports", "show_compaction"),
}
"""The commands that are defined in other modules of this package: name of the command -> (module, function). A module
is imported when one of its commands runs."""
