"""Wire formats: parse and rewrite chat requests, collect streamed replies, one dialect per provider API. Pure."""
