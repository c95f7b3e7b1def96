"""The chosen query's row in numbers: score, exponential, weight, contribution."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.trace import AttentionTrace
from attention_core.explain.arithmetic import row_table


def query_row(trace: AttentionTrace, head: int, query: int, n: int = 7, key_words: str = "pixel") -> None:
    """Draw the table of the keys to which a query gives most, and the sums that it rests on."""
    st.markdown("**Its row in numbers**")
    table = row_table(trace, head, query, n)
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        column_config={
            "key": st.column_config.TextColumn(f"key ({key_words})"),
            "score": st.column_config.NumberColumn("score", format="%.2f"),
            "exponential": st.column_config.NumberColumn("exp(score)", format="%.3g"),
            "weight": st.column_config.NumberColumn("weight", format="%.4f"),
            "contribution": st.column_config.NumberColumn("weight × |value|", format="%.4f"),
        },
    )
    total = float(trace.log_normaliser[head, query].exp())
    st.caption(
        f"Exponentials of the whole row sum to {_short(total)}; each weight is an exponential divided by that sum. "
        f"The uniform weight would be 1/{trace.n_keys} = {1 / trace.n_keys:.4f}."
    )


def _short(total: float) -> str:
    return f"{total:,.0f}" if 1000 <= total < 1e9 else f"{total:.4g}"
