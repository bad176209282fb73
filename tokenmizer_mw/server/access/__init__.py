"""Who may do what: API keys, tenants, scopes, rate limits and the guards at the door.

    request -> guards (host, head, body) -> key -> caller -> limits -> the application inside

``caller.py`` is what everything behind the door reads; ``door.py`` is the middleware.
"""
