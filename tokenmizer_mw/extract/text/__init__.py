"""Words, sentences and patterns: what the other rooms need to compare and split text. Knows no session."""
