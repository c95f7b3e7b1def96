"""Why can vᵀtanh([q; k]) not attend? Three queries, and the weights that it gives each."""

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.scores import printed_concat
from attention_core.attention.wording import percent
from pages.scoring import inputs
from pages.scoring.inputs import Comparison
from ui.layout import figures_table

draw_input = inputs.draw_input


def _weights(compared: Comparison) -> Tensor:
    """Return the weights of the query, of its numbers in reverse, and of its opposite, (3, n_keys)."""
    query = compared.query
    score = printed_concat(torch.tensor([1.0, -0.5] * len(query), dtype=torch.float64))
    return score(torch.stack([query, query.flip(0), -query]), compared.key).softmax(-1)


def answer(compared: Comparison) -> str:
    """Say that all queries get the same."""
    weight = percent(float(_weights(compared)[0, 0]))
    return f"Query and key never meet inside the tanh: every query gives {compared.key_names[0]} {weight}."


def draw(compared: Comparison) -> None:
    """Draw why, and the weights."""
    text_column, table_column = st.columns(2, gap="large", vertical_alignment="center")
    text_column.latex(
        r"\begin{aligned} v^{\top}\tanh([q; k]) = {} "
        r"& \underbrace{v_q^{\top}\tanh(q)}_{\text{same for every key}} \\ "
        r"& + \underbrace{v_k^{\top}\tanh(k)}_{\text{same for every query}} \end{aligned}"
    )
    with table_column:
        rows = zip(("q", "q reversed", "−q"), _weights(compared).tolist(), strict=True)
        figures_table(["weights of", *compared.key_names], *([name, *map(percent, row)] for name, row in rows))
    compared.draw_plane()
