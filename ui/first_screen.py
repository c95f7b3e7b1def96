"""First screens: what comes last on a phone, and an answer that is grey while the input cannot be read."""

import streamlit as st

WIDEST_PHONE = 640
"""CSS pixels up to which Streamlit puts columns below one another."""
LATE = "animation: late 2.5s step-end; "
"""What comes last is seen only when the rest is there, which would push it down before everybody's eyes."""


def is_dark() -> bool:
    """Return whether the page is dark."""
    return st.context.theme.type == "dark"


def last_on_phone(screen: str, *keys: str) -> None:
    """Let parts of a first screen, by their keys, come after all others on a phone, in this order.

    The screen is the key of the container whose only child is a row of columns.
    """
    row = f".st-key-{screen} > [data-testid=stLayoutWrapper] > [data-testid=stHorizontalBlock]"
    column = f"{row} > [data-testid=stColumn]"
    last = " ".join(
        f"{column} :is(.st-key-{key}, [data-testid=stLayoutWrapper]:has(> .st-key-{key})) {{ order: {place}; {LATE}}}"
        for place, key in enumerate(keys, 1)
    )
    st.html(
        f"<style>@media (max-width: {WIDEST_PHONE}px) {{ {row} {{ flex-flow: column nowrap; gap: 1rem; }} "
        f"{column}, {column} > [data-testid=stVerticalBlock] {{ display: contents; }} {last} "
        "@keyframes late { from { visibility: hidden; } } }</style>"
    )


def grey_out(key: str, is_before: bool) -> None:
    """Let the container of an answer be grey while it is that of an earlier input; drawn always, so that it stays."""
    st.html(f"<style>.st-key-{key} {{ opacity: {0.35 if is_before else 1}; }}</style>")
