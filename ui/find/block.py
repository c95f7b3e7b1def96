"""Something to try with the mask: forbid the regions it looks at, or let it look everywhere alike."""

import numpy as np
import streamlit as st
import torch

from attention_core.attention.edits import UNIFORM, BlockKeys, Edits
from attention_core.charts import overlay
from attention_core.device import to_array
from attention_core.topics.find import most_looked_at, others_at_random
from ui.chart import draw_chart
from ui.computed import card_or_empty, computed, model_or_stop
from ui.find.drawing import MODEL, NAME, PLAIN, look
from ui.skeleton import note
from ui.state import Field, between

N_DRAWS = 20
MOST_BLOCKED = 60
BLOCKED = Field(NAME, "blocked", 6, address="blocked", parse=between(1, MOST_BLOCKED))
SIZE = 236
FAINT = 8
"""A map is coloured up to at least this many times the uniform weight, so that a uniform one stays faint."""


@computed(by_model=True)
def try_edits(picture: np.ndarray, edits: list[Edits]) -> tuple[np.ndarray, np.ndarray]:
    model, trace = model_or_stop(MODEL), look(picture)
    masks = torch.stack([trace.replace(edit).weights()[0].reshape(model.grid) for edit in edits])
    return to_array(masks), to_array(torch.stack([model.answer(trace, edit) for edit in edits]))


def block_section(picture: np.ndarray, drawing: np.ndarray) -> None:
    """Draw the mask as it is, without its heaviest regions, without random ones, and uniform, with the answers."""
    trace = look(picture)
    label = "Regions to block, those that the mask looks at most"
    n = BLOCKED.widget(st.slider, label, 1, MOST_BLOCKED, width=420)
    heaviest = most_looked_at(trace, n)
    at_random = [(BlockKeys(others_at_random(trace, n, seed)),) for seed in range(N_DRAWS)]
    edits: list[Edits] = [(), (BlockKeys(heaviest),), UNIFORM, *at_random]
    masks, probabilities = try_edits(picture, edits)
    before, after, uniform, *draws = probabilities
    digit = int(before.argmax())
    same = sum(draw.argmax() == digit for draw in draws)
    share = float(masks[0].ravel()[list(heaviest)].sum())
    cases = (
        ("The mask as it is", masks[0], f"Reads **{digit}** ({before.max():.0%})."),
        (
            f"Its {n} heaviest regions blocked" if n > 1 else "Its heaviest region blocked",
            masks[1],
            f"They held {share:.0%} of the mask. {_now(before, after)}",
        ),
        (
            f"{n} random regions blocked" if n > 1 else "A random region blocked",
            masks[3],
            f"Reads **{digit}** in {same} of {N_DRAWS} draws ({np.mean(draws, 0)[digit]:.0%} on average).",
        ),
        ("Uniform mask, same network", masks[2], f"Every region counts 1/{trace.n_keys}. {_now(before, uniform)}"),
    )
    for number, (column, (title, mask, words)) in enumerate(zip(st.columns(4, gap="medium"), cases, strict=True)):
        peak = float(mask.max())
        high = max(peak, FAINT / trace.n_keys)
        with column:
            st.markdown(f"**{title}**")
            chart = overlay(drawing, mask, size=SIZE, opacity=0.8, high=high, bar=False)
            draw_chart(chart, width="content", key=f"find_case_{number}", alt=f"{title}: the mask over the drawing")
            st.markdown(words)
            st.caption(f"Its largest weight is {peak:.1%}.")
    st.caption(
        "A blocked region gets the score minus infinity, so that the others share its weight. Each mask is "
        "coloured up to its own largest weight, so that a spread-out one can be seen too."
    )
    _figures_caption()


def _now(before: np.ndarray, after: np.ndarray) -> str:
    digit, now = int(before.argmax()), int(after.argmax())
    if digit == now:
        return f"Still answers **{now}** ({after.max():.0%})."
    return f"Now answers **{now}** ({after.max():.0%}); the {digit} of before gets {after[digit]:.0%}."


def _figures_caption() -> None:
    networks = {"with attention": MODEL, "without": PLAIN}
    errors = {words: card_or_empty(name).get("cluttered_translated_mnist_error") for words, name in networks.items()}
    rates = [f"{error:.1%} {words}" for words, error in errors.items() if isinstance(error, float)]
    if rates:
        note(
            f"Errors on 10,000 test digits among eight pieces of clutter (60 x 60 pixels): {', '.join(rates)}. "
            "Mnih et al. 2014 report 4.0% for a recurrent model of eight glimpses and 8.1% for their convolutional one."
        )
