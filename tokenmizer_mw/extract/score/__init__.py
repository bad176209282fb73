"""The classifiers: what a sentence does, and whether it changes a fact in force."""
