"""What a score measures: eight ways to compare a query with a key."""

from attention_core.attention.scores import all_scores
from attention_core.live_training.score_comparison import compare, comparison_frame
from pages.scoring import comparison as sections
from pages.scoring import controls
from pages.scoring.training import learned_section, projections_section, trained_section
from ui.computed import model_or_stop
from ui.fragments import BODY
from ui.player import download_table, export_bar
from ui.skeleton import Tab, draw_fragment, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import TryThis, try_this

page_frame(
    controls.NAME,
    "A score says how well a key (yellow) fits the query q (blue). Two scores can choose different keys.",
)
model = model_or_stop("scoring-functions")
LAY_ON_QUERY = TryThis(
    "lay k₁ exactly onto the query",
    "k₁ is then the query itself. Which key will the dot product choose?",
    ("k₁", "k₂", "k₃"),
    sections.lay_on_query,
    sections.key_of_dot_product,
    controls.PLANE.container_key,
)


def export(traces: dict) -> None:
    """Offer the numbers of all functions as a table, and those of the chosen one in every form."""
    download_table(
        "Scores and weights of all", lambda: comparison_frame(traces), f"{controls.NAME}-scores.csv", "scoring_csv"
    )
    export_bar(traces[controls.SCORE.value], controls.NAME, query=0, subject=controls.SCORE.value)


def comparison() -> None:
    """Draw everything that follows a drag; the plane last, which tells the browser that Python has followed."""
    vectors = controls.arranged_vectors()
    plane = controls.PLANE.container()
    query, key = controls.query_and_keys(vectors)
    trained = controls.trained_parameters(model, vectors.d)
    functions = all_scores(trained)
    traces = sections.with_edits(compare(functions, query[None], key))
    controls.draw_examples(vectors)
    if controls.ALL.value:
        sections.draw_favourites(traces, query, key)
    try_this(controls.NAME, LAY_ON_QUERY)
    page_tabs(
        controls.NAME,
        Tab("field", "Score fields", lambda: sections.fields_tab(functions, query, key)),
        Tab("try", "Try", lambda: sections.change_weights(traces)),
        more=(
            Tab("printed", "A formula that cannot attend", lambda: sections.printed_tab(query, key)),
            Tab("parameters", "Learned scores", lambda: learned_section(query, key, trained)),
            Tab("scale", "Why divide by √dₖ", sections.scale_tab),
            Tab("trained", "Does 1/√dₖ help to train?", trained_section),
            Tab("projections", "Do projections help over X Xᵀ?", projections_section),
        ),
    )
    take_along(lambda: export(traces))
    with plane:
        sections.draw_plane(vectors, traces)


draw_fragment(comparison, name=BODY)
