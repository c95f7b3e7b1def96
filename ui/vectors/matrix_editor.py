"""A matrix as a table that a person edits, or as large type for a projector. What is typed is kept by the caller."""

from __future__ import annotations

import html
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS

ROW_HEIGHT = 29
HEADER_HEIGHT = 36
MOST_HEIGHT = 300
LABEL = "name"
FAULT_ICON = ":material/error:"


def table_heading(name: str, role: Role, words: str, shape: str) -> None:
    """Draw a table's name in its role's colour, what it is, and its shape."""
    st.html(
        f'<p style="margin:0;white-space:nowrap;overflow:hidden;text-overflow:ellipsis">'
        f'<b style="color:{ROLE_COLOURS[role]};font-size:1.05rem">{html.escape(name)}</b> '
        f'<span style="opacity:.7;font-size:.85rem">{html.escape(words)} {shape}</span></p>'
    )


def matrix_editor(
    store: MutableMapping[str, Any], name: str, key: str, *, grows: bool, labelled: bool, words: str = ""
) -> None:
    """Draw an editable table; what is typed goes into store["cells"][name] as texts, and store["labels"][name].

    Streamlit's editor forgets everything when its page is left: when it is mounted anew it starts from the store.

    Args:
        store: with "cells" (table -> rows of texts), "labels" (table -> texts) and "base" (editor -> first frame).
        name: of the table in the store.
        key: of the widget; another key mounts it anew.
        grows: whether rows can be added and deleted in the table itself.
        labelled: whether the first column holds the rows' names.
        words: said to screen readers.
    """
    widget, base = mounted(
        store, key, lambda: _frame(store["cells"][name], store["labels"].get(name, []) if labelled else None)
    )
    n_columns = len(base.columns) - labelled
    height = min(HEADER_HEIGHT + ROW_HEIGHT * (len(base) + grows) + 3, MOST_HEIGHT)
    config: dict[str, Any] = {
        str(place + 1): st.column_config.TextColumn(
            str(place + 1), default="0", width="small" if n_columns > 4 else None
        )
        for place in range(n_columns)
    }
    if labelled:
        config[LABEL] = st.column_config.TextColumn("", width=74, default="", max_chars=40)
    edited = st.data_editor(
        base,
        key=widget,
        num_rows="dynamic" if grows else "fixed",
        hide_index=True,
        column_config=config,
        row_height=ROW_HEIGHT,
        height=height,
        width="stretch",
        alt=words or f"Table {name}",
    )
    numbers = edited[[str(place + 1) for place in range(n_columns)]]
    store["cells"][name] = [[_text(one) for one in row] for row in numbers.itertuples(index=False, name=None)]
    if labelled:
        store["labels"][name] = [_text(one) for one in edited[LABEL]]


def mounted(store: MutableMapping[str, Any], key: str, make: Callable[[], pd.DataFrame]) -> tuple[str, pd.DataFrame]:
    """Return the key of an editor's widget and the frame that it started from.

    Streamlit drops an editor's state when its page is left. When the page is entered again the editor starts from what
    make() returns, under a new key, so that nothing of its earlier life is laid over that.

    Args:
        store: with "base", where both are kept.
        key: of the table; another key mounts it anew.
        make: returns the frame to start from.
    """
    held = store["base"].get(key)
    if held is None or held["widget"] not in st.session_state:
        times = 0 if held is None else held["times"] + 1
        held = store["base"][key] = {"widget": f"{key}_{times}", "times": times, "frame": make()}
    return held["widget"], held["frame"]


def _frame(cells: Sequence[Sequence[str]], labels: Sequence[str] | None) -> pd.DataFrame:
    n_columns = len(cells[0]) if cells else 1
    columns = {str(place + 1): [row[place] for row in cells] for place in range(n_columns)}
    frame = pd.DataFrame(columns, dtype=object)
    if labels is not None:
        named = (list(labels) + [""] * len(cells))[: len(cells)]
        frame.insert(0, LABEL, pd.Series(named, dtype=object))
    return frame


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def large_matrix(name: str, cells: Sequence[Sequence[str]], role: Role, labels: Sequence[str] = ()) -> None:
    """Draw a matrix in large type, for a projector.

    Args:
        name: of the matrix.
        cells: rows of texts.
        role: decides the colour.
        labels: one per row, or none.
    """
    size = "2rem" if cells and len(cells[0]) <= 3 else "1.5rem" if cells and len(cells[0]) <= 6 else "1rem"
    rows = "".join(
        "<tr>"
        + (
            f'<th style="opacity:.7;font-weight:400;text-align:left">{html.escape(labels[place])}</th>'
            if labels
            else ""
        )
        + "".join(f"<td>{html.escape(_short(text))}</td>" for text in row)
        + "</tr>"
        for place, row in enumerate(cells)
    )
    colour = ROLE_COLOURS[role]
    st.html(
        f'<div style="overflow-x:auto"><table class="large-matrix" style="font-size:{size};'
        f'border-left:3px solid {colour};border-right:3px solid {colour}">{rows}</table></div>'
        "<style>.large-matrix{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.2rem 0 .8rem}"
        ".large-matrix td{text-align:right;padding:.1em .45em}.large-matrix th{padding:.1em .45em}</style>"
    )


def _short(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text[:12]
    return f"{value:.4g}"


def tell(slot: Any, messages: Sequence[str]) -> None:
    """Say what is wrong with a table right below it."""
    for message in messages:
        slot.error(message, icon=FAULT_ICON)
