"""CSS that is written while a page runs, for what is drawn before any library is imported."""

import streamlit as st


def page_style(rules: str) -> None:
    """Write CSS that the server alone can write: in every run of what calls it, since the last rules stay."""
    st.html(f"<style>{rules}</style>")
