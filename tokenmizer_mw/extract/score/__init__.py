"""The classifiers: one judges what a sentence does, one whether a sentence changes a fact in force."""
