"""The REST API of the memory: an ASGI application that can be mounted under any prefix of another one.

    from tokenmizer_mw.server.api import api
    app.mount("/memory", api(memory, authorize=who_asks))

``who_asks`` is your function from the ASGI scope of a request to its ``Caller``, see ``Authorize``. ``routes.py`` lists
all routes; dispatch, scopes (permissions), validation and the OpenAPI document are derived from it. ``reading.py`` and
``writing.py`` implement the routes, ``shapes.py`` defines requests and responses, ``app.py`` is the ASGI layer.
"""

from .app import api
from .requests import Authorize, local

__all__ = ["Authorize", "api", "local"]
