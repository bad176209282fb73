"""Find in a sentence what the tables of ``rules`` list: hits of rules, frames (which keep a sentence from asserting
anything), scopes, slots and assigned values."""
