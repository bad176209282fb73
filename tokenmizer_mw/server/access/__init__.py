"""Access control for HTTP servers: API keys, tenants, scopes, rate limits and request size limits.

    request -> checks (host, headers, body) -> API key -> caller -> rate limits -> the inner application

A tenant is a name that owns sessions; a scope is a kind of operation that a key permits, such as "read". The caller is
the tenant and the scopes that a request's key stands for. ``caller.py`` defines it and how inner applications read it
from the ASGI scope; ``middleware.py`` is the ASGI middleware.
"""
