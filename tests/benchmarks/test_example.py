"""The example of the README is what the code makes."""

from __future__ import annotations

from benchmarks.example import README, write_example


def test_the_readme_shows_what_is_sent() -> None:
    assert write_example() in README.read_text(encoding="utf-8")
