"""The command attention-explorer."""

from attention_core.command.start import CommandError, main

__all__ = ["CommandError", "main"]
