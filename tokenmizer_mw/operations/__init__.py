"""What operators do with an installation: exports and imports, backups, erasure, retention by age, logs."""
