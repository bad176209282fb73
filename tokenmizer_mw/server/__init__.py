"""What is served over HTTP: who may do what, the proxy and its translations, the REST interface, the dashboard."""
