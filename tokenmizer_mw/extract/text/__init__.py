"""Words, sentences and patterns: splits and compares texts for the other packages of ``extract``. Knows no session."""
