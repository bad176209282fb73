"""The labels of findings: made complete, cleaned and checked."""
