"""A chat call of one dialect as a call of another, and its reply back, streamed or not."""
