from __future__ import annotations

import pytest

from benchmarks.windows import common


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [(b"", b"", 0), (b"", b"ab", 0), (b"ab", b"", 0), (b"ab", b"abc", 2), (b"abc", b"ab", 2), (b"abc", b"abd", 2)],
)
def test_the_bytes_that_two_requests_begin_with(before: bytes, after: bytes, count: int) -> None:
    assert common(before, after) == count
