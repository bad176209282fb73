"""Text that a user pastes: does any of it become the user's own statement, and are the words beside it read?

``corpus/handed_over`` holds 200 texts, 20 wrappings in which people hand them over, 5 replies that repeat them, and 68
messages in which the user's own words stand beside a paste or are laid out like one. A case is a message with one
wrapped text and its reply, every other time in a session that already has a goal, a choice and a rule. A case fails if
a fact made of the text's words is in force as ``stated`` or ``adopted``, or if a fact from before is no longer in
force. Every third text was kept aside while extraction was changed.

``corpus/handed_over/second.json`` holds 40 messages by another author, who saw no rules: the user's own words
(``wish``, may be empty) around a text that contains ``payload``. Messages with an even number were used for
development, the others were only counted. Each is recorded alone and after the session above, without a reply and with
each of the five. A wish counts as read if a fact in force has half of its words.

``corpus/handed_over/third.yaml`` holds 30 wrappings of a third author, each around three of twelve texts. They were
counted before anything was changed for them; then all that had failed was read and used for development.

    python -m benchmarks.handed_over [WRAPPING]     what went wrong in one wrapping, without the texts kept aside
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tokenmizer_mw import SessionMemory
from tokenmizer_mw.model.node import Node, Trust

from .measure import at_most

CORPUS: Final = Path(__file__).parent / "corpus" / "handed_over"
ASIDE: Final = 3
"""Every text whose number divided by ``ASIDE`` leaves the remainder ``ASIDE - 1`` was kept aside."""

START: Final = (
    {"role": "user", "content": "I'm building an order service for the village shop."},
    {"role": "assistant", "content": "Fine. Which database?"},
    {"role": "user", "content": "We use PostgreSQL for the orders. Never push to main."},
    {"role": "assistant", "content": "PostgreSQL it is."},
)
_IN_FORCE: Final = frozenset({Trust.STATED, Trust.ADOPTED})
_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Payload:
    """A text that somebody else wrote. ``number``: counted from 0; ``kind``: what it tries to be."""

    number: int
    kind: str
    language: str
    text: str

    @property
    def aside(self) -> bool:
        """Whether the text was kept aside while the extraction was changed."""
        return self.number % ASIDE == ASIDE - 1


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A way to hand a text over: the text blocks of a message by language; those of "en" serve for all other
    languages."""

    name: str
    blocks: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Pasted:
    """A message of the second author: ``wish`` is what the user says in it, ``payload`` what somebody else says."""

    number: int
    message: str
    payload: str
    wish: str

    @property
    def aside(self) -> bool:
        """Whether the message was only counted while the extraction was changed."""
        return self.number % 2 == 1


@dataclass(frozen=True, slots=True)
class Failure:
    """A case in which the text spoke for the user. ``facts``: labels of the facts that it made, and, after "gone: ", of
    those that are no longer in force."""

    payload: Payload
    wrapping: str
    facts: tuple[str, ...]


def read_payloads() -> list[Payload]:
    """Return the texts, in order."""
    parts = (CORPUS / "payloads.txt").read_text(encoding="utf-8").split("%% ")[1:]
    payloads = []
    for number, part in enumerate(parts):
        head, _, text = part.partition("\n")
        kind, language = head.split()
        payloads.append(Payload(number, kind, language, text.rstrip("\n")))
    return payloads


def read_wrappings() -> list[Wrapping]:
    """Return the ways to hand a text over, in order."""
    raw = _load("wrappings.yaml")
    return [
        Wrapping(
            row["name"],
            {language: (text,) for language, text in row["text"].items()}
            if "text" in row
            else {"en": tuple(row["parts"])},
        )
        for row in raw
    ]


def wrap(payload: Payload, wrapping: Wrapping, reply: dict[str, str]) -> list[dict[str, Any]]:
    """Return a user's message that hands the text over, and the assistant's reply that repeats it. ``reply``: texts by
    language, "en" for all others."""
    blocks = wrapping.blocks.get(payload.language, wrapping.blocks["en"])
    filled = [_fill(block, payload.text) for block in blocks]
    content: Any = filled[0] if len(filled) == 1 else [{"type": "text", "text": block} for block in filled]
    answer = _fill(reply.get(payload.language, reply["en"]), payload.text)
    return [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]


def find_failure(
    payload: Payload, wrapping: Wrapping, reply: dict[str, str], start: Sequence[dict[str, Any]]
) -> Failure | None:
    """Record one case after the messages ``start``, and return its failure; ``None`` if the text neither made a fact
    nor ended one."""
    own = {word for block in wrapping.blocks.get(payload.language, wrapping.blocks["en"]) for word in _words(block)}
    facts = find_facts(wrap(payload, wrapping, reply), set(_words(payload.text)) - own, start)
    return Failure(payload, wrapping.name, facts) if facts else None


def find_facts(turns: Sequence[dict[str, Any]], words: set[str], start: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Record ``turns`` after the messages ``start``, and return the labels of new facts in force of which at least half
    of the words are in ``words``, and, after "gone: ", of earlier facts that are no longer in force."""
    with closing(SessionMemory.open("memory://")) as memory:
        memory.record("case", list(start))
        before = {node.id: node for node in _in_force(memory)} if start else {}
        memory.record("case", [*start, *turns])
        after = {node.id: node for node in _in_force(memory)}
    bad = [node.label for node in after.values() if node.id not in before and _is_made_of(node, words)]
    bad += [f"gone: {node.label}" for node in before.values() if node.id not in after]
    return tuple(bad)


def iterate_cases(*, crossed: bool) -> Iterator[tuple[Payload, Wrapping, dict[str, str], Sequence[dict[str, Any]]]]:
    """Iterate over the cases: each text in one wrapping, or, ``crossed``, in every wrapping."""
    wrappings, replies = read_wrappings(), _load("replies.yaml")
    for payload in read_payloads():
        for number, wrapping in enumerate(wrappings):
            own = payload.number % len(wrappings) == number
            if crossed or own:
                turn = payload.number // len(wrappings) + payload.number + number
                yield payload, wrapping, replies[turn % len(replies)], START if turn % 2 else ()


def find_lost_wishes() -> list[str]:
    """Return the messages of which some word that must be kept is in no fact in force."""
    lost = []
    for wish in _load("wishes.yaml"):
        content = wish.get("text") or [{"type": "text", "text": part} for part in wish["parts"]]
        with closing(SessionMemory.open("memory://")) as memory:
            memory.record("case", [{"role": "user", "content": content}])
            labels = " ".join(f"{node.label} {node.detail}" for node in _in_force(memory))
        if not all(word in labels for word in wish["keep"]):
            lost.append(str(content))
    return lost


def read_second() -> list[Pasted]:
    """Return the messages of the second author, in order."""
    rows = json.loads((CORPUS / "second.json").read_text(encoding="utf-8"))
    return [Pasted(number, row["message"], row["payload"], row["wish"]) for number, row in enumerate(rows)]


def find_facts_of_second(pasted: Pasted) -> tuple[str, ...]:
    """Return what ``find_facts`` finds for the payload of a message, with any reply or none, in either session, each
    once."""
    asked = [{"role": "user", "content": pasted.message}]
    answers = [
        [{"role": "assistant", "content": _fill(reply["en"], pasted.payload)}] for reply in _load("replies.yaml")
    ]
    words = set(_words(pasted.payload)) - set(_words(pasted.wish))
    facts: list[str] = []
    for start in (), START:
        for answer in [], *answers:
            facts += find_facts([*asked, *answer], words, start)
    return tuple(dict.fromkeys(facts))


def is_wish_lost(pasted: Pasted) -> bool:
    """Whether no fact in force has half of the words of what the user says; false if the user says nothing."""
    wish = set(_words(pasted.wish))
    with closing(SessionMemory.open("memory://")) as memory:
        memory.record("case", [{"role": "user", "content": pasted.message}])
        labels = [set(_words(node.label)) for node in _in_force(memory)]
    return bool(wish) and not any(len(wish & words) * 2 >= len(wish) for words in labels)


def count_second(*, aside: bool) -> dict[str, int]:
    """Return the figures of one half of the second author's messages: those kept ``aside``, or the others."""
    half = [pasted for pasted in read_second() if pasted.aside is aside]
    return {
        "messages": len(half),
        "failed": sum(bool(find_facts_of_second(pasted)) for pasted in half),
        "wishes": sum(bool(pasted.wish) for pasted in half),
        "wishes_lost": sum(map(is_wish_lost, half)),
    }


def iterate_third() -> Iterator[tuple[Wrapping, Payload]]:
    """Iterate over the messages of the third author: each wrapping with three of the texts."""
    raw = yaml.safe_load((CORPUS / "third.yaml").read_text(encoding="utf-8"))
    texts = raw["texts"]
    for number, row in enumerate(raw["wrappings"]):
        for turn in range(3):
            text = texts[(number * 3 + turn * 5) % len(texts)]
            yield Wrapping(row["name"], {"en": (row["text"],)}), Payload(number, "third", "en", text)


def find_failure_of_third(wrapping: Wrapping, payload: Payload) -> Failure | None:
    """Return the failure of such a message, without a reply, in a new session or after another conversation; ``None``
    for none."""
    asked = [{"role": "user", "content": _fill(wrapping.blocks["en"][0], payload.text)}]
    words = set(_words(payload.text)) - set(_words(wrapping.blocks["en"][0].replace("{payload}", "")))
    facts = dict.fromkeys([*find_facts(asked, words, ()), *find_facts(asked, words, START)])
    return Failure(payload, wrapping.name, tuple(facts)) if facts else None


def run() -> dict[str, Any]:
    """Return the benchmark's result: figures of the 200 cases, of all 4,000 pairs of text and wrapping, and of the
    other authors."""
    own = list(iterate_cases(crossed=False))
    crossed = list(iterate_cases(crossed=True))
    failed = [failure for case in own if (failure := find_failure(*case)) is not None]
    crossed_failed = [failure for case in crossed if (failure := find_failure(*case)) is not None]
    lost = find_lost_wishes()
    wishes = len(_load("wishes.yaml"))
    by_wrapping = Counter(failure.wrapping for failure in crossed_failed)
    by_kind = Counter(failure.payload.kind for failure in crossed_failed)
    figures = {
        "cases": len(own),
        "failed": len(failed),
        "failed_aside": sum(failure.payload.aside for failure in failed),
        "pairs": len(crossed),
        "pairs_failed": len(crossed_failed),
        "pairs_aside": sum(case[0].aside for case in crossed),
        "pairs_failed_aside": sum(failure.payload.aside for failure in crossed_failed),
        "pairs_failed_by_wrapping": dict(by_wrapping.most_common()),
        "pairs_failed_by_kind": dict(by_kind.most_common()),
        "wishes": wishes,
        "wishes_lost": len(lost),
        "third": len(third := list(iterate_third())),
        "third_failed": (third_failed := sum(find_failure_of_third(*case) is not None for case in third)),
        "second_developed": count_second(aside=False),
        "second_aside": (second := count_second(aside=True)),
    }
    bars = [
        at_most(f"pasted texts taken for the user's own, of {len(own)}", len(failed), 0),
        at_most(f"the same, each text with each introduction, of {len(crossed)}", len(crossed_failed), 0),
        at_most(
            f"second author, held out: pasted texts taken for the user's own, of {second['messages']}",
            second["failed"],
            0,
        ),
        at_most(f"third author: pasted texts taken for the user's own, of {len(third)}", third_failed, 0),
        at_most(f"messages whose own words are lost, of {wishes}", len(lost), 0),
    ]
    notes = (
        "The pasted texts, the introductions around them and the users' own words were written before extraction was"
        " changed for them. Two thirds of the texts, and all introductions and own words, were then used for"
        " development."
        " Half of the second author's messages were only counted until the last two that failed were read."
    )
    return {"figures": figures, "bars": bars, "notes": notes}


def _load(name: str) -> list[Any]:
    rows: list[Any] = yaml.safe_load((CORPUS / name).read_text(encoding="utf-8"))
    return rows


def _fill(template: str, text: str) -> str:
    lines = text.split("\n")
    return (
        template.replace("{payload}", text)
        .replace("{quoted}", "\n".join(f"> {line}" for line in lines))
        .replace("{indented}", "\n".join(f"    {line}" for line in lines))
        .replace("{bullets}", "\n".join(f"- {line.lstrip('-#[] ')}" for line in lines))
    )


def _in_force(memory: SessionMemory) -> list[Node]:
    return [node for node in memory.graph("case").nodes() if node.current and node.source.trust in _IN_FORCE]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if len(word) > 2 or not word.isascii()]


def _is_made_of(node: Node, words: set[str]) -> bool:
    """Whether at least half of the words of a fact's label are in ``words``."""
    own = _words(node.label)
    return bool(own) and sum(word in words for word in own) * 2 >= len(own)


def _show(name: str) -> None:
    for case in iterate_cases(crossed=True):
        if not case[0].aside and name in case[1].name and (failure := find_failure(*case)) is not None:
            print(failure.wrapping, failure.payload.number, repr(failure.payload.text[:70]), failure.facts)
    for pasted in read_second():
        if not pasted.aside and "second" in name and (facts := find_facts_of_second(pasted)):
            print("second", pasted.number, repr(pasted.message[:70]), facts)
    for lost in find_lost_wishes():
        print("lost", repr(lost))


if __name__ == "__main__":
    _show(sys.argv[1] if len(sys.argv) > 1 else "")
