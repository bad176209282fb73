"""Names of tenants. The argument parser imports this with every command."""

from __future__ import annotations

from typing import Final

LOCAL_TENANT: Final = "local"
"""The tenant of everybody who does not name one."""

OWN_TENANTS: Final = "tokenmizer."
"""How the tenants begin under which this package keeps records of its own: no caller is one of them."""
