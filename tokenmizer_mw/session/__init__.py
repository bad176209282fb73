"""The state of a session: the event log is folded into a transcript and a graph of facts, and resent transcripts are
matched with the stored one. What is exported here is pure: no I/O.
"""

from tokenmizer_mw.extract import CONTEXT_MESSAGES
from tokenmizer_mw.session.compaction import LongestRequests, begins_with_summary, goes_on_from_block, tools_digest
from tokenmizer_mw.session.resent import ResentHistory, ResentMessages
from tokenmizer_mw.session.state import (
    CheckpointMark,
    Numbered,
    RecordedEdit,
    SessionState,
    append_messages,
    find_new_messages,
    fold,
    joining,
)
from tokenmizer_mw.session.transcript import Transcript

__all__ = [
    "CONTEXT_MESSAGES", "CheckpointMark", "LongestRequests", "Numbered", "RecordedEdit", "ResentHistory",
    "ResentMessages", "SessionState", "Transcript", "append_messages", "begins_with_summary",
    "find_new_messages", "fold", "goes_on_from_block", "joining", "tools_digest",
]  # fmt: skip
