"""The floor of the atlas' latency: a trivial component that says a number again."""

import streamlit as st

SCRIPT = """
export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".root");
  root.textContent = data.answered;
  root.dataset.answered = data.answered;
  root.tabIndex = 0;
  root.onkeydown = () => setStateValue("asked", data.answered + 1);
}
"""
component = st.components.v2.component("floor", html='<div class="root"></div>', js=SCRIPT)


@st.fragment
def number() -> None:
    """Say the number again that the browser said."""
    asked = (st.session_state.get("floor") or {}).get("asked") or 0
    component(key="floor", data={"answered": asked}, default={"asked": 0}, on_asked_change=lambda: None)


st.set_page_config(layout="wide")
st.title("Floor")
number()
