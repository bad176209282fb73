"""HTTP servers: access control, the proxy and its dialect translation, the REST API, and the dashboard."""
