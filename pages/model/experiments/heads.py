"""What does each head do? A number for every head, and the heads that are most alike."""

from attention_core.explain.heads import describe_head
from pages.model.glance import short_name, summaries_of
from pages.model.heads import chosen_or_clearest, describe_metric, heads_in_numbers
from pages.model.runs import Runs, draw_model_and_head
from ui.lecture.mode import LECTURE


def draw_input() -> Runs:
    """Draw the choice of a model, its input and a head."""
    return draw_model_and_head(select=chosen_or_clearest)


def answer(runs: Runs) -> str:
    """Say what the chosen head does in this input, or the clearest one; of a hall's pictures how they are read."""
    if LECTURE.value and runs.run.patch_grid is None:
        return "A row is a token of the sentence, pink where it looks: some heads do one thing."
    group, layer, head, _ = chosen_or_clearest(runs.run)
    summary = summaries_of(runs.run, group)[layer][head]
    return f"**{short_name(layer, head).capitalize()}**: {describe_metric(summary, describe_head(summary))}"


def draw(runs: Runs) -> None:
    """Draw the number of every head, and the heads that are most alike."""
    heads_in_numbers(runs.run)
