"""Which heads copy, and which look one back? What every head does over a corpus gives it its name."""

from pages.model.heads import heads_by_name, heads_of
from pages.model.runs import Need, Runs, draw_model


def draw_input() -> Runs:
    """Draw the choice of a model and its text."""
    return draw_model(Need.SINGLE_STACK)


def answer(runs: Runs) -> str:
    """Say how many heads have a name."""
    try:
        heads = heads_of(runs.model_request)
    except ValueError:
        return "The model cannot read the sentences by which heads get their names."
    if not heads.means:
        return "No head has a name without the sentences and random words."
    names = heads.columns()["name"]
    return f"Of {len(names)} heads, {sum(map(bool, names))} clearly do something that has a name."


def draw(runs: Runs) -> None:
    """Draw how far each head does what heads are called after."""
    heads_by_name(runs.run, runs.model_request)
