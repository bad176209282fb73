"""The command line: ``tokenmizer-mw``, also ``python -m tokenmizer_mw``."""

from .main import main

__all__ = ["main"]
