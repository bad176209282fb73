"""Format a resume block: facts in sections within a token budget, quoted sentences below.

Parts of facts (a label, then its reason) form one sequence, and every budget gets a beginning of it. Therefore a larger
budget contains everything that a smaller one does. At fixed steps of the budget, parts that do not fit are skipped in
favour of shorter ones after them. A block of facts alone also gives message numbers if there is room.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

from tokenmizer_mw.context.resume.facts import ResumeFact
from tokenmizer_mw.context.resume.sections import EARLIER, Section
from tokenmizer_mw.context.resume.sentences import COLONS, LEFT_OUT, Sentence
from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.model.message import Role

STEPS: Final = (100, 300, 600, 1_200, 2_400, 4_800, 9_600)
_MISSES_MAX: Final = 40


class FactPart(NamedTuple):
    """A part of the fact with index ``fact``: its label (``part`` 0), or its reason in brackets (``part`` 1)."""

    fact: int
    part: int


Cost = Callable[[FactPart, bool], int]
"""A function that returns the tokens of a part of a fact with the separator before it, or with the heading of its
section if it is the section's first (second argument)."""


def pieces_of(facts: Sequence[ResumeFact]) -> list[FactPart]:
    """Return the parts of all facts in order: the label of each fact, then its reason if it has one.

    The first facts, up to the first that is no goal, current work or rule, are different. All their labels come first,
    then all their reasons.
    """
    bare = next((index for index, fact in enumerate(facts) if fact.section not in _LABELS_FIRST), len(facts))
    labels = [FactPart(index, 0) for index in range(bare)]
    labels += [FactPart(index, 1) for index in range(bare) if facts[index].why]
    rest = range(bare, len(facts))
    return labels + [FactPart(index, part) for index in rest for part in ((0, 1) if facts[index].why else (0,))]


_LABELS_FIRST: Final = frozenset({Section.GOAL, Section.DOING, Section.RULES})


def sequence(facts: Sequence[ResumeFact], budget: int, fixed: int, cost: Cost) -> list[FactPart]:
    """Return the parts of ``facts`` that fit into ``budget`` tokens, in the order in which they were taken.

    ``fixed``: tokens of the budget that are already used. ``cost``: returns the tokens of a part; its second argument
    is true for the first part in a section, whose tokens include the heading.
    """
    filling = _Filling(facts, fixed, cost)
    for step in STEPS:
        if step <= budget:
            filling.fill(step, misses=_MISSES_MAX)
    filling.fill(budget, misses=0)
    return filling.taken


class _Filling:
    def __init__(self, facts: Sequence[ResumeFact], used: int, cost: Cost) -> None:
        self.taken: list[FactPart] = []
        self._facts = facts
        self._left = pieces_of(facts)
        self._used = used
        self._cost = cost
        self._labels: set[int] = set()
        self._open: set[Section] = set()

    def fill(self, budget: int, misses: int) -> None:
        """Take the parts, in their order, that fit into ``budget`` tokens in total; stop when more than ``misses``
        parts did not fit. A reason whose label was not taken is skipped and does not count as a miss."""
        left: list[FactPart] = []
        waiting = iter(self._left)
        for piece in waiting:
            if self._takes(piece, budget):
                continue
            left.append(piece)
            misses -= piece.part == 0 or piece.fact in self._labels
            if misses < 0:
                break
        self._left = [*left, *waiting]

    def _takes(self, piece: FactPart, budget: int) -> bool:
        if piece.part and piece.fact not in self._labels:
            return False
        section = self._facts[piece.fact].section
        cost = self._cost(piece, section not in self._open)
        if self._used + cost > budget:
            return False
        self._used += cost
        self._open.add(section)
        self._labels.add(piece.fact)
        self.taken.append(piece)
        return True


_HEADS: Final[dict[Section, tuple[str, str]]] = {
    Section.GOAL: ("Goal:", "; "),
    Section.RULES: ("User's rules:", "\n- "),
    Section.DECISIONS: ("Decided:", "; "),
    Section.WARNINGS: ("Rejected:", "; "),
    Section.DOING: ("In progress:", "; "),
    Section.TO_DO: ("To do:", "; "),
    Section.ERRORS: ("Open errors:", "; "),
    Section.PAST_ERRORS: ("Errors, probably fixed:", "; "),
    Section.DONE: ("Done:", "; "),
    Section.FILES: ("Files:", ", "),
    Section.ENVIRONMENT: ("Environment:", "; "),
    Section.USES: ("Uses:", ", "),
    Section.ENDPOINTS: ("Endpoints:", ", "),
    Section.SCHEMA: ("Schema:", "; "),
    Section.TESTS: ("Tests passed:", "; "),
    Section.PROPOSED: ("Proposed, not agreed:", "; "),
    Section.ABOUT: ("About:", "; "),
    Section.EARLIER_RULES: ("Rules from earlier sessions of this project:", "\n- "),
    Section.EARLIER_DECISIONS: ("Decisions in force, from earlier sessions:", "\n- "),
    Section.EARLIER_WORK: ("Open work, from earlier sessions:", "\n- "),
    Section.EARLIER_ENVIRONMENT: ("Environment, from earlier sessions:", "\n- "),
}
"""For each section its heading and the text between two of its facts. If that begins with a line break, each fact has a
line of its own."""

QUOTES_HEAD: Final = "\nSaid (User, Assistant, Tool; message number):"
_SPEAKERS: Final = {Role.USER: "U", Role.ASSISTANT: "A", Role.TOOL: "T"}
_QUOTE: Final = re.compile(rf"[{''.join(_SPEAKERS.values())}](\d+): (.*)")
_PAUSES: Final = "!?:;,\u0964\u3002\uff01\uff1f\uff1b\uff1a"
_ENDINGS: Final = f".{_PAUSES}"


def pieces_of_choice(facts: Sequence[ResumeFact], chosen: Sequence[int]) -> list[FactPart]:
    """Return all parts of the chosen facts. ``chosen``: indexes of facts; indexes from ``len(facts)`` on are sentences
    and are ignored."""
    places = [at for at in chosen if at < len(facts)]
    return [FactPart(at, part) for at in places for part in ((0, 1) if facts[at].why else (0,))]


def compose_block(
    facts: Sequence[ResumeFact],
    sentences: Sequence[Sentence],
    chosen: Sequence[int],
    around: tuple[str, str],
    head: str = "",
    written: int = 0,
) -> str:
    """Return the text of a resume block, with its delimiters.

    First come the chosen sentences of a handover (a summary that a model wrote), in one line that begins with ``head``.
    Then come the chosen facts in their sections, then the other chosen sentences as quotations in the session's order,
    one line per message. A part without anything chosen is left out.

    - ``sentences``: the first ``written`` ones are those of the handover.
    - ``chosen``: indexes of facts; an index from ``len(facts)`` on is that of a sentence.
    - ``around``: the delimiters before and after the text.
    """
    quoted = len(facts) + written
    handover = " ".join(sentences[at - len(facts)].text for at in sorted(chosen) if len(facts) <= at < quoted)
    handover = f"{head} {handover}" if handover else ""
    typed = wrap_facts(facts, pieces_of_choice(facts, chosen), (), ("", ""))
    lines = quote_sentences([sentences[at - len(facts)] for at in sorted(chosen) if at >= quoted])
    quotes = "".join((QUOTES_HEAD, *(f"\n{line.rstrip(COLONS)}" for line in lines))) if lines else ""
    return around[0] + "\n".join(filter(None, (handover, typed, quotes.lstrip("\n")))) + around[1]


def quote_sentences(sentences: Iterable[Sentence]) -> list[str]:
    """Return a line for each message with sentences among ``sentences``, which are in the session's order. "..." marks
    text that is left out between two sentences, or at the beginning of a sentence."""
    lines: dict[int, str] = {}
    newest: Sentence | None = None
    for one in sentences:
        before = lines.get(one.number)
        if before is None:
            opening = f"{LEFT_OUT} " if one.within else ""
            lines[one.number] = f"{_SPEAKERS[one.role]}{one.number}: {opening}{one.render()}"
        else:
            lines[one.number] = f"{_lead_on(before, one, newest)} {one.render()}"
        newest = one
    return list(lines.values())


def _lead_on(line: str, one: Sentence, before: Sentence | None) -> str:
    """Return ``line``, the quotation so far, with the punctuation that it needs before the sentence ``one``: "..." if
    text is left out between it and ``before``, the sentence quoted last. "..." replaces a full stop at the end."""
    if one.follows(before) or line.endswith(LEFT_OUT):
        return line if line[-1] in _ENDINGS else f"{line};"
    return f"{line} {LEFT_OUT}" if line[-1] in _PAUSES else f"{line.removesuffix('.')}{LEFT_OUT}"


def read_quotes(block: str) -> dict[int, str]:
    """Return the quotations in ``block``, the text of a resume block, by the number of the quoted message; ``{}`` if it
    has none."""
    _, _, quotes = block.partition(QUOTES_HEAD)
    lines = filter(None, map(_QUOTE.match, quotes.splitlines()))
    return {int(line[1]): line[2] for line in lines}


def wrap_facts(
    facts: Sequence[ResumeFact], pieces: Sequence[FactPart], receipts: Collection[int], around: tuple[str, str]
) -> str:
    """Return a text with the parts of facts ``pieces`` in their sections, between the delimiters ``around``. The facts
    with an index in ``receipts`` are followed by the number of their message, such as "[12]"."""
    joined: dict[int, str] = {}
    for index, part in pieces:
        joined[index] = joined.get(index, "") + (facts[index].why if part else facts[index].text)
    lines: dict[Section, list[str]] = {}
    for index in sorted(joined, key=lambda index: (facts[index].section, facts[index].place)):
        receipt = f" [{facts[index].turn}]" if index in receipts else ""
        lines.setdefault(facts[index].section, []).append(joined[index] + receipt)
    return around[0] + "\n".join(section_line(section, texts) for section, texts in lines.items()) + around[1]


def section_line(section: Section, texts: Sequence[str]) -> str:
    """Return the text of a section: its heading and its facts ``texts``, in one line ("Decided: A; B") or, for rules
    and facts of earlier sessions, one line each."""
    head, between = _HEADS[section]
    first = between if between.startswith("\n") else " "
    return head + first + between.join(texts)


def separator(section: Section) -> str:
    """Return the text that stands between two facts of ``section``: ", " or "; ", or a line break and "- "."""
    return _HEADS[section][1]


_RECEIPTS_SHARE: Final = 0.4
_NO_RECEIPTS: Final = EARLIER | {Section.FILES, Section.USES, Section.ENDPOINTS}


def ids_of(fact: ResumeFact, part: int) -> tuple[str, ...]:
    """Return the ids of the nodes that a part of ``fact`` states (``part`` 0: its label, 1: its reason)."""
    return fact.why_ids if part else fact.ids


def fit_facts(
    facts: Sequence[ResumeFact], budget: int, counter: TokenCounter, around: tuple[str, str], fixed: int
) -> tuple[str, Sequence[FactPart]]:
    """Return a text with as many of ``facts`` as fit into ``budget`` tokens, and the parts of facts in it; "" and () if
    none fits.

    ``around``: the delimiters before and after the text; ``fixed``: their tokens. ``counter``: counts the tokens.
    """
    added = added_tokens(counter)

    def cost(piece: FactPart, opens: bool) -> int:
        fact = facts[piece.fact]
        if piece.part:
            return added(fact.why)
        return added("\n" + section_line(fact.section, [fact.text]) if opens else separator(fact.section) + fact.text)

    taken = sequence(facts, budget, fixed, cost)
    if len(taken) == sum(2 if fact.why else 1 for fact in facts):
        text = _with_receipts(facts, taken, budget, counter, around)
        if counter.count(text) <= budget:
            return text, taken
    for some in (taken[:length] for length in range(len(taken), 0, -1)):
        text = wrap_facts(facts, some, (), around)
        if counter.count(text) <= budget:
            return text, some
    return "", ()


def added_tokens(counter: TokenCounter) -> Callable[[str], int]:
    """Return a function that takes a text and estimates how many tokens it adds when it is appended to another text."""
    alone = counter.count("x")
    return lambda text: counter.count("x" + text) - alone


def _with_receipts(
    facts: Sequence[ResumeFact], taken: Sequence[FactPart], budget: int, counter: TokenCounter, around: tuple[str, str]
) -> str:
    text = wrap_facts(facts, taken, (), around)
    room = int(budget * _RECEIPTS_SHARE) - counter.count(text)
    added = added_tokens(counter)
    receipts: set[int] = set()
    for index, fact in enumerate(facts):
        if fact.section in _NO_RECEIPTS or not fact.turn:  # no message says what was added by hand to an empty session
            continue
        room -= added(f" [{fact.turn}]")
        if room < 0:
            break
        receipts.add(index)
    return wrap_facts(facts, taken, receipts, around) if receipts else text
