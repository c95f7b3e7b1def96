"""The floor of the digit page's latency: the same pad, no model, one trivial chart."""

import altair as alt
import pandas as pd
import streamlit as st

from ui.canvas import Pad, digit_presets, drawing_pad

st.set_page_config(layout="wide")
st.title("Floor")
pad = drawing_pad(Pad("pixels", digit_presets(), first="7"))
ink = float((pad.canvas[..., 0] < 128).mean())
bar = alt.Chart(pd.DataFrame({"probability": [ink], "what": ["ink"]})).mark_bar()
st.altair_chart(bar.encode(x=alt.X("probability:Q"), y=alt.Y("what:N"), tooltip=[alt.Tooltip("probability:Q")]))
