"""Training: one loop (loop.py), one recipe per model (the other files add theirs), one command (__main__.py)."""

from attention_core.models import import_modules
from attention_core.train.loop import RECIPES

import_modules(__name__, __path__)

__all__ = ["RECIPES"]
