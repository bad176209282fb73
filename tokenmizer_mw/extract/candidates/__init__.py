"""Find candidates for facts in the sentences of a message: as findings, and as claims (sentences that may change a fact
in force)."""
