"""What does it say next? The likeliest next tokens, each a button; the model writes on."""

from contextlib import suppress

from attention_core.attention.wording import percent
from attention_core.hub.model import ModelError
from attention_core.hub.outputs import expected
from pages.model.runs import Need, Runs, draw_model
from pages.model.writing import chosen_position, next_tokens, text_before, written
from ui.labels import literal


def draw_input() -> Runs:
    """Draw the choice of a model and its text."""
    return draw_model(Need.WRITING)


def answer(runs: Runs) -> str:
    """Say which token is the likeliest after the chosen one."""
    with suppress(ModelError):  # the drawing tells it
        generation = written(runs.model_request)
        logits = generation.logits[chosen_position()]
        (token,) = expected(logits, generation.pretrained.tokenizer, n=1).likeliest
        text, probability = literal(token.text.strip("␣")), percent(token.probability)
        return f"After {text_before(generation)}: most likely {text}, {probability}."
    return "It says nothing of this text."


def draw(runs: Runs) -> None:
    """Draw the text so far, and the likeliest tokens."""
    next_tokens(runs.model_request)
