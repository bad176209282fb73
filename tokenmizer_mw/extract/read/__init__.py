"""Splits a message into segments, and finds the parts of it that are not its speaker's own words."""
