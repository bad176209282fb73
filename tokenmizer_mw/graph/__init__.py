"""The session graph: the facts of a session and their relations, computed from its events, and queries on it."""
