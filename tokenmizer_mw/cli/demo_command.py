"""The command ``demo``. Needs the extra ``demo``."""

from __future__ import annotations

import argparse
import os

from tokenmizer_mw.errors import ConfigError
from tokenmizer_mw.runtime.installing import install_hint


def run_demo(arguments: argparse.Namespace) -> int:
    """Run the demonstration; return 0 if it succeeded."""
    if arguments.live and not os.environ.get("OPENAI_API_KEY"):
        raise ConfigError("--live needs your key in OPENAI_API_KEY")
    print("Starting the application and the model ...", flush=True)  # loading them takes longer than a moment
    try:
        from tokenmizer_mw.cli.demo.run import demonstrate
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("tokenmizer_mw"):
            raise
        raise ConfigError(f"{missing.name} is not installed: {install_hint('demo')}") from None
    return demonstrate(
        fast=arguments.fast,
        live_model=arguments.model if arguments.live else None,
        keep=arguments.keep,
    )
