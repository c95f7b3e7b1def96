"""One number for every layer and head; a click chooses the head."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention_core.charts.head_maps import layer_head_map
from attention_core.charts.heatmap import MAX_RECT_SIDE
from ui.model.state import Chosen, choose_clicked


def head_map(
    name: str, key: str, values: Sequence[Sequence[float]], at: Chosen, *, title: str, high: float | None = None
) -> None:
    """Draw the map.

    Args:
        name: prefix of the page's state, into which a click goes.
        key: of the chart; one that changes with the shape of the values.
        values: of each layer, its heads; nan = no number.
        at: the group, and the head to frame.
        title: of the colour bar.
        high: the largest possible number; the largest of these if None.
    """
    small = max(len(values), *map(len, values)) <= MAX_RECT_SIDE  # larger charts are pictures, which take no click
    take = {"on_select": partial(choose_clicked, name, at.group, key), "selection_mode": "cell"} if small else {}
    st.altair_chart(
        layer_head_map(values, title=title, chosen=(at.layer, at.head), select="cell" if small else None, high=high),
        key=key,
        width="content",
        alt=f"{title} of every layer and head" + "; click one" * small,
        **take,
    )
