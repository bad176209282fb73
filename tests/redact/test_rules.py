"""Every row of the tables finds its examples, whole and wherever they stand, and leaves its counter-examples alone."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import product

import pytest

from tokenmizer_mw.safety.redact import Redactor
from tokenmizer_mw.safety.redact.judge import CHECKS, is_base58check, is_iban, is_stellar_key, passes_luhn
from tokenmizer_mw.safety.redact.places import PlaceRule
from tokenmizer_mw.safety.redact.rules import PLACES, TOKENS
from tokenmizer_mw.safety.redact.shape import (
    ALPHABETS,
    Token,
    draw_characters,
    expand_alphabet,
    fakes,
    fill_shape,
    pieces,
)

PLAIN = [pytest.param(rule, id=f"{rule.kind}-{rule.shape[:20]}") for rule in TOKENS if rule.examples]
SHAPED = re.compile(r"\{(?:uuid|[A-Za-z_-][0-9])")
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def made(shape: str) -> str:
    """The first of the fakes of a shape that may have checks of its own."""
    return (
        next(fakes(shape, "row"))
        if shape
        else base64.b64encode(f"bob:{draw_characters('w', 14, 'row')}".encode()).decode()
    )


def base58(raw: bytes) -> str:
    number, text = int.from_bytes(raw + hashlib.sha256(hashlib.sha256(raw).digest()).digest()[:4], "big"), ""
    while number:
        number, place = divmod(number, 58)
        text = ALPHABET[place] + text
    return text


CONTEXTS = ("{s}", "see {s}, please", "是{s}。", "({s}).", '"{s}"')


@pytest.mark.parametrize("rule", PLAIN)
def test_row_finds_its_examples_whole_and_leaves_its_counter_examples(rule: Token, redactor: Redactor) -> None:
    for context, example in product(CONTEXTS, rule.examples):
        text = context.replace("{s}", example)
        start = text.index(example)
        found = redactor.find(text)
        assert [(one.start, one.end) for one in found] == [(start, start + len(example))], text
    for counter in rule.counters:
        assert rule.kind not in {one.kind for one in redactor.find(counter)}, counter


@pytest.mark.parametrize(
    "rule", [rule for rule in TOKENS if rule.check in ("mixed", "digits")], ids=lambda rule: rule.kind
)
def test_checked_rows_find_what_passes_the_check(rule: Token, redactor: Redactor) -> None:
    for shape in rule.shapes:
        prefix = "".join(piece.literals[0] for piece in pieces(shape) if piece.literals)
        good = [
            fake
            for seed in range(40)
            for fake in fakes(shape, str(seed))
            if sum(map(str.isdigit, fake[len(prefix) :])) > 3 and CHECKS[rule.check](fake[len(prefix) :])
        ]
        found = [redactor.find(f"see {fake} there") for fake in good]
        caught = sum(
            bool(one) and one[0].start == 4 and one[0].end == 4 + len(fake)
            for one, fake in zip(found, good, strict=True)
        )
        assert good
        assert caught >= 0.9 * len(good)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.kind}-{place.gate[:20]}")
def test_place_finds_the_secret_and_leaves_its_counter_example(place: PlaceRule, redactor: Redactor) -> None:
    before, secret, after = (place.example[0], made(place.example[1]), place.example[2])
    before, after = (made(part) if SHAPED.search(part) else part for part in (before, after))
    found = redactor.find(before + secret + after)
    assert any(one.start <= len(before) and one.end >= len(before + secret) for one in found), found
    assert all(one.start >= len(before) - 60 and one.end <= len(before + secret) + 2 for one in found)
    counter = made(place.counter) if SHAPED.search(place.counter) else place.counter
    assert redactor.find(counter) == []


def test_shapes_are_readable_and_their_alphabets_known() -> None:
    for rule in TOKENS:
        for shape in rule.shapes:
            assert pieces(shape)
            assert all(piece.literals or piece.alphabet in ALPHABETS for piece in pieces(shape))
            assert len(fill_shape(shape, "x")) == len(next(fakes(shape)))


def test_tables_cover_two_hundred_kinds_with_names_that_placeholders_can_show(redactor: Redactor) -> None:
    kinds = {rule.kind for rule in TOKENS} | {place.kind for place in PLACES}
    assert len(kinds) >= 200
    assert all(set(kind) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for kind in kinds)


def test_drawing_is_repeatable_and_spreads_over_the_alphabet() -> None:
    assert draw_characters("w", 50, "a") == draw_characters("w", 50, "a") != draw_characters("w", 50, "b")
    assert set(draw_characters("h", 2000, "a")) == set(expand_alphabet("h"))


def test_coins_need_their_checksum(redactor: Redactor) -> None:
    wif = base58(b"\x80" + hashlib.sha256(b"coin").digest())
    assert is_base58check(wif)
    assert [one.kind for one in redactor.find(f"wif {wif}")] == ["bitcoin-wif-key"]
    assert redactor.find(f"wif {wif[:-1]}{'1' if wif[-1] != '1' else '2'}") == []
    assert not is_stellar_key("S" + "A" * 55)


@pytest.mark.parametrize(
    ("text", "good"),
    [("4111 1111 1111 1111", True), ("5555 5555 5555 4444", True), ("4111 1111 1111 1112", False), ("1234", False)],
)
def test_cards_carry_a_check_digit(text: str, good: bool) -> None:
    assert passes_luhn(text) is good


@pytest.mark.parametrize(
    ("text", "good"), [("GB82 WEST 1234 5698 7654 32", True), ("GB82 WEST 1234 5698 7654 33", False)]
)
def test_ibans_carry_a_checksum(text: str, good: bool) -> None:
    assert is_iban(text) is good
