"""Decides whether two similar questions may share a response; vectors alone miss a changed digit or a "not".

Two questions may differ in synonyms (``same``) and in function words. Everything else must be equal: all other words,
literals, numbers, negations, what is asked, whose turn it is, and who does what to whom. Written for English; questions
in other languages never count as equal.

``reading`` analyses a question, ``comparing`` compares two of them, ``moments`` finds questions whose answer changes
with time.
"""

from .comparing import differs
from .moments import of_the_moment
from .reading import QuestionReading, read

__all__ = ["QuestionReading", "differs", "of_the_moment", "read"]
