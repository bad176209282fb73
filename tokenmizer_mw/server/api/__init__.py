"""The memory over HTTP: an ASGI application that mounts under any prefix of any other.

    from tokenmizer_mw.server.api import api
    app.mount("/memory", api(memory, authorize=who_asks))

``table.py`` is the one list of routes: dispatching, scopes, validation and the OpenAPI document come from it.
``reading.py`` and ``writing.py`` do the work, ``shapes.py`` says what goes in and out, ``app.py`` speaks ASGI.
"""

from .app import api
from .callers import Authorize, local

__all__ = ["Authorize", "api", "local"]
