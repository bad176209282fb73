"""Asking a model for text: through what the host hands over, or a provider by its address. Optional; never needed."""

from .allowance import Allowance
from .asking import Attempts, Complete, ModelAnswer, ReplyTooLong, ask, ask_on_loop
from .portal import Portal

__all__ = ["Allowance", "Attempts", "Complete", "ModelAnswer", "Portal", "ReplyTooLong", "ask", "ask_on_loop"]
