"""What a model reads: window and cuts, resume block, recall, compaction, and the counting and cost of tokens."""
