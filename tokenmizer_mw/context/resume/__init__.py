"""The resume block: the most important facts of a session as a few lines of text, within a token budget."""

from tokenmizer_mw.context.resume.block import BUDGET_MIN, LEVELS, Resume, build_resume, build_resumes, check_budget
from tokenmizer_mw.context.resume.earlier import earlier_facts
from tokenmizer_mw.context.resume.sections import STANDING, STANDING_AND_WORK, Section

__all__ = [
    "BUDGET_MIN", "LEVELS", "STANDING", "STANDING_AND_WORK", "Resume", "Section", "build_resume", "build_resumes",
    "check_budget", "earlier_facts",
]  # fmt: skip
