"""What keeps an installation going: exports and imports, backups, erasure, retention by age, logs."""
