"""Secrets in files: over many lines, where a text is cut, in names, in what programs read, in columns."""

from __future__ import annotations

import base64
import io
import json
import random
import secrets
import zipfile

import pytest

from tests.sampling import sample
from tokenmizer_mw.cli import main
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.saving.files import analyze, excerpt
from tokenmizer_mw.saving.files.windows import WINDOW, show_lines

REDACTOR = Redactor(key=b"a key of this test run")
DASHES = "-" * 5


def github() -> str:
    return "ghp_" + "".join(secrets.choice("abcdefghijkmnpqrstuvwxyzABCDEFGHJK23456789") for _ in range(36))


def database() -> tuple[str, str]:
    password = "Hx7" + secrets.token_hex(9)
    return f"{'postgres'}://admin:{password}@db.example.com:5432/shop", password


def pem() -> list[str]:
    body = base64.b64encode(random.Random(5).randbytes(1_200)).decode()
    lines = [body[place : place + 64] for place in range(0, len(body), 64)]
    return [f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}", *lines, f"{DASHES}END RSA PRIVATE KEY{DASHES}"]


def told(contents: str, name: str = "a.txt") -> str:
    return analyze(io.BytesIO(contents.encode()), name=name, redactor=REDACTOR).text


def lines_of(contents: str, first: int, last: int, find: str = "", name: str = "a.txt") -> str:
    file = io.BytesIO(contents.encode())
    return excerpt(file, name=name, lines=(first, last), find=find, budget=20_000, redactor=REDACTOR)


@pytest.mark.parametrize("last", [0, 1, 7, 1_000])
def test_no_line_is_shown_or_read_far_behind_the_last(last: int) -> None:
    lines = ["a line of text\n"] * 20 * (WINDOW // 10)
    source = iter(lines)
    shown = show_lines(source, lambda number, line: True, last, REDACTOR)
    assert [number for number, _ in shown] == list(range(1, last + 1))
    assert len(list(source)) > len(lines) / 2


@pytest.mark.parametrize("first, last", [(1, 40), (5, 8), (8, 8), (2, 2), (20, 60)])
@pytest.mark.parametrize("before", [0, 3])
def test_no_line_of_a_key_is_shown(first: int, last: int, before: int) -> None:
    key = pem()
    contents = "\n".join([*(f"line {n}" for n in range(before)), *key, "behind the key", "and the end"])
    text = lines_of(contents, first, last)
    assert not [line for line in key[1:-1] if line in text]
    assert text.count("redacted:private-key") == int(first <= before + len(key) and last > before)
    assert ("behind the key" in text) == (last > before + len(key))


def test_a_key_is_not_shown_where_it_goes_from_one_window_to_the_next() -> None:
    key = pem()
    for lines in range(WINDOW // 10 - len(key) - 1, WINDOW // 10 + 3, 4):
        contents = "\n".join(["word word"] * lines + key + ["word word"] * 20)
        text = lines_of(contents, lines - 1, lines + len(key) + 3)
        assert not [line for line in key[1:-1] if line in text]
        assert "redacted:private-key" in text and f"{lines + len(key) + 1}: word word" in text


def test_a_find_in_a_key_shows_none_of_it() -> None:
    key = pem()
    text = lines_of("\n".join(["a", *key, "b"]), 1, 1_000, find=key[3][:20])
    assert key[3] not in text and "redacted:private-key" in text


def test_lines_without_secrets_are_shown_as_they_are() -> None:
    lines = [f"{n} of many lines" for n in range(1, 9_001)]
    assert lines_of("\n".join(lines), 4_000, 4_200).splitlines() == [
        f"{n}: {lines[n - 1]}" for n in range(4_000, 4_201)
    ]
    assert lines_of("\n".join(lines), 1, 9_000, find="8999 of") == "8999: 8999 of many lines"


def test_the_cells_of_a_column_with_a_telling_name_are_not_shown_far_below_it() -> None:
    passwords = [f"Kx9{secrets.token_hex(5)}" for _ in range(3_000)]
    contents = "user,password\n" + "".join(f"u{n},{one}\n" for n, one in enumerate(passwords))
    text = lines_of(contents, 2_900, 2_905, name="a.csv")
    assert not [one for one in passwords if one in text]
    assert text.startswith("2900: u2898,redacted:") and len(text.splitlines()) == 6


@pytest.mark.parametrize("place", sample(range(100, 171, 5), 4))
def test_a_cut_leaves_nothing_of_a_secret(place: int) -> None:
    url, password = database()
    word = "word " * 40
    line = word[:place] + url + " and more words" * 40
    texts = [
        told(line + "\nb\nc\nd\n"),
        told("b\nc\nd\ne\n" + line),
        told(f"# {line}\n", "a.md"),
        told(f"2026-01-01 10:00:00 ERROR {line}\n" * 3, "a.log"),
        told(f"2026-01-01 10:00:00 ERROR {word * 2}{line}\n" * 3, "a.log"),
        told(f"  public static void main(String a, {line}) {{\n", "A.java"),
        told(f"int main(int a, {word}{line}) {{\n", "a.c"),
        told(json.dumps({"note": line}), "a.json"),
        told(json.dumps([line, line + "b", line + "c"]), "a.json"),
        told(f"a,b\n1,{line}\n2,{line}\n", "a.csv"),
    ]
    assert not [text for text in texts if password[:4] in text]


def test_a_text_that_ends_in_a_key_does_not_tell_its_last_line() -> None:
    key = pem()
    assert key[-2] not in told("\n".join(["a", "b", *key[:-1]]))


def test_what_programs_read_is_cleaned() -> None:
    token, url = github(), database()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(f"../{token}", b"x")
        archive.writestr(f"a.{token}", b"x")
    digests = [
        analyze(held, name="a.zip", redactor=REDACTOR),
        analyze(io.BytesIO(f"a,{token}\n1,2\n3,4\n".encode()), name="a.csv", redactor=REDACTOR),
        analyze(io.BytesIO(json.dumps({token: {"a": url[0]}}).encode()), name="a.json", redactor=REDACTOR),
    ]
    for digest in digests:
        shown = json.dumps(digest.to_dict())
        assert token.lower() not in shown.lower() and url[1] not in shown and "redacted:" in shown
    assert digests[0].facts["entries"] == 2 and len(digests[0].facts["unsafe"]) == 1


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.csv", "a.toml", "a.xml"])
def test_a_name_that_is_a_secret(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    token, password = github(), "Hx7" + secrets.token_hex(9)
    contents = {
        "a.json": json.dumps({token: "text", "password": password}),
        "a.yaml": f"{token}: text\npassword: {password}\n",
        "a.csv": f"{token},password\ntext,{password}\nother,{password}\n",
        "a.toml": f'{token} = "text"\npassword = "{password}"\n',
        "a.xml": f'<a {token}="text" password="{password}"/>',
    }[name]
    path = tmp_path_factory.mktemp("files") / name
    path.write_text(contents)
    assert main(["analyze", str(path)]) == 0
    text = told(contents, name)
    assert token not in text and password not in text and "text" in text


@pytest.mark.parametrize("behind", [b", \xff}", b", oops}", b"} trailing", b""])
def test_where_json_breaks_off_nothing_of_the_file_is_quoted(behind: bytes) -> None:
    key = github()
    contents = b'{"a": "' + key.encode() + b'"' + behind
    digest = analyze(io.BytesIO(contents), name="a.json", redactor=REDACTOR)
    assert not any(key[at : at + 8] in f"{digest.text}{digest.partial}" for at in range(len(key) - 8))
    assert "what follows is not read" in f"{digest.partial}"
