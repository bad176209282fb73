"""Redaction takes twice as long for twice as much, whatever the text is made of."""

from __future__ import annotations

import json
from typing import Final

import pytest

from tests.steps import call_growth, count_calls, cpu_growth
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.shape import draw_characters

REDACTOR: Final = Redactor(key=b"a key for tests of redaction")
SIZE: Final = 30_000

UNITS: Final[dict[str, str]] = {
    "letters": "A",
    "digits": "1",
    "dotted labels": "a.",
    "quotes": '\\"',
    "line ends": "a1B2c3D4e5F6\n",
    "a line's end in a run": "aB1" * 40 + "\n",
    "zero-width spaces": "a\u200b",
    "full-width letters": "\uff53\uff4b\uff0d",
    "full-width words": "\uff53\uff4b ",
    "percent escapes": "%41",
    "entities": "&#45;",
    "escapes of Markdown": "a\\_",
    "tags": "<b>a</b>",
    "joined literals": "'ab' 'cd' ",
    "hexadecimal": "736b2d61",
    "base 64 of text": "c2VjcmV0IGtleSBpcyBoZXJlIG5vdw== ",
    "secrets": f"Bearer {draw_characters('w', 16, 'a')} ",
    "words with numbers": "password is meadow-4821qk ",
    "stated words": "the password is walnut kettle saddle ",
    "stated and numbered": "the password's walnut_kettle_9 ",
    "stated names": "the password is user_input2 ",
    "words behind pass": "pass walnut77kettle ",
    "keys below their names": "secret key:\n",
    "cells of tables": "| sk-12345 |",
    "labelled words": "my password: walnut\n",
    "stated words in quotes": 'my password is "walnut ',
    "keys in lines": f"ghp_{draw_characters('w', 34, 'a')}\n",
    "keys and blanks": f"ghp_{draw_characters('w', 34, 'a')} ",
    "a key in lines": f"ghp_{draw_characters('w', 34, 'a')}\n" + f"{draw_characters('w', 20, 'b')}\n" * 50,
    "ends of lines, escaped": "a1B2c3D4e5F6\\n",
    "frames": "| a1B2c3D4e5F6 |\n",
    "assignments": "token: value ",
    "tables": "|password|b\n|a1b2c3|b\n",
    "key blocks": "-" * 5 + "BEGIN PRIVATE KEY" + "-" * 5,
    "beginnings of JWTs": "eyJ",
    "beginnings of JWTs, apart": "eyJ-_",
    "beginnings of JWTs, ended": "eyJ-_" * 700 + " .",
    "beginnings of keys": "sk-AKIAxox",
    "beginnings of long keys": "ATBB" + draw_characters("w", 4, "a") + "-",
    "beginnings of key blocks": "-" * 5 + "BEGIN ",
    "beginnings of addresses": "://",
    "many names": "export A_KEY=a1B2c3d4e5\n",
    "manifests": "kind: Secret\ndata:\n a: b\n",
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_steps_of_a_text(unit: str) -> None:
    assert call_growth(REDACTOR.redact, unit, SIZE) <= 2.3


@pytest.mark.nightly
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_time_of_a_text(unit: str) -> None:
    assert cpu_growth(REDACTOR.redact, unit, 4 * SIZE) <= 2.6


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_steps_of_a_body(unit: str) -> None:
    def redact_body(text: str) -> object:
        return REDACTOR.redact_body(json.dumps({"messages": [{"role": "user", "content": text}]}))

    assert call_growth(redact_body, unit, SIZE) <= 2.3


def test_ordinary_text_costs_no_more_steps_when_it_is_longer() -> None:
    """Where nothing may begin a secret and nothing is in disguise, the passes alone go through the text."""
    line = "We split the parser and the printer, then ran all tests again.\n"
    REDACTOR.redact(line)
    short, long = line * 10, line * 1_000
    assert count_calls(lambda: REDACTOR.redact(long)) == count_calls(lambda: REDACTOR.redact(short))


def test_beginnings_of_jwts_in_a_word_are_passed_over() -> None:
    """A JWT begins where a word does: the first pass stops nowhere in between."""
    REDACTOR.redact("eyJ")
    assert count_calls(lambda: REDACTOR.redact("eyJ" * 10_000)) <= 2 * count_calls(lambda: REDACTOR.redact("eyJ" * 10))


@pytest.mark.parametrize("before", ["", "x ", "%20", "\\n", "\x1b[0m", "eyJeyJ ", "eyJ-_" * 50 + " "])
def test_a_jwt_is_found_behind_what_looks_like_its_beginning(before: str) -> None:
    jwt = "eyJ" + ".".join(draw_characters("w", size, str(size)) for size in (30, 60, 43))
    assert jwt[:40] not in REDACTOR.redact(f"{before}{jwt} is it")
