"""Rules of CSS that the server alone can write; all others stand in ui/styles and the pages' folders."""

import streamlit as st


def page_style(rules: str) -> None:
    """Write rules in every run of the part that calls it, never only in some: Streamlit lets the last ones stay."""
    st.html(f"<style>{rules}</style>")
