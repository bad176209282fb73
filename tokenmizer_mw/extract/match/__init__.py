"""What a sentence contains according to the tables of ``rules``: hits of rules, frames (which keep a sentence from
asserting anything), scopes, slots and assigned values."""
