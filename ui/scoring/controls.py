"""What a visitor sets: arrows dragged in a plane, presets, the number of keys, vectors and parameters in tables.

The drag is drawn in the browser, Python follows.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.scores import SCORES, all_scores
from attention_core.attention.types import Axis, Role
from attention_core.charts import matrix_chart
from attention_core.charts.vega import BLUE_ORANGE, Ramp
from attention_core.device import to_array
from attention_core.packed import pack, unpack
from attention_core.topics.scoring.charts import vector_plane as plane
from attention_core.topics.scoring.compare import compare, cosine_matrix
from attention_core.topics.scoring.presets import (
    DIMENSIONS,
    EXTENT,
    MAX_KEYS,
    MIN_KEYS,
    VECTOR_PRESETS,
    Vectors,
    random_vectors,
)
from attention_core.weights import read_card
from ui.chart import draw_chart, note_picture
from ui.component import component
from ui.computed import model_or_stop
from ui.skeleton import paragraph
from ui.state import PLAYING, Field, component_message, is_mounted, one_of, single_choice, whole_number, widget_value

NAME = "scoring"
PAUSE = 90
"""Milliseconds between two messages to Python while an arrow is dragged."""
_component = component("vector_plane")
RANDOM = "Random vectors, drawn as in the training of the parameters."
FIRST = VECTOR_PRESETS[0]
VECTORS = Field(NAME, "vectors", FIRST, address="vectors", parse=lambda text: _arranged(text), text=Vectors.text)
SHOWN = Field(NAME, "shown", FIRST)
"""The vectors that the plane and the tables know."""
OTHER_WIDTHS = Field(NAME, "other_widths", lambda: {2: FIRST})
WIDTH = Field(NAME, "d", 2)
ACTIVE = Field(NAME, "active", 0, address="active", parse=whole_number)
"""The key at full strength, whose angle is drawn."""
TYPING = Field(NAME, "typing", False, address="typing")
"""Whether the table of the vectors in the plane is open."""
REVISION = Field(NAME, "revision", 0)
"""Counts the changes that Python made; the plane takes over the vectors only when it has changed."""
VERSION = Field(NAME, "version", 0)
"""Counts the changes that no table made; the tables are drawn anew when it has changed."""
ANSWERED = Field(NAME, "answered", 0)
"""The number of the plane's last message that was taken."""


def arranged_vectors() -> Vectors:
    """Return what is arranged, after the plane and the tables were told of what Back or a link brought."""
    if VECTORS.value is not SHOWN.value:
        arrange(VECTORS.value)
    if WIDTH.value != VECTORS.value.d:
        WIDTH.value = VECTORS.value.d
    ACTIVE.clamp(0, len(VECTORS.value.keys) - 1)
    return VECTORS.value


def _arranged(text: str) -> Vectors:
    vectors = Vectors.parse(text)
    return next((replace(preset) for preset in VECTOR_PRESETS if preset.text() == vectors.text()), vectors)


def arrange(vectors: Vectors, *, typed: bool = False) -> None:
    """Replace query and keys from outside the plane; a table that was typed into stays as it is."""
    VECTORS.value = SHOWN.value = vectors
    ACTIVE.value = min(ACTIVE.value, len(vectors.keys) - 1)
    REVISION.value += 1
    VERSION.value += not typed


def choose_width() -> None:
    others, d = OTHER_WIDTHS.value, WIDTH.value
    others[VECTORS.value.d] = VECTORS.value
    arrange(others.get(d) or Vectors(*random_vectors(d, 4, seed=d), RANDOM))


def take_move() -> None:
    """Take over what was dragged; a message from before Python's own last change comes too late and is dropped."""
    moved = component_message("scoring_plane", "moved")
    if moved is None:
        return
    ANSWERED.value = moved["sequence"]
    PLAYING.value = "scoring_plane" if moved["moving"] else ""  # the address waits for the end of the drag
    if moved["revision"] != REVISION.value:
        return
    VECTORS.value = SHOWN.value = Vectors(moved["query"], moved["keys"])
    ACTIVE.value = moved["active"]
    VERSION.value += not moved["moving"]


def vector_plane(vectors: Vectors) -> None:
    """Draw the plane. Call it last in its fragment: it counts a message as answered when it is drawn again."""
    query, keys = list(vectors.query), [list(key) for key in vectors.keys]
    note_picture(lambda: plane(query, keys, EXTENT), "The query and the keys as arrows")
    counted = {"revision": REVISION.value, "answered": ANSWERED.value, "active": ACTIVE.value}
    data = {"query": query, "keys": keys, "scale": 2**-0.5, "extent": EXTENT, "pause": PAUSE, **counted}
    _component(key="scoring_plane", data=data, default={"moved": None}, on_moved_change=take_move)


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
FORMULAS = {
    "plain": (
        "Wᵀtanh(q + k)",
        "The additive score as it is often printed, without matrices",
        "additive is now Wᵀtanh(q + k), W all ones. Query and key meet inside the tanh, so that it can attend; but "
        "without learned matrices it likes the key with the largest numbers, not the nearest. The trained one comes "
        "back under The parameters.",
    ),
    "printed": (
        "vᵀtanh([q; k])",
        "A formula often printed, without W, in the place of concat",
        "concat is now vᵀtanh([q; k]) without W, as it is often printed. Move the query: its weights do not change at "
        "all. Why is shown under A formula that cannot attend, and the trained one comes back under The parameters.",
    ),
}
"""Name -> what stands on the button, what it says on hover, and the note below."""
LEARNED = [name for name, kind in SCORES.items() if kind.parameter_names()]
FUNCTION = Field(NAME, "parameters_of", "general", address="of", parse=one_of(LEARNED))
SEED = Field(NAME, "seed", 0)
DRAWN_TABLES: Field[dict[str, pd.DataFrame]] = Field(NAME, "tables", dict)
PROBLEMS: Field[dict[str, str]] = Field(NAME, "problems", dict)
"""Each table as it was before edits, and what is wrong with those."""


def controls(vectors: Vectors) -> None:
    """Draw the vectors' width, presets, random vectors, the number of keys, and the note on what is arranged."""
    n_keys = len(vectors.keys)
    with st.container(key="scoring_tools", horizontal=True, gap="xsmall", vertical_alignment="center"):
        widths = {d: f"d = {d}" for d in DIMENSIONS}
        single_choice("Numbers per vector, d", WIDTH, widths, label_visibility="collapsed", on_change=choose_width)
        for preset in VECTOR_PRESETS if vectors.d == 2 else ():
            key = f"scoring_preset_{preset.name}"
            st.button(preset.name, key=key, on_click=arrange, args=(replace(preset),))  # a copy: told in the address
        st.button("Random", key="scoring_random", on_click=_shuffle)
        for name, (title, about, _) in FORMULAS.items():
            st.button(title, key=f"scoring_{name}", on_click=_put_formula, args=(name,), help=about)
        up_to = f"One key more, up to {MAX_KEYS}"
        st.button("+ key", key="scoring_more", on_click=_add_key, disabled=n_keys >= MAX_KEYS, help=up_to)
        goes = "The last key goes"
        st.button("− key", key="scoring_fewer", on_click=_drop_key, disabled=n_keys <= MIN_KEYS, help=goes)
    st.caption(vectors.note or "Your own arrangement.")


def _shuffle() -> None:
    SEED.value += 1
    d, n_keys = VECTORS.value.d, len(VECTORS.value.keys)
    arrange(Vectors(*random_vectors(d, n_keys, seed=100 * d + SEED.value), RANDOM))


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


def _put_formula(name: str) -> None:
    d = VECTORS.value.d
    same = torch.eye(d).tolist()
    parameters: dict[str, Parameters] = {
        "plain": {"additive.W_q": same, "additive.W_k": same, "additive.v": [1.0] * d},
        "printed": {"concat.W": torch.eye(2 * d).tolist(), "concat.v": [1.0, -0.5] * d},
    }
    write_parameters(d, parameters[name])
    arrange(replace(VECTORS.value, note=FORMULAS[name][2]))


def vector_table(vectors: Vectors) -> None:
    """Draw query and keys as a table to type into."""
    columns = [f"x{place + 1}" for place in range(vectors.d)]
    frame = pd.DataFrame([vectors.query, *vectors.keys], _names(vectors), columns, float)
    number_table(f"scoring_vectors_{vectors.d}", frame, limit=EXTENT, on_edit=read_typed)


def read_typed(rows: Rows) -> None:
    arrange(Vectors(rows[0], rows[1:]), typed=True)


def cosines(vectors: Vectors) -> None:
    """Draw the cosine of every pair of vectors as a matrix."""
    values = to_array(cosine_matrix(torch.tensor([vectors.query, *vectors.keys], dtype=torch.float64)))
    axis, ramp = Axis("vectors", _names(vectors)), Ramp(BLUE_ORANGE, -1, 1)
    paragraph("The cosine of every pair: 1 = same direction, 0 = at right angles, −1 = opposite.")
    draw_chart(
        matrix_chart(values, axis, axis, Role.SCORES, title="cosine of the angle", size=330, ramp=ramp),
        width="content",
        key="scoring_cosines",
        alt="Cosine of every pair of vectors",
    )


def _names(vectors: Vectors) -> list[str]:
    return ["q", *(key_name(place) for place in range(len(vectors.keys)))]


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
    st.markdown(
        "W, W_q, W_k and v were trained on one small task: *six keys; the nearer a key is to the query, the more "
        "weight.* How often each function gives the nearest key most, in 10,000 new tasks: "
        + ", ".join(f"{name} {share:.0%}" for name, share in accuracy.items())
        + ". Chance is 17%."
    )
    st.caption(
        "In training the last number of a vector was never negative. Without a bias a tanh network is odd, "
        "f(−q, −k) = −f(q, k), while near stays near under a change of sign: on the whole plane it could match nothing."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        function = single_choice("Parameters of", FUNCTION, LEARNED)
        look = {"icon": ":material/undo:", "disabled": not changed_functions(d)}
        st.button("Back to trained", key="scoring_trained", on_click=back_to_trained, args=(d,), **look)
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
