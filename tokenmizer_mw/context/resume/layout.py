"""Render a resume block: facts in sections, quoted sentences below."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from tokenmizer_mw.model.message import Role

from .facts import ResumeFact
from .fill import FactPart
from .sections import Section
from .sentences import Sentence

_HEADS: Final[dict[Section, tuple[str, str]]] = {
    Section.GOAL: ("Goal:", "; "),
    Section.RULES: ("User's rules:", "\n- "),
    Section.DECISIONS: ("Decided:", "; "),
    Section.WARNINGS: ("Ruled out:", "; "),
    Section.DOING: ("In progress:", "; "),
    Section.TO_DO: ("To do:", "; "),
    Section.ERRORS: ("Open errors:", "; "),
    Section.DONE: ("Done:", "; "),
    Section.FILES: ("Files:", ", "),
    Section.ENVIRONMENT: ("Environment:", "; "),
    Section.USES: ("Uses:", ", "),
    Section.ENDPOINTS: ("Endpoints:", ", "),
    Section.SCHEMA: ("Schema:", "; "),
    Section.TESTS: ("Tests:", "; "),
    Section.PROPOSED: ("Proposed, not agreed:", "; "),
    Section.ABOUT: ("About:", "; "),
    Section.EARLIER: ("From earlier sessions of this project:", "\n- "),
}
"""For each section its head and what stands between two facts of it; facts between line breaks have lines of their
own."""

SAID_HEAD: Final = "\nSaid (User, Assistant, Tool; message number):"
_SPEAKERS: Final = {Role.USER: "U", Role.ASSISTANT: "A", Role.TOOL: "T"}
_ENDINGS: Final = ".!?:;,\u0964\u3002\uff01\uff1f\uff1b\uff1a"


def pieces_of_choice(facts: Sequence[ResumeFact], chosen: Sequence[int]) -> list[FactPart]:
    """All pieces of the facts among the places ``chosen``, which count sentences on behind the facts."""
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
    """The chosen ones of the first ``written`` sentences below ``head``, facts in their sections, then the other chosen
    sentences in the session's order, a line a message."""
    quoted = len(facts) + written
    handover = " ".join(sentences[at - len(facts)].text for at in sorted(chosen) if len(facts) <= at < quoted)
    handover = f"{head} {handover}" if handover else ""
    typed = wrap_facts(facts, pieces_of_choice(facts, chosen), (), ("", ""))
    lines: dict[int, str] = {}
    for one in (sentences[at - len(facts)] for at in sorted(chosen) if at >= quoted):
        before = lines.get(one.number)
        between = " " if before is not None and before[-1] in _ENDINGS else "; "
        lines[one.number] = (
            f"{_SPEAKERS[one.role]}{one.number}: {one.render()}" if before is None else before + between + one.render()
        )
    said = "".join((SAID_HEAD, *(f"\n{line}" for line in lines.values()))) if lines else ""
    return around[0] + "\n".join(filter(None, (handover, typed, said.lstrip("\n")))) + around[1]


def wrap_facts(
    facts: Sequence[ResumeFact], pieces: Sequence[FactPart], receipts: Collection[int], around: tuple[str, str]
) -> str:
    """The facts of ``pieces`` in their sections between the two parts of a fence, with the numbers of the messages of
    those in ``receipts``."""
    said: dict[int, str] = {}
    for index, part in pieces:
        said[index] = said.get(index, "") + (facts[index].why if part else facts[index].text)
    lines: dict[Section, list[str]] = {}
    for index in sorted(said, key=lambda index: (facts[index].section, facts[index].place)):
        receipt = f" [{facts[index].turn}]" if index in receipts else ""
        lines.setdefault(facts[index].section, []).append(said[index] + receipt)
    return around[0] + "\n".join(section_line(section, texts) for section, texts in lines.items()) + around[1]


def section_line(section: Section, texts: Sequence[str]) -> str:
    """The facts ``texts`` of a section below or behind its head."""
    head, between = _HEADS[section]
    first = between if between.startswith("\n") else " "
    return head + first + between.join(texts)


def separator(section: Section) -> str:
    """What stands between two facts of a section."""
    return _HEADS[section][1]
