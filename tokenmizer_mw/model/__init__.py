"""Types that all other parts share: messages, events, nodes, sessions. Imports nothing else of the package.

Here are names of tenants, and scopes of API keys, because the argument parser imports them with every command.
"""

from __future__ import annotations

from typing import Final

LOCAL_TENANT: Final = "local"
"""The tenant of everybody who does not name one."""

OWN_TENANTS: Final = "tokenmizer."
"""How the tenants begin under which this package keeps records of its own: no caller is one of them."""


SCOPES: Final = ("chat", "read", "write", "erase", "admin")
"""What a key may be good for: chat calls; reading sessions; changing them; erasing them; everything, of its tenant."""
