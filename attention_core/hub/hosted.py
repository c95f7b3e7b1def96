"""Whether the app runs for the public: its owner says so."""

from __future__ import annotations

import os

HOSTED = "ATTENTION_HOSTED"
"""The variable that says "1" where the app runs for the public, "0" where it runs for its owner alone."""


def is_hosted() -> bool:
    """Return whether the owner has said that the app runs for the public."""
    return os.environ.get(HOSTED, "") == "1"
