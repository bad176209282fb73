"""The resume block: a session's graph as a few lines of text within a budget of tokens."""

from .block import LEVELS, Resume, build_resume
from .earlier import earlier_facts

__all__ = ["LEVELS", "Resume", "build_resume", "earlier_facts"]
