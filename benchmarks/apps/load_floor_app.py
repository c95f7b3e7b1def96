"""The floor of the load: a page with one button, and how often it was pressed."""

import streamlit as st

state = st.session_state
state.setdefault("presses", 0)
st.button("Press", key="press", on_click=lambda: state.update(presses=state.presses + 1))
st.text(f"{state.presses} presses")
