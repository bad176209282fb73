"""HTTP transports and SDK hooks that record the model calls of an application in a session memory: for httpx, httpx2,
OpenAI and Anthropic."""
