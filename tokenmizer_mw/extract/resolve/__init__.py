"""The only package that changes the graph: it creates, merges, supersedes, closes, reopens and rejects facts, as
events."""
