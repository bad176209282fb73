"""The configurations of the documentation are configurations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tokenmizer_mw.server.proxy.configuration import Configuration

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "integrations" / "examples"
BLOCKS = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "proxy.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("file", ["proxy.yaml", "deploy/proxy.yaml"])
def test_example_files(file: str) -> None:
    assert Configuration.load(EXAMPLES / file, {}).providers


@pytest.mark.parametrize("block", BLOCKS)
def test_examples_of_the_page(block: str) -> None:
    assert Configuration.read(yaml.safe_load(block), {}).providers


def test_the_example_names_the_defaults() -> None:
    """All but the providers, the models and where sessions are kept."""
    found, plain = Configuration.load(EXAMPLES / "proxy.yaml", {}), Configuration.read({}, {})
    for name in ("listen", "auth", "naming", "memory", "access", "asking"):
        assert getattr(found, name) == getattr(plain, name)


def test_compose_speaks_of_what_is_there() -> None:
    told = yaml.safe_load((EXAMPLES / "deploy" / "docker-compose.yml").read_text(encoding="utf-8"))
    assert set(told["services"]) == {"postgres", "redis", "proxy"}
    assert told["services"]["proxy"]["environment"]["TOKENMIZER_STORE"].startswith("postgresql://")
