"""What does a mask do? A mask is chosen or painted, and small language models foresee the next words under it."""

from typing import Any, NamedTuple

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention_core.data.next_words import MAX_WORDS, Line
from attention_core.device import to_array
from attention_core.inference.next_word import MASKS, Foresight, named_mask, padded
from pages.transformer import next_words
from pages.transformer.charts import RowText, mask_chart
from pages.transformer.reading import NAME
from ui.chart import clickable, draw_chart
from ui.layout import section
from ui.state import Field, between, one_of, single_choice, whole_numbers

TRAINED = {
    "unmasked": "without a mask",
    "causal": "with a causal mask",
    "tiny-mask": "causal, −1e-9 for −∞",
}
MODEL = Field(NAME, "trained", "causal", address="trained", parse=one_of(TRAINED))
MASK = Field(NAME, "mask", "causal", address="mask", parse=one_of(MASKS))
SIZE = Field(NAME, "mask_size", 3, address="size", parse=between(1, 8))
LARGE = 420  # screen pixels of a matrix's side
N = MAX_WORDS + 1  # positions of the longest line


def _parse_cells(text: str) -> list[int]:
    cells = whole_numbers(text)
    if not all(0 <= cell < N * N for cell in cells):
        raise ValueError(f"cells must be from 0 to {N * N - 1}, got {text!r}")
    return cells


PAINTED = Field(NAME, "painted", list[int], address="painted", parse=_parse_cells)
"""Cells that are not as the chosen mask has them: row * N + column."""


class Masked(NamedTuple):
    """A line under a mask, as a model reads it, and as the one without a mask does."""

    line: Line
    mask: Tensor
    foresight: Foresight
    unmasked: Foresight

    def foreseen(self, foresight: Foresight) -> list[RowText]:
        """Return the word that is foreseen at each position."""
        return next_words.foreseen_words(self.line, foresight.probabilities)


def draw_input() -> Masked:
    """Draw the sentence, how the model was trained, and the mask."""
    line = next_words.draw_line(*TRAINED)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="transformer_masks"):
        masks = st.popover("Another mask or network")
        st.caption("A square: a weight. Click a cell on the right to switch it.")
    with masks:
        mask_name = single_choice("Mask", MASK, [*MASKS], wrap=True, on_change=PAINTED.reset)
        if "{size}" in MASKS[mask_name]:
            SIZE.widget(st.slider, "Words", 1, 8)
        single_choice("Trained", MODEL, TRAINED, wrap=True)
    if mask_name == "padding":
        line = _fill(line, SIZE.value)
    mask = _painted(named_mask(mask_name, len(line.ids), SIZE.value))
    unmasked = next_words.foresee("next-word-unmasked", line, torch.ones_like(mask))
    return Masked(line, mask, next_words.foresee(f"next-word-{MODEL.value}", line, mask), unmasked)


def _fill(line: Line, n: int) -> Line:
    """Return a line that is filled up with n positions of no word, its last words left out where there is no room."""
    room = N - n
    return padded(line._replace(ids=line.ids[:room], labels=line.labels[:room]), n)


def _painted(mask: Tensor) -> Tensor:
    """Return a mask with the visitor's cells changed."""
    rows, cols = np.divmod(np.array(PAINTED.value, int), N)
    is_in = (rows < len(mask)) & (cols < len(mask))
    changed = torch.zeros_like(mask)
    changed[rows[is_in], cols[is_in]] = True
    return mask ^ changed


def answer(masked: Masked) -> str:
    """Say how many next words each network gets right, and why."""
    (n_right, n), (n_copied, _) = (
        next_words.count_right(masked.foreseen(foresight)) for foresight in (masked.foresight, masked.unmasked)
    )
    n_visible = int(masked.mask.diagonal(1)[:n].sum())
    copies = f"Without a mask it copies the next word: {n_copied} of {n} right."
    if MODEL.value == "tiny-mask" and not masked.mask.all():
        return f"{copies} −1e-9 hides nothing, so this one copies, too: {n_right} of {n}."
    if n_visible == n:
        return f"{copies} Here nothing is hidden from the other one either: {n_right} of {n}."
    guesser = "it" if MODEL.value == "unmasked" else "another network"
    guesses = f"hides it, so {guesser} has to guess"
    leaves = f"leaves {n_visible} of them in sight" if n_visible else guesses
    return f"{copies} The mask {leaves}: {n_right} of {n}."


def draw(masked: Masked) -> None:
    """Draw the weights without a mask and with it, what comes out of each row, and figures on new sentences."""
    left, right = next_words.two_containers(len(masked.line.labels))
    _draw_cells(left, "Without a mask", masked, masked.unmasked, torch.ones_like(masked.mask))
    key = f"transformer_mask_cells_{len(PAINTED.value) % 2}"  # another one each time: a cell can be clicked again
    clicks = clickable(key, "cell", lambda cell: _toggle(int(cell["row"]), int(cell["col"])))
    mask_title = "Your mask" if PAINTED.value else MASKS[MASK.value].format(size=SIZE.value).capitalize()
    _draw_cells(right, mask_title, masked, masked.foresight, masked.mask, **clicks)
    with st.container(key="desk_transformer_figures"):
        next_words.draw_figures(TRAINED)


def _draw_cells(
    container: DeltaGenerator, title: str, masked: Masked, foresight: Foresight, mask: Tensor, **clicks: Any
) -> None:
    """Draw which keys each word may attend to, its weights, and the next word that is foreseen."""
    words, weights = {"next word": masked.foreseen(foresight)}, to_array(next_words.mean_weights(foresight))
    select = "cell" if clicks else None
    chart = mask_chart(masked.line.labels, to_array(mask), weights, words, select=select, side=LARGE)
    with container:
        section(title)
    settings = clicks or {"key": "transformer_unmasked_cells"}
    draw_chart(chart, width="content", alt=f"{title}: weights, and the next word", container=container, **settings)


def _toggle(row: int, col: int) -> None:
    PAINTED.value = sorted({*PAINTED.value} ^ {row * N + col})
