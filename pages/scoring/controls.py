"""What a visitor sets: arrows dragged in a plane, and examples of them."""

from dataclasses import replace
from typing import Literal

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.attention.scores import SCORES
from attention_core.live_training.score_comparison import VECTOR_PRESETS, Vectors
from attention_core.models.scoring_functions import ScoringFunctions
from ui.edits import EditList
from ui.state import Field, one_of, whole_number
from ui.try_this import NOT_TRIED, TRY_STAGE, is_guessing
from ui.vector_plane import VectorPlane

NAME = "scoring"
PLANE = VectorPlane(NAME, "score_plane", pause=90)
FIRST = VECTOR_PRESETS[0]
VECTORS = Field(NAME, "vectors", FIRST, address="vectors", parse=lambda text: _parse_vectors(text), text=Vectors.text)
IN_PLANE = Field(NAME, "shown", FIRST)
"""The vectors that the plane has."""
ACTIVE = Field(NAME, "active", 0, address="active", parse=whole_number)
"""The key at full strength, whose angle is drawn."""
EDITS = EditList(NAME)
SCORE = Field(NAME, "score", "dot", address="score", parse=one_of(SCORES))
"""The score whose weights are changed and taken along."""


def arranged_vectors() -> Vectors:
    """Return the arranged vectors; where Back or a link has changed them, the plane follows."""
    if VECTORS.value is not IN_PLANE.value:
        arrange(VECTORS.value)
    ACTIVE.clamp(0, len(VECTORS.value.keys) - 1)
    return VECTORS.value


def _parse_vectors(text: str) -> Vectors:
    vectors = Vectors.parse(text)
    return next((replace(preset) for preset in VECTOR_PRESETS if preset.text() == vectors.text()), vectors)


def arrange(vectors: Vectors) -> None:
    """Replace query and keys from outside the plane."""
    VECTORS.value = IN_PLANE.value = vectors
    ACTIVE.value = min(ACTIVE.value, len(vectors.keys) - 1)
    PLANE.refresh()


def on_move() -> None:
    moved = PLANE.message()
    if moved is None:
        return
    query, *keys = moved["arrows"]
    arranged = Vectors(query, keys, turn=moved.get("turn", 0))
    if arranged.text() != VECTORS.value.text() and not is_guessing(NAME):
        TRY_STAGE[NAME].reset()  # what came of a guess was about other vectors
    VECTORS.value = IN_PLANE.value = arranged
    ACTIVE.value = max(moved["active"] - 1, 0) if moved["active"] else ACTIVE.value


def query_and_keys(vectors: Vectors) -> tuple[Tensor, Tensor]:
    """Return the query as W_Q turns it, and the keys, (d,) and (n_keys, d)."""
    return torch.tensor(vectors.projected_query(), dtype=torch.float64), torch.tensor(vectors.keys, dtype=torch.float64)


def trained_parameters(model: ScoringFunctions, d: int) -> dict[str, Tensor]:
    """Return the trained parameters of all functions for vectors of a width, by their names."""
    return {name: parameter.detach().cpu().double() for name, parameter in model.parameters_of(d).items()}


def key_name(key: int) -> str:
    """Return k₁ for 0, k₂ for 1 and so on."""
    return f"k{key + 1}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def score_title(name: str) -> str:
    """Return what the page calls a score: after what it counts, where links and code call it "L2 distance"."""
    return "squared distance" if name == "L2 distance" else name


def draw_examples(vectors: Vectors) -> DeltaGenerator:
    """Draw the examples, and the note on one that was chosen; return their row, in which there is room."""
    row = st.container(key="scoring_in_a_row", horizontal=True, vertical_alignment="center")
    with row.container(key="scoring_tools", horizontal=True, gap="small", width="content"):
        for preset in VECTOR_PRESETS:
            is_present, key = preset.text() == vectors.text(), f"scoring_preset_{preset.name}"
            kind: Literal["primary", "secondary"] = "primary" if is_present else "secondary"
            st.button(preset.name, key=key, type=kind, on_click=_on_example, args=(preset,))
    is_first = vectors.text() == FIRST.text()  # whose sentence stands above the plane
    if vectors.note and TRY_STAGE[NAME].value == NOT_TRIED and not is_first:
        st.caption(vectors.note)
    return row


def arrange_example(vectors: Vectors) -> None:
    """Replace query and keys by an example, whose weights are as computed."""
    arrange(vectors)
    EDITS.reset()


def _on_example(preset: Vectors) -> None:
    arrange_example(replace(preset))  # a copy: told in the address
    TRY_STAGE[NAME].reset()  # what came of a guess was about other vectors
