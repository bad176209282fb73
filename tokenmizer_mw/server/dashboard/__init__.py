"""The dashboard: web pages about the sessions of a memory, as an ASGI application that can be mounted under any prefix
of another one.

    from tokenmizer_mw.server.dashboard import dashboard
    app.mount("/memory", dashboard(memory, token=os.environ["DASHBOARD_TOKEN"], hosts=["desk.example.org"]))

``table.py`` lists all pages and actions, ``app.py`` is the ASGI application. ``sign_in.py`` finds out who sent a
request, and signs cookies and forms; ``browser_requests.py`` checks hosts and requests of other sites; ``live.py``
notifies browsers of changes. Each page is a module of its own; ``page.py`` and ``markup.py`` have what all pages share.
"""

from .app import Dashboard, dashboard
from .sign_in import local

__all__ = ["Dashboard", "dashboard", "local"]
