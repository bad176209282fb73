"""HTTP transports and SDK hooks that record the model calls of an application: httpx, httpx2, OpenAI, Anthropic."""
