"""Keys that are no keys as they stand, and become some again when they are normalised, rendered or joined."""

from __future__ import annotations

import base64
import json
import string
import unicodedata
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import pytest

from tests.sampling import sample
from tokenmizer_mw import SessionMemory
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.disguise import find_disguised, find_windows
from tokenmizer_mw.safety.redact.rules import TOKENS
from tokenmizer_mw.safety.redact.views import _ODD, views

REDACTOR: Final = Redactor(key=b"a key for tests of redaction")


def _is_one_word(key: str) -> bool:
    return len(key) >= 24 and not set(key) - set(string.ascii_letters + string.digits + "_-.")


KEYS: Final = {
    rule.kind: key
    for rule in TOKENS
    for key in rule.examples[:1]
    if _is_one_word(key) and len(REDACTOR.find(f"it is {key} now")) == 1
}
"""One key of each vendor, made when this module is loaded."""

SIGNS: Final = {"_": "&lowbar;", "-": "&#45;", ".": "&period;"}
FULL_WIDTH: Final = {ord(char): chr(ord(char) + 0xFEE0) for char in string.ascii_letters + string.digits + "_-."}
MATHEMATICAL: Final = {
    **{ord(char): chr(0x1D400 + place) for place, char in enumerate(string.ascii_uppercase + string.ascii_lowercase)},
    **{ord(char): chr(0x1D7CE + place) for place, char in enumerate(string.digits)},
}


def _inside(what: str) -> Callable[[str], str]:
    return lambda key: key[: len(key) // 2] + what + key[len(key) // 2 :]


def _wrapped(key: str, start: str, between: str, end: str) -> str:
    return start + _inside(between)(key) + end


DISGUISES: Final[dict[str, Callable[[str], str]]] = {
    "zero-width space": _inside("\u200b"),
    "zero-width space everywhere": "\u200b".join,
    "zero-width joiner": _inside("\u200d"),
    "soft hyphen": _inside("\u00ad"),
    "byte order mark": _inside("\ufeff"),
    "word joiner": _inside("\u2060"),
    "right-to-left mark": _inside("\u200f"),
    "control character": _inside("\x02"),
    "C1 control character": _inside("\x85"),
    "variation selector": _inside("\ufe0f"),
    "tag character": _inside("\U000e0041"),
    "Hangul filler": _inside("\u3164"),
    "full-width letters": lambda key: key.translate(FULL_WIDTH),
    "one full-width letter": lambda key: key[:-4] + key[-4:].translate(FULL_WIDTH),
    "mathematical letters": lambda key: key.translate(MATHEMATICAL),
    "percent escapes": lambda key: "".join(f"%{ord(char):02X}" for char in key),
    "percent escapes of letters": lambda key: key[:9] + "".join(f"%{ord(char):02x}" for char in key[9:]),
    "decimal entities": lambda key: "".join(f"&#{ord(char)};" for char in key),
    "hexadecimal entities": lambda key: "".join(f"&#x{ord(char):x};" for char in key),
    "named entities": lambda key: "".join(SIGNS.get(char, char) for char in key) + "&shy;",
    "escapes of Markdown": lambda key: "".join(f"\\{char}" if char in "_-." else char for char in key),
    "escapes of a string": lambda key: "".join(f"\\x{ord(char):02x}" for char in key),
    "Unicode escapes": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "a terminal's colour": _inside("\x1b[1;31m"),
    "a line's end": _inside("\n"),
    "a line's end and an indent": _inside("\r\n    "),
    "a continued line": _inside("\\\n"),
    "quoted-printable": _inside("=\n"),
    "joined literals": lambda key: _wrapped(key, '"', '" + "', '"'),
    "literals with prefixes": lambda key: "f" + _wrapped(key, "'", "' f'", "'"),
    "adjacent literals": lambda key: _wrapped(key, "'", "'\n        '", "'"),
    "tags of HTML": _inside("<wbr>"),
    "percent escapes twice": lambda key: "".join(f"%25{ord(char):02X}" for char in key),
    "percent escapes of what is not seen": _inside("%E2%80%8B"),
    "percent escapes of full-width letters": lambda key: quote(key.translate(FULL_WIDTH)),
    "entities twice": lambda key: "".join(f"&amp;#{ord(char)};" for char in key),
    "entities without their end": lambda key: "".join(f"&#{ord(char)}" for char in key),
    "padded entities": lambda key: "".join(f"&#{ord(char):09d};" for char in key),
    "an entity of what is not seen": _inside("&#8203;"),
    "an escape of what is not seen": _inside("\\u200b"),
    "octal escapes": lambda key: "".join(f"\\{ord(char):03o}" for char in key),
    "escapes in braces": lambda key: "".join(f"\\u{{{ord(char):x}}}" for char in key),
    "long escapes": lambda key: "".join(f"\\U{ord(char):08x}" for char in key),
    "a tag with attributes": _inside('<span class="token">'),
    "underlined": lambda key: f"{key[:12]}<u>{key[12:]}</u>",
    "a comment of HTML": _inside("<!-- -->"),
    "bold in Markdown": lambda key: f"{key[:12]}**{key[12:17]}**{key[17:]}",
    "ticks of Markdown": _inside("``"),
    "a comment's next line": lambda key: f"# {key[: len(key) // 2]}\n# {key[len(key) // 2 :]}",
    "a terminal's character set": _inside("\x1b(B"),
    "a terminal's keyboard": _inside("\x1b[>4;2m"),
    "a terminal's colour, spelt": _inside("\\033[31m"),
    "a terminal's colour in eight bits": _inside("\x9b31m"),
    "struck twice": lambda key: "".join(f"{char}\b{char}" for char in key),
    "a terminal's link": _inside("\x1b]8;;http://example.org\x1b\\"),
    "base 64 of UTF-16": lambda key: base64.b64encode(key.encode("utf-16-le")).decode(),
    "base 64 with other lines": lambda key: base64.b64encode(f"é\t1\r\n{key}\r\n".encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "base 64": lambda key: base64.b64encode(key.encode()).decode(),
}


def test_there_are_enough_of_both() -> None:
    assert len(DISGUISES) >= 30 and len(KEYS) >= 20


@pytest.mark.parametrize("name", sample(list(DISGUISES), 2))
def test_no_key_survives(name: str) -> None:
    for kind, key in KEYS.items():
        told = DISGUISES[name](key)
        if told == key:
            continue
        text = f"the one we use is {told} for now"
        redacted = REDACTOR.redact(text)
        assert told not in redacted and "redacted:" in redacted, kind
        assert redacted.startswith("the one we use is ") and redacted.endswith(" for now"), kind
        assert REDACTOR.redact(redacted) == redacted, kind
        for ascii_only in (True, False):
            body = json.dumps({"messages": [{"role": "user", "content": text}]}, ensure_ascii=ascii_only)
            clean = json.loads(REDACTOR.redact_body(body))["messages"][0]["content"]
            assert told not in clean and "redacted:" in clean, kind


@pytest.mark.parametrize("name", DISGUISES)
def test_nothing_that_is_kept_shows_a_key(name: str) -> None:
    """After a whole session the graph, the block, exports and recall hold neither the key nor what it looked like."""
    kinds = list(KEYS)[:3]
    with_key = [DISGUISES[name](KEYS[kind]) for kind in kinds]
    memory = SessionMemory.open("memory://")
    messages = [
        {"role": "user", "content": f"We decided to use the deploy key {told} for staging."} for told in with_key
    ]
    memory.record("s", messages)
    shown = [json.dumps(memory.graph("s").to_dict(), ensure_ascii=False), memory.export("s", "markdown")]
    shown += [memory.resume("s", budget=600).text, memory.recall("s", "which deploy key for staging", budget=400).text]
    for told, kind in zip(with_key, kinds, strict=True):
        for text in shown:
            assert KEYS[kind] not in flatten(text, limit=len(text) * 2), kind
            assert told not in text, kind


@pytest.mark.parametrize("char", ["\ue000", "\u0378", "\ufffe", "\U00100000", "\ud800"])
def test_a_label_joins_nothing_across_a_character_without_a_meaning(char: str) -> None:
    assert flatten(f"AKIA{char}QQ") == "AKIA QQ"


@pytest.mark.parametrize("start", ["data:;base64,", "data:text/plain;base64,", f"data:image/png;base64,{'A' * 400} "])
def test_the_words_behind_data_are_read(start: str) -> None:
    for kind, key in KEYS.items():
        for text in (f"{start}{key}", f"{start}AAAA\nthe one we use is {key} for now"):
            body = json.dumps({"messages": [{"role": "user", "content": text}]})
            assert key not in REDACTOR.redact_body(body), kind


def test_data_itself_stays() -> None:
    data = base64.b64encode(bytes(range(256)) * 40).decode()
    for url in (f"data:image/png;base64,{data}", f"data:application/octet-stream;base64,{data.rstrip('=')}/{'A' * 40}"):
        body = json.dumps({"messages": [{"role": "user", "content": [{"type": "custom", "link": url}]}]})
        assert REDACTOR.redact_body(body) is body


@pytest.mark.parametrize("name", ["encrypted_content", "thoughtSignature", "thought_signature"])
def test_members_of_the_api_are_none_in_what_tools_said(name: str) -> None:
    for kind, key in KEYS.items():
        said = json.dumps({name: key})
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": said}}
        messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": said}]
        redacted = REDACTOR.redact_body(json.dumps({"messages": messages, "input": {name: key}}))
        assert key not in redacted, kind
    sealed = json.dumps({"input": [{"type": "reasoning", name: next(iter(KEYS.values()))}]})
    assert REDACTOR.redact_body(sealed) is sealed


def test_every_character_that_a_label_joins_is_looked_at() -> None:
    """What a label makes part of a key sets off the search, as it stands and escaped in JSON."""
    key = set(string.ascii_letters + string.digits + "_-+/=~")
    missed = []
    for code in range(0x80, 0x110000):
        char = chr(code)
        if 0xD800 <= code < 0xE000 or unicodedata.category(char) in ("Cn", "Co"):
            continue
        shown = flatten(f"a{char}b")
        if shown != "ab" and not set(shown[1:-1]) & key:
            continue
        for spelt in (f"AKIA{char}QQ", json.dumps(f"AKIA{char}QQ")):
            if next(find_disguised(spelt.encode()), None) is None:
                missed.append(spelt)
    assert missed == []


def test_every_character_that_a_label_changes_is_known() -> None:
    """Whatever vanishes from a label, or becomes part of a key there, is looked for."""
    import re

    odd = re.compile(f"[{_ODD}\x01-\x1f\x7f]")
    key = set(string.ascii_letters + string.digits + "_-+/=~")
    missed = [
        hex(code)
        for code in range(0x80, 0x110000)
        if not 0xD800 <= code < 0xE000
        and unicodedata.category(chr(code)) not in ("Cn", "Co")
        and (flatten(f"a{chr(code)}b") == "ab" or set(unicodedata.normalize("NFKC", chr(code))) & key)
        and not odd.match(chr(code))
    ]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "see docs/guide/intro.md\nand src/pkg/module_2.py\nfor more",
        "the hash is 2cdc8a6e3f1b4a5d6c7e8f90123456789abcdef0 \u2705\ufe0f done",
        "\u91cd\u65b0\u90e8\u7f72\uff01\u7248\u672c\uff1a\uff12\uff0e\uff10\uff08\u65b0\uff09",
        "https://example.org/a%20b?next=%2Fhome%2Fuser%3Ftab%3D1",
        "re.compile(r'\\w+\\.py$') and 'a' + 'b'",
        "x\u00b2 + y\u00b2 = 1\u2122",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert REDACTOR.redact(text) is text


def test_a_key_on_three_lines_is_found() -> None:
    """Each end of a line is looked at, also where the line before it was looked at already."""
    for key in (key for key in KEYS.values() if len(key) >= 36):
        third = len(key) // 3
        lines = [key[:third], key[third : 2 * third], key[2 * third :]]
        wrapped = "\n".join(lines)
        redacted = REDACTOR.redact(f"for staging:\n{wrapped}\n(that one)")
        assert "redacted:" in redacted and not any(line in redacted for line in lines), key


def test_places_are_mapped_back() -> None:
    raw = "ab\u200bcd".encode()
    (view,) = views(raw, find_windows(raw))
    assert view.text == b"abcd"
    assert view.origin(0, 4) == (0, len(raw))
    assert view.origin(0, 2) is None
    assert list(find_disguised(b"plain words only")) == []
