"""Safety: redaction of secrets, the prompt-injection guard, the delimiters of replayed text, harmless labels."""
