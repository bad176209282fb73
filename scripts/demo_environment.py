"""Sets up an environment for the demonstration alone: ``python scripts/demo_environment.py FOLDER [CONSTRAINTS]``.

Where the Python that runs this has a pip that can install elsewhere (22.3), the environment gets none: pip and what
comes with it would be a third of it. Modules are compiled when they are first imported, for most never are.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
_OPTIONS = ("--quiet", "--disable-pip-version-check", "--no-compile")


def set_up(folder: Path, constraints: str | None) -> None:
    """Install this checkout with the extra ``demo`` into ``folder``, made anew where it is not there."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = ["install", *_OPTIONS, *(("-c", constraints) if constraints else ()), "-e", f"{ROOT}[demo]"]
    if not python.exists():
        venv.create(folder, with_pip=not _can_install_elsewhere(), symlinks=sys.platform != "win32")
    has_pip = subprocess.run([python, "-c", "import pip"], check=False, capture_output=True).returncode == 0
    command = [python, "-m", "pip"] if has_pip else [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run([*command, *wanted], check=True)


def _can_install_elsewhere() -> bool:
    command = [sys.executable, "-m", "pip", "--python", sys.executable, "--version"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


if __name__ == "__main__":
    try:
        set_up(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
