"""Put known faults into a copy of the package, one at a time, and report which the tests notice.

``python -m scripts.mutants`` runs every row of ``mutants.toml``, ``python -m scripts.mutants wire store`` those of two
areas. A fault that no test notices is a missing test. The exit code is 1 when there is one, or when a row no longer
matches the code.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_suffix(".toml")
SECONDS_MAX = 900
"""A fault with which the tests run longer than this is noticed: they hang."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: ``new`` in the place of ``old`` in ``file`` of the package."""

    area: str
    file: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {' '.join(self.old.split())} -> {' '.join(self.new.split()) or 'nothing'}"


def read_table(areas: list[str]) -> tuple[dict[str, list[str]], list[Mutant]]:
    """Return the tests of each area, and the faults of ``areas``, or all."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return table["areas"], [Mutant(**row) for row in table["mutants"] if not areas or row["area"] in areas]


def copy_checkout(target: Path) -> None:
    """Copy the files that git knows, or would add, to ``target``."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, target / name)


@contextmanager
def applied(mutant: Mutant, checkout: Path) -> Iterator[bool]:
    """Put a fault into the copy during the block; false when its text does not stand there once."""
    path = checkout / "tokenmizer_mw" / mutant.file
    before = path.read_text(encoding="utf-8")
    fits = before.count(mutant.old) == 1
    if fits:
        path.write_text(before.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        yield fits
    finally:
        path.write_text(before, encoding="utf-8")


def first_failure(checkout: Path, tests: list[str]) -> str:
    """Run tests of the normal run in the copy; return the first that fails, "" when none does."""
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-m", "not nightly", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": ""}
    try:
        done = subprocess.run(
            command, check=False, cwd=checkout, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX
        )
    except subprocess.TimeoutExpired:
        return "the tests hang"
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    return failed.group(1) if failed else f"exit code {done.returncode}"


def main() -> int:
    """Run the faults of the areas named on the command line, or all; return the exit code."""
    tests, mutants = read_table(sys.argv[1:])
    bad = 0
    with TemporaryDirectory(prefix="mutants-") as directory:
        checkout = Path(directory)
        copy_checkout(checkout)
        for number, mutant in enumerate(mutants, 1):
            start = time.monotonic()
            with applied(mutant, checkout) as fits:
                by = first_failure(checkout, tests[mutant.area]) if fits else ""
            bad += not by
            outcome = f"noticed by {by}" if by else "NOT NOTICED" if fits else "NO LONGER FITS THE CODE"
            print(f"{number}/{len(mutants)} {mutant}\n    {outcome} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(mutants) - bad} of {len(mutants)} faults are noticed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
