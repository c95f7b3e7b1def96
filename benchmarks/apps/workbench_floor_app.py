"""The floor of benchmarks/workbench.py: the same five tables of 16 x 16 and one trivial chart, nothing computed."""

import altair as alt
import pandas as pd
import streamlit as st

st.set_page_config(layout="wide")


@st.fragment
def page() -> None:
    """Draw the tables, a sentence that follows an edit, and two bars that do."""
    left, right = st.columns([0.62, 1])
    with left:
        edited = []
        for name in ("X", "W_Q", "W_K", "W_V", "W_O"):
            frame = pd.DataFrame({str(place + 1): ["1"] * 16 for place in range(16)})
            edited.append(st.data_editor(frame, key=name, hide_index=True, row_height=29, height=300))
    with right:
        number = float(edited[0].iloc[0, 0])
        st.markdown(f"edited {number:g}")
        bars = alt.Chart(pd.DataFrame({"place": [0, 1], "value": [1.0, number]})).mark_bar()
        st.altair_chart(bars.encode(x="place:O", y="value:Q"), key="chart")


page()
