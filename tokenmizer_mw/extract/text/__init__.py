"""Words, sentences and patterns: split and compare texts for the other packages of ``extract``. Uses no data of a
session."""
