"""The names that people may rely on, and what importing them costs."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

import tokenmizer_mw
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.errors import TokenMizerError

NAMES = [
    "AddedFact",
    "AsyncHttpxTransport",
    "AsyncTransport",
    "BudgetTooSmall",
    "CallerError",
    "Change",
    "Checkpoint",
    "ConfigError",
    "Conflict",
    "Context",
    "CustomChat",
    "Diff",
    "FactEdit",
    "HttpxTransport",
    "InvalidMessage",
    "InvalidSession",
    "LossReport",
    "MalformedRequest",
    "Message",
    "Node",
    "PeerError",
    "Recall",
    "RecordedEdit",
    "Refinement",
    "Resume",
    "Role",
    "Savings",
    "SearchHit",
    "SessionGraph",
    "SessionInfo",
    "SessionMemory",
    "Settings",
    "Shortened",
    "StoreCorrupt",
    "StoreError",
    "StoreTooNew",
    "StoreUnavailable",
    "TokenMizerError",
    "TokenMizerMiddleware",
    "Transition",
    "Transport",
    "UndoneEdit",
    "UnknownNode",
    "UnknownSession",
    "UsageRecord",
    "Why",
    "Written",
    "__version__",
    "anthropic_middleware",
    "async_openai_client",
    "openai_client",
]

NEEDING_EXTRAS = {
    *("AsyncHttpxTransport", "AsyncTransport", "HttpxTransport", "Transport"),
    *("anthropic_middleware", "async_openai_client", "openai_client"),
}

SYNC = (
    "record",
    "remember",
    "invalidate",
    "date",
    "checkpoint",
    "forget",
    "graph",
    "resume",
    "recall",
    "why",
    "search",
)
SYNC += (
    "add",
    "revise",
    "context",
    "refine",
    "messages",
    "shorten",
    "remind",
    "loss_report",
    "restore",
    "export",
    "sessions",
    "flush",
    "close",
)


def test_the_public_face_is_pinned() -> None:
    assert sorted(NAMES) == dir(tokenmizer_mw)
    assert set(NAMES) - set(tokenmizer_mw.__all__) == NEEDING_EXTRAS
    for name in NAMES:
        assert getattr(tokenmizer_mw, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'SmartMemory'"):
        tokenmizer_mw.SmartMemory  # noqa: B018


@pytest.mark.parametrize("name", SYNC)
def test_every_method_has_its_sibling_off_the_loop(name: str) -> None:
    sibling = getattr(SessionMemory, f"a{name}")
    method = getattr(SessionMemory, name)
    assert inspect.iscoroutinefunction(sibling)
    assert sibling.__name__ == f"a{name}"
    assert sibling.__doc__
    assert inspect.signature(sibling).parameters == inspect.signature(method).parameters


def test_results_of_the_memory_can_be_named_in_annotations() -> None:
    """Whoever keeps a result or passes it on imports its type from the top."""
    methods = [value for name, value in vars(SessionMemory).items() if name[0] != "_" and inspect.isfunction(value)]
    named = {word for one in methods for word in re.findall(r"[A-Z]\w+", one.__annotations__.get("return", ""))}
    assert named - {"None", "AbstractContextManager"} <= {*tokenmizer_mw.__all__}


def test_the_memory_shows_what_users_call() -> None:
    """At most forty methods beside their siblings, each documented; what carries chats is its service, not its base."""
    methods = {name: value for name, value in vars(SessionMemory).items() if callable(value) and name[0] != "_"}
    plain = {name for name in methods if name[0] != "a" or name[1:] not in methods}
    assert len(plain) <= 40
    assert all(value.__doc__ for value in methods.values())
    assert SessionMemory.__bases__ == (object,)


def test_every_error_says_whose_fault_it_is() -> None:
    errors = [value for name in NAMES if isinstance(value := getattr(tokenmizer_mw, name), type)]
    faults = {error.__name__: error.fault for error in errors if issubclass(error, TokenMizerError)}
    assert set(faults.values()) == {"caller", "config", "store", "peer"}
    assert faults["UnknownSession"] == "caller"
    assert faults["StoreTooNew"] == "store"


def test_importing_the_package_is_light() -> None:
    """No framework, no validation library, no tokenizer: only what is used is loaded."""
    heavy = ("starlette", "fastapi", "pydantic", "tiktoken", "yaml", "rich", "re2", "openai", "langchain_core")
    code = f"import sys, tokenmizer_mw; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_importing_the_memory_compiles_few_patterns() -> None:
    """Hundreds of them are compiled when they are first asked; those that redaction is made of are not."""
    code = """
import re2

compiled, compile = [], re2.compile
re2.compile = lambda *given: compiled.append(given) or compile(*given)
re2.Filter.Compile = re2.Set.Compile = lambda *given: exit("a table is compiled")
from tokenmizer_mw import SessionMemory

exit(0 if len(compiled) < 150 else f"{len(compiled)} patterns are compiled")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_extraction_is_loaded_when_a_memory_is_opened_not_before() -> None:
    code = """
import sys
from tokenmizer_mw import SessionMemory
name = "tokenmizer_mw.extract.derive"
assert name not in sys.modules
with SessionMemory.open():
    assert name in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_using_the_memory_loads_no_framework() -> None:
    heavy = ("starlette", "fastapi", "pydantic", "yaml", "rich", "openai", "httpx2", "llama_index", "langchain_core")
    code = (
        "import sys; from tokenmizer_mw import SessionMemory; m = SessionMemory.open();"
        " m.record('s', [{'role': 'user', 'content': 'Use Redis for the queue'}]); m.resume('s');"
        f" print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "library", "install"),
    [("Transport", "httpx2", "[transport]"), ("HttpxTransport", "httpx", "[httpx]")],
)
def test_a_library_that_is_missing_is_named_with_what_to_install(name: str, library: str, install: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; from tokenmizer_mw import {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: ")
    assert install in last


def test_names_whose_extra_is_missing_break_no_look_at_the_package() -> None:
    code = """
import inspect, pydoc, sys
sys.modules.update(dict.fromkeys(("httpx2", "httpx", "openai", "anthropic")))
import tokenmizer_mw
assert not hasattr(tokenmizer_mw, "Transport")
found = dict(inspect.getmembers(tokenmizer_mw))
assert "SessionMemory" in found and "Transport" not in found
assert "SessionMemory" in pydoc.plain(pydoc.render_doc(tokenmizer_mw))
try:
    tokenmizer_mw.Transport
except AttributeError as missing:
    assert "needs httpx2: pip install" in str(missing)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


STAR_IMPORT = """
import sys

class WithoutExtras:
    "A finder that finds no module of a distribution that only an extra brings."
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in EXTRAS else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(WithoutExtras, sys.meta_path)
from tokenmizer_mw import *
import tokenmizer_mw
assert {*tokenmizer_mw.__all__} <= {*globals()}, "a name is missing"
assert "Transport" not in globals() and "Transport" in dir(tokenmizer_mw)
with SessionMemory.open() as memory:
    memory.record("s", [{"role": "user", "content": "We use SQLite for storage."}])
    assert "SQLite" in str(memory.resume("s"))
print(sorted(EXTRAS & {name.partition(".")[0] for name in sys.modules}))
"""


def modules_of_extras() -> set[str]:
    """Modules of the distributions that the extras name, as far as they are installed and nothing else needs them."""
    with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = {name_of(line) for lines in project["optional-dependencies"].values() for line in lines}
    needed, waiting = set[str](), [name_of(line) for line in project["dependencies"]]
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            with suppress(PackageNotFoundError):
                waiting += [name_of(line) for line in requires(name) or () if "extra ==" not in line]
    found = packages_distributions()
    return {module for module, names in found.items() if {name_of(one) for one in names} <= extras - needed}


def name_of(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    return match.group().lower().replace("_", "-") if match else ""


def test_a_star_import_works_without_extras() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"EXTRAS = {modules_of_extras()!r}\n{STAR_IMPORT}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("outgoing.transport", "transports"),
        ("translate", "server.translate"),
        ("refining", "session.refinement.plan"),
        ("window", "context.window"),
        ("fence", "safety.fence"),
        ("tokens", "context.tokens"),
        ("fitting", "context.assembly"),
        ("call", "chat.service"),
        ("demo.script", "cli.demo"),
        ("offload", "runtime.offload"),
        ("saving.cache.embedding", "context.embedding"),
    ],
)
def test_a_module_asked_for_by_its_former_name_says_where_it_is(former: str, now: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"has moved to tokenmizer_mw.{now}"):
        importlib.import_module(f"tokenmizer_mw.{former}")
    importlib.import_module(f"tokenmizer_mw.{now}")
