"""Find the clause of an earlier message that a few words of a reply refer to: "the bundle" means
"ship one bundle for all browsers"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.text.pattern import Pattern, PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, is_question
from tokenmizer_mw.extract.text.similar import content

PIECES_MAX: Final = 400
"""Number of clauses at the end of a message that a reply may refer to."""

SENTENCES_READ: Final = 24
"""Number of sentences, list items and tables at the end of a message that a reply may refer to."""

PIECE_MAX: Final = 100
"""Longest clause, in characters, that can be what a reply refers to."""

OFFERED_LAST: Final = 8
"""Number of sentences at the end of a message that can be offers; list items further above can be offers as well."""

NAME_WORDS: Final = 8
"""Most words before a verb that are read as a name."""

_ROWS_MAX: Final = 12
_BRACKET: Final = compile_lazily(r"\s?[(（](?P<inside>[^()（）]*)[)）]")
_BORDER: Final = compile_lazily(
    r",?\s+(?:or|oder|ou|o|или|अथवा|या)\s|;\s|\s(?:--?|–|—|→|->)\s|[；]|还是|それとも|아니면"
)
"""Matches what separates offered things, such as "or" and a dash."""

_PAUSE: Final = compile_lazily(r"[,:]\s|[，：、]|(?:^|\s)(?:i'd|i would|i|we) (?:suggest|recommend|propose)\s")
_OPENING: Final = compile_lazily(
    r"(?:(?:either|or|and|but|so|then|else|also|otherwise|alternatively|instead|maybe|perhaps|options?|entweder|oder"
    r"|also|dann|o|y|ou|et)\b[,:]? )*"
    r"(?:(?:i|we|you|one)(?:'d|'ll| (?:could|can|would|will|should|might|may))(?: (?:also|then|rather|just|simply"
    r"|go with|like to))* |(?:shall|should) (?:i|we) |(?:(?:do|would) you )?(?:want|like) me to )?"
)
_OFFERING: Final = PatternSet(
    r"(?s).*(?:[?？]|\b(?:could|can|would|should|may|either|or|else|otherwise|options?|ways?|alternatives?|alternatively|instead"
    r"|recommend|suggest|propose|nicer|better|simpler|easier|lighter|safer|enough|works?|best|good|fine|worth|lean|i'd"
    r"|i'll|we'll|use|add|take|keep|put|pick|choose|goes|only"
    r"|oder|reicht|genügt|besser|robuster|könnte|kann|vorschlag"
    r"|podrías?|puedes?|podemos|propongo|mejor|basta|o"
    r"|peux|peut|pourrait|propose|mieux|suffit|ou|pode|posso|melhor|basta|può|posso|meglio)\b"
    r"|можно|могу|лучше|или|предлагаю|可以|建议|还是|方案|比较|でき|提案|推奨|どちら|좋|추천|या|सुझाव|बेहतर|चाहें)"
)
"""Matches a sentence with words that offer something or say what is good about it."""

_VERB: Final = compile_lazily(
    r"(?: (?:still|now|already|also|then))?\s(?:is|are|was|were|isn't|does|doesn't|don't|would do|means?|costs?|needs?"
    r"|has|have|makes?|works?|gives?|sounds?|seems?|looks?|survives?|loses?|breaks?|fails?)\b"
)
"""Matches the verb of a clause that judges something ("SQLite is enough")."""

_FACTUAL: Final = PatternSet(
    r"(?s)(?:(?:and|so|but|ok|also|just|then),? )*(?:is|are|was|were|does|did|has|have|how (?:many|much|long|often|big"
    r"|large|old)|who|when|why"
    r"|what(?:'s| is| are| was| does| did| do)|where (?:is|are|does|do|did)|which \w+ (?:is|are|does|do|did|has)"
    r"|do (?:they|these|those|the|other|others|your|people|users|any|both|all))\b.*\?"
)


def asks_for_facts(sentence: str) -> bool:
    """Whether a question asks how things are ("how many users do you have?"), not how they should be."""
    return is_question(sentence) and _FACTUAL.any(sentence)


_SIGNS: Final = 4
"""How many characters longer a clause must be to say more than the reply, in scripts without spaces between words."""

_MOST: Final = 0.65
"""Smallest share of the reply's words that a clause must have to be what the reply refers to."""
_POINTS: Final = PatternSet(r"(?:\w+ ){0,3}?(?:it|them|this|that|those|these|both)\b")


@dataclass(frozen=True, slots=True)
class Piece:
    """A clause of a message.

    - ``text``: the clause without words that offer: "add a test" of "I could add a test".
    - ``offered``: whether its sentence offers something, or it is an option of a list or a table.
    - ``sentence``: the whole sentence; of a table, the cell.
    """

    text: str
    offered: bool
    sentence: str

    @property
    def words(self) -> frozenset[str]:
        """The content stems of the clause (see ``text.similar``)."""
        return content(self.text)


def split_pieces(segments: Sequence[Segment], *, choosing: bool) -> tuple[Piece, ...]:
    """Return the clauses of a message's last ``SENTENCES_READ`` sentences, list items and tables, in order; of a table,
    the first cells of its rows; () for none. A part between commas or in brackets is a clause of its own beside the
    longer one. ``choosing``: the list items are options to choose from, so that all their clauses are ``offered``."""
    read = [segment for segment in segments if segment.kind in _READ][-SENTENCES_READ:]
    pieces = [
        piece
        for behind, segment in zip(range(len(read) - 1, -1, -1), read, strict=True)
        for piece in _split_segment(segment, behind, choosing)
    ]
    return tuple(pieces[-PIECES_MAX:])


_READ: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM, SegmentKind.TABLE})


def _split_segment(segment: Segment, behind: int, choosing: bool) -> Iterator[Piece]:
    if segment.kind is SegmentKind.TABLE:
        for row in segment.text.splitlines()[:_ROWS_MAX]:
            cell = row.strip().strip("|").partition("|")[0].strip(" *`-:")
            if cell:
                yield Piece(cell.replace("`", ""), True, cell)
        return
    line = bound_sentence(segment.text)
    if segment.kind is SegmentKind.LIST_ITEM and segment.info:
        offered = choosing or not line.isascii() or _OFFERING.any(line)
    else:
        offered = behind < OFFERED_LAST and _OFFERING.any(line) and not asks_for_facts(line)
    for part in _split_coordinated(line):
        for clause in dict.fromkeys((part, *_split_at(part, _PAUSE))):
            if text := _strip_offer(clause):
                yield Piece(text, offered, line)


def _split_coordinated(line: str) -> Iterator[str]:
    """Iterate over the contents of a sentence's brackets, and over its parts between "or", semicolons and dashes."""
    rest = line
    while (bracket := _BRACKET.search(rest)) is not None:
        yield from _split_at(bracket.group("inside"), _BORDER)
        rest = rest[bracket.end() :]
    yield from _split_at(line, _BORDER)


def _split_at(text: str, border: Pattern) -> Iterator[str]:
    """Iterate over the parts of ``text`` between matches of ``border``; parts with an open bracket are left out."""
    while (found := border.search(text)) is not None and found.end():
        if _is_whole(text[: found.start()]):
            yield text[: found.start()]
        text = text[found.end() :]
    if _is_whole(text):
        yield text


def _is_whole(text: str) -> bool:
    return text.count("(") == text.count(")")


def _strip_offer(clause: str) -> str:
    """A clause without the words that offer: "add a test" of "I could add a test"."""
    text = clause.strip(" .!?？。…।")
    match = _OPENING.match(text)
    return text[match.end() :] if match is not None else text


def find_referent(said: str, pieces: Sequence[Piece], *, offered: bool = False) -> str:
    """Return the text among ``pieces`` (clauses of the earlier message) that ``said`` (words of the reply) refers to;
    "" for none.

    It has at least 65 % of the content stems of ``said`` (or contains ``said`` literally, if that is not ASCII), more
    words than ``said``, and at most ``PIECE_MAX`` characters. The first of these that exists is returned:

    - the last such clause without a verb;
    - the last name that is the subject of such a clause ("SQLite" of "SQLite is enough");
    - the last whole sentence of such a clause, if the clause refers back ("keep it") or ``said`` is one word.

    ``offered``: whether only clauses that offer something count.
    """
    near = [piece for piece in reversed(pieces) if (piece.offered or not offered) and _has_words_of(piece.text, said)]
    whole = [piece.text for piece in near if not _POINTS.any(piece.text)]
    plain = [text for text in whole if _VERB.search(text) is None]
    named = [text[: verb.start()] for text in whole if (verb := _VERB.search(text)) is not None]
    named = [text for text in named if _is_name(text)]
    around = [piece.sentence.rstrip(" .!") for piece in near if _should_take_sentence(piece, said)]
    for text in (*plain, *named, *around):
        if len(text) <= PIECE_MAX and _is_longer(text, said) and _has_words_of(text, said):
            return text
    return ""


def _is_name(text: str) -> bool:
    head, _, rest = text.partition("(")
    return text.count(" ") < NAME_WORDS and "," not in head and "," not in rest.partition(")")[2]


def _should_take_sentence(piece: Piece, said: str) -> bool:
    """Whether the whole sentence may stand for its clause: the sentence is no question, and the clause refers back
    ("keep it") or ``said`` is one word."""
    return not is_question(piece.sentence) and (" " not in said or _POINTS.any(piece.text))


def _has_words_of(text: str, said: str) -> bool:
    """Whether a clause has at least the share ``_MOST`` of the content stems of ``said``, or contains it literally if
    it is not ASCII."""
    words = content(said)
    if not said.isascii() and said in text:
        return True
    shared = len(words & content(text))
    return bool(words) and shared >= _MOST * len(words)


def _is_longer(text: str, said: str) -> bool:
    least = len(said) if said.isascii() else len(said) + _SIGNS
    return bool(content(text) - content(said)) and len(text) > least
