"""Sections put into TOML texts and taken out again: nothing else of them changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenmizer_mw.agents.install.json_text import NotPlain
from tokenmizer_mw.agents.install.toml_text import with_section, without_section

NAME = "servers.ours"
SECTION = '[servers.ours]\ncommand = "o"\nargs = ["mcp"]\n'
PIECES = st.sampled_from(
    [
        "# a comment\n",
        "\n",
        "  \n",
        'a{} = """\n[servers.ours]\n\n# no comment"""\n',
        "b{} = '''\n[servers.ours.env]\n[other]\n'''\n",
        "c{} = [\n [1, 2],\n [3],\n]\n",
        "\n[servers.their{}]\ncommand = 'x' # mine\n",
        "[[list]]\nn = {}\n",
        "[t{}] # [servers.ours]\r\nx = nan\r\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=6).map(
    lambda pieces: "".join(piece.replace("{}", str(number)) for number, piece in enumerate(pieces))
)


@given(TEXTS, st.booleans())
def test_what_was_put_in_can_be_taken_out(text: str, ends: bool) -> None:
    text = text if ends else text.rstrip("\r\n")
    added = with_section(text, NAME, SECTION)
    assert tomllib.loads(added)["servers"]["ours"] == {"command": "o", "args": ["mcp"]}
    assert with_section(added, NAME, SECTION) == added
    assert without_section(text, NAME) == text
    assert without_section(added, NAME) == text


@given(TEXTS, TEXTS)
def test_what_comes_behind_our_last_key_stays(above: str, below: str) -> None:
    env = '[servers.ours.env]\nX = """\n# not a comment\n[servers.ours]\n"""\n'
    text = f"{above}\n{SECTION}\n# why\n{env}\n# of the next\n[next]\n{below.replace('their', 'those')}"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # two keys of the same name
        return
    after = without_section(text, NAME)
    assert "ours" not in tomllib.loads(after).get("servers", {})
    assert after == f"{above}\n# why\n\n# of the next\n[next]\n{below.replace('their', 'those')}"


def test_only_our_keys_are_set_in_a_section_that_is_there() -> None:
    text = (
        "[ servers . 'ours' ] # here\nargs = [\n  'old', # so\n]\n# kept\nstartup = 5\ncommand = 'p'\n"
        "\n# behind\n[servers.ours.env]\nX = '1'\n"
    )
    added = with_section(text, NAME, SECTION)
    assert added == (
        '[ servers . \'ours\' ] # here\ncommand = "o"\nargs = ["mcp"]\n# kept\nstartup = 5\n'
        "\n# behind\n[servers.ours.env]\nX = '1'\n"
    )
    assert with_section(added, NAME, SECTION) == added


@pytest.mark.parametrize(
    "text",
    [
        "servers = {ours = {command = 'x'}}\n",
        "[servers]\nours.command = 'x'\n",
        "servers.ours = {command = 'x'}\n",
        "[[servers.ours]]\ncommand = 'x'\n",
        "[servers.ours]\ncommand = 'x'\n[[servers.ours.list]]\na = 1\n",
    ],
)
def test_what_we_are_kept_in_otherwise_is_left_alone(text: str) -> None:
    with pytest.raises(NotPlain, match="keeps us"):
        without_section(text, NAME)
    if "list" not in text:
        with pytest.raises(NotPlain, match="keeps us"):
            with_section(text, NAME, SECTION)


def test_what_says_the_same_otherwise_stays() -> None:
    text = "servers.ours = {command = 'o', args = ['mcp'], env = {X = '1'}}\n"
    assert with_section(text, NAME, SECTION) == text


@pytest.mark.parametrize("text", ["a = \n", "[a", 'a = """\n', "a = 1\na = 2\n"])
def test_what_is_no_toml_is_left_alone(text: str) -> None:
    for work in (lambda: with_section(text, NAME, SECTION), lambda: without_section(text, NAME)):
        with pytest.raises(NotPlain, match="not TOML"):
            work()
