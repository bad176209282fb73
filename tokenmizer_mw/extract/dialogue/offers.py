"""What an assistant's message offers for decision, and what a short answer selects from it.

Input are the text of the message and the first sentence of the reply. Results are the options and proposals, and which
of them the reply accepts and declines. What "yes", "2", "the former" or "dayjs, it's closest" means is in the message
before. Options are read from lists, tables and "A or B?"; proposals from sentences that offer to do something ("I can
add a test").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import re2

from tokenmizer_mw.extract.finding import Segment, SegmentKind
from tokenmizer_mw.extract.match.other_languages import (
    ShortAnswer,
    is_announcing_choice,
    read_foreign_offer,
    read_short_answer,
)
from tokenmizer_mw.extract.match.rule_hits import is_anaphoric, read_hits
from tokenmizer_mw.extract.read.segment import segment
from tokenmizer_mw.extract.rules import Act, Speaker
from tokenmizer_mw.extract.text.pattern import PatternSet, compile_lazily
from tokenmizer_mw.extract.text.phrases import bound_sentence, strip_lead, strip_reason_words

from .referent import Piece, split_pieces

OPTIONS_MAX: Final = 12
"""Greatest number of options read from the lists, titled paragraphs and tables of one message."""

HEAD_MAX: Final = 60
"""Longest name of an option, in characters. A list item, titled paragraph or table cell whose name would be longer is
no option."""


ANSWER_MAX: Final = 300
"""How many characters of an answer are read for a choice."""

_CHOOSING: Final = compile_lazily(
    r"(?s).*(?:[?？]|\b(?:options?|either|ways|choices?|alternatives?|approach(?:es)?|possibilit|paths?|fork"
    r"|candidates?|routes?|"
    r"variants?|replacements?|strategies|solutions|could|which|prefer|fix(?:es)?)\b)"
)

_GOES_ON: Final = PatternSet(
    r".*,? or (?:do you|would you|are there|is there|should we|shall we|if you|need|have|anything|any|something)\b",
    r".*\b(?:any|specific|particular|further|more|additional|other|another|deeper)\b.* (?:adjustments?|advice|areas?"
    r"|aspects?"
    r"|assistance|challenges?|concerns?|details?|examples?|exercises?|feedback|guidance|help|ideas?|information"
    r"|insights?"
    r"|issues?|parts?|practice|preferences?|problems?|questions?|resources?|scenarios?|strateg(?:y|ies)|support"
    r"|techniques?|tips?|topics?)\b",
    r".*\b(?:anything else|how does (?:this|that) (?:sound|look)|does (?:this|that) (?:help|make sense|sound|work|look)"
    r"|would you like (?:to (?:proceed|continue|start|begin|explore|discuss|go|dive|practi[sc]e|try|see|know|learn)"
    r"|(?:me|some|help|assistance)\b))\b",
)
"""Match questions that only keep a conversation going ("any other concerns?")."""

_HEAD_END: Final = compile_lazily(r"(?s)(?P<head>[^:–—(|]{2,60}?)(?:\s*(?::|\s–|\s—|\s-\s|\(|\||→|->)|$|[.,;]\s)")
_EITHER: Final = compile_lazily(
    r"(?:.*[,:;] )?(?:do you (?:want|prefer|need)(?: me)?(?: to)?|would you (?:like|prefer"
    r"|rather)(?: me)?(?: to)?|should (?:i|we)|shall (?:i|we)|"
    r"which (?:one )?(?:do you|would you)[^:]*:|either|is it|with|use|go with"
    r"|prefer)? ?(?P<left>[^,?]{2,50}?),? or (?P<right>[^,?]{2,50}?)\?"
)
_DOING: Final = compile_lazily(
    r"(?:i'd|i would|i can|i could|we could|we can|happy to|i'm happy to|want me to|shall i|should i"
    r"|would you like me to|do you want me to|"
    r"let me know if (?:you want|you'd like)(?: me)? to|i'll"
    r"|(?:if you(?:'d)? (?:want|like|wish|prefer|agree)(?: that| so)?|say the word|just say so|on your go),?(?: and)?"
    r"(?: next,?| then,?| now,?| as a next step,?)? (?:i|we)(?: can| could| will|'ll| would|'d)"
    r"|next,? i(?:'d|'ll| would| will| can))"
    r" (?:also |then |now |next |go ahead and |gladly )?(?P<label>.{3,})"
)

_KEY_TEXT: Final = (
    r"(?:(?:option|number|variant|plan|approach|choice|no\.?|nr\.?|go with|take|do|use|let's do|let's go with"
    r"|i'd go with|i'd say|i choose|pick|"
    r"definitely|the|version|#) ?)*(?P<key>[0-9]{1,2}|[a-h])(?P<more>(?:(?:,| and| \+| &) ?(?:[0-9]{1,2}|[a-h])\b)*)"
    r"(?:$|[).,:;!](?:\s|$)|\s+(?:please|then|it is|is|since|because|looks|sounds|would|for|as|but|and|with"
    r"|first|only|works|-|–|—)\b)"
)
_ORDINALS: Final = {
    "first": 0,
    "former": 0,
    "1st": 0,
    "second": 1,
    "2nd": 1,
    "third": 2,
    "3rd": 2,
    "fourth": 3,
    "latter": -1,
    "last": -1,
}
_ORDINAL_TEXT: Final = (
    r"(?:(?:let's|do|go|with|take|use|i'd|say|prefer|for|try|i|like|pick|choose|think|the) )*"
    r"(?P<which>first|former|second|third|fourth|latter|last|1st|2nd|3rd)(?: (?:one|option|two|approach|variant"
    r"|version|solution|idea|way|of))?"
    r"(?:$|[.,;:!]|\s+(?:please|then|is|since|because|looks|sounds|as|for|but|and|it is|-|–|—)\b)"
)
_SEVERAL_TEXT: Final = (
    r"(?:(?:yes|yeah|sure|ok|do|let's do|please do|i'd like|i want|go with),? )*(?:both"
    r"|(?P<every>all(?: (?:of (?:them|it|these|those)|two|three|four|five|[2-9]))?|everything))\b(?:$|[.,;!]| please)"
)
_YES_TEXT: Final = (
    r"(?:yes|yep|yeah|yup|ya|sure(?: thing)?|ok(?:ay)?|k|sounds? (?:good|great|fine|right|reasonable)|looks good"
    r"|lgtm|go(?: ahead| for it| on)?|proceed|do (?:it|that|so)"
    r"|please(?: do(?: (?:it|that|so))?)?|let's (?:do (?:it|that)|go)|agreed?|perfect|great|good(?: idea| point"
    r"| plan)?|fine(?: by me| with me)?|absolutely|of course|exactly"
    r"|right|correct|makes sense|works for me|that works|definitely|certainly|by all means|i agree|you can"
    r"|approved?|alright|all right|continue|yes please|cool|nice|deal"
    r"|👍|👌|✅|sí|si|oui|ja|sim|да|是的?|好的?|はい|네|हाँ)"
    r"(?:$|[\s,.;:!)👍🏻]+)(?P<rest>.*)"
)
_NO_TEXT: Final = (
    r"(?:no|nope|nah|not now|no thanks|no thank you|don't|please don't|rather not|leave (?:it|that)|skip (?:it"
    r"|that)|not (?:yet|needed|necessary)|no need|never ?mind|nein|non|нет|不用|不)"
    r"(?:$|[\s,.;:!]+)(?P<rest>.*)"
)
_KEY, _ORDINAL, _SEVERAL, _YES, _NO = map(
    compile_lazily, (_KEY_TEXT, _ORDINAL_TEXT, _SEVERAL_TEXT, _YES_TEXT, _NO_TEXT)
)
_ANSWERING: Final = PatternSet(_KEY_TEXT, _ORDINAL_TEXT, _SEVERAL_TEXT, _YES_TEXT, _NO_TEXT)
_AGREEING: Final = frozenset(
    [
        "do",
        "it",
        "that",
        "so",
        "please",
        "go",
        "ahead",
        "with",
        "this",
        "then",
        "yes",
        "sure",
        "ok",
        "okay",
        "thanks",
        "thank",
        "you",
        "now",
        "great",
        "good",
        "sounds",
        "makes",
        "sense",
        "agreed",
        "perfect",
        "nice",
        "cool",
        "continue",
        "proceed",
        "for",
        "me",
        "to",
        "the",
        "as",
        "proposed",
        "suggested",
        "you",
        "i",
        "like",
        "love",
        "idea",
        "plan",
        "one",
        "fine",
        "and",
        "let's",
    ]
)


@dataclass(frozen=True, slots=True)
class Option:
    """One of several things to choose from.

    - ``key``: its number or letter, in lower case; "" for none.
    - ``head``: its name, such as "SQLite" of the item "1. SQLite: no server needed". It is "" only for an option within
      a sentence whose text is longer than ``HEAD_MAX``.
    - ``label``: the text of the item, without its number.
    """

    key: str
    head: str
    label: str


def is_conversation_filler(question: str) -> bool:
    """Whether ``question`` only keeps the conversation going ("any other concerns?"), so that its answer decides
    nothing."""
    return _GOES_ON.any(question)


class Offers:
    """What the assistant's message ``text`` offers: options to choose from, and proposals that a bare "yes" accepts. An
    empty text offers nothing. Each property is computed when first used, because few replies are answers."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _segments(self) -> list[Segment]:
        return segment(self._text)

    @cached_property
    def _sentences(self) -> list[str]:
        return [bound_sentence(piece.text) for piece in self._segments if piece.kind in _SPOKEN][-SENTENCES_MAX:]

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The clauses of the message that a few words of a reply may refer to."""
        return split_pieces(self._segments, choosing=bool(self.options))

    @cached_property
    def closing(self) -> tuple[Segment, ...]:
        """The segment of the last sentence or list item, as a tuple of one; () if there is none."""
        return tuple([piece for piece in self._segments if piece.kind in _SPOKEN][-1:])

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """The options that can be chosen by number, position or name, in order; () if the message offers none.

        If words such as "options" or a question announce a choice: the list items, the paragraphs with a bold title and
        the first cells of tables, else an enumeration within sentences. Otherwise those of "A or B?" in the last three
        sentences, numbered 1 and 2.
        """
        if not any(sign in self._text for sign in _OPTION_SIGNS):
            return ()
        options = (self._listed or self.numbered) if self._announces_choice else ()
        return options or tuple([option for sentence in self._sentences[-3:] for option in _read_either_or(sentence)])

    @cached_property
    def numbered(self) -> tuple[Option, ...]:
        """The list items with a number or a letter, whether or not the message offers them as options; if there are
        none, those of an enumeration within its last sentences. () for none."""
        listed = tuple(option for option in self._listed if option.key)
        return listed or tuple(_read_inline_options(self._sentences))

    @cached_property
    def _listed(self) -> tuple[Option, ...]:
        return tuple(_read_options(self._segments, self._text)[:OPTIONS_MAX])

    @property
    def _announces_choice(self) -> bool:
        told = (SegmentKind.PROSE, SegmentKind.HEADING)
        spoken = " ".join(segment.text for segment in self._segments if segment.kind in told)
        return _CHOOSING.match(spoken[-4_000:]) is not None or is_announcing_choice(spoken[-_ANNOUNCED_MAX:])

    @cached_property
    def proposals(self) -> tuple[str, ...]:
        """What the assistant offers to do in its last sentences, which a bare "yes" accepts, such as "add a test" of
        "Shall I add a test?"; () for none."""
        return tuple(_read_proposals(self._sentences))

    @property
    def ending(self) -> str:
        """The last sentence or list item of the message; "" if there is none."""
        return self._sentences[-1] if self._sentences else ""


@dataclass(frozen=True, slots=True)
class OfferReply:
    """What a reply does with offers. ``accepted``, ``declined``: the labels of the options and proposals that it
    accepts and declines; ``reason``: why, "" for none. All are empty if the reply answers no offer."""

    accepted: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    reason: str = ""


SENTENCES_MAX: Final = 6
"""How many sentences and list items at the end of a message are read for its proposals and for options within
sentences."""

_OPTION_SIGNS: Final = (
    *("\n**", "\n- ", "\n* ", "\n1", "\n2", "\na)", "\nA)", "|", " or ", "\n- **", "•"),
    *(" 2. ", " 2) ", "(2)"),
)
_SPOKEN: Final = frozenset({SegmentKind.PROSE, SegmentKind.LIST_ITEM})
_ANNOUNCED_MAX: Final = 600


def _read_options(segments: Sequence[Segment], text: str) -> list[Option]:
    listed = [
        segment
        for segment in segments
        if (segment.kind is SegmentKind.LIST_ITEM and segment.info) or _is_titled(segment, text)
    ]
    tables = [segment for segment in segments if segment.kind is SegmentKind.TABLE]
    found = [_make_option(segment, text) for segment in listed]
    for table in tables:
        found += [Option("", cell, cell) for cell in _first_cells(table.text)]
    return [option for option in found if option.head]


def _read_inline_options(sentences: Sequence[str]) -> list[Option]:
    """The options of an enumeration within sentences: "1. keep the token 2. move to sessions". [] unless there are at
    least two, counted from 1."""
    pieces = _NUMBER.split(" ".join(sentences))
    keys, labels = pieces[1::2], [piece.strip(" ,;.") for piece in pieces[2::2]]
    if len(keys) < 2 or keys != [str(number) for number in range(1, len(keys) + 1)]:
        return []
    return [Option(key, _cap_head(label), label) for key, label in zip(keys, labels, strict=True) if label]


_NUMBER: Final = re2.compile(r"(?:^|\s)\(?(\d)[.)] ")


def _is_titled(segment: Segment, text: str) -> bool:
    """Whether a paragraph begins with a bold name followed by a dash, a colon or a bracket, as the description of an
    option does."""
    if segment.kind is not SegmentKind.PROSE or not text.startswith("**", segment.start):
        return False
    _, closed, behind = text[segment.start + 2 : segment.end].partition("**")
    return bool(closed) and behind.lstrip()[:1] in (":", "–", "—", "-", "(")


def _make_option(segment: Segment, text: str) -> Option:
    key = segment.info.strip("().、．:- ").casefold()
    raw = text[segment.start : segment.end]
    bold = raw[2:].partition("**")[0] if raw.startswith("**") else ""
    match = _HEAD_END.match(segment.text)
    head = bold or (match.group("head") if match is not None else segment.text)
    if len(bold) == 1 and bold.isalnum():
        key, rest = bold.casefold(), segment.text.removeprefix(bold).lstrip(" :.)-–—")
        match = _HEAD_END.match(rest)
        return Option(key, _cap_head(match.group("head") if match is not None else rest), rest)
    return Option(key, _cap_head(head.strip(" :.")), segment.text)


def _cap_head(head: str) -> str:
    return head if len(head) <= HEAD_MAX else ""


def _first_cells(table: str) -> list[str]:
    rows = [line.strip().strip("|").split("|") for line in table.splitlines()[:20] if "|" in line]
    cells = [row[0].strip(" *`") for row in rows[2:]]
    return [cell for cell in cells if 1 < len(cell) <= HEAD_MAX]


def _read_either_or(sentence: str) -> list[Option]:
    match = _EITHER.match(sentence)
    if match is None:
        return []
    return [
        Option(key, said, said) for key, name in (("1", "left"), ("2", "right")) if (said := match.group(name).strip())
    ]


def _read_proposals(sentences: Sequence[str]) -> list[str]:
    found = []
    for sentence in sentences:
        match = _DOING.match(strip_lead(sentence))
        if match is not None:
            found.append(match.group("label").rstrip("?. "))
            continue
        if offered := read_foreign_offer(sentence):
            found.append(offered)
            continue
        found += [
            hit.label or hit.reason for hit in read_hits(sentence, Speaker.ASSISTANT) if hit.rule.act is Act.PROPOSAL
        ]
    return [label for label in found if label and not label.startswith("not ") and not is_anaphoric(label)]


def read_answer(sentence: str, offers: Offers) -> OfferReply:
    """Return which of ``offers`` the first sentence of a reply accepts and declines; an empty ``OfferReply`` if the
    sentence is a question or about something else.

    - A number, a letter or an ordinal ("the second one") picks options.
    - "Both" picks the first two options, "all" picks all of them; if there are no options, each picks all proposals.
    - "Yes" accepts the proposals and "no" declines them, unless a statement follows.
    """
    text = bound_sentence(sentence[:ANSWER_MAX])
    lower = text.casefold().strip()
    if not lower or lower.endswith(("?", "？")):
        return OfferReply()
    if not _may_answer(lower):
        return _read_foreign_answer(lower, text, offers)
    chosen = _pick_by_key(lower, offers) or _pick_by_ordinal(lower, offers)
    if chosen:
        return OfferReply(tuple(option.label for option in chosen), reason=_read_reason(text))
    several = _SEVERAL.match(lower)
    if several is not None:
        return OfferReply(_pick_several(offers, every=bool(several.group("every"))))
    yes = _YES.match(lower)
    if yes is not None and _is_only_agreement(yes.group("rest")):
        return OfferReply(offers.proposals)
    no = _NO.match(lower)
    if no is not None and _is_only_agreement(no.group("rest")):
        return OfferReply(declined=offers.proposals)
    return _read_foreign_answer(lower, text, offers)


def _read_foreign_answer(lower: str, text: str, offers: Offers) -> OfferReply:
    said = read_short_answer(lower)
    if said.both or said.every:
        return OfferReply(_pick_several(offers, every=said.every))
    if said.yes:
        return OfferReply(offers.proposals)
    if said.no:
        return OfferReply(declined=offers.proposals)
    return OfferReply(tuple(_pick_foreign(said, offers)), reason=_read_reason(text))


def _pick_several(offers: Offers, *, every: bool) -> tuple[str, ...]:
    """The labels of all options, or of the first two; the proposals if there are no options. Where options are
    numbered, items without a number belong to one of them."""
    options = [option for option in offers.options if option.key] or offers.options
    return tuple(option.label for option in (options if every else options[:2])) or offers.proposals


def _pick_foreign(said: ShortAnswer, offers: Offers) -> list[str]:
    options = offers.options
    if said.place is not None and -len(options) <= said.place < len(options):
        return [options[said.place].label]
    return [option.label for option in options if option.key == said.key and said.key]


def _may_answer(text: str) -> bool:
    if _ANSWERING.any(text):
        return True
    behind = strip_lead(text)
    return behind != text and _ANSWERING.any(behind)


def _pick_by_key(text: str, offers: Offers) -> list[Option]:
    match = _KEY.match(text)
    if match is None:
        return []
    keys = [match.group("key"), *(key for key in match.group("more").replace("and", " ").split() if key)]
    wanted = {key.strip(",+& ") for key in keys}
    options = offers.options or (offers.numbered if _PICKS.any(text) else ())
    return [option for option in options if option.key in wanted]


_PICKS: Final = PatternSet(
    r"(?:(?:the |go with |take |do |use |let's do |let's go with |i'd go with |pick )*"
    r"(?:option|number|variant|choice|no\.?|nr\.?|#) ?)?[0-9a-h](?:,? please)?[.!]?$"
)
"""Matches answers that are a number or a letter and nothing else, such as "option 2 please"."""


def _pick_by_ordinal(text: str, offers: Offers) -> list[Option]:
    match = _ORDINAL.match(strip_lead(text))
    if match is None:
        return []
    index, options = _ORDINALS[match.group("which")], offers.options
    return [options[index]] if -len(options) <= index < len(options) else []


def _is_only_agreement(rest: str) -> bool:
    """Whether ``rest``, the words after a "yes" or "no", only agrees or is polite, without a statement of its own."""
    words = [word.strip(",.;:!?()") for word in rest.split()]
    return all(word in _AGREEING or not word for word in words)


def _read_reason(text: str) -> str:
    for opener in ("because ", "since ", " as it", ", it's", " - ", " — ", "("):
        at = text.casefold().find(opener)
        if at >= 0:
            return strip_reason_words(text[at:].lstrip(" ,(-—").removeprefix("since ")).rstrip(").")
    return ""
