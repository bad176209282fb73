"""Absolute and relative paths of one file are one fact; files that only share their name are several."""

from __future__ import annotations

from typing import Any

import pytest

from tokenmizer_mw import SessionMemory

APP = "/home/x/app"


def edit(path: str) -> tuple[str, dict[str, str]]:
    return "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}


def bash(command: str) -> tuple[str, dict[str, str]]:
    return "Bash", {"command": command}


def files(*steps: tuple[str, dict[str, str]] | str) -> dict[str, str]:
    """The files of a session with these tool calls and messages, each with what is told of it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Let's work on the app."}]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            messages.append({"role": "user", "content": step})
            continue
        name, arguments = step
        call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    with SessionMemory.open("memory://") as memory:
        memory.record("s", messages)
        return {node.label: node.detail for node in memory.graph("s").nodes("file")}


@pytest.mark.parametrize(
    "steps",
    [
        (edit(f"{APP}/src/main.py"), edit("src/main.py")),
        (edit("src/main.py"), edit(f"{APP}/src/main.py")),
        (edit(f"{APP}/src/main.py"), edit("./src/main.py"), "Please fix src/main.py, it is broken."),
        (edit(f"{APP}/src/main.py"), bash(f"cd {APP} && touch src/main.py")),
        (edit(f"{APP}/src/main.py"), "main.py is broken, please fix it."),
    ],
)
def test_one_file_by_two_paths_is_one_fact(steps: Any) -> None:
    assert list(files(*steps)) == [f"{APP}/src/main.py"]


def test_a_relative_path_is_that_of_the_outermost_folder() -> None:
    root, inner = f"{APP}/package.json", f"{APP}/packages/a/package.json"
    assert set(files(edit(inner), edit(root), edit("package.json"))) == {root, inner}
    deleted = files(edit(inner), edit(root), bash("rm package.json"))
    assert (deleted[root], deleted[inner]) == ("deleted", "edited")


def test_a_path_that_two_files_end_with_is_neither() -> None:
    one, two = "/srv/one/src/main.py", "/srv/two/src/main.py"
    assert set(files(edit(one), edit(two), edit("src/main.py"))) == {one, two, "src/main.py"}
    told = files(edit(one), edit(two), bash("rm src/main.py"))
    assert (told[one], told[two]) == ("edited", "edited")


def test_talk_of_a_name_that_two_files_have_makes_no_third() -> None:
    one, two = "/srv/one/src/main.py", "/srv/two/src/main.py"
    assert set(files(edit(one), edit(two), "Please fix main.py, it is broken.")) == {one, two}
