"""The only room that changes the graph: creates, merges, supersedes, closes, reopens and rejects facts, as events."""
