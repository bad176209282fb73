"""What a model reads: the window, what is cut, the resume block, recall, compaction, and what tokens cost."""
