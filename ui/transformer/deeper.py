"""What goes deeper: ways to say where a word stands, order known twice, and what a long sentence costs."""

from collections.abc import Mapping

import streamlit as st

from attention_core.attention.attend import (
    alike_pair,
    by_distance,
    dot_products,
    rotary_angles,
    rotary_scores,
    sinusoidal,
)
from attention_core.attention.types import Axis, Role
from attention_core.charts.heatmap import matrix_chart
from attention_core.device import to_array
from attention_core.topics.transformer import cost
from attention_core.topics.transformer.charts import cost_chart, distance_chart, hands_chart
from attention_core.topics.translate.training import WITHOUT, ReductionCost, committed_costs
from ui.chart import draw_chart
from ui.layout import figures_table
from ui.skeleton import note, paragraph
from ui.state import Field, named, single_choice
from ui.transformer.experiment import CONFIG, NAME

N, D_ROTARY, FAR = 48, 64, 256
PAIRS = (0, 2, 4, 6, 9, 13)  # pairs of a rotary vector that are drawn as hands, fast ones first
SINUSOIDAL, ROTARY = "Added waves", "Rotary"
POSITIONS = Field(
    NAME,
    "positions",
    SINUSOIDAL,
    address="positions",
    **named(learned=SINUSOIDAL, sinusoidal=SINUSOIDAL, rotary=ROTARY),
)


def where_a_word_stands() -> None:
    """Draw one kind of positions, and what is left of them in the dot product of two places."""
    kind = single_choice("Positions", POSITIONS, [SINUSOIDAL, ROTARY], label_visibility="collapsed")
    if kind == SINUSOIDAL:
        table = sinusoidal(N, CONFIG.d_model)
        axes = map(Axis.numbered, ("positions", "dimensions"), table.shape)
        picture = matrix_chart(to_array(table), *axes, Role.INPUT, title="p", size=270)
        words = (
            "This transformer adds a row of waves to each word: fast ones in the first numbers, ever slower ones to "
            "the right. Nothing is learned (Vaswani et al. 2017)."
        )
        found, title = by_distance(dot_products(table)), "pᵢ · pⱼ"
    else:
        picture = hands_chart(rotary_angles(11, D_ROTARY), PAIRS, cell=25)
        words = (
            "Most models of today add nothing: they turn each pair of a query's and a key's numbers, like hands of "
            "clocks that run at different speeds (Su et al. 2021)."
        )
        found, title = by_distance(rotary_scores(*alike_pair(D_ROTARY), FAR), FAR - 1), "turned qᵢ · kⱼ"
    left, right = st.columns(2, gap="large")
    left.markdown(words)
    draw_chart(picture, key="transformer_table", width="content", alt="The positions themselves", on=left)
    right.markdown("Two places compared: only their distance counts, and what stands together is most alike.")
    alt = "Dot products over the distance"
    draw_chart(distance_chart(found, title), key="transformer_distance", alt=alt, on=right)


TRANSLATORS = {"additive": "GRU with additive attention", "transformer": "transformer"}


def order_twice() -> None:
    """Draw what both kinds of translator lose without order, without attention, and say whether one is too many."""
    costs, n = committed_costs()
    if not costs:
        st.info("Nothing was measured beforehand: `python -m benchmarks.redundancy` does it.")
        return
    whole = {one.model: one for one in costs if not one.without}
    table, words = st.columns([1.35, 1], gap="large")
    with table:
        figures_table(
            ("", "BLEU", "lost", "long ones", "lost"),
            *((_cost_name(one), *_figures(one, whole[one.model])) for one in costs if one.model in whole),
        )
    with words:
        paragraph(
            "A recurrent network's states know the order, and attention over them follows it too. Is one of the two "
            "redundant?"
        )
        _in_words({(one.model, one.without): one.bleu for one in costs})
        note(
            f"{n} test sentences; long ones have twelve words and more. *Trained so*: a network of the same size that "
            "never had it. All else is taken from a trained network, and so costs more than it would have had to."
        )


def _cost_name(one: ReductionCost) -> str:
    return f"– without {WITHOUT.get(one.without, one.without)}" if one.without else TRANSLATORS[one.model]


def _figures(one: ReductionCost, whole: ReductionCost) -> list[str]:
    pairs = (one.bleu, whole.bleu), (one.bleu_long, whole.bleu_long)
    return [text for now, then in pairs for text in (f"{now:.1f}", "" if one is whole else f"{then - now:.1f}")]


def _in_words(found: Mapping[tuple[str, str], float]) -> None:
    def lost(model: str, without: str) -> str:
        return f"**{found[model, ''] - found[model, without]:.0f}**"

    paragraph(
        f"Neither is too many. Reading every piece alone costs the GRU {lost('additive', 'recurrence')} points of "
        f"BLEU; training without attention costs {lost('additive', 'attention_trained')}. The transformer has no "
        f"recurrence: without positions it loses {lost('transformer', 'positions')}."
    )


CHARTS = {"milliseconds": "Time of one layer", "megabytes": "Memory of one layer"}


def cost_of_length(n: int) -> None:
    """Draw time and memory over n beside the expected slopes, and count what a sentence of n costs."""
    st.markdown(
        "A recurrent layer takes n steps, and each waits for the one before. Attention compares all n × n pairs at "
        "once. Fused attention computes the same without ever holding the n × n matrix."
    )
    figures_table(
        (f"a sentence of n = {n} pieces, d = 192", "multiplications", "steps that wait for each other", "longest path"),
        *cost.layer_costs(n),
    )
    before = cost.committed()
    if not before.rows:
        st.info("No figures were measured beforehand: `python -m benchmarks.cost` makes them.")
        return
    for column, (quantity, title) in zip(st.columns(2, gap="large"), CHARTS.items(), strict=True):
        column.markdown(f"**{title}**")
        words = f"{title} over n on log axes, expected slopes dashed"
        draw_chart(cost_chart(before.rows, quantity), key=f"transformer_{quantity}", alt=words, on=column)
    st.caption(
        f"Measured beforehand on one slow core, torch {before.torch}, {before.when}: forward passes of width 192 "
        "without projections, median. Dashed: the expected slope. The table follows Vaswani et al. 2017, table 1; the "
        "path is how many steps apart two words are at most."
    )
