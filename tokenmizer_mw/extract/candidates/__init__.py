"""Candidates for facts: findings from the sentences of a message."""
