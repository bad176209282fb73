"""Chats in fewer tokens: stages that each leave out what is said elsewhere or says nothing, in an order of their own.

All of them are off unless the settings name them. What becomes of a message depends on what stands before it alone.
"""

from .compressing import Compressed, compress
from .filler import without_filler as trimmed
from .neural import Shrink, lingua
from .pipeline import STAGES

__all__ = ["STAGES", "Compressed", "Shrink", "compress", "lingua", "trimmed"]
