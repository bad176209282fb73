"""Ask a model for text: through a function of the host, or a provider's HTTP endpoint. Optional."""

from .allowance import Allowance
from .asking import Attempts, Complete, ModelAnswer, ReplyTooLong, ask, ask_on_loop
from .portal import Portal

__all__ = ["Allowance", "Attempts", "Complete", "ModelAnswer", "Portal", "ReplyTooLong", "ask", "ask_on_loop"]
