"""Provider dialects: serialise requests, and parse replies, streams and errors."""
