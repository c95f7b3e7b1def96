"""With five more scores: do all eight agree? Which key each of them prefers."""

from collections import defaultdict

from attention_core.attention.wording import percent
from attention_core.live_training import score_comparison as measures
from pages.scoring.controls import key_name, score_title
from pages.scoring.inputs import Comparison, draw_comparison


def draw_input() -> Comparison:
    """Draw the plane and the examples; return the comparison."""
    return draw_comparison()


def answer(compared: Comparison) -> str:
    """Say which function prefers which key, and which key is nearest."""
    by_key, undecided = defaultdict(list), []
    for name, (favourite, weight) in measures.favourites(compared.unedited).items():
        if favourite is None:
            undecided.append(score_title(name))
        else:
            by_key[favourite].append(f"{score_title(name)} ({percent(weight)})")
    clauses = [f"**{key_name(favourite)}**: {', '.join(names)}" for favourite, names in sorted(by_key.items())]
    if undecided:
        clauses.append(f"none: {', '.join(undecided)}")
    nearest = key_name(measures.nearest_key(compared.query, compared.key))
    return f"Largest weight to {'; '.join(clauses)}. Nearest to q is **{nearest}**."


def draw(compared: Comparison) -> None:
    """Draw the scores of all functions beside the plane."""
    compared.draw_plane()
