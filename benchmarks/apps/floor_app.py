"""The floors of the pages' latency: ?pad=NAME, what a page is edited with, and one trivial answer; no model."""

import sys
from pathlib import Path

import altair as alt
import pandas as pd
import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))
from ui.ask.drawing import PAD as ASK_PAD
from ui.canvas import drawing_pad
from ui.find.drawing import PAD as FIND_PAD
from ui.pixels.drawing import PAD as DIGIT_PAD
from ui.read.drawing import number_pad

SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root");
  root.textContent = data.answered;
  root.dataset.answered = data.answered;
  root.tabIndex = 0;
  root.onkeydown = () => setStateValue("asked", data.answered + 1);
}
"""
PADS = {"pixels": DIGIT_PAD, "find": FIND_PAD, "ask": ASK_PAD}


def bars(**amounts: float) -> None:
    frame = pd.DataFrame({"amount": list(amounts.values()), "what": list(amounts)})
    chart = alt.Chart(frame).mark_bar().encode(x="amount:Q", y="what:N", tooltip=["amount:Q"])
    st.container(key="floor_chart").altair_chart(chart)


@st.fragment
def tables() -> None:
    """Draw five tables of 16 x 16, a sentence that follows an edit, and a bar that does."""
    left, right = st.columns([0.62, 1])
    frame = pd.DataFrame({str(place + 1): ["1"] * 16 for place in range(16)})
    with left:
        names = ("X", "W_Q", "W_K", "W_V", "W_O")
        edited = [st.data_editor(frame, key=name, hide_index=True, row_height=29, height=300) for name in names]
    with right:
        number = float(edited[0].iloc[0, 0])
        st.markdown(f"edited {number:g}")
        bars(one=1.0, value=number)


@st.fragment
def number() -> None:
    """Say the number again that the browser said."""
    asked = (st.session_state.get("floor") or {}).get("asked") or 0
    component(key="floor", data={"answered": asked}, default={"asked": 0}, on_asked_change=lambda: None)


st.set_page_config(layout="wide")
component = st.components.v2.component("floor", html='<div class="root"></div>', js=SCRIPT)
which = st.session_state.setdefault("which", st.query_params.get("pad", "find"))
st.title("Floor")
if which == "vectors":
    tables()
elif which == "atlas":
    number()
else:
    canvas = (number_pad() if which == "read" else drawing_pad(PADS[which])).canvas
    asked = st.text_input("Your question, in English", "how many?", key="question") if which == "ask" else ""
    bars(ink=float((canvas[..., :3].min(-1) < 128).mean()), letters=len(asked) / 100)
