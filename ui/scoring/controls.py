"""What a visitor sets: arrows dragged in a plane, examples, the number of keys, vectors and parameters in tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.scores import SCORES, all_scores
from attention_core.packed import pack, unpack
from attention_core.topics.scoring.compare import compare
from attention_core.topics.scoring.presets import (
    EXTENT,
    MAX_KEYS,
    MIN_KEYS,
    VECTOR_PRESETS,
    Vectors,
    random_vectors,
)
from attention_core.weights import read_card
from ui.computed import model_or_stop
from ui.skeleton import paragraph
from ui.state import Field, expander, is_mounted, one_of, single_choice, whole_number, widget_value
from ui.vector_plane import VectorPlane

NAME = "scoring"
PLANE = VectorPlane(NAME, "score_plane", pause=90, parts=("score_bars",))
FIRST = VECTOR_PRESETS[0]
VECTORS = Field(NAME, "vectors", FIRST, address="vectors", parse=lambda text: _arranged(text), text=Vectors.text)
SHOWN = Field(NAME, "shown", FIRST)
"""The vectors that the plane and the tables know."""
ACTIVE = Field(NAME, "active", 0, address="active", parse=whole_number)
"""The key at full strength, whose angle is drawn."""
ALL = Field(NAME, "all", False, address="all")
"""Whether all functions are compared, not two."""
TYPING = Field(NAME, "typing", False, address="typing")
"""Whether the table of the vectors in the plane is open."""
VERSION = Field(NAME, "version", 0)
"""Counts the changes that no table made; the tables are drawn anew when it has changed."""


def arranged_vectors() -> Vectors:
    """Return what is arranged, after the plane and the tables were told of what Back or a link brought."""
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


Rows = Sequence[Sequence[float]]
Parameters = dict[str, Rows | list[float]]
PARAMETER_LIMIT = 100.0
CHANGED: Field[dict[int, Parameters]] = Field(
    NAME,
    "parameters",
    dict,
    address="parameters",
    parse=lambda text: {int(d): linked_parameters(parameters, int(d)) for d, parameters in unpack(text).items()},
    text=pack,
)
"""Vectors' width -> the parameters that are no longer the trained ones; replaced as a whole by every change."""
NOTES = {
    "plain": "additive is now Wᵀtanh(q + k), W all ones. It can attend, for query and key meet inside the tanh; but "
    "it likes the key with the largest numbers, not the nearest. The trained one comes back under *The parameters*.",
    "printed": "concat is now vᵀtanh([q; k]) without W. Drag the query: its weights do not change at all. The trained "
    "one comes back under *The parameters*.",
}
"""Name of a formula that can be put in the place of a trained one -> the note on it."""
LEARNED = [name for name, kind in SCORES.items() if kind.parameter_names()]
FUNCTION = Field(NAME, "parameters_of", "general", address="of", parse=one_of(LEARNED))
DRAWN_TABLES: Field[dict[str, pd.DataFrame]] = Field(NAME, "tables", dict)
PROBLEMS: Field[dict[str, str]] = Field(NAME, "problems", dict)
"""Each table as it was before edits, and what is wrong with those."""


def examples(vectors: Vectors) -> None:
    """Draw the examples, the switch to all functions, and the note on what is arranged."""
    with st.container(key="scoring_tools", horizontal=True, gap="small", vertical_alignment="center"):
        for preset in VECTOR_PRESETS:
            key = f"scoring_preset_{preset.name}"
            st.button(preset.name, key=key, on_click=arrange, args=(replace(preset),))  # a copy: told in the address
        ALL.widget(st.toggle, "All eight scores")
    st.caption(vectors.note or "Your own arrangement.")


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


def _exact(parameters: Mapping[str, Any]) -> dict[str, Tensor]:
    return {name: torch.as_tensor(rows, dtype=torch.float64).detach().cpu() for name, rows in parameters.items()}


def linked_parameters(parameters: Parameters, d: int) -> Parameters:
    """Return parameters of a link; one of UNSOUND is raised where the functions for d numbers cannot use them."""
    trained, changed = _exact(model_or_stop("scoring-functions").parameters_of(d)), _exact(parameters)
    for name, table in changed.items():
        if table.numel() > 2 * trained[name].numel() or not (table.abs() <= PARAMETER_LIMIT).all():
            raise ValueError(f"{name} must have numbers in bounds, and not too many")
    vectors = torch.zeros(MAX_KEYS, d, dtype=torch.float64)
    for trace in compare(all_scores(trained | changed), vectors[:1], vectors).values():
        trace.scores(0)  # RuntimeError where shapes do not fit
    return parameters


def put_formula(name: str) -> None:
    d = VECTORS.value.d
    same = torch.eye(d).tolist()
    parameters: dict[str, Parameters] = {
        "plain": {"additive.W_q": same, "additive.W_k": same, "additive.v": [1.0] * d},
        "printed": {"concat.W": torch.eye(2 * d).tolist(), "concat.v": [1.0, -0.5] * d},
    }
    write_parameters(d, parameters[name])
    arrange(replace(VECTORS.value, note=NOTES[name]))


def _vector_table(vectors: Vectors) -> None:
    """Draw query and keys as a table to type into."""
    columns = [f"x{place + 1}" for place in range(vectors.d)]
    frame = pd.DataFrame(
        [vectors.query, *vectors.keys], ["q", *map(key_name, range(len(vectors.keys)))], columns, float
    )
    number_table(f"scoring_vectors_{vectors.d}", frame, limit=EXTENT, on_edit=read_typed)


def read_typed(rows: Rows) -> None:
    arrange(Vectors(rows[0], rows[1:]), typed=True)


def parameters_in_use(d: int, trained: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the parameters, float64: the trained ones, with what the visitor changed laid over them."""
    return _exact(trained) | _exact(CHANGED.value.get(d, {}))


def changed_functions(d: int) -> list[str]:
    """Return the functions whose parameters are no longer the trained ones."""
    return sorted({name.split(".")[0] for name in CHANGED.value.get(d, {})})


def write_parameters(d: int, parameters: Parameters) -> None:
    CHANGED.value = CHANGED.value | {d: CHANGED.value.get(d, {}) | parameters}


def back_to_trained(d: int) -> None:
    CHANGED.value = {width: parameters for width, parameters in CHANGED.value.items() if width != d}
    arrange(replace(VECTORS.value, note=""))


def parameters_tab(d: int, parameters: Mapping[str, Tensor], changed: dict[int, Parameters]) -> None:
    """Draw how the parameters were trained, those in use of one function to type into, and the way back.

    Changed are those that CHANGED had when the first screen was drawn.
    """
    if CHANGED.value is not changed:
        st.rerun()  # the first screen shows them too
    accuracy = read_card("scoring-functions")["accuracy_by_d"][str(d)]
    paragraph(
        "The learned scores were trained on one task: *of six keys, the nearer one is to the query, the more weight.* "
        "How often each gives the nearest key most (chance: 17%): "
        + ", ".join(f"{name} {share:.0%}" for name, share in accuracy.items())
        + "."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        function = single_choice("Parameters of", FUNCTION, LEARNED)
        look = {"icon": ":material/undo:", "disabled": not changed_functions(d)}
        st.button("Back to trained", key="scoring_trained", on_click=back_to_trained, args=(d,), **look)
        st.button("Put Wᵀtanh(q + k) for additive", key="scoring_plain", on_click=put_formula, args=("plain",))
    blocks = {name: parameters[name] for name in SCORES[function].parameter_names()}
    rows = torch.cat([block.reshape(len(block), -1) for block in blocks.values()], dim=1).tolist()
    labels = [f"{'position' if function == 'location' else 'row'} {row + 1}" for row in range(len(rows))]
    columns = []
    for name, block in blocks.items():
        short = name.split(".")[1]
        columns += [short] if block.ndim == 1 else [f"{short}[{place + 1}]" for place in range(block.shape[1])]
    number_table(
        f"scoring_parameters_{d}_{function}",
        pd.DataFrame(rows, labels, columns),
        limit=PARAMETER_LIMIT,
        on_edit=lambda edited: write_parameters(d, _split(blocks, edited)),
    )


def _split(blocks: Mapping[str, Tensor], rows: Rows) -> Parameters:
    widths = [block[0].numel() for block in blocks.values()]
    parts = torch.tensor(rows, dtype=torch.float64).split(widths, dim=1)
    return {name: part.reshape(block.shape).tolist() for (name, block), part in zip(blocks.items(), parts, strict=True)}


def number_table(name: str, frame: pd.DataFrame, *, limit: float, on_edit: Callable[[Rows], None]) -> None:
    """Draw a table of numbers to type into, which forgets nothing when the page is left.

    A cell that is no number within the limit is named below the table, and everything else stays; `on_edit` gets all
    rows after each edit.
    """
    key = f"{name}_table_{VERSION.value}"
    if not is_mounted(key):  # drawn for the first time, or again after the page was left
        DRAWN_TABLES.value[name], PROBLEMS.value[name] = frame, ""
    number = st.column_config.NumberColumn(min_value=-limit, max_value=limit, step=None, format="%.3g", width="small")
    st.data_editor(
        DRAWN_TABLES.value[name],
        key=key,
        disabled=["_index"],
        column_config=dict.fromkeys(frame.columns, number),
        on_change=take_edits,
        args=(name, key, limit, on_edit),
        width="stretch",
    )
    if PROBLEMS.value[name]:
        st.warning(PROBLEMS.value[name])


def take_edits(name: str, key: str, limit: float, on_edit: Callable[[Rows], None]) -> None:
    frame, problems = DRAWN_TABLES.value[name].copy(), []
    for row, cells in widget_value(key)["edited_rows"].items():
        for column, value in cells.items():
            label = frame.index[int(row)]
            if problem := _problem(value, limit):
                problems.append(f"{label}, {column}: {problem}")
            else:
                frame.loc[label, column] = float(value)
    still = " The number that was there is still used." if problems else ""
    PROBLEMS.value[name] = "; ".join(problems) + still
    on_edit(frame.values.tolist())


def _problem(value: object, limit: float) -> str:
    if value is None:
        return "a number is needed, the cell is empty."
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"a number is needed, got {value!r}."
    if not math.isfinite(value):
        return f"a finite number is needed, got {value}."
    if abs(value) > limit:
        return f"numbers go from −{limit:g} to {limit:g} here, got {value:g}."
    return ""
