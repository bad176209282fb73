"""What API keys may be good for. The argument parser imports this with every command."""

from __future__ import annotations

from typing import Final

SCOPES: Final = ("chat", "read", "write", "erase", "admin")
"""What a key may be good for: chat calls; reading sessions; changing them; erasing them; everything, of its tenant."""
