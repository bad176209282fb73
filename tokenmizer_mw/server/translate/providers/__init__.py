"""Translators for the API formats (dialects) of providers: they write requests, and parse replies, streams and
errors."""
