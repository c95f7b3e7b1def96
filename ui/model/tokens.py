"""Where tokens look: text with shading or two columns with arcs; for a picture its patches, laid over it."""

import numpy as np
import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.charts.overlay import overlay
from attention_core.device import to_array
from attention_core.explain.heads import Look, Patches, is_of_itself, matrix_for
from attention_core.explain.heads.look import shown
from attention_core.explain.heads.rows import whole_rows
from attention_core.hub.run import ModelRun, patches_of, special_keys
from ui.labels import distinct, literal, said
from ui.model.glance import not_plain
from ui.model.state import NAME, choose, chosen, clickable_chart, kept_with
from ui.model.token_component import Tokens, token_component
from ui.state import Field, set_widget, whole_number, widget_value

WINDOW = 512
"""Queries and keys that are sent to the browser; of longer inputs a window."""
WINDOW_START = Field(NAME, "window", -WINDOW, address="window", parse=whole_number)
PICTURE_SIZE = 300
FLOOR = 4
"""Times the weight of looking everywhere alike: the strongest colour of a patch is at least so much."""


def token_view(run: ModelRun, trace: AttentionTrace, head: int, look: Look) -> None:
    """Draw where the tokens of a head look; a click on one makes it the query."""
    if not look.is_plain:
        st.caption(not_plain(look, trace))
    query = min(chosen(run).query, trace.n_queries - 1)
    patches, seen = patches_of(run, trace), (trace, head, look)
    if patches is not None and run.picture is not None:
        row = kept_with(run, ("row", *seen, query), lambda: to_array(matrix_for(*seen, [query])[0]))
        column = kept_with(run, ("column", *seen, query), lambda: to_array(matrix_for(*seen, cols=[query])[:, 0]))
        patch_view(run, patches, query, row, column, percent=not look.times_value or look.normalised)
        return
    rows, cols = _window(run, trace, head, look, query)
    place = "tokens", *seen, rows.start, cols.start
    drawn = kept_with(run, place, lambda: tokens_of(run, *seen, rows, cols))
    if drawn.empty:
        names = ", ".join(literal(trace.story.query_axis.labels[place], 16) for place in drawn.empty[:6])
        st.caption(f"All that {names}{' and others' * (len(drawn.empty) > 6)} looked at is hidden: their rows are 0.")
    token_component("model_tokens", drawn, query)


def tokens_of(run: ModelRun, trace: AttentionTrace, head: int, look: Look, rows: slice, cols: slice) -> Tokens:
    """Return what a window of a head's matrix shows."""
    whole, empty = shown(trace, head, look, whole_rows(trace, head, rows).weights, rows)
    whole = whole.nan_to_num()
    matrix = to_array(whole[:, cols])
    n_keys = trace.n_keys
    beyond = (to_array(whole.sum(1)) - matrix.sum(1)).clip(0) if cols != slice(0, n_keys) else None
    of_itself = is_of_itself(trace)
    special = special_keys(run, trace)
    of_keys = frozenset(place - cols.start for place in special if cols.start <= place < cols.stop)
    of_queries = frozenset(place - rows.start for place in special if rows.start <= place < rows.stop and of_itself)
    return Tokens(
        matrix=matrix,
        queries=list(trace.story.query_axis.labels[rows]),
        keys=None if of_itself else list(trace.story.key_axis.labels[cols]),
        names=(f"Queries, {trace.story.query_axis.name}", f"Keys, {trace.story.key_axis.name}"),
        muted=(of_queries, of_keys),
        start=(rows.start, cols.start),
        outside=beyond,
        percent=not look.times_value or look.normalised,
        n_keys=n_keys,
        empty=tuple(empty),
    )


def _window(run: ModelRun, trace: AttentionTrace, head: int, look: Look, query: int) -> tuple[slice, slice]:
    """Return the rows and columns to send; of long inputs a person can move the window."""
    if max(trace.n_queries, trace.n_keys) <= WINDOW:
        return slice(0, trace.n_queries), slice(0, trace.n_keys)
    last = max(trace.n_queries - WINDOW, 0)
    if not WINDOW_START.value <= query < WINDOW_START.value + WINDOW:
        WINDOW_START.value = query - WINDOW // 2
    start = first_col = WINDOW_START.within(0, last)

    def follow() -> None:
        """Bring the query into the window that was moved."""
        moved = int(WINDOW_START.value)
        if not moved <= query < moved + WINDOW:
            choose(query=min(moved + WINDOW // 2, trace.n_queries - 1))

    if last:
        st.slider(
            "Window begins at token", 0, last, key=WINDOW_START.key, step=1, persist_state="session", on_change=follow
        )
    if not is_of_itself(trace):
        seen = trace, head, look
        best = kept_with(run, ("best", *seen, query), lambda: int(matrix_for(*seen, [query])[0].argmax()))
        first_col = min(max(best - WINDOW // 2, 0), max(trace.n_keys - WINDOW, 0))
    rows = slice(start, min(start + WINDOW, trace.n_queries))
    cols = slice(first_col, min(first_col + WINDOW, trace.n_keys))
    st.caption(
        f"A window of {rows.stop - rows.start} queries and {cols.stop - cols.start} keys of {trace.n_queries:,} and "
        f"{trace.n_keys:,}; the atlas shows them all."
    )
    return rows, cols


def patch_view(
    run: ModelRun,
    patches: Patches,
    query: int,
    row: np.ndarray,
    column: np.ndarray | None = None,
    *,
    percent: bool = True,
) -> None:
    """Draw where one query looks and who looks at it, over the run's picture; a click on a patch makes it the query.

    The row (n_keys,) is what the query gives to each key, the column (n_queries,) what each query gives to it; percent:
    these are shares. A query below patches.n_prefix is no patch.
    """
    key = "model_patches" if column is not None else "model_rolled_patches"
    before = patches.n_prefix
    if before:
        _prefix_buttons(f"{key}_prefix", distinct([*map(said, run.tokens[:before])])[:8], query)
    marked = query - before if query >= before else None
    asks = run.tokens[query]
    if marked is not None:
        down, across = divmod(marked, patches.grid[1])
        asks = f"patch {down + 1}, {across + 1}"
    maps = [("out", f"Where {asks} looks", row)]
    if column is not None:
        maps.append(("in", f"Who looks at {asks}", column))
    for place, (which, title, weights) in zip(st.columns(len(maps), gap="medium"), maps, strict=True):
        numbers = np.nan_to_num(weights)
        # a map of weights that are all alike stays pale
        high = max(float(numbers[before:].max()), FLOOR / (len(numbers) - before) if percent else 0.0)
        with place:
            st.markdown(f"**{title}**")
            grid = numbers[before:].reshape(patches.grid)
            clickable_chart(
                overlay(run.picture, grid, size=PICTURE_SIZE, smooth=False, high=high, marked=marked, select="patch"),
                f"{key}_{which}",
                f"{title}: weights over the picture; click a patch",
                "patch",
                lambda patch: choose(query=int(patch["position"]) + before),
            )
            if before:
                named = zip(run.tokens[:before], numbers.tolist(), strict=False)
                shares = ", ".join(f"{token} {one:.1%}" if percent else f"{token} {one:.3g}" for token, one in named)
                st.caption(f"Besides the patches: {shares}.")


def _prefix_buttons(key: str, options: list[str], query: int) -> None:
    set_widget(key, query if query < len(options) else None)
    st.segmented_control(
        "Ask from a token that is no patch, or click a patch",
        range(len(options)),
        format_func=options.__getitem__,
        key=key,
        on_change=lambda: choose(query=widget_value(key)),
    )
