"""Decides from a transcript whether the start of a session calls for a resume block."""

from __future__ import annotations

import os

from tokenmizer_mw.operations.agent_transcripts import ShownContext, find_shown_context

from .notes import Notes, part_of


def read_shown_context(transcript: str, notes: Notes, secret: bytes, most: int) -> ShownContext:
    """Return what the model has in its context, from the last ``most`` bytes of a transcript; "" for no transcript."""
    start = max(0, length_of(transcript) - most) if transcript else 0
    raw = part_of(transcript, start, most) if transcript else None
    if raw is None:
        return ShownContext()
    given = notes.of(transcript).given
    return find_shown_context(raw, secret, max(0, given - start) if given >= 0 else -1)


def must_wait(source: str, shown: ShownContext) -> bool:
    """Whether only the next prompt shows if a block is needed: what came last most likely stays behind a compaction."""
    return source == "compact" and shown.last


def has_block(source: str, shown: ShownContext) -> bool:
    """Whether a session that goes on still has its block."""
    return source == "resume" and shown.present


def length_of(transcript: str) -> int:
    """Return the bytes of a file, 0 if there is none."""
    try:
        return os.stat(transcript).st_size
    except OSError:
        return 0
