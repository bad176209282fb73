"""Compaction requested through the provider's API: parses what a request asks for, recognises compactions of this
server in requests, and builds the response. Pure.
"""
