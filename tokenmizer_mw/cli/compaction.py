"""The command ``compaction``: shows the content of a compaction that a client stores."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from tokenmizer_mw.context.compaction.seal import SealBroken, find_seals
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.runtime.terminal import show, show_json

from .opening import Store
from .redaction import read_text


def compaction(arguments: argparse.Namespace, store: Store) -> None:
    """Run the command ``compaction``."""
    seals = find_seals(read_text(arguments.file))
    if not seals:
        raise CallerError("there is no compaction of this server in it")
    try:
        kept = store.memory.service.compaction.seal().open(arguments.tenant, seals[-1])
    except SealBroken as error:
        needs = "it needs the store and the tenant that it was made with"
        raise CallerError(f"the compaction cannot be read: {error}; {needs}") from None
    if arguments.json:
        show_json(asdict(kept))
        return
    show(f"session {kept.session}, {kept.checkpoint}: in the place of {kept.tokens:,} tokens")
    show(kept.text)
