"""tokenmizer-mw: session memory for LLM applications that survives the context window."""

__version__ = "0.1.0"
