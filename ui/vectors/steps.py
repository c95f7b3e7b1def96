"""The workbench's middle: a step in words, its matrix or product, a cell's arithmetic, the last change; experiments."""

import html
from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention_core.attention.steps import step_of, steps_of
from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.bounds import as_markdown
from attention_core.charts import matrix_chart, ramp_for, signed_ramp
from attention_core.charts.vega import Chart
from attention_core.device import to_array
from attention_core.topics.vectors import Mode, Problem
from attention_core.topics.vectors.cells import (
    Arithmetic,
    cell_arithmetic,
    column_kind,
    factors,
    feed_forward,
    masked_scores,
    row_kind,
    softmax_parts,
)
from attention_core.topics.vectors.charts import (
    FONT_SIZE,
    LARGEST_CELL,
    Factor,
    column_bars,
    hull_chart,
    layers_chart,
    neuron_chart,
    pair_cells,
    product_cell,
    product_chart,
    short,
    stacked_sum,
)
from ui.chart import draw_chart
from ui.labels import number
from ui.layout import role_colour, section
from ui.player import show_step_heading
from ui.skeleton import abbr, paragraph
from ui.state import Field, between, chart_selection, set_widget, single_choice, whole_number, widget_value
from ui.vectors.problem import CELL, NAME

HEAD = Field(NAME, "head", 0, address="head", parse=whole_number)
SIZE = (400, 370)
"""Screen pixels that a product may take, across and down."""
MAX_CLICKED = 64
"""Rows or columns beyond which cells are too small to click."""
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


def choose_head(n_heads: int) -> int:
    """Draw the heads' names if there are several, and return the chosen head, from 0."""
    if n_heads == 1:
        return 0
    return single_choice(
        "Head", HEAD, {head: f"head {head + 1}" for head in range(n_heads)}, label_visibility="collapsed"
    )


def chosen_cell(step: Step) -> tuple[int, int]:
    cell = CELL.value
    return min(cell[row_kind(step)], step.shape[0] - 1), min(cell[column_kind(step)], step.shape[1] - 1)


def show_step(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw the step's heading, shape, formula, meaning and code (folded), its matrix, and which cell is chosen."""
    words, picture = st.columns([0.8, 1], gap="medium")
    with words:
        show_step_heading(step)
        with st.expander("The PyTorch line"):
            st.code(step.code)
    with picture:
        _step_matrix(problem, trace, step, head)
    _cell_pickers(step)


def _step_matrix(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    chart = _step_picture(problem, trace, step, head)
    words = f"{step.title}: {step.shape[0]} {step.row_axis.name} by {step.shape[1]} {step.col_axis.name}"
    key, clicks = f"vectors_matrix_{step.name}_{step.shape[0]}_{step.shape[1]}", {}

    def take_click() -> None:
        for cell in chart_selection(key, "cell"):
            CELL.value |= {row_kind(step): int(cell["row"]), column_kind(step): int(cell["col"])}

    if max(step.shape) <= MAX_CLICKED:
        clicks = {"key": key, "on_select": take_click, "selection_mode": "cell"}
        words += "; click a cell for its arithmetic"
    draw_chart(chart, width="content", alt=words, **clicks)


def _cell_pickers(step: Step) -> None:
    """Draw the chosen cell's row and column as lists, for keyboards and for matrices whose cells are tiny."""
    axes = (("Row", step.row_axis, row_kind(step)), ("Column", step.col_axis, column_kind(step)))
    for (label, axis, kind), now, column in zip(axes, chosen_cell(step), st.columns(2, gap="small"), strict=True):
        key = f"vectors_pick_{label.lower()}"
        set_widget(key, now)
        column.selectbox(
            label,
            range(len(axis)),
            format_func=lambda place, labels=axis.labels: labels[place] if place < len(labels) else "",
            key=key,
            on_change=_take_pick,
            args=(kind, key),
        )


def _take_pick(kind: str, key: str) -> None:
    CELL.value |= {kind: widget_value(key)}


def _step_picture(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> Chart:
    """Draw the step as a product of two matrices where it is one and fits, else as one."""
    values, (row, column) = to_array(step.value(head)), chosen_cell(step)
    factors_of_step = factors(problem, trace, step, head)
    cell = factors_of_step and product_cell(*(factor.values for factor in factors_of_step), *SIZE)
    if factors_of_step and cell:
        return product_chart(
            *factors_of_step,
            Factor(step.symbol, values, step.role),
            step.row_axis.labels,
            step.col_axis.labels,
            cell=cell,
            row=row,
            column=column,
            select="cell",
            title=step.title.lower(),
        )
    return matrix_chart(
        values,
        step.row_axis,
        step.col_axis,
        step.role,
        title=step.title.lower(),
        size=max(90, min(max(SIZE) - 60, LARGEST_CELL * max(step.shape))),
        marked_row=row,
        marked_col=column,
        select="cell" if max(step.shape) <= MAX_CLICKED else None,
        font_size=FONT_SIZE,
    )


def show_cell(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Draw the arithmetic of the chosen cell as rows of numbers above each other."""
    row, column = chosen_cell(step)
    arithmetic = cell_arithmetic(problem, trace, step, head, row, column)
    if arithmetic is None:
        value = float(step.value(head, [row], [column]))
        st.markdown(f"Row {as_markdown(step.row_axis.labels[row])}, column {column + 1}: **{value:.4g}**, as typed.")
        return
    st.markdown(f"**{as_markdown(arithmetic.headline)}**")
    if arithmetic.lines:
        _arithmetic_table(arithmetic, column if step.name == "weights" else None)
    st.markdown(rf"$\displaystyle {arithmetic.result}$")


def _arithmetic_table(arithmetic: Arithmetic, lit: int | None) -> None:

    def in_order(head: str, numbers: list[str], total: str) -> str:
        return head + "".join([total, *numbers] if len(numbers) > MANY else [*numbers, total])

    columns = arithmetic.columns or map(str, range(1, len(arithmetic.lines[0].values) + 1))
    names = [f"<th>{html.escape(name[:14])}</th>" for name in columns]
    rows = f"<thead><tr>{in_order('<th></th>', names, '<th>sum</th>')}</tr></thead>"
    for line in arithmetic.lines:
        last = line is arithmetic.lines[-1]
        head = f'<th style="color:{role_colour(line.role)}">{html.escape(line.label)}</th>'
        numbers = [
            f'<td class="{"lit" if place == lit else ""}">{_number(value)}</td>'
            for place, value in enumerate(line.values)
        ]
        total = f'<td class="total">= {_number(arithmetic.total)}</td>' if last else "<td></td>"
        rows += f'<tr class="{"last" if last else ""}">{in_order(head, numbers, total)}</tr>'
    st.html(f'{STYLE}<div style="overflow-x:auto"><table class="cell-arithmetic">{rows}</table></div>')


def _number(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "-∞" if value < 0 else "∞"


def show_change(before: AttentionTrace | None, step: Step, head: int) -> None:
    """Draw what the last edit changed in this step."""
    st.markdown("**Since the last edit**")
    if before is None:
        st.caption("Change a number, and see here what that changes in the chosen step.")
        return
    old = next((other for other in steps_of(before) if other.name == step.name), None)
    if old is None or old.shape != step.shape or head >= before.n_heads:
        st.caption("The step is new or has another shape than before the edit, so there is no difference to draw.")
        return
    new, earlier = to_array(step.value(head)), to_array(old.value(head))
    is_there, was_there = np.isfinite(new), np.isfinite(earlier)
    difference = np.subtract(new, earlier, where=is_there & was_there, out=np.full(new.shape, np.nan))
    opened = int((is_there != was_there).sum())
    moved = np.abs(np.nan_to_num(difference)) > 1e-12
    if not moved.any() and not opened:
        st.caption(f"{step.title}: nothing changed.")
        return
    words = f"{int(moved.sum())} of {moved.size} cells changed, the largest by {np.nanmax(np.abs(difference)):.3g}."
    st.caption(words + (f" {opened} were masked or unmasked." if opened else ""))
    chart = matrix_chart(
        difference,
        step.row_axis,
        step.col_axis,
        Role.SCORES,
        title="change",
        size=max(100, min(230, 46 * max(step.shape))),
        ramp=signed_ramp(difference),
    )
    draw_chart(chart, width="content", key="vectors_change", alt=f"Change of {step.title.lower()}: {words}")


FEW = 6
"""Pairs are drawn with their names for up to this many inputs."""
SMALL = 8
"""Both ways of all pairs are drawn at once for up to this many rows; for more, when they are asked for."""
MAX_BARS, MOST_ROWS = 24, 64
NOTHING = -9.0
"""The score that every key gets when nothing is relevant."""
BOTH = Field(NAME, "both", False, address="both")
BENDS, DEEP = Field(NAME, "bends", False, address="bends"), Field(NAME, "deep", False, address="deep")
CONSTANT = Field(NAME, "constant", 0.0, address="constant", parse=between(-5.0, 5.0))
NOTHING_RELEVANT = Field(NAME, "nothing", False, address="nothing")


def has_both_ways(problem: Problem, trace: AttentionTrace) -> bool:
    """Return whether the same rows ask and are asked, few enough to compare S_ij with S_ji."""
    return trace.n_queries == trace.n_keys <= MOST_ROWS and problem.mode != Mode.CROSS


def _side_by_side(pictures: Sequence[tuple[str, Chart, str]], between: str) -> None:
    """Draw charts in three columns, a title above each and words below; what is read aloud has a sign between them."""
    for (title, chart, words), column in zip(pictures, st.columns(3, gap="medium"), strict=True):
        with column:
            st.markdown(f"**{title}**")
            draw_chart(chart, width="content", alt=f"{title}{between} {words}")
            st.caption(words)


def both_ways_panel(problem: Problem, trace: AttentionTrace, step: Step, head: int) -> None:
    """Compare S_ij with S_ji, and X Xᵀ with Q Kᵀ, in the scores or what the step made of them."""
    step = step if step.name == "scaled" else step_of(trace, "scores")
    row, column = chosen_cell(step)
    scores, axis, other = to_array(step.value(head)), trace.story.query_axis, trace.story.key_axis
    asks, asked = as_markdown(axis.labels[row]), as_markdown(other.labels[column])
    gap = float(np.abs(scores - scores.T).max())
    same = "This matrix is symmetric." if gap < 1e-9 else f"Largest difference of a pair: {gap:.3g}."
    if row == column:
        st.markdown(f"{asks} meets itself: choose a cell off the diagonal to compare a pair's two ways. {same}")
    else:
        there, back = scores[row, column], scores[column, row]
        st.markdown(f"{asks} asks {asked}: **{there:.3g}**. {asked} asks {asks}: **{back:.3g}**. {same}")
    if len(axis) > SMALL and not BOTH.widget(st.toggle, "Draw both ways", help="Three more matrices of this size."):
        return
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


def has_pairs(problem: Problem) -> bool:
    """Return whether the inputs are few enough to name all their pairs."""
    return problem.mode == Mode.SELF and problem.n_queries <= FEW


def pairs_panel(problem: Problem, trace: AttentionTrace, before: AttentionTrace | None, head: int) -> None:
    """Draw the pairs that attention weighs beside a neuron that weighs inputs."""
    n = trace.n_queries
    section(f"{n} inputs: {n * n} pairs for attention, none for a neuron")
    labels = list(trace.story.query_axis.labels)
    left, right = st.columns([1.3, 1], gap="large")
    with left:
        _network_panel(problem.tables["X"].astype(float), labels)
    with right:
        st.markdown(f"**Attention**: one weight for each of the {n} × {n} pairs")
        weights = to_array(trace.weights(head))
        ramp, marked = ramp_for(Role.WEIGHTS, weights, n), chosen_cell(step_of(trace, "weights"))
        chart = pair_cells(weights, labels, trace.story.key_axis.labels, ramp, title="weight", marked=marked)
        draw_chart(chart, width="content", alt="The weights: one cell for every pair")
        moved = None
        if before is not None and before.n_queries == n and before.n_keys == n and head < before.n_heads:
            moved = int((np.abs(weights - to_array(before.weights(head))) > 1e-12).sum())
        st.caption(
            "Every input meets every input, itself too: (who asks, who is asked). The weights come from the inputs, "
            "so they change whenever you type."
            + ("" if moved is None else f" The last edit changed {moved} of {n * n}; of the neuron's weights, none.")
        )


def _network_panel(inputs: np.ndarray, labels: list[str]) -> None:
    st.markdown("**A feed-forward network**: one weight per input of a neuron")
    with st.container(horizontal=True, gap="medium"):
        bends = BENDS.widget(st.toggle, "Non-linearity (tanh)")
        deep = DEEP.widget(st.toggle, "Second layer")
    network = feed_forward(*inputs.shape, bends=bends, deep=deep)
    answer = network.answer(inputs)
    if network.second is None:
        chart = neuron_chart(network.weights[0], inputs, labels, bent=short(answer) if bends else "")
    else:
        chart = layers_chart(network.weights, network.units(inputs).tolist(), network.second.tolist(), answer, labels)
    draw_chart(chart, width="content", alt="A feed-forward network: weighted sums of the inputs")
    st.caption(
        "Its weights are fixed: they stay the same whatever you type as X. The inputs meet only in sums, and no number "
        "belongs to a pair."
    )
    if len(labels) < 2:
        return
    first, second = (as_markdown(label) for label in labels[:2])
    whole, without = network.effect(inputs, 0), network.effect(inputs, 0, 1)
    mixed = number(network.mixed_effect(inputs, 0, 1), ".3f") if bends else "exactly 0"
    why = (
        "With a non-linearity what one input does depends on the others, and every layer more lets it depend in more "
        "ways; but the weights never do. In attention they are made from the inputs themselves."
        if bends
        else "Sums alone, in one layer or many, never let one input change what another does."
    )
    paragraph(
        f"Take {first} away (put zeros): y loses {whole:.3f}. Without {second} it would lose {without:.3f}. The "
        f"difference is their mixed effect: **{mixed}**. {why}"
    )


def softmax_panel(trace: AttentionTrace, head: int) -> None:
    """Draw one row's softmax: exponentials, sum, division; with a constant added, or with nothing relevant."""
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
    values, queries = to_array(trace.value_of(head)), trace.story.query_axis.labels
    if values.shape[1] != 2:
        st.caption(
            f"Values of two columns can be drawn as points, with every context between them; these have "
            f"{values.shape[1]} columns."
        )
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
                f"Circles are values, diamonds are contexts. The context of **{asks}** is pulled by every value as "
                "hard as its weight (the width of the line). Weights are shares that sum to 1, so every context stays "
                "inside the values' hull. Attention mixes what is there and adds nothing."
            )
