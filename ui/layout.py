"""The frame of every page: style, heading, who asks whom for what."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS
from ui.navigation import through_app

STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 3.2rem; padding-bottom: 4rem; max-width: 1240px; }
[data-testid="stMainBlockContainer"] h1 { padding-bottom: 0.2rem; }
.role { font-weight: 600; }
.who { margin: 0; line-height: 1.5; }
[data-testid="stVegaLiteChart"] svg.marks { max-width: 100%; height: auto; }
[class*="_presets"] { display: grid; grid-template-columns: repeat(5, 1fr); max-width: 256px; }
[class*="_presets"] button { width: 100%; }
[class*="_examples"] button { min-height: 1.9rem; padding: 0.05rem 0.6rem; }
[class*="_examples"] p { font-size: 0.86rem; }
[class*="_suggestions"] button, [class*="_suggestions"] button * { justify-content: flex-start; text-align: left; }
[class*="_stepper"] button { padding-left: 0.5rem; padding-right: 0.5rem; }
@media (max-width: 640px) { [data-testid="stMainBlockContainer"] { padding-left: 1rem; padding-right: 1rem; } }
</style>"""


def page_frame(title: str, question: str) -> None:
    """Draw the page's title and the question that it answers."""
    through_app()
    page_style()
    st.title(title, anchor=False)
    st.markdown(question)


def page_style() -> None:
    """Set widths, spacing and the sizes of charts, as on every page."""
    st.html(STYLE)


def role_colour(role: Role) -> str:
    """Return a role's colour for text, as CSS: drawn towards the text's own colour, to be read on light and dark."""
    return f"color-mix(in srgb, {ROLE_COLOURS[role]} 75%, currentcolor)"


def role_word(role: Role, text: str | None = None) -> str:
    """Return HTML for a word in its role's colour."""
    return f'<span class="role" style="color:{role_colour(role)}">{text or role.value}</span>'


def who_asks(query: str, key: str, value: str) -> None:
    """Say in one line who asks, who is asked, and what is handed over."""
    st.html(
        f'<p class="who">{role_word(Role.QUERY, "Query")}, who asks: {query}. '
        f"{role_word(Role.KEY, 'Key')}, who is asked: {key}. "
        f"{role_word(Role.VALUE, 'Value')}, what is handed over: {value}.</p>"
    )


def section(title: str, role: Role | None = None) -> None:
    """Draw a section's heading, in its role's colour if it has one."""
    if role is None:
        st.subheader(title, anchor=False)
    else:
        st.html(f'<h3 style="color:{role_colour(role)};font-size:1.3rem;padding:0;margin:0">{title}</h3>')
