import gc
import time
from collections.abc import Callable, Iterator

import pytest

Work = Callable[[], object]
Growth = Callable[[Work, Work], float]


@pytest.fixture
def growth() -> Iterator[Growth]:
    """How many times the CPU time of one piece of work another takes: best of five interleaved runs, without the
    garbage collector, whose full passes depend on everything else that the process holds."""

    def cpu(work: Work) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    def measure(small: Work, large: Work) -> float:
        runs = [(cpu(small), cpu(large)) for _ in range(5)]
        return min(run[1] for run in runs) / min(run[0] for run in runs)

    gc.collect()
    gc.disable()
    yield measure
    gc.enable()
