"""Generated long working sessions, with as many messages as wanted, in which every fact is known.

Each block of ten messages is a small piece of work: a request, a file that a tool writes, a failing test that is fixed,
a choice, a task that stays open, and in every fifth block a standing rule. No two blocks are about the same subject.
The choice of words varies with the seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

MESSAGES_PER_BLOCK: Final = 10

# fmt: off
_AREAS: Final = (
    "billing", "invoice", "ledger", "payroll", "shipping", "warehouse", "catalog", "search", "booking",
    "calendar", "chat", "profile", "upload", "gallery", "report", "audit", "export", "import", "tax", "currency",
    "coupon", "loyalty", "review", "rating", "queue", "cron", "mail", "push", "webhook", "geo", "map", "route",
    "fleet", "sensor", "alarm", "meter", "energy", "weather", "crop", "field", "harvest", "barn", "vet", "clinic",
    "ward", "triage", "lab", "dose",
)
# fmt: on
# fmt: off
_PARTS: Final = (
    "parser", "validator", "scheduler", "renderer", "cache", "index", "importer", "exporter", "router",
    "throttle", "sampler", "merger", "splitter", "tokenizer", "planner", "resolver", "archiver", "notifier",
    "watcher",
)
# fmt: on
# fmt: off
_TOOLS: Final = (
    "Redis", "Kafka", "Celery", "RabbitMQ", "Elasticsearch", "MinIO", "Traefik", "Grafana", "Prometheus", "Vault",
    "Consul", "Nginx", "Caddy", "DuckDB", "Parquet", "Arrow", "Polars", "Jinja", "HTMX", "Alpine", "Svelte",
    "Vite", "Tailwind",
)
# fmt: on
_REASONS: Final = (
    "it keeps memory flat",
    "the team already runs it",
    "it needs no licence fee",
    "restarts lose nothing",
    "it answers in under ten milliseconds",
    "the backups stay small",
)
_RULES: Final = (
    "Never log customer names in the {area} {part}",
    "Always keep the {area} {part} free of global state",
    "Never change the {area} {part} schema without a migration",
)


@dataclass(slots=True)
class LongSession:
    """``messages``: in OpenAI's format; ``facts``: by category, the words that a label must contain to count as
    found."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, list[str]] = field(default_factory=dict)


def long_session(messages: int, *, seed: int = 1) -> LongSession:
    """Return a session of at least ``messages`` messages, rounded up to whole blocks; the same for the same seed.
    Raises ``ValueError`` for more than about 9,000 messages."""
    rng = random.Random(seed)
    session = LongSession(facts={name: [] for name in ("done", "pending", "decisions", "files", "errors", "rules")})
    for number, (area, part) in enumerate(_subjects(rng)):
        if len(session.messages) >= messages:
            return session
        _add_block(session, rng, number, area, part)
    raise ValueError("the vocabulary holds no more than 9,000 messages")


def _subjects(rng: random.Random) -> Iterator[tuple[str, str]]:
    pairs = [(area, part) for area in _AREAS for part in _PARTS]
    rng.shuffle(pairs)
    return iter(pairs)


def _add_block(session: LongSession, rng: random.Random, number: int, area: str, part: str) -> None:
    path = f"{area}/{part}.py"
    tool, reason = rng.choice(_TOOLS), rng.choice(_REASONS)
    failing = f"tests/{area}/test_{part}.py::test_{rng.choice(('empty', 'large', 'unicode', 'late'))}_input"
    code = _code(rng, area, part)
    facts, add = session.facts, session.messages.append
    add(_user(rng.choice(("Add a {part} to the {area} service", "Please implement the {area} {part}")), area, part))
    add(_call(number, 0, "write_file", {"path": path, "content": code}, f"I will write the {area} {part} now."))
    add(_result(number, 0, f"Wrote {len(code)} bytes to {path}"))
    add(_call(number, 1, "run_command", {"command": f"pytest tests/{area}"}, ""))
    add(_result(number, 1, _failure(failing, area, part)))
    add(_call(number, 2, "edit_file", {"path": path, "old_str": "return None", "new_str": "return []"}, ""))
    add(_result(number, 2, f"Edited {path}"))
    done = f"Implemented the {area} {part} in {path}. All tests in tests/{area} pass now."
    add({"role": "assistant", "content": f"{done}\n\n```python\n{code[:400]}```"})
    use = f"Use {tool} for the {area} {part} because {reason}."
    later = f"TODO: document the {area} {part} for operators"
    rule = rng.choice(_RULES).format(area=area, part=part) if number % 5 == 0 else ""
    add({"role": "user", "content": "\n".join(filter(None, (use, later, rule)))})
    add({"role": "assistant", "content": f"Noted: {tool} it is for the {area} {part}. I go on with the next piece."})
    facts["done"].append(f"{area} {part}")
    facts["pending"].append(f"document {area} {part}")
    facts["decisions"].append(f"{tool} {area} {part}")
    facts["files"].append(path)
    facts["errors"].append(f"TypeError {area} {part} expected list")
    if rule:
        facts["rules"].append(rule)


def _user(template: str, area: str, part: str) -> dict[str, Any]:
    return {"role": "user", "content": template.format(area=area, part=part) + "."}


def _call(block: int, index: int, name: str, arguments: dict[str, str], text: str) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{block}_{index}", "type": "function", "function": function}
    return {"role": "assistant", "content": text or None, "tool_calls": [call]}


def _result(block: int, index: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{block}_{index}", "content": text}


def _code(rng: random.Random, area: str, part: str) -> str:
    lines = [f"class {area.title()}{part.title()}:"]
    for name in rng.sample(("open", "close", "read", "write", "merge", "split", "check"), 4):
        lines += [f"    def {name}(self, rows):", f"        # {name} the {area}", "        return None", ""]
    return "\n".join(lines) + "\n"


def _failure(test: str, area: str, part: str) -> str:
    return (
        "============ FAILURES ============\n"
        f"E   TypeError: {area} {part} expected a list, got an empty value\n"
        f"FAILED {test} - TypeError: {area} {part} expected a list, got an empty value\n"
        "========= 1 failed, 6 passed in 0.12s ========="
    )
