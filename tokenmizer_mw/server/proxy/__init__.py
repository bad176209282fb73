"""The proxy that this package provides: an HTTP server that records and shortens chats (the memory middleware) and
forwards them to LLM providers."""
