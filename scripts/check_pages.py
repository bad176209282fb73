"""Runs the Python of each page of ``docs/`` in the environment that the page asks for: ``make check-pages``.

A page names it in its first ``$ pip install ...`` line. Environments are made in a temporary folder, by uv where it is
installed, and page by page: what one page installs is not there for the next.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
NOT_ALONE: Final = frozenset({"design.md", "postgres.md"})
"""Pages whose code is no program, or needs a server."""


def main(names: list[str]) -> int:
    """Check the pages that are named, or all; the number of those that fail."""
    pages = [ROOT / "docs" / name for name in names] or sorted((ROOT / "docs").glob("*.md"))
    failed = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
        if not code or page.name in NOT_ALONE:
            continue
        wrong = _failure(code, wanted(text))
        failed += wrong is not None
        sys.stdout.write(f"{page.name}: {wrong or 'runs'}\n")
        sys.stdout.flush()
    return failed


def wanted(text: str) -> list[str]:
    """The arguments of the page's first ``pip install``; none where the page has no such line."""
    line = re.search(r"^\$ pip install (.*?)(?:\s+#.*)?$", text, flags=re.MULTILINE)
    return shlex.split(line[1]) if line else []


def _failure(code: str, packages: list[str]) -> str | None:
    if not packages:
        return "does not say what to install"
    with tempfile.TemporaryDirectory() as folder:
        python = f"{folder}/venv/bin/python"
        uv = shutil.which("uv")
        make = [uv, "venv", "--quiet", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
        install = (
            [uv, "pip", "install", "--quiet", "--python", python] if uv else [python, "-m", "pip", "install", "-q"]
        )
        (Path(folder) / "page.py").write_text(code, encoding="utf-8")
        for command, place in (
            ([*make, f"{folder}/venv"], ROOT),
            ([*install, *packages], ROOT),
            ([python, "-I", "page.py"], Path(folder)),
        ):
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode:
                return "fails\n" + (done.stderr or done.stdout)[-2_000:]
    return None


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
