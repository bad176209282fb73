"""The response cache: exact matches first, then semantic matches (questions with the same meaning)."""
