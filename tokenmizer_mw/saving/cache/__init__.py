"""Answers that are given again: exact ones first, then those to questions of the same meaning."""
