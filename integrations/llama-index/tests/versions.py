"""Runs the tests on the oldest and the newest versions that are supported, each in a virtual environment of its own.

    python integrations/llama-index/tests/versions.py [LINE ...]

``oldest``: the first LlamaIndex whose ``Memory`` takes a chat store, with a pydantic of its time, with which the
framework's own store can still be saved. ``newest``: what pip chooses today.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LINES = {"oldest": ("llama-index-core==0.14.24", "pydantic==2.11.10"), "newest": ("llama-index-core",)}


def run(name: str) -> int:
    """The exit status of the tests on one line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-e", str(ROOT), "-e", f"{HERE.parent}[test]", *LINES[name]], check=True)
        asked = "from importlib.metadata import version as v; "
        asked += "print(*(f'{n} {v(n)}' for n in ('llama-index-core', 'llama-index-workflows', 'pydantic')), sep=', ')"
        found = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip()
        print(f"{name}: {found}", flush=True)
        # Old releases warn about newer ones of what they need; that is not ours to answer for.
        command = [python, "-m", "pytest", "-o", "filterwarnings=default", str(HERE / "unit_tests")]
        return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    failed = [name for name in sys.argv[1:] or LINES if run(name)]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
