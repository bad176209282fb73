"""What a message answers: the messages before it, the options that the assistant offered in them, and what a few words
("the second one") refer to."""
