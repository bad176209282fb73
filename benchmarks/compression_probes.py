"""Probes of compression: a fact in a text, the text in a chat, and what the forwarded chat must still contain of it.

They are made of tables: every kind of text with every fact that fits into it. No probe comes from the tests or a
corpus.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tokenmizer_mw import Settings
from tokenmizer_mw.saving.compress import compress
from tokenmizer_mw.saving.compress.neural import is_faithful

Messages = list[dict[str, Any]]
Holds = Callable[[str, str], bool]
"""Function that gets the text of a message as sent and as forwarded, and returns whether what matters is kept."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A chat with a fact. ``place``: index of the message with the fact; ``holds``: what must hold of its text after
    compression; ``kind`` and ``fact`` are shown to people."""

    kind: str
    fact: str
    messages: Messages
    place: int
    holds: Holds


FACTS: Final = (
    "The limit is 1,024 requests, not 10,240.",
    "Version 3.11.4 works and 3.11.5 does not.",
    "Port 8443 stays closed unless TLS_STRICT is set.",
    "Never delete rows of ledger_2024 without a backup.",
    "Set retries to 0.5 and timeout_ms to 1500.",
    "The file is src/billing/invoice_total.py, line 214.",
    "See https://docs.example.org/a/b?x=1&y=2#z for why.",
    'He said "do not round before the sum" on 2026-11-03.',
    "Use `git push --force-with-lease`, never `--force`.",
    "No customer pays twice; nobody is charged 12.345 EUR.",
    "C:\\Temp\\Report-07.xlsx has 17 sheets, only 2 matter.",
    "mode=0o644, owner=root:wheel, sha 9f86d08 isn't final.",
    "Ünal überwies 1.234,56 € und nicht 1.243,56 €.",
    "Le seuil n'est pas 0,7 mais 0,07 (jamais plus).",
    "Не удаляй таблицу orders_v2, она ещё нужна.",
    "不要在周五部署 v2.3.1，除非 CI 通过。",
)
OPENINGS: Final = ("Sure! ", "Of course. ", "Great question! ", "I'd be happy to help you with that. ")
CLOSINGS: Final = (" I hope this helps!", "\n\nLet me know if you have any questions.", " Feel free to ask.", "")
PYTHON: Final = (
    "def f(rows):\n    # {}\n    for row in rows:\n        if not row.paid:\n            yield row.total * 0.5\n\n\n\n"
    'x = "a  b"\n'
)
DIFF: Final = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n-limit = 10  \n+# {}\n context\n"
TABLE: Final = "| name | value |\n|------|-------|\n| a    |  1.50 |\n| b    |  {} |\n"
MAKE: Final = "build:\n\tcc -O2 -o a a.c   \n\n\n\n# {}\n\t@echo done\n"
STAGES: Final = "filler,json,spaces,logs,listings,repeats,shorten"
HISTORY: Final = "history"
ANSWERS: Final = (
    "1. Regards\n2. Best\n3. Cheers",
    "1. Thank you.\n2. Hope this helps!",
    "The button should read: Enjoy!",
    "The button should read: Hope this helps!",
    "The last line is:\n\nHappy coding!",
    "Bonne chance\nGood luck",
    "Definitely. Both copies are on the backup.",
    "Absolutely! Just keep the lock file.",
    "Of course. The old one is gone though.",
    "Sure! It is safe.",
    "Certainly. It was signed by both.",
    "Dear Maria,\n\nthe books are closed.\n\nLet me know if you have any questions.",
)
SHOWING: Final = (
    "cat {}",
    "pwd && cat {}",
    "cd app; cat {}",
    "echo x; cat {}",
    "docker exec web cat {}",
    "bash -lc 'cat {}'",
    "ssh host 'cd app && cat {}'",
    "ls | xargs cat",
    "python show.py {}",
)
SHOWN: Final = (
    "\n".join(["routes do", *(f'  get "/page{at}", to: "pages#show{at}"' for at in range(8)), "end"]),
    "import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n",
    "\n".join(["rows = [", *["    0.0,"] * 6, "]"]),
    "\n".join(["| a | b |", "|---|---|", *["| 0 | 0 |"] * 6]),
    "\n".join(f"2024-01-0{at},4411,{1000 - at * 7}" for at in range(1, 9)),
    "\n".join(f"2024-01-0{at} 10:00:00 account 4411 balance {1000 - at * 7}" for at in range(1, 9)),
)
STAMPS: Final = (
    "2024-01-01 10:00:{:02}",
    "2024-01-01T10:00:{:02}Z",
    "[2024-01-01 10:00:{:02},123]",
    "10:00:{:02}",
    "Jan 12 10:00:{:02} host app:",
    "I0101 10:00:{:02}.000",
    '10.0.0.1 - - [10/Oct/2000:13:55:{:02} +0000] "GET /a HTTP/1.1" 200',
)
ROWS: Final = (
    ("{at}\tuser {at} is active and has paid 20 euros in the month of May", "{other}\t", "numbered 401 to 410 here"),
    ("{at}:    def handler_{at}(self, request, response, context): ...", "{other}:", "numbered 401 to 410 here"),
    ("{at:>6}\t    total_{at} = compute(row_{at}, {at}) + compute(rest_{at})", "{other:>6}\t", "401 to 410 here"),
    ("12:{at:02}:00 backup of volume vol-{at} was finished and is complete", "19:{at:02}:00 ", "19:03:00 backup"),
    ("{at:03}\tuser {at} is active and has paid 20 euros in the month of May", "{other:03}\t", "401"),
)
"""A row, what stands before it the second time, and what the forwarded text must say of that."""
REWORDED: Final = (
    ("The loop runs while a > b holds.", "The loop runs while a < b holds."),
    ("What is left is a - b of it.", "What is left is a + b of it."),
    ("Each one costs -5 euros now.", "Each one costs 5 euros."),
    ("The job of Ben fails after that.", "The job of Anna passes after that."),
    ("Ben says that it fails.", "Anna says that it passes."),
    ("Each call takes 30 ms at most.", "Each call takes 30 s at most."),
    ("```\nif a > b: x = 1\n```\nand so on", "```\nif a > c: x = 1\n```\nso on"),
)
YAML: Final = "limits:\n  - name: a\n    # {}\n    value: 0.10\n\n\n\n  - name: b\n"


def probes() -> Iterator[Probe]:
    """Iterate over all probes, the same in every run."""
    yield from _said()
    yield from _files()
    yield from _json()
    yield from _logs()
    yield from _lists()
    yield from _repeated()
    yield from _untouchable()
    yield from _answers()
    yield from _shown()
    yield from _served()
    yield from _counted()
    yield from _placed()
    yield from _reworded()


def changed(probe: Probe) -> bool:
    """Whether compression changed the probe's fact. All stages but ``history`` run; for the kind "old log", only
    ``history``. For the kind "reworded", whether the check of the stage ``neural`` lets the wrong wording pass."""
    stages = HISTORY if probe.kind == "old log" else STAGES
    settings = Settings(compress=stages, compress_keep=1, compress_step=1)
    if probe.kind == "reworded":
        return is_faithful(probe.fact, probe.messages[probe.place]["content"])
    after = compress(probe.messages, settings).messages[probe.place]["content"]
    return not probe.holds(probe.messages[probe.place]["content"], after)


def _said() -> Iterator[Probe]:
    """Sentences of an assistant between pleasantries: the sentence must be kept word for word."""
    for number, fact in enumerate(FACTS):
        for opening in OPENINGS:
            text = f"{opening}{fact}{CLOSINGS[number % len(CLOSINGS)]}"
            yield Probe("prose", fact, [_user(), {"role": "assistant", "content": text}], 1, _told(fact))


def _files() -> Iterator[Probe]:
    """Files that were read: nothing in code, tables, diffs and data may change, not even white space."""
    shapes = (("a.py", PYTHON), ("Makefile", MAKE), ("a.yaml", YAML), ("README.md", TABLE), ("a.diff", DIFF))
    for path, text in shapes:
        for fact in FACTS[:10]:
            yield Probe("code", fact, [*_asked("read_file", {"path": path}), _result(text.format(fact))], 2, _same)


def _json() -> Iterator[Probe]:
    """JSON from a tool: the layout may change, the value and the spelling of numbers may not."""
    for number, fact in enumerate(FACTS):
        value = {"note": fact, "total": 12.50, "rows": [1.0, 1e3, -0.25, number], "paid": False, "by": None}
        text = json.dumps(value, indent=2, ensure_ascii=number % 2 == 0)
        yield Probe("json", fact, [*_asked("fetch", {"url": "https://x"}), _result(text)], 2, _same_json)


def _logs() -> Iterator[Probe]:
    """Output of tests and builds: the line of the failure must be kept; and rows of data, which must all be kept."""
    for number, fact in enumerate(FACTS):
        passed = [f"tests/test_a.py::test_{at} PASSED" for at in range(12)]
        failure = f"E   AssertionError: {fact}"
        text = "\n".join([*passed[:7], "tests/test_a.py::test_x FAILED", failure, f"a.py:{number}: in f", *passed[7:]])
        yield Probe("log", fact, [*_asked("bash", {"command": "pytest -v"}), _result(text)], 2, _told(failure))
        rows = "\n".join([f"{at} {at * 1.5} {fact}" for at in range(8)])
        yield Probe("rows", fact, [*_asked("bash", {"command": "psql -c q"}), _result(rows)], 2, _told_all(rows))


def _lists() -> Iterator[Probe]:
    """Listings and search results: every name, size, line number and line must be kept."""
    for number, fact in enumerate(FACTS):
        names = [f"invoice_{number}_{at}.py" for at in range(6)]
        long = "\n".join(f"-rw-r--r-- 1 a b {at * 100 + number} Nov  3 10:00 {name}" for at, name in enumerate(names))
        told = [f"{name} {at * 100 + number}" for at, name in enumerate(names)]
        yield Probe("listing", names[0], [*_asked("bash", {"command": "ls -l"}), _result(long)], 2, _told(*told))
        found = "\n".join(f"src/{names[0]}:{at + 10}:    {fact}" for at in range(6))
        lines = [f"{at + 10}:    {fact}" for at in range(6)]
        want = _told(f"src/{names[0]}", *lines)
        yield Probe("matches", fact, [*_asked("bash", {"command": "grep -rn x"}), _result(found)], 2, want)


def _repeated() -> Iterator[Probe]:
    """A file that is read again after one line changed: the new line must be kept."""
    for number, fact in enumerate(FACTS):
        lines = [f"    step_{at} = compute(row_{at}, {at}.{number})" for at in range(30)]
        again = [*lines[:17], f"    # {fact}", *lines[18:]]
        messages = [*_asked("read_file", {"path": "a.py"}, 1), _result("\n".join(lines), 1)]
        messages += [*_asked("read_file", {"path": "a.py"}, 2)[1:], _result("\n".join(again), 2)]
        yield Probe("changed line", fact, messages, len(messages) - 1, _told(f"    # {fact}"))


def _untouchable() -> Iterator[Probe]:
    """Messages of users and of the system, which must not change."""
    for fact in FACTS:
        text = f"Sure! {fact}\n\n\n\n```\n{PYTHON.format(fact)}```\nHope this helps!"
        yield Probe("user", fact, [{"role": "user", "content": text}], 0, _same)
        yield Probe("system", fact, [{"role": "system", "content": text}, _user()], 0, _same)


def _answers() -> Iterator[Probe]:
    """Answers of an assistant that look like pleasantries, which must not change."""
    for text in ANSWERS:
        yield Probe("answer", text, [_user(), {"role": "assistant", "content": text}], 1, _same)


def _shown() -> Iterator[Probe]:
    """Files that a command shows among other things: every line must be kept."""
    for command in SHOWING:
        for text in SHOWN:
            ran = {"command": command.format("a/b")}
            yield Probe(
                "shown by a command", f"{command}: {text[:30]}", [*_asked("bash", ran), _result(text)], 2, _same
            )


def _served() -> Iterator[Probe]:
    """Long logs of servers: the one failure must be kept, in a new log and in an old one."""
    for number, stamp in enumerate(STAMPS):
        for command in ("docker logs web", "./serve", "cat app.log", "docker logs web | grep -v health"):
            rows = [f"{stamp.format(at % 60)} INFO request {at} of tenant acme was handled" for at in range(900)]
            failure = f"ERROR {FACTS[number]}"
            rows[450:451] = [f"{stamp.format(9)} {failure}", "Traceback (most recent call last):"]
            asked = _asked("bash", {"command": command})
            text = "\n".join([*rows, *rows[460:]])
            yield Probe("log of a server", failure, [*asked, _result(text)], 2, _told(failure))
            old = [*asked, _result(text), *_asked("bash", {"command": "make"}, 2)[1:], _result("made", 2)]
            yield Probe("old log", failure, old, 2, _told(failure))


def _counted() -> Iterator[Probe]:
    """Rows that occur again with other numbers before them: the new numbers must be named."""
    for row, before, told in ROWS:
        rows = [row.format(at=at) for at in range(1, 11)]
        again = [
            before.format(at=at, other=at + 400) + one[len(before.format(at=at, other=at)) :]
            for at, one in enumerate(rows, 1)
        ]
        messages = [*_asked("bash", {"command": "./rows 1"}, 1), _result("\n".join(rows), 1)]
        messages += [*_asked("bash", {"command": "./rows 2"}, 2)[1:], _result("\n".join(again), 2)]
        yield Probe("other numbers", row, messages, len(messages) - 1, _told(told))


def _placed() -> Iterator[Probe]:
    """Long files whose beginning was read before: the line numbers in a note must be those of the file."""
    for number in range(8):
        known = [f"value_{at} = compute({at}, 'a text that is long enough')" for at in range(100)]
        rest = [f"x_{at} = {at}  # padding that makes the file a long one" for at in range(2_000)]
        rest[900 + number] = f"def found_{number}(rows):"
        told = f"[line {1001 + number}] def found_{number}(rows):"
        messages = [*_asked("read_file", {"path": "a.py"}, 1), _result("\n".join(known), 1)]
        messages += [*_asked("read_file", {"path": "b.py"}, 2)[1:], _result("\n".join([*known, *rest]), 2)]
        yield Probe("line number", told, messages, len(messages) - 1, _told(told))


def _reworded() -> Iterator[Probe]:
    """Wrong rewordings of prose by a model, which the check must refuse."""
    for said, other in REWORDED:
        yield Probe("reworded", said, [{"role": "assistant", "content": other}], 0, _same)


def _told(*facts: str) -> Holds:
    return lambda before, after: all(fact in after for fact in facts)


def _told_all(text: str) -> Holds:
    return _told(*text.split("\n"))


def _same(before: str, after: str) -> bool:
    return before == after


def _same_json(before: str, after: str) -> bool:
    spelled = (json.loads(text, parse_float=str, parse_int=str) for text in (before, after))
    return len({json.dumps(value, sort_keys=True) for value in spelled}) == 1


def _user() -> dict[str, Any]:
    return {"role": "user", "content": "What is it?"}


def _asked(name: str, arguments: dict[str, Any], number: int = 1) -> Messages:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [_user(), {"role": "assistant", "content": None, "tool_calls": [call]}]


def _result(text: str, number: int = 1) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def by_kind(found: Sequence[Probe]) -> dict[str, int]:
    """Return the number of probes of each kind."""
    return {kind: sum(probe.kind == kind for probe in found) for kind in dict.fromkeys(probe.kind for probe in found)}
