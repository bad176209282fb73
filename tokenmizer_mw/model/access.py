"""Who may do what: names of tenants, and scopes of API keys. The argument parser imports this with every command."""

from __future__ import annotations

from typing import Final

LOCAL_TENANT: Final = "local"
"""The tenant of everybody who does not name one."""

OWN_TENANTS: Final = "tokenmizer."
"""How the tenants begin under which this package keeps records of its own: no caller is one of them."""


SCOPES: Final = ("chat", "read", "write", "erase", "admin")
"""What a key may be good for: chat calls; reading sessions; changing them; erasing them; everything, of its tenant."""
