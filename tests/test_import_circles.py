"""No module imports itself by way of others, not even within a function or for the type checker alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = "tokenmizer_mw"


def module_paths(root: Path, package: str) -> dict[str, Path]:
    """The file of each module by its dotted name, packages included. The top is left out: it loads its names lazily."""
    paths = {".".join(path.relative_to(root).with_suffix("").parts): path for path in (root / package).rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in paths.items() if name != f"{package}.__init__"}


def imported(name: str, path: Path) -> Iterator[str]:
    """The dotted names that the module ``name`` imports anywhere: of modules, and of what may be one."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def find_circle(root: Path, package: str) -> list[str]:
    """Modules that import each other in a loop, the first one again at the end; [] if there are none."""
    paths = module_paths(root, package)
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        found = {one if one in paths else one.rpartition(".")[0] for one in imported(name, path)}
        graph[name] = (found & paths.keys()) - {name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert find_circle(ROOT, PACKAGE) == []


@pytest.mark.parametrize("back", ["from .one import x", "def f():\n    from made.one import x", "import made.one"])
def test_a_circle_is_found(tmp_path: Path, back: str) -> None:
    (tmp_path / "made").mkdir()
    for name, text in (("__init__", ""), ("one", "from . import two"), ("two", ""), ("three", "from made import one")):
        (tmp_path / "made" / f"{name}.py").write_text(text)
    assert find_circle(tmp_path, "made") == []
    (tmp_path / "made" / "two.py").write_text(back)
    assert set(find_circle(tmp_path, "made")) == {"made.one", "made.two"}
