"""``python -m tests.upstream [port]``: the scripted upstream until Ctrl-C, with a line for every request."""

from __future__ import annotations

import contextlib
import sys
import time

from .server import Upstream
from .steering import MODES


def main() -> None:
    """Serve and tell what was asked."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8200
    with Upstream(port=port) as upstream:
        print(f"{upstream.url} speaks all dialects. Modes of fake-n<deltas>-d<ms>-f<ms>-<modes>:")
        for mode, meaning in MODES.items():
            print(f"  {mode:9} {meaning}")
        seen = 0
        while True:
            time.sleep(0.2)
            for received in upstream.since(seen):
                print(received.method, received.path, len(received.body), "bytes")
                seen += 1


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
