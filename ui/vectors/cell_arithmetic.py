"""The arithmetic of one cell as rows of numbers above each other: which row, which column, every product, the sum."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from attention_core.charts.palette import ROLE_COLOURS
from attention_core.topics.vectors.cells import Arithmetic

MANY = 8
"""Beyond this many numbers the sum stands in front of them, where it is seen without scrolling."""
STYLE = (
    "<style>.cell-arithmetic{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}"
    ".cell-arithmetic td,.cell-arithmetic th{padding:.12em .6em;text-align:right;white-space:nowrap}"
    ".cell-arithmetic th:first-child{text-align:left;font-weight:600;padding-left:0}"
    ".cell-arithmetic thead th{font-weight:400;opacity:.65}"
    ".cell-arithmetic .last td{border-top:1px solid #8a93a066}"
    ".cell-arithmetic .total{font-weight:700}.cell-arithmetic .lit{background:#8a93a033}</style>"
)


def cell_arithmetic_view(arithmetic: Arithmetic, lit: int | None = None) -> None:
    """Draw a cell's calculation.

    Args:
        arithmetic: from attention_core.topics.vectors.cells.
        lit: a column of the numbers to mark, or None.
    """
    st.markdown(f"**{_plain(arithmetic.headline)}**")
    if arithmetic.lines:
        head = "".join(f"<th>{html.escape(name[:14])}</th>" for name in arithmetic.columns)
        total = "<th>sum</th>" if arithmetic.total is not None else ""
        early = len(arithmetic.columns) > MANY
        last = len(arithmetic.lines) - 1
        body = "".join(
            _row(
                line.label,
                ROLE_COLOURS.get(line.role),
                line.values,
                place == last,
                arithmetic,
                lit,
            )
            for place, line in enumerate(arithmetic.lines)
        )
        st.html(
            f'{STYLE}<div style="overflow-x:auto"><table class="cell-arithmetic"><thead><tr><th></th>'
            f"{total + head if early else head + total}</tr>"
            f"</thead><tbody>{body}</tbody></table></div>"
        )
    st.markdown(rf"$\displaystyle {arithmetic.result}$")


def _row(label: str, colour: str | None, values: np.ndarray, is_last: bool, whole: Arithmetic, lit: int | None) -> str:
    style = f' style="color:{colour}"' if colour else ""
    cells = "".join(
        f'<td class="{"lit" if place == lit else ""}">{_number(value)}</td>' for place, value in enumerate(values)
    )
    summed = is_last and whole.total is not None
    end = f'<td class="total">= {_number(whole.total)}</td>' if summed and whole.total is not None else "<td></td>"
    numbers = end + cells if len(values) > MANY else cells + end
    return f'<tr class="{"last" if summed else ""}"><th{style}>{html.escape(label)}</th>{numbers}</tr>'


def _number(value: float) -> str:
    if not np.isfinite(value):
        return "-∞" if value < 0 else "∞"
    return f"{value:.4g}"


def _plain(text: str) -> str:
    """Return text that Markdown leaves as it is."""
    return "".join("\\" + letter if letter in "*_[]`$<>#~|\\:" else letter for letter in text)
