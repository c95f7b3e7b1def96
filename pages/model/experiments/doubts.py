"""Is this map an explanation? Tokens or patches go one after another, in the map's order and in others."""

from pages.model.effects import question_run
from pages.model.runs import Need, draw_model
from ui.faithfulness import QuestionedMap
from ui.faithfulness import answer as answer
from ui.faithfulness import draw as draw


def draw_input() -> QuestionedMap:
    """Draw the choice of a model and its input; return what becomes of the answer as tokens or patches go."""
    runs = draw_model(Need.NO_PICTURE)
    return question_run(runs.run, runs.model_request)
