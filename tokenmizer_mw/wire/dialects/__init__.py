"""One module a chat dialect: how its requests are read and rewritten and its responses collected."""
