"""``tokenmizer-mw compress``: chats and outputs, from files and standard input, with figures."""

from __future__ import annotations

import json
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest

LISTING = "\n".join(f"-rw-r--r-- 1 dev staff {100 + at} Nov  3 10:0{at} module_{at}.py" for at in range(8))


def run(*arguments: str, given: str = "") -> tuple[int, str, str]:
    """Status, standard output and standard error of the command, with ``given`` as its standard input."""
    command = [sys.executable, "-m", "tokenmizer_mw", "compress", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, encoding="utf-8", timeout=60)
    return done.returncode, done.stdout, done.stderr


def chat() -> list[dict[str, object]]:
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls -l"}'}}
    return [
        {"role": "user", "content": "List it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": LISTING},
    ]


@pytest.mark.parametrize("lines", [False, True])
def test_chat_in_a_file(tmp_path: Path, lines: bool) -> None:
    path = tmp_path / "chat.json"
    path.write_text("\n".join(map(json.dumps, chat())) if lines else json.dumps({"messages": chat()}), encoding="utf-8")
    status, out, err = run(str(path))
    told = json.loads(out)
    assert status == 0
    assert told[:2] == chat()[:2]
    assert told[2]["content"].startswith("module_0.py 100\n")
    assert "listings" in err
    assert "% saved" in err


def test_output_from_standard_input() -> None:
    assert run("--ran", "ls -l", given=LISTING)[1].splitlines()[0] == "module_0.py 100"
    assert run("--stages", "repeats", "--ran", "ls -l", given=LISTING)[1] == LISTING + "\n"


def test_json_tells_the_figures() -> None:
    told = json.loads(run("--json", "--ran", "ls -l", given=LISTING)[1])
    assert told["tokens_after"] < told["tokens_before"]
    assert set(told["stages"]) == {"listings"}


def test_json_as_the_output_of_a_tool() -> None:
    value = json.dumps([{"role": "admin", "id": 1}], indent=2)
    assert run("--text", given=value)[1] == '[{"role":"admin","id":1}]\n'


def test_secrets_are_taken_out() -> None:
    secret = "sk-" + "proj-" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=80))
    assert secret not in run(given=f"OPENAI_API_KEY={secret}\n")[1]


def test_what_is_wrong_is_said() -> None:
    assert run("/does/not/exist")[0] == 2
    status, _, err = run("--stages", "magic", given="x")
    assert status == 1
    assert "compress names stages" in err
