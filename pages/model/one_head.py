"""One head of one layer: where its tokens or patches look, its matrix large, every step on the way to it."""

import base64
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st
from PIL import Image

from attention_core import AttentionTrace, Role
from attention_core.attention.view.page import pieces, tiles_of
from attention_core.attention.wording import percent
from attention_core.charts.chart import Chart
from attention_core.charts.heads import masked
from attention_core.charts.matrix import matrix_chart
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.charts.words import shade_ramp, shaded_words
from attention_core.device import to_array
from attention_core.explain.heads import (
    PatchGrid,
    is_self_attention,
    norm_based_weights,
    without_keys,
)
from attention_core.hub.pictures import png_of
from attention_core.hub.run import ModelRun, patches_of, special_keys
from pages.model import glance
from ui.chart import draw_map, file_address, note_picture
from ui.component import component
from ui.labels import distinct, error_markdown, literal
from ui.layout import section
from ui.player import MAX_MATRIX_SIDE, StepStyle, export_bar, query_row, show_all_numbers, show_numbers
from ui.state import Field, component_message, controlled, one_of, single_choice

_view = component("token_view", folder="pages/model")
MAX_INLINE = 4096
"""Cells of a matrix that are sent with the tokens; of a larger one the chosen query's, the rest when it is hovered."""


def token_view(run: ModelRun, trace: AttentionTrace, head: int) -> None:
    """Draw where the tokens of a head look; a click on one makes it the query."""
    query, is_on = min(glance.chosen(run).query, trace.n_queries - 1), not glance.is_off(trace, head)
    patches = patches_of(run, trace)
    if patches is not None and run.picture is not None:
        row, column = is_on * trace.weights(head, [query])[0], is_on * trace.weights(head, cols=[query])[:, 0]
        patch_view(run, run.picture, patches, query, to_array(row), to_array(column))
    elif (n := max(trace.n_queries, trace.n_keys)) > MAX_TOKENS:
        notice = f"This input has {n:,} tokens; words are drawn for at most {MAX_TOKENS:,}."
        st.info(f"{notice} Its matrices can be opened in the atlas.")
    else:
        weights = glance.cached_with_run(
            run, ("tokens", trace, head), lambda: to_array(is_on * trace.weights(head).nan_to_num())
        )
        _draw_tokens(run, trace, weights, query)


def _draw_tokens(run: ModelRun, trace: AttentionTrace, weights: np.ndarray, query: int) -> None:
    """Draw tokens and the weights between them, (n_queries, n_keys), as a component."""
    queries, keys = trace.story.query_axis, trace.story.key_axis
    is_alike, special = is_self_attention(trace), special_keys(run, trace)

    def choose_token() -> None:
        row = (component_message("model_tokens", "chosen") or {}).get("row")
        if isinstance(row, int) and row >= 0:
            glance.choose(query=row)

    _note_pictures(trace, weights, query)
    high, sent, file = float(weights.max(initial=0.0)), weights, None
    if weights.size > MAX_INLINE:
        file = file_address(_roots(weights, high).tobytes(), "bin")
    if file:
        sent = np.concatenate([weights[query], weights[:, query]]) if is_alike else weights[query]
    tiles, picture = tiles_of(keys.labels) if run.tiles else None, run.picture
    data = {
        "queries": _pieces(queries.labels, special if is_alike else frozenset()),
        "keys": None if is_alike else _pieces(keys.labels, special),
        "packed": packed(sent, high),
        "file": file,
        "high": high,
        "active": query,
        "names": [f"Queries, {queries.name}", f"Keys, {keys.name}"],
        "axes": [queries.name, keys.name],
        "start": [0, 0],
        "uniform": 1 / trace.n_keys,
        "percent": True,
        "stamp": f"{hash((weights.tobytes(), *queries.labels, *keys.labels, special))}:{query}",
        "tiles": None
        if not tiles or picture is None
        else {**tiles, "picture": file_address(png_of(Image.fromarray(picture)))},
    }
    _view(key="model_tokens", data=data, default={"chosen": None}, on_chosen_change=choose_token)


def _note_pictures(trace: AttentionTrace, weights: np.ndarray, query: int) -> None:
    """Note the text, shaded by what one query gives to its keys, and all weights."""
    queries, keys = trace.story.query_axis, trace.story.key_axis
    query_label, colour, row = pieces(queries.labels)[query][0], ROLE_COLOURS[Role.WEIGHTS], weights[query]

    def text() -> Chart:
        words, glued = zip(*pieces(keys.labels), strict=True)
        # as the browser shades: small weights show too, but no pattern where there is none
        ramp = shade_ramp(colour, max(float(row.max()), min(1, 6 / len(row))), 0.6)
        shares, chosen = ramp.position(row).tolist(), query if is_self_attention(trace) else None
        return shaded_words(words, shares, [colour] * len(words), bar=(ramp, "weight"), glued=glued, chosen=chosen)

    note_picture(text, f"“{query_label}”, where it looks, as text")
    note_picture(lambda: matrix_chart(weights, queries, keys, Role.WEIGHTS, marked_row=query), "Every weight")


def packed(matrix: np.ndarray, high: float) -> str:
    """Return a matrix as text: 16 bits a cell, the square root of its share of the largest, base64.

    A weight of a thousandth of the largest is exact to 1 in 1,000, one of a hundred-thousandth to 1 in 100.
    """
    return base64.b64encode(_roots(matrix, high).tobytes()).decode()


def _roots(matrix: np.ndarray, high: float) -> np.ndarray:
    return np.rint(65535 * np.sqrt(np.clip(matrix / (high or 1.0), 0, 1))).astype("<u2")


def _pieces(labels: Sequence[str], muted: frozenset[int]) -> list[list]:
    return [[text, glued, position in muted] for position, (text, glued) in enumerate(pieces(labels))]


MATRIX_SIZE = 430
VALUE_LABELS = {"weight": "Weight", "length": "Weight × |value|", "rest": "Without special tokens, rescaled"}
DISPLAYED = Field(glance.NAME, "shown", "weight", address="shown", parse=one_of(VALUE_LABELS))
MAX_TOKENS = 1200
"""Queries and keys that are sent to the browser: a text as long as a model reads here, beside a picture."""
PICTURE_SIZE = 220
FLOOR = 4  # times the weight of looking everywhere alike: the strongest colour of a patch is at least so much


def inspect_head(run: ModelRun) -> None:
    """Draw the chosen head: its tokens beside its matrix, the chosen query in numbers."""
    selection, trace = _head(run)
    if trace.story.note:
        st.info(error_markdown(trace.story.note))
    left, matrix = st.columns([1.15, 1], gap="large")
    with left:
        if glance.is_off(trace, selection.head):
            st.info("This head is switched off: it hands nothing to any query. The matrix shows what is left of it.")
        elif trace.value.shape[-1]:
            query_row(trace, selection.head, selection.query, n=5, key_words="patch" if run.patch_grid else "token")
    with matrix:
        large_matrix(run, trace, selection.head, selection.query)


def model_steps(run: ModelRun) -> None:
    """Step through the chosen head, from queries and keys to the context."""
    selection, trace = _head(run)
    query_label = trace.story.query_axis.labels[selection.query].strip()
    query_text = f"The query is {literal(query_label)}, position {selection.query + 1}."
    show_all_numbers(
        trace,
        glance.STEPS,
        "model_step_" + (trace.story.name or str(selection.layer)).replace("_", "-"),  # Streamlit refuses "__" in a key
        head=selection.head,
        query=selection.query,
        on_query=lambda row: glance.choose(query=row),
        above_text=lambda _: st.caption(query_text),
        widths=(0.9, 1),
    )


def export_head(run: ModelRun) -> None:
    """Offer the chosen head's numbers and the script that computes them."""
    selection, layers = glance.chosen_layers(run)
    export_bar(
        layers[selection.layer],
        glance.NAME,
        head=selection.head,
        query=selection.query,
        subject=f"{run.recording.model} {selection.group} head {selection.layer}.{selection.head}",
        recording=run.recording,
        picture=run.picture,
        grid=run.patch_grid,
    )


def _head(run: ModelRun) -> tuple[glance.Selection, AttentionTrace]:
    selection, layers = glance.chosen_layers(run)
    trace = layers[selection.layer]
    habit = glance.habits_of(run, selection.group)[selection[1:3]] or "nothing clear"
    section(f"{glance.short_name(*selection[1:3]).capitalize()}: {error_markdown(habit)}", Role.WEIGHTS)
    return selection, trace


def large_matrix(run: ModelRun, trace: AttentionTrace, head: int, query: int) -> None:
    """Draw a head's matrix as a person wants it; a click on a cell makes its row the query."""
    if max(trace.n_queries, trace.n_keys) > MAX_MATRIX_SIDE:
        st.info(f"{trace.n_queries:,} × {trace.n_keys:,} weights: the atlas shows all of them, like a map.")
        return
    special = special_keys(run, trace)
    available = {"weight": True, "length": trace.value.shape[-1] > 0, "rest": bool(special)}
    displayed = DISPLAYED.clamp_to_options([name for name, is_available in available.items() if is_available])
    single_choice(
        "Shown",
        DISPLAYED,
        {name: VALUE_LABELS[name] for name in available if available[name]},
        label_visibility="collapsed",
        wrap=True,
    )
    values = trace.weights(head) * (not glance.is_off(trace, head))
    if displayed == "length":
        values = norm_based_weights(trace, head) * (not glance.is_off(trace, head))
    elif displayed == "rest":
        values = without_keys(values, special)
    numbers = masked(values, trace.allowed(head))
    fields = {
        "title": VALUE_LABELS[displayed],
        "role": Role.OUTPUT if displayed == "length" and len(values) > 1 else Role.WEIGHTS,
    }
    view = StepStyle(query, size=MATRIX_SIZE if run.patch_grid is None else PICTURE_SIZE)
    show_numbers(trace, numbers, "model_matrix", view, fields, on_choose=lambda row, _: glance.choose(query=row))


def patch_view(
    run: ModelRun,
    picture: np.ndarray,
    patches: PatchGrid,
    query: int,
    row: np.ndarray,
    column: np.ndarray | None = None,
) -> None:
    """Draw where one query looks and who looks at it, over the run's picture; a click on a patch makes it the query.

    The row (n_keys,) is what the query gives to each key, the column (n_queries,) what each query gives to it. A query
    below patches.n_prefix is no patch.
    """
    key = "model_patches" if column is not None else "model_rolled_patches"
    before = patches.n_prefix
    if before:
        options = distinct([*map(error_markdown, run.tokens[:before])])[:8]
        chosen = query if query < len(options) else None
        arguments = controlled(f"{key}_prefix", chosen, lambda column: glance.choose(query=column))
        label = "Ask from a token that is no patch, or click a patch"
        st.segmented_control(label, range(len(options)), format_func=options.__getitem__, **arguments)
    marked, query_label = None, run.tokens[query] if query < before else ""
    if query >= before:
        marked = query - before
        query_label = f"patch {marked // patches.grid[1] + 1}, {marked % patches.grid[1] + 1}"

    def choose_patch(patch: int) -> None:
        glance.choose(query=patch + before)

    maps = [("out", f"Where {query_label} looks", row)]
    if column is not None:
        maps.append(("in", f"Who looks at {query_label}", column))
    for panel, (which, title, weights) in zip(st.columns(len(maps), gap="medium"), maps, strict=True):
        numbers = np.nan_to_num(weights)
        # a map of weights that are all alike stays pale
        high = max(float(numbers[before:].max()), FLOOR / (len(numbers) - before))
        with panel:
            st.markdown(f"**{title}**")
            grid = numbers[before:].reshape(patches.grid)
            description = f"{title}: weights over the picture; click a patch"
            draw = partial(draw_map, grid, picture, f"{key}_{which}", description, size=PICTURE_SIZE, smooth=False)
            draw(high=high, axis="patches", chosen=marked, on_choose=choose_patch)
            if before:
                named = zip(run.tokens[:before], numbers.tolist(), strict=False)
                shares = ", ".join(f"{token} {percent(weight)}" for token, weight in named)
                st.caption(f"Besides the patches: {shares}.")
