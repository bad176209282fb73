"""Operation of an installation: exports and imports, backups, erasure, retention, logs."""
