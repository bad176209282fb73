"""What a message answers: the messages before it, what they offer, and what a few words refer to."""
