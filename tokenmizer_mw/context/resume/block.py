"""The resume block as text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tokenmizer_mw.context.tokens import TokenCounter
from tokenmizer_mw.errors import CallerError
from tokenmizer_mw.graph.fold import SessionGraph
from tokenmizer_mw.model.handover import Handover
from tokenmizer_mw.safety.fence import frame

from .facts import ResumeFact
from .result import LEVELS, Resume
from .sections import Section
from .sentences import Numbered, ReadSentences, message_sentences
from .telling import Telling


def build_resume(
    graph: SessionGraph,
    *,
    level: str = "standard",
    budget: int | None = None,
    counter: TokenCounter,
    nonce: str,
    query: str | None = None,
    turn: int = 0,
    earlier: Sequence[ResumeFact] = (),
    transcript: Sequence[Numbered] = (),
    handover: Handover | None = None,
    read: ReadSentences = message_sentences,
    sections: Collection[Section] | None = None,
) -> Resume:
    """The resume block of ``graph`` within ``budget`` tokens, or within those of ``level``.

    A bigger budget carries every fact that a smaller one does. No text is said twice and no label is cut, save that
    brackets at the end of a goal may be missing. First come the goal, the work in hand and the standing rules,
    prohibitions by the user before others; facts that are pinned and those that ``query`` asks for come right behind
    the rules, and never instead of one. Behind the facts, lists of names excepted, stand receipts ("[12]":
    message 12 says so) when every fact is carried and as long as three fifths of the budget stay free. ``nonce`` is
    what ``nonce_for`` gives.

    ``transcript`` holds the messages that the block stands for, with their numbers, redacted and without blocks of
    ours. With it, a block of 200 tokens or more gives at most half of its budget to typed facts and the rest to
    sentences of the transcript, each with the number of its message: those that together cover what the session is
    about. Sentences that state what was replaced later count less and are marked. Such a block carries not every fact
    that a smaller one does. Sentences of messages that read like an attempt to take over the model are left out.

    ``handover`` stands in the place of what it covers: its sentences come first, whole, those that state rules and
    decisions and those that say most before others where not all fit; then the facts and the sentences of later
    messages, and of earlier facts the state that it does not tell; work done before and lists of names are left to it.
    Sentences of it that state what was replaced since are left out. Where nothing was said since and the handover
    leaves a fifth of the budget, sentences of the messages that it covers follow, those that add most to it. A block
    below 200 tokens has none of it.

    ``read`` gives the sentences of a message of the transcript, where they were read before.

    ``sections`` are those that facts may stand in; ``None``: any.

    ``earlier`` (of ``earlier_facts``) has a section of its own behind the session's own facts.

    What was said in a message that reads like an attempt to take over the model has no place in the smallest block.

    A budget that holds the fence but no fact gives an empty ``Resume``, as a graph without facts does. Raises
    ``CallerError`` for an unknown level and ``BudgetTooSmall``, which names the smallest budget that there is, when
    the budget cannot hold even the fence.
    """
    level, tokens = _budget(level, budget)
    telling = Telling(graph, counter, frame(nonce), query, turn, earlier, transcript, handover, read, sections)
    return telling.resume(level, tokens)


def build_resumes(
    graph: SessionGraph,
    *,
    counter: TokenCounter,
    nonce: str,
    query: str | None = None,
    turn: int = 0,
    earlier: Sequence[ResumeFact] = (),
    transcript: Sequence[Numbered] = (),
    handover: Handover | None = None,
) -> dict[str, Resume]:
    """What ``build_resume`` gives for every level, by its name, at little more than the cost of one."""
    telling = Telling(graph, counter, frame(nonce), query, turn, earlier, transcript, handover)
    return {level: telling.resume(level, tokens) for level, tokens in LEVELS.items()}


def _budget(level: str, budget: int | None) -> tuple[str, int]:
    if budget is None and level not in LEVELS:
        raise CallerError(f"unknown level {level!r}: one of {', '.join(LEVELS)}")
    return (level, LEVELS[level]) if budget is None else ("custom", budget)
