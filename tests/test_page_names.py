"""What README and pages name is there: modules, attributes, files, commands, flags, variables and configurations."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain_tokenmizer_mw import TokenMizerChatMessageHistory
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore

from benchmarks.__main__ import BENCHMARKS
from scripts.page_commands import commands
from tokenmizer_mw import SessionMemory, Settings
from tokenmizer_mw.cli.running import parser
from tokenmizer_mw.safety.redact.config import settings as redaction_settings
from tokenmizer_mw.server.access.key_store import listed_keys
from tokenmizer_mw.server.access.settings import AccessSettings
from tokenmizer_mw.server.proxy.configuration import Configuration, Listening, UpstreamSettings

ROOT = Path(__file__).parent.parent
TEXTS = {
    page.name: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
OURS = r"\b(?:langchain_|llama_index\.memory\.)?tokenmizer_mw(?:\.\w+)+"


def inline(text: str) -> list[str]:
    """The code within sentences and tables, without blocks; a line break in it is a blank."""
    return [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", FENCED.sub("", text))]


def blocks(*languages: str) -> list[Any]:
    return [
        pytest.param(name, language, block, id=f"{name}-{language}-{number}")
        for name, text in TEXTS.items()
        for number, (language, block) in enumerate(FENCED.findall(text))
        if language in languages
    ]


def everywhere(pattern: str) -> set[str]:
    return {found for text in TEXTS.values() for found in re.findall(pattern, text)}


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or attributes of one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            declared = {one for base in getattr(found, "__mro__", ()) for one in getattr(base, "__annotations__", ())}
            if not hasattr(found, attribute):
                return attribute in declared
            found = getattr(found, attribute)
        return True
    return False


@pytest.mark.parametrize("name", sorted(everywhere(OURS)))
def test_dotted_names_are_there(name: str) -> None:
    assert resolves(name)


CLASSES = {
    "SessionMemory": SessionMemory,
    "Settings": Settings,
    "TokenMizerChatMessageHistory": TokenMizerChatMessageHistory,
    "TokenMizerChatStore": TokenMizerChatStore,
    "access": AccessSettings,
    "asking": UpstreamSettings,
    "listen": Listening,
    "memory": SessionMemory,
}
"""What stands before the dot of a name in a sentence: a class, a section of the configuration, an object."""

FILES = {"memory.db"}


@pytest.mark.parametrize("name", sorted(everywhere(rf"`(?:await )?((?:{'|'.join(CLASSES)})\.\w+)") - FILES))
def test_attributes_are_there(name: str) -> None:
    owner, attribute = name.split(".")
    kinds = [CLASSES[owner], *([Settings] if owner == "memory" else [])]
    assert any(attribute in _possible_attributes(kind) for kind in kinds)


def _possible_attributes(kind: type) -> set[str]:
    """What instances of a class may have: also what its ``__init__`` sets."""
    return {*dir(kind), *getattr(kind, "__annotations__", ()), *re.findall(r"self\.(\w+)\b", inspect.getsource(kind))}


PUBLIC_FACE = next(block for _, block in FENCED.findall(TEXTS["design.md"]) if "await memory.arecord" in block)


@pytest.mark.parametrize(("name", "arguments"), re.findall(r"\bmemory\.(\w+)\((.*?)\)(?=;|\s|$)", PUBLIC_FACE))
def test_the_public_face_is_as_designed(name: str, arguments: str) -> None:
    known = inspect.signature(getattr(SessionMemory, name)).parameters
    named = [each.strip().partition("=") for each in re.sub(r"\[.*\]|\(.*\)", "", arguments).split(",")]
    assert {keyword for keyword, equals, _ in named if equals} <= set(known)
    assert {keyword for keyword, equals, _ in named if not equals} <= {*known, "*", "...", ""}


ELSEWHERE = {
    "ANTHROPIC_API_BASE",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "AuthenticationMiddleware",
    "ConversationSummaryMemory",
    "HTTPS_PROXY",
    "HttpOptions",
    "OpenAIResponsesCompactionSession",
    "claude_desktop_config",
    "clear_thinking_",
    "compact_before_next_turn",
    "compaction_mode",
    "env_key",
    "extra_body",
    "get_history",
    "http_host",
    "http_options",
    "is_disconnected",
    "lc_messages",
    "log_format",
    "log_min_duration_statement",
    "log_parameter_max_length",
    "max_prepared_statements",
    "messages_to_dict",
    "model_provider",
    "model_providers",
    "namespace__tool",
    "proxy_set_header",
    "remote_apply",
    "tool_runner",
    "web_search",
    "wire_api",
    "with_retry",
    "wrap_tool_call",
}
"""Names of other programs that pages speak of and no code of this project uses."""

COMPOSED = (
    r"TOKENMIZER_.*|tokenmizer_\w+_total|turn_(error|truncated)|(not_cut|refine|cache_hit)_\w+|compress_\w+_failed"
)
"""Names that code puts together: variables of settings, metrics, counters by outcome."""


def test_names_are_somewhere_in_the_code() -> None:
    """A name with an underscore or of a class, in a sentence or a table, is one that the code uses."""
    suffixes = (".py", ".yaml", ".yml", ".md", ".json")
    paths = [path for folder in ("tokenmizer_mw", "integrations", "benchmarks") for path in (ROOT / folder).rglob("*")]
    code = "".join(
        path.read_text(encoding="utf-8") for path in paths if path.suffix in suffixes and "results" not in path.parts
    )
    words = set(re.findall(r"\w+", code + (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    words |= {path.stem for path in (ROOT / "tests").rglob("*.py")}
    spans = " ".join(span for text in TEXTS.values() for span in inline(text))
    named = {name for name in re.findall(r"[A-Za-z_]\w*", spans) if "_" in name.strip("_") or IN_CAPITALS.match(name)}
    assert {name for name in named - words if not re.fullmatch(COMPOSED, name)} - ELSEWHERE == set()
    assert not ELSEWHERE - named


IN_CAPITALS = re.compile(r"[A-Z][a-z]+[A-Z]\w*$")


@pytest.mark.parametrize(
    "path", sorted(everywhere(r"`((?:tokenmizer_mw|tests|benchmarks|scripts|integrations|docs)/[\w./-]+)`"))
)
def test_files_are_there(path: str) -> None:
    assert (ROOT / path).exists()


def subparsers(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next((dict(each.choices or {}) for each in top._actions if isinstance(each, argparse._SubParsersAction)), {})


def calls() -> Iterator[tuple[str, str]]:
    """Page and arguments of each ``tokenmizer-mw`` in sentences, tables and blocks."""
    for name, text in TEXTS.items():
        for line in (*inline(text), *commands(text)):
            for call in re.findall(r"(?:^|[ |])(?<!uninstall )(?<!--yes )tokenmizer-mw ([a-z][^|>]*)", line):
                yield name, call


@pytest.mark.parametrize(("page", "call"), sorted(set(calls())))
def test_commands_and_their_flags_are_there(page: str, call: str) -> None:
    command, *rest = shlex.split(call)
    found = subparsers(parser())[command]
    if inner := subparsers(found):
        found = inner[rest[0]] if rest else found
    flags = {each.partition("=")[0] for each in rest if each.startswith("--")}
    assert flags <= set(found._option_string_actions)


def test_rows_of_commands_name_flags_that_are_there() -> None:
    known = subparsers(parser())
    rows = re.findall(r"^\| `(\w+)[^|]*\|.*\|$", TEXTS["command-line.md"], flags=re.MULTILINE)
    assert set(rows) >= known.keys() - {"edits"}
    for row in re.findall(r"^\| `\w+.*\|$", TEXTS["command-line.md"], flags=re.MULTILINE):
        named = re.findall(r"`([a-z]+)", row.split(" | ")[0])
        flags = {flag for each in named for flag in known[each]._option_string_actions}
        assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", row)) <= flags, row


def test_flags_in_sentences_are_there() -> None:
    """A flag that stands by itself is one of some command, or of another program."""
    parsers = [*subparsers(parser()).values(), *subparsers(subparsers(parser())["keys"]).values()]
    ours = {flag for each in parsers for flag in each._option_string_actions}
    named = {
        each.split()[0].partition("=")[0]
        for text in TEXTS.values()
        for each in inline(text)
        if re.match(r"--[a-z]", each)
    }
    assert named - ours == set(OTHERS)


OTHERS = ("--forwarded-allow-ips", "--h11-max-incomplete-event-size", "--log-config", "--timeout-keep-alive")
"""Flags of uvicorn that pages speak of."""


@pytest.mark.parametrize("name", sorted(everywhere(r"python -m benchmarks (?!all\b)(\w+)")))
def test_benchmarks_are_there(name: str) -> None:
    assert name in BENCHMARKS


@pytest.mark.parametrize("name", sorted(everywhere(r"`make ([a-z-]+)")))
def test_targets_are_there(name: str) -> None:
    assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_variables_are_read() -> None:
    paths = [*(ROOT / "tokenmizer_mw").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), ROOT / "tests/services.py"]
    code = "".join(path.read_text(encoding="utf-8") for path in paths)
    configured = ("HOST", "PORT", "WORKERS", "LOOP", "AUTH", "DASHBOARD", "STORE")
    ours = {f"TOKENMIZER_{name.upper()}" for name in (*(field.name for field in fields(Settings)), *configured)}
    assert {name for name in everywhere(r"\bTOKENMIZER_[A-Z_]*[A-Z]\b") - ours if f'"{name}"' not in code} == set()


READERS: dict[str, Callable[[Any], object]] = {
    "compression.md": lambda given: Settings.from_mapping(given, {}),
    "safety.md": redaction_settings,
}
"""What reads the YAML of a page, where it is not the proxy."""


@pytest.mark.parametrize(("page", "language", "block"), blocks("yaml"))
def test_configurations_are_read(page: str, language: str, block: str) -> None:
    given = yaml.safe_load(block)
    READERS.get(page, lambda mapping: Configuration.read(mapping, {}))(given)
    listed_keys(given.get("access", {}).get("keys", []))


@pytest.mark.parametrize(("page", "language", "block"), blocks("json", "toml"))
def test_other_blocks_are_read(page: str, language: str, block: str) -> None:
    """Entries of clients of MCP start a command that is there."""
    given = json.loads(block) if language == "json" else tomllib.loads(block)
    for servers in (given.get(name) for name in ("mcpServers", "servers", "context_servers", "mcp_servers")):
        for entry in (servers or {}).values():
            assert Path(entry["command"]).name == "tokenmizer-mw"
            assert parser().parse_args(entry["args"]).command == "mcp"
