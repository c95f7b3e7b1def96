"""What Q and K say: every score split into what place and ink ask, and of what; parts can be switched off."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.charts import contact_sheet, picture, probability_bars, signed_ramp
from attention_core.data.drawing import Drawing
from attention_core.device import to_array
from attention_core.topics.pixels.split import PARTS, SplitScores, answer_from, ink_number, split_scores, with_parts
from ui.chart import draw_chart
from ui.computed import computed, model_or_stop
from ui.digits import Answer, chosen_query, pick_pixel
from ui.labels import number
from ui.layout import section
from ui.pixels.drawing import INK_ONLY, LAYER, NAME, blank_trace, ramp_of
from ui.player import show_matrix
from ui.state import Field, several, whole_numbers

NAMES = ["place asks for a place", "place asks for ink", "ink asks for a place", "ink asks for ink"]
SHORT = ["place → place", "place → ink", "ink → place", "ink → ink"]
KEPT = Field(NAME, "parts", list(range(len(PARTS))), address="parts", parse=whole_numbers)


def parts_section(image: Tensor, drawing: Drawing, answer: Answer) -> None:
    """Draw the four parts of the scores: their shares, the maps of the chosen pixel, and what the kept ones make."""
    trace, name = answer.traces[0], LAYER.value
    split = split_scores(trace, blank_trace(name))
    made_of = (
        "Here a pixel's vector is its ink alone, so that only ink can ask for ink."
        if name == INK_ONLY
        else "A pixel's vector is its place plus its ink, so that a query has a part that only knows where it stands "
        "and one that only knows how dark it is, and so has a key. Every score is the sum of the four products."
    )
    st.markdown(f"**Are Q and K just random?** {made_of}")
    shares = split.shares()
    names = {place: f"{NAMES[place]}: {number(shares[part], '.0%')}" for place, part in enumerate(PARTS)}
    kept = several(
        "Keep of every score",
        KEPT,
        names,
        help="How much of the variation within a row of the scores is due to each part. Below 0 %: works against the "
        "others. What is the same for a whole row does not count, since the softmax removes it.",
    )
    changed = with_parts(trace, split, [PARTS[place] for place in kept])
    query = chosen_query(drawing.image, NAME)
    left, right = st.columns([0.82, 1], gap="large")
    with left:
        _answers(name, image, answer, tuple(kept))
        _row_maps(trace, changed, query, drawing)
        _four_maps(split, query, drawing)
    with right:
        section("The scores that are left", Role.SCORES)
        if kept:
            last = changed.score.stages(changed.key.shape[-1])[-1]
            show_matrix(step_of(changed, last.name), 0, query, NAME)
        else:
            left = "every pixel looks at all alike" if trace.has_softmax else "nothing is collected"
            st.caption(f"Nothing is left: every score is 0, and {left}.")
    if name == INK_ONLY:
        _rank_one(trace, image, query)


def _answers(name: str, image: Tensor, answer: Answer, kept: tuple[int, ...]) -> None:
    series = {"all four parts": answer.probabilities}
    if len(kept) < len(PARTS):
        series["what is kept"] = read_with(name, image, kept)
    chart = probability_bars(series, [str(digit) for digit in range(10)], height=150)
    draw_chart(chart, alt="Probabilities of the ten digits with all parts of the scores and with those that are kept")
    if len(kept) == len(PARTS):
        st.caption("Switch a part off: the matrix, the maps and the answer follow.")
        return
    now = series["what is kept"]
    became = "stays" if now.argmax() == answer.digit else "becomes"
    st.caption(f"The answer {became} **{now.argmax()}** ({now.max():.0%}); with all parts it is {answer.digit}.")


@computed(by_model=True)
def read_with(name: str, image: Tensor, kept: tuple[int, ...]) -> np.ndarray:
    """Return the probabilities (10,) that a model gives to a picture (28, 28) with some PARTS of its scores alone."""
    model = model_or_stop(name)
    drawn = model.trace(image)
    split = split_scores(drawn, model.trace(torch.zeros_like(image)))
    return to_array(answer_from(model, with_parts(drawn, split, [PARTS[place] for place in kept])))


def _row_maps(trace: AttentionTrace, changed: AttentionTrace, query: int, drawing: Drawing) -> None:
    rows = [to_array(one.weights(0, [query])[0]) for one in (trace, changed)]
    ramp = ramp_of(trace, *rows)
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            st.markdown("**The chosen pixel**")
            pick_pixel(drawing.image, NAME, size=112, key="pick_part")
        for title, row in zip(("looks at", "looks at now"), rows, strict=True):
            with st.container(width="content"):
                st.markdown(f"**{title}**")
                chart = picture(row.reshape(28, 28), ramp, size=112, marked=query, outline=drawing.image, bar=False)
                draw_chart(chart, width="content", alt=f"Where the chosen pixel {title}")


def _four_maps(split: SplitScores, query: int, drawing: Drawing) -> None:
    st.markdown("**Its scores, part by part**")
    rows = np.stack([to_array(split.scores(part, [query])[0]) for part in PARTS])
    sheet = contact_sheet(
        rows.reshape(-1, 28, 28), SHORT, signed_ramp(rows), title="score", columns=4, size=104, marked=query
    )
    draw_chart(sheet, width="content", alt="The chosen pixel's scores, split into four parts")
    paper = "The chosen pixel is paper: it has no ink to ask with, so that the last two are 0. "
    st.caption(
        f"What asks → what is asked. The four sum to the pixel's scores, exactly. "
        f"{'' if drawing.image.flat[query] else paper}Where a key is paper, what is asked for its ink is 0."
    )


def _rank_one(trace: AttentionTrace, image: Tensor, query: int) -> None:
    """Show with the present numbers that the product of queries and keys is the drawing times itself."""
    number = constant(INK_ONLY)
    pixels = image.flatten()
    key = int(pixels.argmax())
    product = trace.query[0].cpu() @ trace.key[0].cpu().T
    off = float((product - number * torch.outer(pixels, pixels)).abs().max())
    section("Without a position, Q Kᵀ is the drawing times itself", Role.SCORES)
    st.latex(
        rf"Q K^{{\top}} = c\, p\, p^{{\top}}, \quad c = {number:.4g}: \qquad "
        rf"({query + 1}, {key + 1}) = {number:.4g} \cdot {float(pixels[query]):.3f} \cdot {float(pixels[key]):.3f} "
        rf"= {number * float(pixels[query] * pixels[key]):.4g}, \quad \text{{computed: }} "
        rf"{float(product[query, key]):.4g}"
    )
    st.caption(
        f"One number, c, is all that W_Q and W_K have learned together; p is the drawing's 784 pixels. Every row of "
        f"the matrix is the drawing itself, times c and the ink of the pixel that asks: rank one. Over all 614,656 "
        f"cells the largest difference is {off:.1e}, which is rounding."
    )


@computed(by_model=True)
def constant(name: str) -> float:
    return ink_number(model_or_stop(name))
