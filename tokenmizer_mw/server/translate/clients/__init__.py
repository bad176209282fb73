"""Client dialects: parse requests, and serialise replies, streams and errors."""
