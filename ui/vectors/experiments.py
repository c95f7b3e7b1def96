"""Experiments: a softmax in three steps, a neuron beside the pairs, a pair's two ways, a weighted average, pixels."""

import html
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.steps import step_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role
from attention_core.bounds import as_markdown
from attention_core.charts import matrix_chart, signed_ramp
from attention_core.charts.vega import Chart
from attention_core.device import to_array
from attention_core.topics.vectors import Mode, Problem
from attention_core.topics.vectors.cells import FeedForward, feed_forward, masked_scores, softmax_parts
from attention_core.topics.vectors.charts import column_bars, hull_chart, layers_chart, neuron_chart, short, stacked_sum
from attention_core.topics.vectors.presets import PIXELS
from ui.chart import draw_chart
from ui.labels import number
from ui.layout import section
from ui.skeleton import abbr, paragraph
from ui.state import Field, between
from ui.vectors.problem import NAME, PRESET, choose_preset, three_pixels
from ui.vectors.steps import chosen_cell, chosen_step

MAX_BARS, MOST_ROWS = 24, 64
MOST_INPUTS = 6
"""Inputs of a network up to which its weights can be read."""
NOTHING = -9.0
"""The score that every key gets when nothing is relevant."""
SOFTMAX_IS_OFF = "The softmax is off. Switch it on under *Change the rules*."
BENDS, DEEP = Field(NAME, "bends", False, address="bends"), Field(NAME, "deep", False, address="deep")
CONSTANT = Field(NAME, "constant", 0.0, address="constant", parse=between(-5.0, 5.0))
NOTHING_RELEVANT = Field(NAME, "nothing", False, address="nothing")


def _side_by_side(pictures: Sequence[tuple[str, Chart, str]], between: str) -> None:
    """Draw charts in three columns, a title above each and words below; what is read aloud has a sign between them."""
    for (title, chart, words), column in zip(pictures, st.columns(3, gap="medium"), strict=True):
        with column:
            st.markdown(f"**{title}**")
            draw_chart(chart, width="content", alt=f"{title}{between} {words}")
            st.caption(words)


def both_ways_panel(problem: Problem, trace: AttentionTrace, head: int) -> None:
    """Compare S_ij with S_ji, and X Xᵀ with Q Kᵀ, in the scaled scores if that step is open, else in the scores."""
    if problem.mode == Mode.CROSS or trace.n_queries != trace.n_keys or trace.n_keys > MOST_ROWS:
        st.caption(f"To compare both ways, up to {MOST_ROWS} rows must ask as many.")
        return
    step = chosen_step(trace)
    step = step if step.name == "scaled" else step_of(trace, "scores")
    row, column = chosen_cell(step)
    scores, axis, other = to_array(step.value(head)), trace.story.query_axis, trace.story.key_axis
    asks, asked = as_markdown(axis.labels[row]), as_markdown(other.labels[column])
    gap = float(np.abs(scores - scores.T).max())
    same = "This matrix is symmetric." if gap < 1e-9 else f"Largest difference of a pair: {gap:.3g}."
    if row == column:
        st.markdown(f"{asks} meets itself. Choose a cell off the diagonal to compare a pair's two ways. {same}")
    else:
        there, back = scores[row, column], scores[column, row]
        st.markdown(f"{asks} asks {asked}: **{there:.3g}**. {asked} asks {asks}: **{back:.3g}**. {same}")
    source = problem.query_table
    inputs = problem.tables[source].astype(float)
    plain = inputs @ inputs.T
    ramp = signed_ramp(np.concatenate([plain.ravel(), scores.ravel()]))
    matrices = (
        (f"{source} {source}ᵀ: no projections", plain, "Always symmetric: x · y = y · x.", ramp),
        (f"{step.title}: with projections", scores, "Queries and keys differ, so the two ways may differ.", ramp),
        ("S − Sᵀ", scores - scores.T, "Separate projections give attention a direction: who looks at whom.", None),
    )
    look = {"size": max(120, min(230, 56 * len(axis))), "marked_row": row, "marked_col": column}
    pictures = [
        (title, matrix_chart(values, axis, other, Role.SCORES, ramp=colours, **look), words)
        for title, values, words, colours in matrices
    ]
    _side_by_side(pictures, ".")


def neuron_panel(problem: Problem) -> None:
    """Draw a small feed-forward network, whose weights belong to inputs, and what two inputs do together in it."""
    if problem.mode != Mode.SELF or problem.n_queries > MOST_INPUTS:
        st.caption(f"A neuron can be drawn for up to {MOST_INPUTS} rows of X.")
        return
    inputs, labels = problem.tables["X"].astype(float), list(problem.row_labels("X"))
    n = len(labels)
    section(f"{n} inputs: {n * n} pairs for attention, none for a neuron")
    with st.container(horizontal=True, gap="medium"):
        bends = BENDS.widget(st.toggle, "Non-linearity (tanh)")
        deep = DEEP.widget(st.toggle, "Second layer")
    network = feed_forward(*inputs.shape, bends=bends, deep=deep)
    answer = network.answer(inputs)
    if network.second is None:
        chart = neuron_chart(network.weights[0], inputs, labels, bent=short(answer) if bends else "")
    else:
        chart = layers_chart(network.weights, network.units(inputs).tolist(), network.second.tolist(), answer, labels)
    picture, words = st.columns([1, 1], gap="large", vertical_alignment="center")
    with picture:
        draw_chart(chart, width="content", alt="A feed-forward network: weighted sums of the inputs")
    with words:
        st.markdown(
            f"Attention has one weight for each of the {n} × {n} pairs, made from the inputs. A neuron has one weight "
            "per input. It stays the same whatever the inputs are, and no number belongs to a pair."
        )
        if n > 1:
            _mixed_effect(network, inputs, *map(as_markdown, labels[:2]))


def _mixed_effect(network: FeedForward, inputs: np.ndarray, first: str, second: str) -> None:
    whole, without = network.effect(inputs, 0), network.effect(inputs, 0, 1)
    mixed = number(network.mixed_effect(inputs, 0, 1), ".3f") if network.bends else "exactly 0"
    why = (
        "With a non-linearity, what one input does depends on the others. The weights never do; in attention they are "
        "made from the inputs themselves."
        if network.bends
        else "Sums alone, in one layer or many, never let one input change what another does."
    )
    paragraph(
        f"Take {first} away (put zeros): y loses {whole:.3f}. Without {second} it would lose {without:.3f}. The "
        f"difference is their mixed effect: **{mixed}**. {why}"
    )


def softmax_panel(trace: AttentionTrace, head: int) -> None:
    """Draw one row's softmax: exponentials, sum, division; with a constant added, or with nothing relevant."""
    if not trace.has_softmax:
        st.caption(SOFTMAX_IS_OFF)
        return
    query, key = chosen_cell(step_of(trace, "weights"))
    asks, labels = trace.story.query_axis.labels[query], list(trace.story.key_axis.labels)
    section(f"The {abbr('softmax')} of {html.escape(asks)}, in three steps", Role.WEIGHTS)
    scores = masked_scores(trace, head, query)
    left, right = st.columns([1, 1.6], gap="large", vertical_alignment="bottom")
    constant = CONSTANT.widget(left.slider, "Add a constant to every score", -5.0, 5.0, step=0.5)
    nothing = NOTHING_RELEVANT.widget(right.toggle, "Let nothing be relevant", help="Every score becomes -9.")
    if nothing:
        scores = np.where(np.isfinite(scores), NOTHING, scores)
    parts = softmax_parts(scores, constant)
    if not parts.total:
        st.info(f"{as_markdown(asks)} may see no key: there is nothing to divide, and its weights are zeros.")
        return
    few = slice(MAX_BARS)
    lowered = f" (each score lowered by the row's largest, {parts.lowered:.3g}, first)" if parts.lowered else ""
    exponentials = column_bars(parts.exponentials[few], labels[few], role=Role.SCORES, title="exp", marked=key)
    total = stacked_sum(parts.exponentials, labels, title="sum of exponentials")
    shares = column_bars(parts.shares[few], labels[few], role=Role.WEIGHTS, title="share", marked=key, share=True)
    words = f"Scores become positive numbers; a difference of 1 is a factor of 2.7{lowered}."
    divided = f"Each is divided by {parts.total:.4g}: the shares sum to {parts.shares.sum():.0%}."
    pictures = (
        ("1. Exponentials", exponentials, words),
        ("2. Their sum", total, f"They add up to {parts.total:.4g}."),
        ("3. Division", shares, divided),
    )
    _side_by_side(pictures, ":")
    if len(labels) > MAX_BARS:
        st.caption(f"The first {MAX_BARS} of {len(labels)} keys are drawn as bars; sum and shares are of all.")
    if nothing:
        paragraph("Nothing fits, and still the shares sum to 100%: the softmax cannot say *none of them*.")
    elif constant:
        times = f"{np.exp(constant):.3g} times what it was"
        st.markdown(f"Every exponential is now {times}, and so is their sum: the shares are the same.")


def hull_panel(trace: AttentionTrace, head: int) -> None:
    """Draw contexts inside the hull of two-dimensional values; say so when values have another width."""
    if not trace.has_softmax:
        st.caption(SOFTMAX_IS_OFF)
        return
    values, queries = to_array(trace.value_of(head)), trace.story.query_axis.labels
    if values.shape[1] != 2:
        st.caption(f"Only values of two columns can be drawn as points; these have {values.shape[1]}.")
        return
    query, _ = chosen_cell(step_of(trace, "context"))
    weights, context = to_array(trace.weights(head, [query]))[0], to_array(trace.context(head))
    left, right = st.columns(2, gap="large", vertical_alignment="center")
    with left:
        chart = hull_chart(values, context, weights, trace.story.key_axis.labels, queries, query)
        draw_chart(chart, width="content", alt="Values as points, contexts inside their hull")
    with right:
        asks = as_markdown(queries[query])
        if query in trace.blind_queries:
            st.markdown(f"{asks} may see no key: its context is the origin, 0, not an average.")
        else:
            st.markdown(
                f"Circles are values, diamonds are contexts. Every value pulls the context of **{asks}** as hard as "
                "its weight (the width of the line). The weights sum to 1, so every context stays inside the values' "
                "hull. Attention mixes what is there and adds nothing."
            )


def pixels_panel() -> None:
    """Hand the three inputs over to the digit page, or offer to load three pixels."""
    if PRESET.value != PIXELS:
        paragraph("A drawing has 784 pixels, so 784 × 784 pairs. Three of its pixels make nine of them.")
        st.button(
            "Load three pixels of a drawn digit", key="vectors_load_pixels", on_click=choose_preset, args=(PIXELS,)
        )
        return
    for place, position in enumerate(three_pixels()[1]):
        st.page_link(
            "pages/pixels.py",
            label=f"x{place + 1} is pixel {position + 1} (row {position // 28 + 1}, column {position % 28 + 1}): see "
            "whom it looks at among all 784",
            query_params={"pixel": str(position), "step": "weights"},
            icon=":material/arrow_forward:",
        )
