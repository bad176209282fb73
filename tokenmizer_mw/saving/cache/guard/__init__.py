"""Whether two questions may share an answer. Similarity of vectors is not enough: one digit or one "not" hardly changes
a vector.

What is kept in ``same`` (words for the same thing) may differ, and words that only hold a sentence together. All else
must be alike: every other word, literals, numbers, denials, what is asked, whose turn, and who does what to whom.
Written for English; in other languages nothing is ever found to be the same.

``reading`` says what is looked at, ``comparing`` what may differ, ``moments`` which questions are of the moment.
"""

from .comparing import differs
from .moments import of_the_moment
from .reading import QuestionReading, read

__all__ = ["QuestionReading", "differs", "of_the_moment", "read"]
