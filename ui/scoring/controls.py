"""What a visitor sets: arrows dragged in a plane, examples, vectors in a table, formulas instead of learned ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.scores import SCORES, Additive
from attention_core.topics.scoring.presets import EXTENT, MAX_KEYS, MIN_KEYS, VECTOR_PRESETS, Vectors, random_vectors
from ui.edits import EditList
from ui.number_table import number_table
from ui.state import Field, expander, one_of, whole_number
from ui.try_this import TRIED
from ui.vector_plane import VectorPlane

NAME = "scoring"
PLANE = VectorPlane(NAME, "score_plane", pause=90, parts=("score_bars",))
FIRST = VECTOR_PRESETS[0]
VECTORS = Field(NAME, "vectors", FIRST, address="vectors", parse=lambda text: _arranged(text), text=Vectors.text)
SHOWN = Field(NAME, "shown", FIRST)
"""The vectors that the plane and the tables know."""
ACTIVE = Field(NAME, "active", 0, address="active", parse=whole_number)
"""The key at full strength, whose angle is drawn."""
EDITS = EditList(NAME)
SCORE = Field(NAME, "score", "dot", address="score", parse=one_of(SCORES))
"""The score whose weights are changed and taken along."""
ALL = Field(NAME, "all", False, address="all")
"""Whether all functions are compared, not two."""
TYPING = Field(NAME, "typing", False, address="typing")
"""Whether the table of the vectors in the plane is open."""
VERSION = Field(NAME, "version", 0)
"""Counts the changes that the table did not make; it is drawn anew when it has changed."""
PLAIN, PRINTED = Field(NAME, "plain", False, address="plain"), Field(NAME, "printed", False, address="printed")
"""Whether additive is without matrices, and concat."""


def arranged_vectors() -> Vectors:
    """Return what is arranged, after plane and tables have followed Back or a link."""
    if VECTORS.value is not SHOWN.value:
        arrange(VECTORS.value)
    ACTIVE.clamp(0, len(VECTORS.value.keys) - 1)
    return VECTORS.value


def _arranged(text: str) -> Vectors:
    vectors = Vectors.parse(text)
    return next((replace(preset) for preset in VECTOR_PRESETS if preset.text() == vectors.text()), vectors)


def arrange(vectors: Vectors, *, typed: bool = False) -> None:
    """Replace query and keys from outside the plane; a table that was typed into stays as it is."""
    VECTORS.value = SHOWN.value = vectors
    ACTIVE.value = min(ACTIVE.value, len(vectors.keys) - 1)
    PLANE.refresh()
    VERSION.value += not typed


def take_move() -> None:
    """Take over what was dragged."""
    moved = PLANE.message()
    if moved is None:
        return
    query, *keys = moved["arrows"]
    VECTORS.value = SHOWN.value = Vectors(query, keys)
    ACTIVE.value = max(moved["active"] - 1, 0) if moved["active"] else ACTIVE.value
    VERSION.value += not moved["moving"]


def key_name(place: int) -> str:
    """Return k₁ for 0, k₂ for 1 and so on."""
    return f"k{place + 1}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def examples(vectors: Vectors) -> None:
    """Draw the examples, the switch to all functions, and the note on what is arranged."""
    with st.container(key="scoring_tools", horizontal=True, gap="small", vertical_alignment="center"):
        for preset in VECTOR_PRESETS:
            key = f"scoring_preset_{preset.name}"
            st.button(preset.name, key=key, on_click=_take_example, args=(preset,))
        ALL.widget(st.toggle, "All eight scores")
    st.caption(vectors.note or "Your own arrangement.")


def _take_example(preset: Vectors) -> None:
    arrange(replace(preset))  # a copy: told in the address
    TRIED[NAME].reset()  # what came of a guess was about other vectors


def vector_editor(vectors: Vectors) -> None:
    """Draw the vectors as a table to type into, and the number of keys; nothing of it while it is closed."""
    folded, n_keys = expander("Change the vectors", TYPING), len(vectors.keys)
    if not folded.open:
        return
    with folded:
        _vector_table(vectors)
        with st.container(horizontal=True, gap="small"):
            st.button("One key more", key="scoring_more", on_click=_add_key, disabled=n_keys >= MAX_KEYS)
            st.button("One key less", key="scoring_fewer", on_click=_drop_key, disabled=n_keys <= MIN_KEYS)


def _add_key() -> None:
    vectors, n_keys = VECTORS.value, len(VECTORS.value.keys)
    _, keys = random_vectors(vectors.d, n_keys + 1, seed=7 * vectors.d + n_keys)
    arrange(replace(vectors, keys=[*vectors.keys, keys[-1]]))


def _drop_key() -> None:
    arrange(replace(VECTORS.value, keys=VECTORS.value.keys[:-1]))


def _vector_table(vectors: Vectors) -> None:
    """Draw query and keys as a table to type into."""
    columns = [f"x{place + 1}" for place in range(vectors.d)]
    names = ["q", *map(key_name, range(len(vectors.keys)))]
    frame = pd.DataFrame([vectors.query, *vectors.keys], names, columns, float)
    number_table(f"scoring_vectors_{vectors.d}", VERSION.value, frame, EXTENT, read_typed)


def read_typed(rows: Sequence[Sequence[float]]) -> None:
    arrange(Vectors(rows[0], rows[1:]), typed=True)


def parameters_in_use(d: int, trained: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the parameters, float64: the trained ones, or those of a formula that was put in their place."""
    used = {name: parameter.detach().cpu().double() for name, parameter in trained.items()}
    if PLAIN.value:
        used |= {f"additive.{name}": value for name, value in Additive.plain_parameters(d, d, 0).items()}
    if PRINTED.value:
        used |= {"concat.W": torch.eye(2 * d, dtype=torch.float64), "concat.v": printed_vector(d)}
    return used


def printed_vector(d: int) -> Tensor:
    """Return v of a concat without a matrix, (2 d,)."""
    return torch.tensor([1.0, -0.5] * d, dtype=torch.float64)


def formula_toggle(field: Field[bool], label: str, in_use: bool) -> None:
    """Draw the switch that puts a formula in the place of a learned score, on the whole page."""
    if field.widget(st.toggle, label, on_change=_show_all) != in_use:
        st.rerun()  # the whole page, which shows all scores now


def _show_all() -> None:
    ALL.value = True
