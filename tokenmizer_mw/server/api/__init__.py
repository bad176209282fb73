"""The REST API of the memory: an ASGI application that can be mounted under any prefix of another one.

    from tokenmizer_mw.server.api import api
    app.mount("/memory", api(memory, authorize=who_asks))

``who_asks`` is your function that takes the ASGI scope of a request and returns its ``Caller`` (who sent it and what it
may do), see ``Authorize``.

``routes.py`` has the table of all routes. The dispatch, the required permissions, the validation and the OpenAPI
document are derived from that table. ``reading.py`` and ``writing.py`` have the functions of the routes, ``shapes.py``
the types of requests and responses, ``app.py`` the ASGI application.
"""

from .app import api
from .requests import Authorize, local

__all__ = ["Authorize", "api", "local"]
