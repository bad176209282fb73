"""Bytes to words and back: streams, dialects, providers. Pure."""
