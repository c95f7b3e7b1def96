"""On a phone a first screen is one column, the result straight below the input; what can wait comes last."""

import streamlit as st

WIDEST_PHONE = 640
"""CSS pixels up to which Streamlit puts columns below one another."""


def last_on_phone(screen: str, *keys: str) -> None:
    """Let some parts of a first screen come after all others on a phone.

    Args:
        screen: the key of the container whose only child is a row of columns.
        keys: of the parts, elements or containers, in the order in which they come.
    """
    row = f".st-key-{screen} > [data-testid=stLayoutWrapper] > [data-testid=stHorizontalBlock]"
    column = f"{row} > [data-testid=stColumn]"
    last = " ".join(
        f"{column} :is(.st-key-{key}, :has(> .st-key-{key})) {{ order: {place}; }}"
        for place, key in enumerate(keys, 1)
    )
    st.html(
        f"<style>@media (max-width: {WIDEST_PHONE}px) {{ {row} {{ flex-flow: column nowrap; }} "
        f"{column}, {column} > [data-testid=stVerticalBlock] {{ display: contents; }} {last} }}</style>"
    )
