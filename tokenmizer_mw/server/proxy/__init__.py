"""The reference proxy: the memory middleware in front of a relay to LLM providers."""
