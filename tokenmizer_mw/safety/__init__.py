"""What protects people and models: redaction of secrets, the guard, the fence around replayed text, harmless labels."""
