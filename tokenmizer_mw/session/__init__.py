"""The state of a session: event log folded into transcript and graph, and matching of resent transcripts. Pure."""

from tokenmizer_mw.extract.derive import CONTEXT_MESSAGES

from .compaction import LongestRequests, begins_with_summary, goes_on_from_block, tools_digest
from .resent import Resent, ResentHistory
from .state import (
    Edited,
    Marked,
    Numbered,
    SessionState,
    append_messages,
    fold,
    joining,
)
from .transcript import Transcript

__all__ = [
    "CONTEXT_MESSAGES",
    "Edited",
    "LongestRequests",
    "Marked",
    "Numbered",
    "Resent",
    "ResentHistory",
    "SessionState",
    "Transcript",
    "append_messages",
    "begins_with_summary",
    "fold",
    "goes_on_from_block",
    "joining",
    "tools_digest",
]
