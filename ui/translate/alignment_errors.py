"""How often the alignments are right: the table of error rates per scoring function."""

from __future__ import annotations

import streamlit as st

from attention_core.attention.types import Role
from attention_core.explain.alignment import committed_errors
from ui.layout import section
from ui.translate.translations import TRANSLATORS

STYLE = (
    "<style>.errors{width:100%;max-width:520px;border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".errors th,.errors td{border:none;border-bottom:1px solid #8a93a033;padding:4px 6px;text-align:right}"
    ".errors td:first-child,.errors th:first-child{text-align:left}.errors th{font-weight:600}</style>"
)


def alignment_errors_part() -> None:
    """Draw the table, and say how it was made."""
    errors = committed_errors()
    if errors is None:
        return
    section("How often is the alignment right?", Role.WEIGHTS)
    table, words = st.columns([1.1, 1], gap="large")
    rows = "".join(
        f"<tr><td>{TRANSLATORS.get(name, name)}</td><td>{one.rate:.3f}</td><td>{one.precision:.0%}</td>"
        f"<td>{one.recall:.0%}</td></tr>"
        for name, one in sorted(errors.by_score.items(), key=lambda item: item[1].rate)
    )
    with table:
        st.html(
            f"{STYLE}<table class='errors'><tr><th>score</th><th>error rate</th><th>precision</th><th>recall</th></tr>"
            f"{rows}<tr><td>the word at the same place</td><td>{errors.same_place:.3f}</td><td></td><td></td></tr>"
            "</table>"
        )
    with words:
        st.markdown(
            f"{errors.n_pairs} short pairs were aligned by hand, with inversions, *ne ... pas*, the compound past, and "
            "articles that appear or vanish. Each French word is linked to the English word with the largest weight. "
            "Nobody ever told a model an alignment."
        )
        st.caption(
            "Alignment error rate, 0 = no mistake (Och and Ney 2003, eq. 22). The transformer's is that of the best of "
            "its three layers, heads averaged. To measure again: `python -m benchmarks.alignments`."
        )
