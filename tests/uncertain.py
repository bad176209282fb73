"""A chat in which only the statistical comparison finds that a sentence replaced a fact: texts say "perhaps"."""

from __future__ import annotations

from typing import Any, Final

OLD: Final = "let's host it on Fly.io"
NEW: Final = "Change of plan, our own Hetzner server, Fly.io lost a volume last night"


def chat(last: str) -> list[dict[str, Any]]:
    """The messages of a chat that ends with ``last``."""
    texts = ("Build the shop.", "Here is the shop.", f"{OLD}.", "Done.", f"{last}.")
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


UNCERTAIN: Final = chat(NEW)
CERTAIN: Final = chat("Switch from Fly.io to Hetzner, because Fly.io lost a volume")
"""The same with a sentence by which a rule replaces the fact."""
