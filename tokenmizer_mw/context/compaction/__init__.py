"""Compaction as clients ask for it by contract: what a request asks, what came back of ours, what is answered. Pure."""
