"""Which head makes it say this word? What each head and layer adds to the logit."""

from pages.model.effects import LogitParts, describe_logit, draw_logit_parts, take_logit_apart
from pages.model.runs import Need, draw_model


def draw_input() -> LogitParts | str:
    """Draw the choice of a model, its text and a word; return what adds up to its logit, or why that is not known."""
    runs = draw_model(Need.WORDS, Need.SINGLE_STACK)
    return take_logit_apart(runs.run, runs.model_request)


def answer(parts: LogitParts | str) -> str:
    """Say which head adds most to the logit."""
    return parts if isinstance(parts, str) else describe_logit(parts)


def draw(parts: LogitParts | str) -> None:
    """Draw what each head adds, and what is likeliest after each layer."""
    if not isinstance(parts, str):
        draw_logit_parts(parts)
