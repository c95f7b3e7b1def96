"""The foot of a page: take the numbers along."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention_core.attention.export import trace_to_code, trace_to_frame, trace_to_npz
from attention_core.attention.trace import AttentionTrace


def export_bar(trace: AttentionTrace, name: str, *, head: int = 0, query: int | None = None) -> None:
    """Offer the trace as numbers, the chosen query's row as a table, and the script that computes it again.

    Files are made when they are asked for, not at every rerun.
    """
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.download_button(
            "Q, K, V, weights' normaliser (.npz)",
            partial(trace_to_npz, trace),
            "trace.npz",
            on_click="ignore",
            key=f"{name}_npz",
        )
        script = partial(trace_to_code, trace)
        st.download_button("PyTorch script (.py)", script, "trace.py", on_click="ignore", key=f"{name}_code")
        if query is not None:
            st.download_button(
                "This query's row (.csv)",
                lambda: trace_to_frame(trace, head, rows=slice(query, query + 1)).to_csv(index=False),
                "row.csv",
                on_click="ignore",
                key=f"{name}_row",
            )
    st.caption(
        "The script reads trace.npz and prints the same numbers. The toolbar at a chart's corner saves it as PNG, "
        "shows its data, copies its Vega-Lite specification, opens it full screen."
    )
