"""Words: the types that every other part speaks in. Imports nothing of ours."""
