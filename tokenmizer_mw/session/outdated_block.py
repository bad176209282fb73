"""Find the facts that the resume block of a cut lacks, or states wrongly, because of manual edits since it was made.
Pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from tokenmizer_mw.context.resume.layout import read_quotes
from tokenmizer_mw.graph.text import words
from tokenmizer_mw.model.event import Checkpointed, NodeEdited
from tokenmizer_mw.model.node import Node, Status
from tokenmizer_mw.safety.labels import flatten
from tokenmizer_mw.session.state import SessionState

_STATED: Final = frozenset({"label", "detail", "confidence"})
_REVERSED: Final = frozenset({Status.INVALIDATED, Status.SUPERSEDED})


def find_outdated_facts(state: SessionState, cut: Checkpointed) -> tuple[str, ...]:
    """Return the ids of the facts that a resume block made now would state differently from the block of ``cut``,
    because of manual edits since; () if ``cut`` is not the session's current cut. These are:

    - facts that the block states and that were reworded, rejected, replaced or restored;
    - facts in force that the block does not state and that were added, reworded or restored.

    Facts that were completed, archived or pinned are not among them: the block stays as good as it was.
    """
    if state.cut is None or state.cut.id != cut.id:
        return ()
    changed = dict.fromkeys(edit.id for edit in _edits_since(state) if _changes_statement(edit))
    if not changed:
        return ()
    changed |= dict.fromkeys(step.old for step in state.graph.transitions() if step.new in changed)
    stated = tuple(id for id in cut.carried if id in changed)
    nodes = (state.graph.get(id) for id in changed if id not in stated)
    return (*stated, *(node.id for node in nodes if node is not None and node.current))


def is_outdated(state: SessionState) -> bool:
    """Return whether manual edits have made the resume block of the current cut wrong: it lacks a fact that was added,
    reworded or restored since; it states or quotes a fact that was reworded, rejected, replaced or restored; or it
    contains the words of a fact that was withdrawn as never true."""
    cut = state.cut
    if cut is None:
        return False
    carried = [node for node in map(state.graph.get, cut.carried) if node is not None]
    if find_outdated_facts(state, cut) or any(node.is_withdrawn for node in carried):
        return True
    return any(_is_quoted(cut.block, state.graph.get(edit.id), edit) for edit in _edits_since(state))


def find_renewed_blocks(checkpoints: Iterable[Checkpointed]) -> frozenset[str]:
    """Return the ids of the checkpoints that only renew the resume block of the cut before them, after a fact was
    changed by hand, and make no new cut."""
    cuts = [one for one in checkpoints if one.anchor]
    return frozenset(
        later.id for before, later in pairwise(cuts) if before.anchor_turn == later.anchor_turn and later.kept
    )


def _is_quoted(block: str, node: Node | None, edit: NodeEdited) -> bool:
    """Whether a block contains the words that a fact had before an edit: its label as it was, or all words of it in one
    quote."""
    if node is None or edit.adds or not _changes_statement(edit):
        return False
    label = flatten(edit.before.get("label", node.label))
    quote = read_quotes(block).get(node.source.turn, "")
    return label.casefold() in block.casefold() or (bool(words(label)) and words(label) <= words(quote))


def _edits_since(state: SessionState) -> list[NodeEdited]:
    """Return the manual edits of the session's facts that were made after its current cut, oldest first; all of them if
    there is no cut."""
    return [one.edit for number, one in state.edits.items() if number > state.edits_at_cut]


def _changes_statement(edit: NodeEdited) -> bool:
    """Whether an edit changes what a block that states the fact, or the one that it replaced, should say."""
    if edit.adds or not _STATED.isdisjoint(edit.changes):
        return True
    moves = {edit.before.get("status"), edit.changes.get("status")}
    return not _REVERSED.isdisjoint(moves) or (edit.undoes > 0 and "status" in edit.changes)
