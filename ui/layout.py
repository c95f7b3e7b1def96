"""Words in the colours of their roles: headings, who asks whom for what; small tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from attention_core.attention.types import Role
from attention_core.charts.palette import ROLE_COLOURS

TABLE_STYLE = """<style>
.figures { overflow-x: auto; } .figures table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.figures :is(th, td) { border: none; border-bottom: 1px solid #8a93a033; padding: 4px 0 4px 24px; text-align: right; }
.figures th { font-weight: 600; } .figures :is(th, td):first-child { padding-left: 0; text-align: left; }
</style>"""


def end_here() -> NoReturn:
    """End the page, or its part that runs alone; its foot and its address still come, which st.stop would end too."""
    raise StopException


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


def figures_table(*rows: Sequence[str]) -> None:
    """Draw a small table of figures, its head first; the first column holds words."""
    head, *body = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    lines = [head.replace("td>", "th>"), *body]
    st.html(f'{TABLE_STYLE}<div class="figures"><table>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>')
