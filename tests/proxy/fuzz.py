"""Search for responses of a provider that break what ``fuzz_responses`` demands, until told to stop. By hand:

    pip install ".[fuzz]"
    python -m tests.proxy.fuzz CORPUS -max_len=40 -max_total_time=600

Arguments are libFuzzer's. Inputs that led to new code are kept in the folder CORPUS, where it is given.
"""

from __future__ import annotations

import asyncio
import sys

import atheris

with atheris.instrument_imports(include=["tokenmizer_mw.server.proxy.connection", "h11"]):
    from tests.proxy.fuzz_responses import check


async def running() -> None:
    """A connection needs a running loop. Ends the process."""
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    asyncio.run(running())
