"""Finds candidates for facts in the sentences of a message, as findings and as claims that may change a fact in
force."""
