"""What a model reads: cuts at the context window, resume blocks, recall, compaction, and token counting and cost."""
