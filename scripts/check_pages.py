"""Runs the Python and the commands of README and each page of ``docs/`` in the environment that the page asks for:
``make check-pages``.

A page names it in its ``pip install`` lines. Environments are made in a temporary folder, by uv where it is installed,
and page by page: what one page installs is not there for the next.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from scripts.page_commands import (
    GIVEN,
    Given,
    commands,
    has_postgres,
    needs_postgres,
    reason_not_run,
    run_commands,
)
from tests.upstream.server import Upstream

ROOT: Final = Path(__file__).parent.parent
NOT_ALONE: Final = frozenset({"design.md"})
"""Pages whose code is no program."""
ARGUMENTS: Final = r"[^`\n#&|;]*"
"""What a command takes, up to a comment, the end of the code, or the next command of the line."""


def main(names: list[str]) -> int:
    """Check the pages that are named, or all; the number of those that fail."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    failed = 0
    for page in pages:
        if page.name in NOT_ALONE or (names and page.name not in names) or not _has_examples(page):
            continue
        if needs_postgres(page.name) and not has_postgres():
            sys.stdout.write(f"{page.name}: is not run, because no PostgreSQL answers\n")
            continue
        wrong = _failure(page)
        failed += wrong is not None
        sys.stdout.write(f"{page.name}: {wrong or 'runs'}\n")
        sys.stdout.flush()
    return failed


def _has_examples(page: Path) -> bool:
    text = page.read_text(encoding="utf-8")
    return "```python" in text or any(not reason_not_run(command) for command in commands(text))


def wanted(page: Path) -> list[str]:
    """The arguments of the page's first ``pip install`` in a block, of all of README's, and what its reader has."""
    text = page.read_text(encoding="utf-8")
    if page.name == "README.md":
        lines = re.findall(rf"pip install ({ARGUMENTS})", text)
    else:
        lines = re.findall(rf"^\$ pipx? install ({ARGUMENTS})", text, flags=re.MULTILINE)[:1]
    return [*(part for line in lines for part in shlex.split(line)), *GIVEN.get(page.name, Given()).packages]


def _failure(page: Path) -> str | None:
    packages = wanted(page)
    if not packages:
        return "does not say what to install"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = folder / "venv" / "bin"
        uv = shutil.which("uv")
        make = [uv, "venv", "--quiet", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
        install = (
            [uv, "pip", "install", "--quiet", "--python", str(programs / "python")]
            if uv
            else [str(programs / "python"), "-m", "pip", "install", "-q"]
        )
        for command in ([*make, str(folder / "venv")], [*install, *packages]):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                return "cannot be installed\n" + (done.stderr or done.stdout)[-2_000:]
        return _run(page, programs)


def _run(page: Path, programs: Path) -> str | None:
    """Run the page's Python, then its commands, in one folder."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    code = "\n".join((GIVEN.get(page.name, Given()).python, *blocks))
    with tempfile.TemporaryDirectory() as folder, Upstream() as provider:
        (Path(folder) / "page.py").write_text(code, encoding="utf-8")
        own = {**os.environ, "OPENAI_BASE_URL": f"{provider.url}/v1", "OPENAI_API_KEY": "none"}
        own |= GIVEN.get(page.name, Given()).environment
        python = [str(programs / "python"), "-I", "page.py"]
        done = subprocess.run(python, cwd=folder, env=own, capture_output=True, text=True, check=False)
        if done.returncode:
            return "its Python fails\n" + (done.stderr or done.stdout)[-2_000:]
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        wrong = run_commands(page, Path(folder), {**plain, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"})
        return "a command fails\n" + "\n".join(wrong)[-2_000:] if wrong else None


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
