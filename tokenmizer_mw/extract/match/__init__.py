"""What the tables of ``rules`` find in a sentence: hits of rules, frames, scopes, slots and assigned values."""
