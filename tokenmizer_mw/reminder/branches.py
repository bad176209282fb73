"""Which messages of a session are of another branch of its chat. Pure."""

from __future__ import annotations

from collections.abc import Collection

from tokenmizer_mw.session import Transcript


def other_branches(transcript: Transcript, anchor: int) -> Collection[int]:
    """The numbers below ``anchor`` of messages that message ``anchor`` does not follow, because the client went back
    and went on otherwise."""
    place = anchor - 1
    if not 0 <= place < len(transcript) or transcript.depths[place] == place:
        return ()
    before: set[int] = set()
    while (place := transcript.parents[place]) >= 0:
        before.add(place + 1)
    return frozenset(range(1, anchor)) - before
