"""Training: one loop (loop.py), one recipe per model (the other files), one command (__main__.py)."""

from attention_core.train.digits import DIGIT_RECIPES
from attention_core.train.language import LANGUAGE_RECIPES
from attention_core.train.loop import Recipe
from attention_core.train.match3 import MATCH3_RECIPES
from attention_core.train.scoring import SCORING_RECIPES
from attention_core.train.sentiment import SENTIMENT_RECIPES
from attention_core.train.translation import TRANSLATION_RECIPES
from attention_core.train.vision import VISION_RECIPES

RECIPES: dict[str, Recipe] = {
    **DIGIT_RECIPES,
    **LANGUAGE_RECIPES,
    **MATCH3_RECIPES,
    **SCORING_RECIPES,
    **SENTIMENT_RECIPES,
    **TRANSLATION_RECIPES,
    **VISION_RECIPES,
}
