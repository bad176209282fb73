"""Translators for the API formats (dialects) of clients: they parse requests, and write replies, streams and errors."""
