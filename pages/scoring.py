"""What a score measures: eight ways to compare a query with a key."""

import torch

from attention_core.attention.scores import all_scores
from attention_core.topics.scoring.compare import compare, comparison_frame
from ui.computed import model_or_stop
from ui.player import download_table, export_bar
from ui.scoring.comparison import (
    change_weights,
    fields_tab,
    lay_on_query,
    printed_tab,
    scale_tab,
    score_plane,
    verdict,
    what_dot_chose,
    with_edits,
)
from ui.scoring.controls import (
    ALL,
    NAME,
    PLANE,
    SCORE,
    arranged_vectors,
    examples,
    learned_parameters,
)
from ui.scoring.learned import learned_section
from ui.scoring.training import projections_section, trained_section
from ui.skeleton import Tab, live, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import TryThis, try_this

page_frame(
    NAME,
    "A score says how well a key (yellow) fits the query q (blue). Two can choose different keys. Drag an arrow.",
)
model = model_or_stop("scoring-functions")
LAY_ON_QUERY = TryThis(
    "lay k₁ exactly onto the query",
    "k₁ is then the query itself. Which key will the dot product choose?",
    ("k₁", "k₂", "k₃"),
    lay_on_query,
    what_dot_chose,
    PLANE.place_key,
)


def export(traces: dict) -> None:
    """Offer the numbers of all functions as a table, and those of the chosen one in every form."""
    download_table("Scores and weights of all", lambda: comparison_frame(traces), f"{NAME}-scores.csv", "scoring_csv")
    export_bar(traces[SCORE.value], NAME, query=0, about=SCORE.value)


def comparison() -> None:
    """Draw everything that follows a drag; the plane last, which tells the browser that Python has followed."""
    vectors = arranged_vectors()
    place = PLANE.place()
    query = torch.tensor(vectors.query, dtype=torch.float64)
    key = torch.tensor(vectors.keys, dtype=torch.float64)
    trained = learned_parameters(model, vectors.d)
    functions = all_scores(trained)
    traces = with_edits(compare(functions, query[None], key))
    examples(vectors)
    if ALL.value:
        verdict(traces, query, key)
    try_this(NAME, LAY_ON_QUERY)
    page_tabs(
        NAME,
        Tab("field", "Score fields", lambda: fields_tab(functions, query, key)),
        Tab("try", "Try", lambda: change_weights(traces)),
        more=(
            Tab("printed", "A formula that cannot attend", lambda: printed_tab(query, key)),
            Tab("parameters", "Learned scores", lambda: learned_section(query, key, trained)),
            Tab("scale", "Why divide by √dₖ", scale_tab),
            Tab("trained", "Does 1/√dₖ help to train?", trained_section),
            Tab("projections", "Do projections help over X Xᵀ?", projections_section),
        ),
    )
    take_along(lambda: export(traces))
    with place:
        score_plane(vectors, traces)


live(comparison)
