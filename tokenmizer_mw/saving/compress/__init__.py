"""Request compression: stages that each remove repeated or empty text from a chat, in a fixed order.

All stages are off unless the settings name them. How a message is compressed depends only on it and on earlier
messages, so that a growing chat is sent with the same beginning.
"""

from .filler import without_filler as trimmed
from .neural import Shrink, lingua
from .pipeline import STAGES
from .requests import Compressed, compress

__all__ = ["STAGES", "Compressed", "Shrink", "compress", "lingua", "trimmed"]
