"""Keys in several pieces: lines of one width, quotations, literals, tags. No third of a key stays, and no word behind
it goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest

from tests.sampling import covering
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.key_breaks import Break, goes_on, is_drawn
from tokenmizer_mw.safety.redact.shape import draw_characters, fakes

REDACTOR: Final = Redactor(key=b"a key for tests of redaction")


def _fake(shape: str) -> str:
    return next(fakes(shape, "wrapped"))


KEYS: Final = {
    "github": _fake("ghp_{w36}"),
    "github fine-grained": _fake("github_pat_{w22}_{w59}"),
    "anthropic": _fake("sk-ant-api03-{W93}AA"),
    "openai": _fake("sk-proj-{W60}"),
    "openai, old": _fake("sk-{w48}"),
    "jwt": _fake("eyJ{w33}.eyJ{w60}.{W43}"),
    "huggingface": _fake("hf_{w34}"),
    "xai": _fake("xai-{w80}"),
    "slack": _fake("xoxb-{d12}-{d13}-{w24}"),
    "gitlab": _fake("glpat-{w20}"),
    "databricks": _fake("dapi{h32}"),
    "header": "Authorization: Bearer " + _fake("{w60}"),
    "assigned": "api_key = " + _fake("{w64}"),
}
WIDTHS: Final = (12, 16, 20, 24, 30, 36, 40, 48, 54, 60, 64, 72, 76, 80)

Form = Callable[[str, list[str]], tuple[str, str, str]]
"""From a name and the lines of a key: what stands before it, the key as it is written, and what stands behind it."""


def _between(before: str, between: str, behind: str) -> Form:
    return lambda name, lines: (before, name + between.join(lines), behind)


FORMS: Final[dict[str, Form]] = {
    "lines": _between("for staging:\n", "\n", "\n(that one)"),
    "before a sentence": _between("for staging:\n", "\n", "\nThanks for that"),
    "in a sentence": _between("the one we use is ", "\n", " for now"),
    "before a list": _between("for staging:\n", "\n", "\n- rotate it\n- then deploy"),
    "before an assignment": _between("for staging:\n", "\n", "\nREGION=eu-central-1\n"),
    "other line ends": _between("for staging:\r\n", "\r\n", "\r\nbye then"),
    "quotation": _between("> hello\n> ", "\n> ", "\n> bye"),
    "quotation of a quotation": _between(">> hello\n>> ", "\n>> ", "\n>> bye"),
    "indent": _between("see:\n    ", "\n    ", "\n\nok"),
    "hanging indent": _between("see: ", "\n          ", "\n\nok"),
    "shell": _between("export X=", "\\\n", "\necho done"),
    "shell, indented": _between("run --with ", "\\\n    ", " \\\n    --verbose"),
    "comment": _between("# ", "\n# ", "\ncode()"),
    "comment of a block": _between("/**\n * ", "\n * ", "\n */"),
    "code of Markdown": _between("- key: `", "\n  ", "`\n- next"),
    "bold in Markdown": _between("**", "\n", "**\nand so on"),
    "block of Markdown": _between("```\n", "\n", "\n```\nand so on"),
    "a string's escapes": _between('{"a": "', "\\n", '\\nbye"}'),
    "a string's escapes, escaped": _between('x = "{\\"a\\": \\"', "\\\\n", '\\""'),
    "quoted-printable": _between("tok ", "=\n", "\nbye"),
    "breaks of HTML": _between("<p>", "<br>", "<br>bye</p>"),
    "frame": _between("| ", " |\n| ", " |\n"),
    "frame of a terminal": _between("│ ", " │\n│ ", " │\n"),
    "numbered lines": _between("    11→", "\n    12→", "\n    13→run()"),
    "numbered lines of grep": _between("11:", "\n12:", "\n13:run()"),
    "literals": lambda name, lines: ("k = ", f'("{name}' + '"\n     "'.join(lines) + '")', "\nrun(k)"),
    "sum of literals": lambda name, lines: ("k = ", f'"{name}' + '" + "'.join(lines) + '"', "\nrun(k)"),
    "zero-width spaces": _between("k ", "\u200b", " is it"),
    "soft hyphens": _between("k ", "\u00ad", " is it"),
    "entities": _between("k ", "&shy;", " is it"),
}


def _lines(key: str, width: int) -> tuple[str, list[str]]:
    """The name that a key is given, and the lines of the key."""
    name, _, key = key.rpartition(" ")
    return name + " " if name else "", [key[start : start + width] for start in range(0, len(key), width)]


def _left(key: str, text: str) -> int:
    """Characters of the longest run of ``key`` in ``text``."""
    longest = 0
    for start in range(len(key)):
        while start + longest < len(key) and key[start : start + longest + 1] in text:
            longest += 1
    return longest


@pytest.mark.parametrize(("kind", "form"), covering(KEYS, FORMS))
def test_no_third_of_a_wrapped_key_is_left(kind: str, form: str) -> None:
    for width in WIDTHS:
        name, lines = _lines(KEYS[kind], width)
        if len(lines) < 2:
            continue
        before, written, behind = FORMS[form](name, lines)
        redacted = REDACTOR.redact(before + written + behind)
        key = "".join(lines)
        assert max(_left(key, redacted), sum(len(line) for line in lines if line in redacted)) < len(key) / 3, width
        assert redacted.startswith(before) and redacted.endswith(behind), (width, redacted)
        assert REDACTOR.redact(redacted) == redacted, width


@pytest.mark.parametrize("kind", [kind for kind in KEYS if " " not in KEYS[kind]])
@pytest.mark.parametrize("lead", ["It is ", "Hello there, we are to use ", "> The key of the new server for you is "])
def test_no_third_of_a_key_in_a_sentence_of_a_terminal_is_left(kind: str, lead: str) -> None:
    key = KEYS[kind]
    text = f"{lead}{key} for the new server, and not for the old one."
    for width in (28, 32, 40, 52, 64, 80):
        wrapped = "\n".join(text[place : place + width] for place in range(0, len(text), width))
        redacted = REDACTOR.redact(wrapped)
        assert _left(key, redacted) < len(key) / 3, (width, redacted)
        assert "the old one." in redacted.replace("\n", "") and redacted.startswith(lead[:20]), (width, redacted)


@pytest.mark.parametrize("form", FORMS)
def test_a_body_and_what_is_kept_have_no_third_of_a_wrapped_key(form: str) -> None:
    name, lines = _lines(KEYS["anthropic"], 40)
    text = "".join(FORMS[form](name, lines))
    body = json.dumps({"messages": [{"role": "user", "content": text}]})
    memory = SessionMemory.open("memory://")
    memory.record("s", [{"role": "user", "content": f"We decided to use this deploy key for staging: {text}"}])
    shown = [REDACTOR.redact_body(body), memory.recall("s", "which deploy key for staging", budget=400).text]
    for text in (*shown, memory.restore("s", [1])[0].text, json.dumps(memory.graph("s").to_dict())):
        assert _left("".join(lines), text) < 30, text


@pytest.mark.parametrize("where", ["full-width", "entities", "percent", "mathematical"])
def test_a_key_in_plain_letters_and_then_in_others_goes_whole(where: str) -> None:
    key = KEYS["anthropic"]
    spelt = {
        "full-width": "".join(chr(ord(char) + 0xFEE0) for char in key[40:]),
        "entities": "".join(f"&#{ord(char)};" for char in key[40:]),
        "percent": "".join(f"%{ord(char):02x}" for char in key[40:]),
        "mathematical": "".join(chr(0x1D41A + ord(char) - 97) if char.islower() else char for char in key[40:]),
    }[where]
    assert REDACTOR.redact(f"it is {key[:40]}{spelt} for now").count(" ") == 4
    assert REDACTOR.redact(f"it is {key[:40]}{spelt} for now").endswith(" for now")


@pytest.mark.parametrize("width", [36, 40, 54])
def test_a_key_with_blanks_between_long_pieces_goes_whole(width: int) -> None:
    _, lines = _lines(KEYS["anthropic"], width)
    redacted = REDACTOR.redact(f"it is {' '.join(lines)} for now")
    assert _left(KEYS["anthropic"], redacted) < 8 and redacted.endswith(" for now")


BEHIND: Final = (
    "Thanks",
    "Thanks, that works.",
    "bye",
    "and the rest of it is in the vault",
    "OPENAI_ORG=org-4711",
    "export REGION=eu-central-1",
    "user: bob",
    "https://example.org/a/b?c=d",
    "src/app/handlers/loginHandler.py is the file",
    "getUserById2 reads it",
    "README.md",
    "2026-11-29T10:00:00Z started",
    "20261129 started",
    "v2.14.1-rc3",
    "python3.11",
    "i18n",
    "x86_64-linux-gnu",
    "3f2a9c1 Fix the parser",
    draw_characters("h", 40, "commit"),
    f"{draw_characters('h', 8, 'a')}..{draw_characters('h', 8, 'b')}",
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    "-----BEGIN CERTIFICATE-----",
    "---",
    "- item",
    "1. first",
    "=====",
    "Zugangsdaten",
    "Schlüssel steht oben",
    "contraseña",
    "12345",
    "+49 30 123456",
    "print(value)",
    "MAX_TOKENS_PER_MINUTE",
    "| name | value |",
    "日本語",
    "// next",
    "foo@example.org",
    "aws s3 ls",
)


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("between", ["\n", "\n> ", "\r\n    ", "\\n", "<br>", " ", " \\\n    ", "\n    12→"])
def test_what_stands_behind_a_key_stays(between: str, behind: str) -> None:
    for kind in ("anthropic", "openai, old", "jwt", "assigned"):
        redacted = REDACTOR.redact(f"use {KEYS[kind]}{between}{behind}")
        assert redacted.endswith(between + behind) and "redacted:" in redacted, (kind, redacted)


def test_keys_in_a_list_stay_apart() -> None:
    keys = [next(fakes("sk-ant-api03-{W93}AA", str(number))) for number in range(4)]
    for between in ("\n", "\n- ", " ", "\n> "):
        assert len(REDACTOR.find(between.join(keys))) == 4
    assert len(REDACTOR.find("[" + ", ".join(f'"{key}"' for key in keys) + "]")) == 4


def test_lines_behind_a_private_key_stay() -> None:
    edge = "-" * 5
    block = f"{edge}BEGIN PRIVATE KEY{edge}\n{draw_characters('b', 64, 'a')}\n{edge}END PRIVATE KEY{edge}"
    assert REDACTOR.redact(f"{block}\nand so on").endswith("\nand so on")


@pytest.mark.parametrize(
    ("run", "drawn"),
    [
        (draw_characters("w", 12, "drawn"), True),
        (draw_characters("h", 20, "drawn"), True),
        (draw_characters("w", 7, "drawn"), False),
        ("getElementById", False),
        ("base64Encoder", False),
        ("a/b/c/d/e/f1/g2/h3", False),
    ],
)
def test_what_is_drawn_is_told_from_names(run: str, drawn: bool) -> None:
    assert is_drawn(run) is drawn


def test_a_short_rest_belongs_to_lines_of_one_width_only() -> None:
    line, rest = draw_characters("w", 20, "line"), "k9Qz"
    text = f"{line}\n{rest} there"
    assert not goes_on(text, Break.at(text, 20, 21))
    assert goes_on(text, Break.at(text, 20, 21), steady=True)
    assert goes_on(text, Break.at(text, 20, 21), explicit=True)
