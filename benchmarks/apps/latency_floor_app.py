"""The floor of the pages' latency: ?pad=pixels, find, read or ask; that page's pad, no model, one trivial chart."""

import sys
from pathlib import Path

import altair as alt
import pandas as pd
import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))
from ui.canvas import drawing_pad

st.set_page_config(layout="wide")
which = st.session_state.setdefault("which", st.query_params.get("pad", "find"))
st.title("Floor")
asked = ""
if which == "read":
    from ui.read.drawing import number_pad

    canvas = number_pad().canvas
elif which == "ask":
    from ui.ask.drawing import PAD as ASK_PAD

    canvas = drawing_pad(ASK_PAD).canvas
    asked = st.text_input("Your question, in English", "what colour is the 7?", key="question")
elif which == "pixels":
    from ui.pixels.drawing import PAD as DIGIT_PAD

    canvas = drawing_pad(DIGIT_PAD).canvas
else:
    from ui.find.drawing import PAD as FIND_PAD

    canvas = drawing_pad(FIND_PAD).canvas
amounts = [float((canvas[..., :3].min(-1) < 128).mean()), len(asked) / 100]
bars = alt.Chart(pd.DataFrame({"amount": amounts, "what": ["ink", "letters"]})).mark_bar()
st.container(key="floor").altair_chart(
    bars.encode(x=alt.X("amount:Q"), y=alt.Y("what:N"), tooltip=[alt.Tooltip("amount:Q")])
)
