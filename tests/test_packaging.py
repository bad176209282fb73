"""What the distributions, the image and the registry are told is so."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tokenmizer_mw import __version__

ROOT = Path(__file__).parent.parent
PROJECTS = [ROOT / "pyproject.toml", *sorted((ROOT / "integrations").glob("*/pyproject.toml"))]
DEPLOY = ROOT / "integrations" / "examples" / "deploy"


@pytest.mark.parametrize("file", PROJECTS, ids=lambda file: file.parent.name)
def test_each_distribution_says_where_it_lives(file: Path) -> None:
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(project["urls"])
    assert project["description"]
    assert project["readme"] == "README.md"
    for python in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {python}" in project["classifiers"]


@pytest.mark.parametrize("file", PROJECTS, ids=lambda file: file.parent.name)
def test_every_dependency_has_a_lower_bound(file: Path) -> None:
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(one for extra in project.get("optional-dependencies", {}).values() for one in extra),
    ]
    own = re.compile(r"(?:langchain-|llama-index-memory-)?tokenmizer-mw\b|types-")
    assert [one for one in wanted if ">=" not in one and not own.match(one)] == []


def test_the_registry_has_no_placeholder() -> None:
    text = (ROOT / "server.json").read_text(encoding="utf-8")
    assert not re.search(r"OWNER|TODO|example\.(?:com|org)|<[a-z]", text)
    told = json.loads(text)
    assert told["version"] == __version__
    assert told["repository"]["url"] == f"https://github.com/{told['name'].removeprefix('io.github.')}"


def test_the_image_is_built_from_what_is_sent_to_docker() -> None:
    """Nothing but what ``.dockerignore`` lets through is there to be copied."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line[1:] for line in lines if line.startswith("!")}
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert {name for line in copied for name in line.split()} == sent
    assert all((ROOT / name).exists() for name in sent)
    compose = yaml.safe_load((DEPLOY / "docker-compose.yml").read_text(encoding="utf-8"))
    build = compose["services"]["proxy"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]) == DEPLOY / "Dockerfile"


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="only in a checkout")
def test_workflows_run_targets_that_there_are() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for file in (ROOT / ".github").rglob("*.yml"):
        assert yaml.safe_load(file.read_text(encoding="utf-8"))
        assert set(re.findall(r"\bmake ([a-z-]+)", file.read_text(encoding="utf-8"))) <= targets, file.name
