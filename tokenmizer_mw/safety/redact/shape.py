"""The notation for the shapes of credentials, with which tables describe credentials without containing any; and
``Token``, the type of a row in those tables.

A shape is literal text with pieces in braces: ``{w36}`` is 36 letters or digits, ``{w36+}`` at least as many,
``{w20-40}`` a range, ``{a|b}`` one of some literals. So "ghp_{w36}" is a token of GitHub. Made from a shape are: the
pattern for the whole credential, the pattern for its beginning that a scan searches for, and generated credentials for
tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product, takewhile
from typing import Final

ALPHABETS: Final = {
    "w": "A-Za-z0-9", "W": "A-Za-z0-9_-", "h": "a-f0-9", "H": "A-Fa-f0-9", "u": "A-Z0-9", "U": "A-Z", "l": "a-z0-9",
    "L": "a-z", "A": "A-Za-z", "d": "0-9", "t": "A-Z2-7", "b": "A-Za-z0-9+/", "B": "A-Za-z0-9+/_-", "p": "A-Za-z0-9._-",
    "q": "A-Za-z0-9._~-", "c": "A-Za-z0-9%", "k": "1-9A-HJ-NP-Za-km-z", "z": "02-9ac-hj-np-z", "e": "=",
    "_": "A-Za-z0-9_", "-": "a-z0-9-",
}  # fmt: skip
"""Maps each letter of the notation to the characters that it stands for, as the inside of a character class."""

GATE_BODY: Final = 12
"""Most characters behind the literal that the pattern of ``gate`` requires."""

_ESCAPED: Final = r"\\u[0-9a-fA-F]{4}|\\[nrtbf]|%[0-9A-Fa-f]{2}|\[[0-9;]{1,5}m"
WORD_EDGE: Final = rf"(?:{_ESCAPED}|[^A-Za-z0-9]|^)"
"""Pattern for what stands before a word: no letter or digit, unless an escape ends with it."""

RUN_EDGE: Final = rf"(?:{_ESCAPED}|[^A-Za-z0-9+/_-]|^)"
"""Pattern for what stands before a run of base64 characters."""

REPEAT_MAX: Final = 900
"""Largest count in a pattern; RE2 refuses more than a thousand."""

_UUID: Final = "{h8}-{h4}-{h4}-{h4}-{h12}"


@dataclass(frozen=True, slots=True)
class ShapePiece:
    """A part of a shape: one of ``literals`` or, if that is empty, a run of characters.

    - ``alphabet``: a key of ``ALPHABETS``; "" for literals.
    - ``least``, ``most``: lengths of a run in characters; ``most`` of ``None``: no maximum. Unused for literals.
    """

    literals: tuple[str, ...] = ()
    alphabet: str = ""
    least: int = 0
    most: int | None = 0

    def pattern(self, least: int, most: int | None) -> str:
        """Return RE2 for the literals of this piece, whatever the arguments are; if it has none, for ``least`` to
        ``most`` (``None``: any number of) characters of its alphabet."""
        if self.literals:
            quoted = [_quote_literal(literal) for literal in self.literals]
            return quoted[0] if len(quoted) == 1 else f"(?:{'|'.join(quoted)})"
        least = min(least, REPEAT_MAX)
        count = f"{{{least}}}" if most == least else f"{{{least},{'' if most is None else min(most, REPEAT_MAX)}}}"
        return f"[{ALPHABETS[self.alphabet]}]{count}"


def pattern(shape: str) -> str:
    """Return an RE2 pattern for a whole credential of this shape. Its only group is the part after the initial
    literals."""
    found = pieces(shape)
    lead = next((place for place, piece in enumerate(found) if not piece.literals), len(found))
    written = [piece.pattern(piece.least, piece.most) for piece in found]
    return f"{''.join(written[:lead])}({''.join(written[lead:])})"


def gate(shape: str) -> str:
    """Return an RE2 pattern for the beginning of a credential of this shape: its first literals and at most
    ``GATE_BODY`` characters after them."""
    found, literal = "", 0
    for piece in pieces(shape):
        if not piece.literals and literal >= 2:
            least = min(piece.least, GATE_BODY)
            return found + (piece.pattern(least, least) if least else "")
        found += piece.pattern(piece.least, piece.most if piece.most is not None else piece.least)
        literal += min((len(text) for text in piece.literals), default=0)
    return found


def has_distinct(shape: str) -> bool:
    """Return whether a shape begins with a literal that rarely occurs inside a run of letters and digits: three or more
    characters that are not all the same, or two with a sign.

    Credentials of other shapes are searched for only at the start of a run. Otherwise every character of a long run
    would begin one, and the automaton would have to track all of these.
    """
    lead = ""
    for piece in pieces(shape):
        if not piece.literals:
            break
        lead += min(piece.literals, key=len)
    return (len(lead) >= 3 and len(set(lead)) > 1) or (len(lead) == 2 and not lead.isalnum())


def first(shape: str) -> str:
    """Return all characters with which a credential of this shape may begin, as one string.

    For "{ghp|sk}_{w36}" that is "gs".
    """
    piece = pieces(shape)[0]
    return "".join(literal[0] for literal in piece.literals) if piece.literals else expand_alphabet(piece.alphabet)


def leads(shape: str) -> list[str]:
    """Return all literal texts that a credential of this shape may have before its first run of characters.

    For "{ghp|sk}_{w36}" they are "ghp_" and "sk_". Returns ``[""]`` if the shape begins with a run.
    """
    found = takewhile(lambda piece: piece.literals, pieces(shape))
    return ["".join(choice) for choice in product(*(piece.literals for piece in found))]


def mark_gate(shape: str) -> str:
    """Return RE2 for the first literal of a shape and four characters after it. It is for credentials that are
    recognised by a literal in their middle (``Token.around``)."""
    found = pieces(shape)
    place = next(place for place, piece in enumerate(found) if piece.literals)
    return found[place].pattern(0, 0) + found[place + 1].pattern(4, 4)


def follows(shape: str) -> str:
    """Return the characters that must not follow a credential of this shape, because it would be too long then; "" if
    the shape has no maximum length or ends with a literal."""
    last = pieces(shape)[-1]
    return "" if last.literals or last.most is None else expand_alphabet(last.alphabet)


def least(shape: str) -> int:
    """Return the minimum length of a credential of this shape, in characters."""
    return sum(min(map(len, piece.literals)) if piece.literals else piece.least for piece in pieces(shape))


def is_hexadecimal(shape: str) -> bool:
    """Return whether all variable parts of a shape are hexadecimal or decimal digits (or "=")."""
    return all(piece.literals or piece.alphabet in "hHde" for piece in pieces(shape))


@cache
def expand_alphabet(alphabet: str) -> str:
    """Return all characters that a letter of the notation stands for."""
    inside, found, place = ALPHABETS[alphabet], "", 0
    while place < len(inside):
        if place + 2 < len(inside) and inside[place + 1] == "-":
            found += "".join(map(chr, range(ord(inside[place]), ord(inside[place + 2]) + 1)))
            place += 3
        else:
            found += inside[place]
            place += 1
    return found


def fakes(shape: str, seed: str = "") -> Iterator[str]:
    """Yield one generated credential of this shape for each choice of its literals, with the least number of characters
    in each run. The same shape and ``seed`` always give the same."""
    found = pieces(shape)
    for number, choice in enumerate(product(*(piece.literals or ("",) for piece in found))):
        yield "".join(
            literal or _run(piece, f"{seed}:{number}:{place}")
            for place, (piece, literal) in enumerate(zip(found, choice, strict=True))
        )


def draw_characters(alphabet: str, count: int, seed: str) -> str:
    """Return ``count`` characters of an alphabet (a key of ``ALPHABETS``), evenly distributed; always the same for the
    same ``seed``."""
    letters, stream, block = expand_alphabet(alphabet), b"", 0
    while len(stream) < 2 * count:
        stream += hashlib.blake2b(f"{seed}/{block}".encode()).digest()
        block += 1
    return "".join(letters[int.from_bytes(stream[2 * i : 2 * i + 2], "big") % len(letters)] for i in range(count))


@cache
def pieces(shape: str) -> tuple[ShapePiece, ...]:
    """Parse a credential shape into its pieces. Raises ``ValueError`` for an invalid count."""
    found: list[ShapePiece] = []
    rest = shape.replace("{uuid}", _UUID)
    while rest:
        literal, opening, rest = rest.partition("{")
        if literal:
            found.append(ShapePiece(literals=(literal,)))
        if opening:
            inside, _, rest = rest.partition("}")
            found.append(_piece(inside))
    return tuple(found)


def _piece(inside: str) -> ShapePiece:
    if "|" in inside:
        return ShapePiece(literals=tuple(inside.split("|")))
    alphabet, count = inside[0], inside[1:]
    if count.endswith("+"):
        return ShapePiece(alphabet=alphabet, least=int(count[:-1]), most=None)
    least, _, most = count.partition("-")
    return ShapePiece(alphabet=alphabet, least=int(least), most=int(most or least))


def _run(piece: ShapePiece, seed: str) -> str:
    return draw_characters(piece.alphabet, piece.least, seed) if piece.alphabet else ""


def _quote_literal(literal: str) -> str:
    return "".join(char if char.isalnum() or char in "_-/:=@ ~%!" else "\\" + char for char in literal)


def fill_shape(shape: str, filler: str) -> str:
    """Return a text of this shape in which every variable part is ``filler``, repeated, such as "ghp_xxxx"; people
    write this in place of a key. Of several literals the first is used."""
    return "".join(piece.literals[0] if piece.literals else filler * piece.least for piece in pieces(shape))


ENTROPY: Final = 2.4
"""Default of ``Token.floor``: least entropy in bits per character of the random part."""

_FILLERS: Final = ("x", "0")


@dataclass(frozen=True)
class Token:
    """A row of the tables: a credential that is recognised by its own shape, at any position.

    - ``kind``: as in the placeholder ("github-token").
    - ``shape``: one shape, or several separated by blanks.
    - ``counter``: for tests, shape of a similar text that is no credential ("" if the texts derived from the shape
      suffice).
    - ``check``: name of a check in ``judge.CHECKS`` that it must pass; "" for none.
    - ``inside``: whether it may begin in the middle of a word, because its beginning is distinctive.
    - ``around``: whether it is recognised by a literal in its middle.
    - ``floor``: least entropy of its variable part, in bits per character.
    """

    kind: str
    shape: str
    counter: str = ""
    check: str = ""
    inside: bool = False
    around: bool = False
    floor: float = ENTROPY

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """The shapes of this row, one string each."""
        return tuple(self.shape.split(" "))

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Generated credentials of this row for tests, the same in every run; () for a row with a ``check``, because a
        generated text would fail it."""
        if self.check:
            return ()
        return tuple(fake for one in self.shapes for fake in fakes(one, self.kind))

    @cached_property
    def counters(self) -> tuple[str, ...]:
        """Texts for tests that look like this credential and are none: with one repeated character in place of the
        variable parts, and, if the row has one, its counter-example."""
        plain = tuple(fill_shape(one, filler) for one in self.shapes for filler in _FILLERS)
        return plain + (tuple(fakes(self.counter, self.kind)) if self.counter else ())
