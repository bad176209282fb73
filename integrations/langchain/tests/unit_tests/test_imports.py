"""What importing costs, and what is missing without the parts of LangChain that a class needs."""

from __future__ import annotations

import subprocess
import sys

import langchain_tokenmizer_mw
import pytest

from tokenmizer_mw.runtime.installing import install_hint

FRAMEWORKS = ("langchain", "langchain_core", "langchain_classic", "langgraph", "pydantic")


def loaded(code: str, *packages: str) -> list[str]:
    """The top-level packages among ``packages`` that ``code`` imports in a fresh interpreter."""
    told = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}} & set({packages!r})))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("code", ["import tokenmizer_mw", "import langchain_tokenmizer_mw"])
def test_importing_pulls_in_no_framework(code: str) -> None:
    assert loaded(code, *FRAMEWORKS) == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("TokenMizerChatMessageHistory", ("langchain", "langchain_classic", "langgraph")),
        ("TokenMizerCallbackHandler", ("langchain", "langchain_classic", "langgraph")),
        ("TokenMizerMiddleware", ("langchain_classic",)),
        ("TokenMizerStore", ("langchain", "langchain_classic")),
    ],
)
def test_a_class_pulls_in_what_it_needs_only(name: str, without: tuple[str, ...]) -> None:
    assert loaded(f"from langchain_tokenmizer_mw import {name}", *without) == []


def test_the_public_face_is_pinned() -> None:
    assert langchain_tokenmizer_mw.__all__ == [
        "TokenMizerCallbackHandler",
        "TokenMizerChatMessageHistory",
        "TokenMizerMemory",
        "TokenMizerMiddleware",
        "TokenMizerStore",
        "TokenMizerSummarizer",
        "__version__",
        "tokenmizer_summarization",
    ]
    assert all(getattr(langchain_tokenmizer_mw, name) is not None for name in langchain_tokenmizer_mw.__all__)
    with pytest.raises(AttributeError, match="no attribute 'SmartMemory'"):
        langchain_tokenmizer_mw.SmartMemory  # noqa: B018


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("TokenMizerMemory", "langchain_classic", "classic"),
        ("TokenMizerMiddleware", "langchain", "agents"),
        ("TokenMizerStore", "langgraph", "agents"),
    ],
)
def test_what_is_missing_is_named_with_what_to_install(name: str, package: str, extra: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nfrom langchain_tokenmizer_mw import {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    hint = install_hint(extra, "langchain-tokenmizer-mw", "integrations/langchain")
    assert f"{name} needs {package}: {hint}" in done.stderr
