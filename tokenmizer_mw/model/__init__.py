"""Types that all other parts share: messages, events, nodes, sessions. Imports nothing else of the package.

This module itself holds the names of tenants and the scopes of API keys. The argument parser needs them for every
command, and so imports nothing more.
"""

from __future__ import annotations

from typing import Final

LOCAL_TENANT: Final = "local"
"""The tenant of callers that name none. A tenant is a customer or user that sees only its own sessions."""

OWN_TENANTS: Final = "tokenmizer."
"""Prefix of the tenants under which this package stores its own records, such as "tokenmizer.backups". No API key can
have a tenant that begins so."""


SCOPES: Final = ("chat", "read", "write", "erase", "admin")
"""What an API key may allow, within its tenant: "chat" (chat calls), "read" (read sessions), "write" (change them),
"erase" (erase them). "admin" allows all of it."""
