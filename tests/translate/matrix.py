"""``python -m tests.translate.matrix``: try every cell of the matrix over HTTP and print it.

With the address of a proxy before the scripted upstream, it is that proxy which is tried.
"""

from __future__ import annotations

import sys
import traceback

from tests.upstream.server import Upstream

from .cases import CASES, PROXIED, Case, matrix
from .relayed import Relayed


def passes(case: Case, url: str) -> bool:
    """Whether a case holds; what goes wrong is printed."""
    try:
        case.run(url)
    except Exception:
        print(f"{case.name}\n{traceback.format_exc(limit=-2)}", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Print the matrix; 1 where a cell fails."""
    if len(sys.argv) > 1:
        results = {case.name: passes(case, sys.argv[1]) for case in PROXIED}
    else:
        with Upstream() as upstream, Relayed(upstream.url) as relayed:
            results = {case.name: passes(case, relayed.url) for case in CASES}
    print(matrix(results.get))
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
