"""The command ``redact``: removes secrets from a text, or from stored events."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tokenmizer_mw.errors import CallerError, ConfigError
from tokenmizer_mw.runtime.terminal import show, show_json
from tokenmizer_mw.safety.ingress import Ingress

from .opening import Store
from .progress import progress


def redact(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``redact``."""
    ingress = store.memory.service.redaction.ingress
    if ingress is None:
        raise ConfigError("redaction is switched off by the settings")
    if arguments.session is not None and not arguments.stored:
        raise CallerError("--session goes with --stored")
    if arguments.stored:
        _redact_stored(arguments, store)
    elif arguments.explain:
        _explain_redaction(arguments, ingress)
    else:
        clean = ingress.text(read_text(arguments.file))
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


def _explain_redaction(arguments: argparse.Namespace, ingress: Ingress) -> None:
    rows = ingress.redactor.explain(read_text(arguments.file))
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
    """Return the content of a file, or of standard input for "-"."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CallerError(f"{file}: {error.strerror or error}") from None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise CallerError(f"{'standard input' if file == '-' else file} is not text in UTF-8") from None
