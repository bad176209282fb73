"""Builds every distribution of this project and runs the demo from what was built: ``make check-dists``.

1. Each folder with a ``pyproject.toml`` gives an sdist and, from the sdist, a wheel.
2. The sdist of the main package holds every file of the repository, but for what only a checkout needs.
3. The three wheels go into one clean environment. There the demo runs and the integrations are
   imported, outside of the checkout.
4. The unpacked sdist gives the demo with ``make demo``.

It builds with uv where that is installed, and leaves the files in ``dist/``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
PROJECTS: Final = (".", "integrations/langchain", "integrations/llama-index")
CHECKOUT_ONLY: Final = (".github/", ".dockerignore")
IMPORTS: Final = (
    "import langchain_tokenmizer_mw as a, llama_index.memory.tokenmizer_mw as b, tokenmizer_mw as c;"
    "print(a.TokenMizerMiddleware, b.TokenMizerMemory, c.SessionMemory)"
)


def main() -> None:
    """Build, install, run; raises ``SystemExit`` with a sentence where something is missing."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        builder = _builder(Path(folder))
        for project in PROJECTS:
            _run(*builder, str(ROOT / project), "--outdir" if not _uv() else "--out-dir", str(dist))
    [sdist] = dist.glob("tokenmizer_mw-*.tar.gz")
    wheels = sorted(map(str, dist.glob("*.whl")))
    if len(wheels) != len(PROJECTS):
        raise SystemExit(f"{len(wheels)} wheels instead of {len(PROJECTS)}")
    with tempfile.TemporaryDirectory() as folder:
        _check_sdist(sdist, Path(folder))
        _check_wheels(wheels, Path(folder))
    sys.stdout.write("\n".join(["fine:", *sorted(path.name for path in dist.iterdir()), ""]))


def _check_sdist(sdist: Path, folder: Path) -> None:
    _run("tar", "-xzf", str(sdist), "-C", str(folder))
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    if (ROOT / ".git").exists():
        tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        missing = [
            name
            for name in tracked.splitlines()
            if not name.startswith(CHECKOUT_ONLY) and not (unpacked / name).exists()
        ]
        if missing:
            raise SystemExit(f"the sdist lacks {len(missing)} files: {', '.join(missing[:10])}")
    _run("make", "demo", "DEMO=--fast", f"PYTHON={sys.executable}", cwd=unpacked)


def _check_wheels(wheels: list[str], folder: Path) -> None:
    environment = folder / "environment"
    _run(
        *([_uv(), "venv", "-q", "-p"] if _uv() else []),
        sys.executable,
        *([] if _uv() else ["-m", "venv"]),
        str(environment),
    )
    python = str(environment / "bin" / "python")
    main_wheel = next(name for name in wheels if Path(name).name.startswith("tokenmizer_mw-"))
    wanted = [f"{main_wheel}[demo]", *(name for name in wheels if name != main_wheel), "langchain", "langchain-classic"]
    install = [_uv(), "pip", "install", "-q", "-p", python] if _uv() else [python, "-m", "pip", "install", "-q"]
    _run(*install, *wanted)
    _run(str(environment / "bin" / "tokenmizer-mw"), "demo", "--fast", cwd=folder)
    _run(python, "-I", "-c", IMPORTS, cwd=folder)


def _uv() -> str:
    return shutil.which("uv") or ""


def _builder(folder: Path) -> list[str]:
    """The command that builds: uv's, else that of the package ``build`` in an environment of its own in ``folder``."""
    if _uv():
        return [_uv(), "build", "-q"]
    environment = folder / "builder"
    _run(sys.executable, "-m", "venv", str(environment))
    python = str(environment / "bin" / "python")
    _run(python, "-m", "pip", "install", "-q", "build")
    return [python, "-m", "build"]


def _run(*command: str, cwd: Path = ROOT) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{(done.stdout + done.stderr)[-3_000:]}")


if __name__ == "__main__":
    main()
