"""Training: one loop (loop.py), one recipe per model (the other files), one command (__main__.py)."""

from attention_core.train.digits import DIGIT_RECIPES
from attention_core.train.loop import Recipe

RECIPES: dict[str, Recipe] = {**DIGIT_RECIPES}
