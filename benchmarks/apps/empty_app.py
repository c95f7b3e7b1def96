"""The floor of the first paint: an empty page with a title."""

import streamlit as st

st.title("Empty")
