"""Access control for HTTP servers: API keys, tenants, scopes, rate limits and request size limits.

    request -> checks (host, headers, body) -> API key -> caller -> rate limits -> the inner application

``caller.py`` defines the caller that inner applications read from the scope; ``middleware.py`` is the ASGI middleware.
"""
