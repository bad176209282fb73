"""Find the messages of a session that belong to another branch of its chat. Pure."""

from __future__ import annotations

from collections.abc import Collection

from tokenmizer_mw.session import SessionState, Transcript


def other_branches(transcript: Transcript, anchor: int, compacted: Collection[int] = ()) -> Collection[int]:
    """The numbers below ``anchor`` of messages that message ``anchor`` does not follow, because the client went back
    and went on otherwise. ``compacted``: the messages with which a client began its chat anew when it had compacted it;
    they follow what was said before."""
    place = anchor - 1
    if not 0 <= place < len(transcript) or transcript.depths[place] == place:
        return ()
    before: set[int] = set()
    while place >= 0:
        behind = transcript.parents[place]
        place = place - 1 if behind < 0 and place + 1 in compacted else behind
        before.add(place + 1)
    return frozenset(range(1, anchor)) - before


def beginnings_after_compaction(state: SessionState) -> Collection[int]:
    """The messages with which a client began its chat anew when it had compacted it: a block stands in front of them.
    Where the client had it compacted by contract, that is the first message behind the block."""
    marks = [mark.checkpoint for mark in state.checkpoints if mark.checkpoint.block]
    handed_back = {one.anchor_turn for one in marks if one.anchor and not one.dropped}
    return frozenset(handed_back | {one.turn + 1 for one in marks if not one.anchor})
