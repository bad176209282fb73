"""Wire formats: parse and rewrite chat requests, and collect streamed replies. There is one dialect per provider API.
Pure: no I/O.
"""
