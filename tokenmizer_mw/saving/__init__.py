"""Fewer tokens: compression of requests, the cache of answers, files, shorter replies."""
