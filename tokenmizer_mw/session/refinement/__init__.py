"""Refinement: a model reads a session; its prompt, the parsing of its reply, and the facts made of it. Pure."""
