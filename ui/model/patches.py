"""Where the patches of a picture look, laid over the picture; a click on a patch makes it the query."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attention_core.charts.overlay import overlay
from attention_core.explain.heads import Patches
from attention_core.hub.run import ModelRun
from ui.labels import distinct
from ui.model.state import choose

SIZE = 300
FLOOR = 4
"""Times the weight of looking everywhere alike: the strongest colour is at least so much."""


def patch_view(
    name: str,
    run: ModelRun,
    patches: Patches,
    query: int,
    row: np.ndarray,
    column: np.ndarray | None,
    *,
    percent: bool = True,
    chooses: str | None = None,
) -> None:
    """Draw where one query looks and who looks at it, over the picture.

    Args:
        name: prefix of its state.
        run: what is on the page; it has a picture.
        patches: where they lie among the positions.
        query: that is chosen; below patches.n_prefix it is no patch.
        row: (n_keys,) what the query gives to each key.
        column: (n_queries,) what each query gives to it, or None.
        percent: whether the numbers are shares.
        chooses: prefix of the state into which a click goes; name if None.
    """
    chooses = chooses or name
    before = patches.n_prefix
    if before:
        _prefix_buttons(name, chooses, list(run.tokens[:before]), query)
    marked = query - before if query >= before else None
    asks = (
        f"patch {divmod(marked, patches.grid[1])[0] + 1}, {divmod(marked, patches.grid[1])[1] + 1}"
        if marked is not None
        else run.tokens[query]
    )
    maps = [("out", f"**Where {asks} looks**", row)] + (
        [] if column is None else [("in", f"**Who looks at {asks}**", column)]
    )
    for place, (which, title, found) in zip(st.columns(len(maps), gap="medium"), maps, strict=True):
        numbers = np.nan_to_num(found)
        with place:
            st.markdown(title)
            key = f"{name}_patches_{which}"
            st.altair_chart(
                overlay(
                    run.picture,
                    numbers[before:].reshape(patches.grid),
                    size=SIZE,
                    smooth=False,
                    high=_high(numbers[before:], percent),
                    marked=marked,
                    select="patch",
                ),
                key=key,
                on_select=partial(_take_patch, chooses, key, before),
                selection_mode="patch",
                width="content",
                alt=f"{title.strip('*')}: weights over the picture; click a patch",
            )
            if before:
                shares = ", ".join(
                    f"{token} {_number(float(one), percent)}"
                    for token, one in zip(run.tokens[:before], numbers, strict=False)
                )
                st.caption(f"Besides the patches: {shares}.")


def _prefix_buttons(name: str, chooses: str, tokens: list[str], query: int) -> None:
    options = distinct(tokens)[:8]
    key = f"{name}_prefix"
    st.session_state[key] = query if query < len(options) else None
    st.segmented_control(
        "Ask from a token that is no patch, or click a patch",
        range(len(options)),
        format_func=lambda place: options[place],
        key=key,
        on_change=partial(_take_prefix, chooses, key),
    )


def _take_prefix(name: str, key: str) -> None:
    if st.session_state[key] is not None:
        choose(name, query=int(st.session_state[key]))


def _take_patch(name: str, key: str, before: int) -> None:
    clicked = st.session_state[key]["selection"].get("patch")
    if clicked:
        choose(name, query=int(clicked[0]["position"]) + before)


def _high(numbers: np.ndarray, percent: bool) -> float:
    """Return the number of the strongest colour: a map of weights that are all alike stays pale."""
    return max(float(numbers.max()), FLOOR / len(numbers) if percent else 0.0)


def _number(value: float, percent: bool) -> str:
    return f"{value:.1%}" if percent else f"{value:.3g}"
