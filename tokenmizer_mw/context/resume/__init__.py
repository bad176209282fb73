"""The resume block: a session's graph as a few lines of text within a budget of tokens."""

from .block import build_resume, build_resumes
from .earlier import earlier_facts
from .result import LEVELS, Resume
from .sections import STANDING, STANDING_AND_WORK, Section

__all__ = [
    "LEVELS",
    "STANDING",
    "STANDING_AND_WORK",
    "Resume",
    "Section",
    "build_resume",
    "build_resumes",
    "earlier_facts",
]
