"""The floor of the load: a page with one button."""

import streamlit as st

st.button("Press", key="press")
