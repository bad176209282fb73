"""Entry point of the worker process: it takes the first event before it imports the rest of the package.

The import takes longer than any event. A host that asks before a compaction is answered without it where nothing can be
lost: such hosts only append to their transcripts, and the worker reads the new part before it looks at another event.
So is one that starts a session, or has to give the next prompt a block, if a worker before built the block (``start``).
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import Final

from tokenmizer_mw.runtime.collection import uncollected_imports

from . import NOTHING, STEER, STEERED, WorkerFiles, receive_request
from .notes import part_of

LINGER: Final = "TOKENMIZER_HOOK_LINGER"
"""Environment variable: seconds without an event after which a worker ends."""

LINGER_SECONDS: Final = 300.0

_APPENDING: Final = frozenset({"claude-code", "codex"})
"""Hosts that never rewrite a transcript."""


def main() -> None:
    """Run the worker on the listening socket and the path that the arguments name."""
    folder, name = os.path.split(sys.argv[2])
    spot = WorkerFiles(folder, name.removesuffix(".sock"))
    linger = float(os.environ.get(LINGER) or LINGER_SECONDS)
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        link, request = _accept_first(listener, linger)
        answer = answer_early(request, os.environ, spot)
        if answer:
            try:
                link.sendall(answer)
            except OSError:
                answer = NOTHING  # the host has gone
            link.close()
        answered_at = time.process_time()
        with uncollected_imports():
            from tokenmizer_mw.operations.logs import configure_logging

            from .worker import WorkerState, serve

        configure_logging(level="WARNING")
        with WorkerState(os.environ, spot) as work:
            if answer:
                work.complete(*_split(request), answer)
                work.answered_at = answered_at
                serve(listener, spot, work, linger)
            else:
                serve(listener, spot, work, linger, (link, request))


def answer_early(request: bytes, environ: Mapping[str, str], spot: WorkerFiles) -> bytes:
    """Return the answer to a request that can be answered without importing the package; b"" for all others.

    Such requests come from hosts that only append to their transcript: an event before a compaction with a transcript
    to read, the start of a session whose block was built before, and a prompt that such a block has to be added to.
    ``request``: the bytes of the event, as ``receive_request`` returns them. ``spot``: the files of this worker.
    """
    head, payload = _split(request)
    name, _, rest = head.partition(b"\x1f")
    host = rest.partition(b"\x1f")[0].decode("utf-8", "replace")
    if host not in _APPENDING:
        return b""
    if name == b"sessionstart" or (name == b"userpromptsubmit" and os.path.exists(spot.pending)):
        from .start import answer_start  # other events need nothing of it

        return answer_start(head, payload, environ, spot)
    if name != b"precompact":
        return b""
    try:
        event = json.loads(payload)
    except ValueError:
        return b""
    return (NOTHING + (STEER.encode() if host in STEERED else b"")) if _has_transcript(event) else b""


def _has_transcript(event: object) -> bool:
    if not isinstance(event, dict):
        return False
    session, path = event.get("session_id"), event.get("transcript_path")
    if not (isinstance(session, str) and isinstance(path, str)):  # a number would be a file descriptor
        return False
    return bool(session) and bool(part_of(path, 0, 1))


def _accept_first(listener: socket.socket, linger: float) -> tuple[socket.socket, bytes]:
    """The first connection, that of the process that started this one, and its request; b"" if it went away."""
    listener.settimeout(linger)
    link, _ = listener.accept()
    try:
        return link, receive_request(link)
    except OSError:
        return link, b""


def _split(request: bytes) -> tuple[bytes, bytes]:
    head, _, payload = request.partition(b"\n")
    return head, payload


if __name__ == "__main__":
    main()
