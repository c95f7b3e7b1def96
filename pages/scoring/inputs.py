"""What one changes on the page and in its experiments: the query, its keys, and examples of them."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core import AttentionTrace
from attention_core.attention.scores import Score, all_scores
from attention_core.live_training.score_comparison import Vectors, compare, comparison_frame
from pages.scoring import controls
from pages.scoring.controls import EDITS, NAME, SCORE
from pages.scoring.first_screen import draw_plane
from ui.computed import model_or_stop
from ui.player import download_table, export_bar
from ui.take_along import take_along


class Comparison(NamedTuple):
    """A query and its keys, and what each score makes of them."""

    vectors: Vectors
    query: Tensor  # (d,)
    key: Tensor  # (n_keys, d)
    trained: dict[str, Tensor]  # parameters by name
    functions: dict[str, Score]
    unedited: dict[str, AttentionTrace]  # each of one score
    traces: dict[str, AttentionTrace]  # with the edits that fit
    container: DeltaGenerator  # of the plane
    row: DeltaGenerator  # of the examples

    @property
    def key_names(self) -> list[str]:
        return [controls.key_name(key) for key in range(len(self.key))]

    def draw_plane(self, *, is_hero: bool = False) -> None:
        """Draw the arrows and the scene of each score; last in a fragment, see VectorPlane.draw."""
        with self.container:
            draw_plane(self.vectors, self.traces, is_hero=is_hero)


def draw_comparison(key: str = "scoring_shown") -> Comparison:
    """Draw, in a container of this key, a container for the plane, and the examples; return the comparison."""
    vectors = controls.arranged_vectors()
    model = model_or_stop("scoring-functions")
    with st.container(key=key):
        row = controls.draw_examples(vectors)
        plane = controls.PLANE.container()
    query, keys = controls.query_and_keys(vectors)
    trained = controls.trained_parameters(model, vectors.d)
    functions = all_scores(trained)
    unedited = compare(functions, query[None], keys)
    traces = {name: trace.replace(EDITS.fitting(trace, name)) for name, trace in unedited.items()}
    take_along(lambda: _export(traces))
    return Comparison(vectors, query, keys, trained, functions, unedited, traces, plane, row)


def draw_input() -> Comparison:
    """Draw the plane, which a lecture leaves out, and the examples; return the comparison."""
    return draw_comparison("experiment_input")


def _export(traces: Mapping[str, AttentionTrace]) -> None:
    """Offer the numbers of all functions as a table, and those of the chosen one in every form."""
    download_table("All eight scores", lambda: comparison_frame(traces), f"{NAME}-scores.csv", "scoring_csv")
    export_bar(traces[SCORE.value], NAME, query=0, subject=SCORE.value)
