"""Saving tokens: request compression, the response cache, file digests, and shorter replies."""
