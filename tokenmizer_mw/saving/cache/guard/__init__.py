"""Decides whether two similar questions may share a response; vectors alone miss a changed digit or a "not".

Two questions may differ in synonyms (``phrases``), in function words ("the", "of"), and in the order of parts that may
move. Everything else must be equal: all other words, literals, numbers, negations, what is asked, and who does what to
whom. Written for English; questions in which no English word is known never count as equal.

``words`` and ``reading`` analyse a question, ``comparing`` compares two of them, ``moments`` finds questions whose
answer changes with time.
"""

from .comparing import differs
from .moments import is_of_the_moment
from .reading import QuestionReading, read

__all__ = ["QuestionReading", "differs", "is_of_the_moment", "read"]
