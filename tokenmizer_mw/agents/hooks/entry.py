"""Entry point of the worker process: it receives the first event before it imports the rest of the package.

The import takes longer than any event, so some events are answered without it. One is the event before a compaction,
from hosts that only append to their transcripts: the worker reads the new part before it handles another event, so
nothing is lost. Others are the start of a session, and a prompt that waits for a resume block, if an earlier worker has
built the block (see ``start``).
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
"""Environment variable: seconds without an event after which a worker exits. Default: ``LINGER_SECONDS``."""

LINGER_SECONDS: Final = 300.0

_APPENDING: Final = frozenset({"claude-code", "codex"})
"""Hosts that only append to a transcript and never rewrite it."""


def main() -> None:
    """Run the worker. Its arguments are the file descriptor of the listening socket and the path of that socket."""
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
    """Return the answer to a request if it is known without importing the package; b"" if not.

    It can be known for hosts that only append to their transcript, for these events: before a compaction, if there is a
    transcript; the start of a session whose resume block an earlier worker has built; a prompt that waits for such a
    block.

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
    except (ValueError, RecursionError):
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
    """Accept the first connection, from the process that started this one, and return it with its request (b"" if the
    process is gone)."""
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
