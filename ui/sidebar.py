"""What stands below the list of pages: where the models compute, and lecture mode."""

from __future__ import annotations

import sys

import streamlit as st

LECTURE_STYLE = """<style>
html { font-size: 125%; }
[data-testid="stMain"] p, [data-testid="stMain"] li { line-height: 1.5; }
[data-testid="stMain"] .katex { font-size: 1.35em; }
</style>"""


def sidebar() -> None:
    """Draw the sidebar's foot."""
    with st.sidebar:
        lecture = st.toggle(
            "Lecture mode",
            key="lecture",
            persist_state="session",
            help="Larger type for a projector. Light and dark: the menu at the top right, Settings.",
        )
        if "torch" in sys.modules:  # the first page paints before torch is there
            st.caption(f"Computing on {_device_words()}")
    if lecture:
        st.html(LECTURE_STYLE)


@st.cache_resource(show_spinner=False)
def _device_words() -> str:
    from attention_core.device import choose_device, describe_device

    return describe_device(choose_device())
