"""What importing costs, in CPU time of a fresh interpreter, the least of ten; and which frameworks it pulls in.

``import tokenmizer_mw`` is what an application pays that uses none of it yet; the classes load what they need when they
are first named. Of the distributions for frameworks it is said what importing them pulls in before a class is used.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any, Final

from .measure import at_most

ROUNDS: Final = 10
FRAMEWORKS: Final = (
    "langchain",
    "langchain_core",
    "langchain_classic",
    "langgraph",
    "llama_index",
    "starlette",
    "pydantic",
)
IMPORTS: Final = {
    "tokenmizer_mw": "import tokenmizer_mw",
    "SessionMemory": "from tokenmizer_mw import SessionMemory",
    "TokenMizerMiddleware": "from tokenmizer_mw import TokenMizerMiddleware",
    "langchain_tokenmizer_mw": "import langchain_tokenmizer_mw",
}
MEASURED: Final = """
import sys, time
before = time.process_time()
{code}
taken = time.process_time() - before
tops = {{name.partition(".")[0] for name in sys.modules}}
import json
print(json.dumps([taken, sorted(tops & set({frameworks!r})), len(sys.modules)]))
"""


def run() -> dict[str, Any]:
    known = {name: code for name, code in IMPORTS.items() if find_spec(code.split()[1])}
    figures = {name: _measured(code) for name, code in known.items()}
    alone = figures["tokenmizer_mw"]
    bars = [
        at_most("import tokenmizer_mw, CPU", alone["cpu_ms"], 120, "ms", 1),
        *(
            at_most(f"frameworks that importing {name} pulls in", len(row["frameworks"]), 0, digits=0)
            for name, row in figures.items()
            if IMPORTS[name].startswith("import")
        ),
    ]
    return {"figures": figures, "bars": bars, "notes": __doc__}


def _measured(code: str) -> dict[str, Any]:
    told = MEASURED.format(code=code, frameworks=FRAMEWORKS)
    runs = [json.loads(subprocess.check_output([sys.executable, "-c", told])) for _ in range(ROUNDS)]
    _, frameworks, modules = runs[0]
    return {"cpu_ms": round(min(run[0] for run in runs) * 1e3, 1), "frameworks": frameworks, "modules": modules}
