"""Wire formats: parse and rewrite chat requests, and parse the replies to them, streamed or whole. There is one dialect
(request and reply format) per provider API, in ``dialects``. Pure: no I/O."""
