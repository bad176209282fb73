"""The dashboard: pages about the memory, an ASGI application that mounts under any prefix of any other.

    from tokenmizer_mw.server.dashboard import dashboard
    app.mount("/memory", dashboard(memory, token=os.environ["DASHBOARD_TOKEN"], hosts=["desk.example.org"]))

``table.py`` is the one list of pages and changes; ``app.py`` speaks ASGI; ``entrance.py`` says who comes in, with
``seal.py`` (cookies and tokens of forms) and ``guards.py`` (hosts and foreign pages); ``live.py`` tells browsers that
something happened. A page is a module of its own; ``frame.py`` and ``markup.py`` are what all are made with.
"""

from .app import Dashboard, dashboard
from .entrance import local

__all__ = ["Dashboard", "dashboard", "local"]
