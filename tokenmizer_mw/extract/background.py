"""What somebody tells of themselves to ask something about it: no work of the session, however finished it is."""

from __future__ import annotations

from typing import Final

from .pattern import PatternSet
from .phrases import before_question, bounded

_DOUBTS: Final = PatternSet(
    r".*(?:,| but| and| so| -) (?:(?:and|but|so|now|still|yet) )*(?:i'm|i am|we're|we are|i was) (?:\w+ )?"
    r"(?:not (?:\w+ )?sure|unsure|wondering|worried|curious|nervous|struggling|stuck|concerned|confused|anxious"
    r"|hesitant"
    r"|torn|debating|looking for|trying to (?:figure|decide|understand))\b",
    r".*(?:,| but| and| so) (?:(?:and|but|so|now) )*(?:i|we) (?:don't|do not) (?:really )?(?:know|understand)\b",
    r".*\?$",
)
"""A sentence that goes on with a doubt or a question."""

_FEELS: Final = PatternSet(
    r"(?:\w+,? ){0,2}?(?:i'm|i am|we're|we are) (?:(?:a bit|kind of|kinda|really|so|pretty|just|also|still|feeling"
    r"|slightly) )*(?:worried|nervous|stressed|anxious|curious|confused|struggling|stuck|excited|frustrated|overwhelmed"
    r"|torn|concerned|trying to (?:decide|figure|understand)|considering|thinking (?:of|about)|looking for|new to|proud"
    r"|wondering)\b",
    r"(?:\w+,? ){0,2}?(?:i|we) (?:feel|felt)\b",
)
"""A sentence that begins with what its speaker feels goes on with why."""

_OF_WORK: Final = PatternSet(
    r"(?:(?:i|we)(?:'ve| have)? )?(?:(?:just|already|now|also|finally|since|successfully|recently) )*(?:added|applied"
    r"|built|cached|changed|cleaned up|committed|configured|connected|converted|corrected|covered|debugged|defined"
    r"|deleted|deployed|disabled|enabled|exposed|extracted|fixed|generated|implemented|installed|integrated|merged"
    r"|migrated|moved|optimi[sz]ed|patched|ported|published|pushed|refactored|released|removed|renamed|repaired"
    r"|replaced|resolved|restored|reverted|rewrote|rewritten|set up|simplified|split|switched|tested|updated|upgraded"
    r"|verified|wired up)\b"
)
"""Work on a thing at hand, which is done whatever is asked about it."""


def is_background(sentence: str, claim: str) -> bool:
    """Whether ``claim``, a part of a user's ``sentence``, only says what a question or a doubt in it is about: "I
    finished two of her novels, what should I read next?"."""
    if _OF_WORK.any(claim):
        return False
    text = bounded(sentence)
    return bool(before_question(text)[1]) or _DOUBTS.any(text) or _FEELS.any(text)
