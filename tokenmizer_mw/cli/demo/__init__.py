"""The demonstration (``tokenmizer-mw demo``): a chat session through the middleware in a real application, with a model
that needs no API key."""
