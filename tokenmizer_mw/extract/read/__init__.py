"""Split a message into segments, and find the parts of it that are not its speaker's own words."""
