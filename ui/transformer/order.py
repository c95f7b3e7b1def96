"""Where a word stands: words shuffled, ways to make positions, order known twice; and what a long sentence costs."""

import html
from collections.abc import Mapping
from typing import Any

import streamlit as st
from torch import Tensor

from attention_core.attention.attend import (
    ByDistance,
    alike_pair,
    by_distance,
    dot_products,
    rotary_angles,
    rotary_scores,
    sinusoidal,
)
from attention_core.attention.types import Axis, Role
from attention_core.charts.heatmap import matrix_chart
from attention_core.charts.vega import BLUE_ORANGE, Chart, Ramp
from attention_core.device import to_array
from attention_core.topics.transformer import cost
from attention_core.topics.transformer.ablation import (
    EditedTransformer,
    compare_orders,
    movable_words,
    reordered,
    word_order,
)
from attention_core.topics.transformer.charts import cost_chart, distance_chart, hands_chart
from attention_core.topics.transformer.cost import CostRow
from attention_core.topics.transformer.learned_positions import NAME as LEARNED
from attention_core.topics.translate.training import WITHOUT, ReductionCost, committed_costs
from attention_core.topics.translate.translation import read_source
from attention_core.weights import WeightsError, read_card, read_weights
from ui.chart import draw_chart
from ui.computed import cached_computation, model_or_stop
from ui.labels import error_markdown
from ui.layout import figures_table, section
from ui.skeleton import explain, note, paragraph
from ui.state import Field, between, named, one_of, single_choice, whole_number
from ui.transformer.heads import CONFIG, MODEL, NAME, Experiment, pieces_html, translated, translation

COSINE = Ramp(BLUE_ORANGE, -1.0, 1.0)
N, D_ROTARY, FAR = 48, 64, 256
PAIRS = (0, 2, 4, 6, 9, 13)  # pairs of a rotary vector that are drawn as hands, fast ones first
SIZE = 270


def _order_of(how: str, seed: str) -> tuple[str, int]:
    return one_of(("shuffled", "reversed"))(how), whole_number(seed)


ORDER = Field(
    NAME,
    "order",
    ("shuffled", 0),
    address="order",
    parse=lambda text: _order_of(*text.split("-")),
    text=lambda order: f"{order[0]}-{order[1]}",
)
KINDS = ("Sinusoidal", "Learned", "Rotary")
POSITIONS = Field(NAME, "positions", KINDS[0], address="positions", **named(**{kind.lower(): kind for kind in KINDS}))
_compare_orders = cached_computation(by_model=True)(compare_orders)
TRAINED_STEPS = Field(NAME, "positions_moment", -1, address="trained", parse=whole_number)
SEED = Field(NAME, "positions_seed", 0, address="seed", parse=between(0, 9999))


def shuffled_words(text: str) -> None:
    """Draw the encoder's states of the sentence against those of the same words in another order."""
    st.markdown(
        "Attention is a weighted average: it knows which words are there, not where. Without positions, *dog bit man* "
        "and *man bit dog* look the same. The encoder knows the order only from the position added to each piece."
    )
    model: Any = model_or_stop(MODEL)
    source = read_source(text)
    order = word_order(movable_words(source), *ORDER.value)
    other, _ = reordered(source, order)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, how, icon in (("Shuffle", "shuffled", ":material/shuffle:"), ("Reverse", "reversed", None)):
            st.button(label, key=f"transformer_{label.lower()}", on_click=_reorder, args=(how,), icon=icon)
        st.html(f'<p class="pieces">{pieces_html(other.labels, other.word_of)}</p>')
    axes = Axis("as typed", source.labels), Axis("shuffled", other.labels)
    ways = (False, "Positions left out"), (True, "With positions")
    for column, (with_positions, way) in zip(st.columns(2, gap="large"), ways, strict=True):
        found = _compare_orders(model, source, order, with_positions=with_positions)
        shuffled = translated(EditedTransformer(model, with_positions=with_positions), other).text
        typed = translation(Experiment(text, with_positions=with_positions)).text
        same = "the same" if typed == shuffled else "not the same"
        with column:
            st.markdown(f"**{way}**: largest difference of any number **{found.largest:.2g}**")
            chart = matrix_chart(to_array(found.likeness), *axes, Role.SCORES, title="cosine", size=330, ramp=COSINE)
            words = f"{way}: likeness of the encoder's outputs before and after shuffling"
            draw_chart(chart, key=f"transformer_likeness_{with_positions}", width="content", alt=words)
            st.html(
                f'<p style="margin:0">As typed: <i lang="fr">{html.escape(typed)}</i><br>'
                f'Shuffled: <i lang="fr">{html.escape(shuffled)}</i> ({same})</p>'
            )
    note(
        "Cosine of the encoder's output for each piece of the sentence (rows) and of the shuffled one (columns). "
        "Left, every piece finds its own vector again: differences of a millionth are rounding. The decoder's own "
        "positions are left out with the encoder's."
    )


def _reorder(how: str) -> None:
    _, seed = ORDER.value
    ORDER.value = how, seed + (how == "shuffled")


def three_positions() -> None:
    """Draw one kind of positions: the table, the dot products of all pairs, and these by distance."""
    ways = dict(zip(KINDS, (_sinusoidal, _learned, _rotary), strict=True))
    ways[single_choice("Positions", POSITIONS, list(ways), label_visibility="collapsed")]()


def _sinusoidal() -> None:
    table = sinusoidal(N, CONFIG.d_model)
    st.markdown(
        "This transformer adds waves: fast ones in the first numbers, ever slower ones to the right (Vaswani et al. "
        "2017). Nothing is learned, and the dot product of two positions depends on their distance alone."
    )
    _added(table, "All pairs of one distance agree: the band has no width.")


def _learned() -> None:
    try:
        tables, card = _read_learned()
    except WeightsError as error:
        st.error(f"**The learned positions cannot be loaded.** {error_markdown(error)}", icon=":material/error:")
        return
    steps = card["steps"]
    st.markdown(
        "A small model of ours fills in missing notes of melodies with one attention head over 48 learned positions, "
        "which begin as noise. Nobody tells it their order; it finds out that they form a line, roughly at first."
    )
    TRAINED_STEPS.clamp_to_options(steps, steps[-1])
    step = TRAINED_STEPS.widget(st.select_slider, "Steps of training", steps, width=420)
    table, share = tables[steps.index(step)], card["share_right"][steps.index(step)]
    _added(
        table,
        f"After {step:,} steps it fills in {share:.0%} of the missing notes rightly. The band is the range over all "
        "pairs of one distance: learned positions need not agree.",
    )


@st.cache_resource(show_spinner=False)
def _read_learned() -> tuple[list[Tensor], dict]:
    card, tensors = read_card(LEARNED), read_weights(LEARNED)
    return [tensors[f"positions.{number}"].float() for number in range(len(card["steps"]))], card


def _rotary() -> None:
    st.markdown(
        "Rotary positions add nothing: they turn each pair of a query's and a key's numbers, like hands of clocks that "
        "run at different speeds (Su et al. 2021). Only the difference of two places is left in q · k."
    )
    seed = SEED.widget(st.number_input, "Another query", 0, 9999, width=160)
    query, key = alike_pair(D_ROTARY, seed)
    _pictures(
        hands_chart(rotary_angles(11, D_ROTARY), PAIRS, cell=25),
        rotary_scores(query, key, N),
        "turned qᵢ · kⱼ",
        "One random query and the key that it likes best, itself, put at every pair of places: most alike where they "
        "stand together, then less and less, in waves.",
        by_distance(rotary_scores(query, key, FAR), FAR - 1),
    )


def _added(table: Tensor, words: str) -> None:
    axes = map(Axis.numbered, ("positions", "dimensions"), table.shape)
    picture = matrix_chart(to_array(table), *axes, Role.INPUT, title="p", size=SIZE)
    _pictures(picture, dot_products(table), "pᵢ · pⱼ", words)


def _pictures(first: Chart, products: Tensor, title: str, words: str, found: ByDistance | None = None) -> None:
    picture, matrix, line = st.columns([1, 1, 0.9], gap="medium")
    draw_chart(first, key="transformer_table", width="content", alt="The positions themselves", on=picture)
    axis = Axis.numbered("positions", len(products))
    chart = matrix_chart(to_array(products), axis, axis, Role.SCORES, title=title, size=SIZE)
    alt = "Dot products of all pairs of positions"
    draw_chart(chart, key="transformer_products", width="content", alt=alt, on=matrix)
    by_places = distance_chart(found or by_distance(products), title)
    draw_chart(by_places, key="transformer_distance", alt="Dot products over the distance", on=line)
    line.caption(words)


TRANSLATORS = {"additive": "GRU with additive attention", "transformer": "transformer"}


def order_twice() -> None:
    """Draw what both kinds of translator lose without order, without attention, and say whether one is too many."""
    costs, n = committed_costs()
    if not costs:
        st.info("Nothing was measured beforehand: `python -m benchmarks.redundancy` does it.")
        return
    section("Is the order learned twice?")
    paragraph(
        "A recurrent network's states know the order, and attention over them follows it too: is one of the two "
        "redundant? Leave one out and translate again."
    )
    whole = {one.model: one for one in costs if not one.without}
    table, words = st.columns([1.35, 1], gap="large")
    with table:
        figures_table(
            ("", "BLEU", "lost", "long ones", "lost"),
            *((_cost_name(one), *_figures(one, whole[one.model])) for one in costs if one.model in whole),
        )
    found = {(one.model, one.without): one.bleu for one in costs}
    with words:
        _in_words(found)
        note(
            f"{n} test sentences, beam search; long ones have twelve words and more. *Trained so*: a network of "
            "the same size that never had it. All else is taken from a network that was trained with it, and so costs "
            "more than it would have had to; the decoder's start stays as trained. To measure again: "
            "`python -m benchmarks.redundancy`."
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
        f"Neither is too many. Read every piece alone, so that only attention is left to know the order, and the GRU "
        f"loses {lost('additive', 'recurrence')} points of BLEU. Keep the states and give up the choice, and even a "
        f"network trained so loses {lost('additive', 'choice_trained')}; trained without attention at all, "
        f"{lost('additive', 'attention_trained')}. The states know the order, attention knows where to look."
    )
    st.markdown(
        "The transformer did away with the recurrence and pays with positions: without them it loses "
        f"{lost('transformer', 'positions')}, and {lost('transformer', 'order')} when the words are shuffled."
    )


CHARTS = {"milliseconds": "Time of one layer", "megabytes": "Memory of one layer"}


def cost_of_length(n: int) -> None:
    """Draw time and memory over n beside the expected slopes, and count what a sentence of n costs."""
    st.markdown(
        "A recurrent layer takes n steps, and each waits for the one before. Attention compares all n × n pairs at "
        "once, without waiting. Fused attention computes the same without ever holding the n × n matrix."
    )
    figures_table(
        (f"a sentence of n = {n} pieces, d = 192", "multiplications", "steps that wait for each other", "longest path"),
        *cost.layer_costs(n),
    )
    cheaper = "fewer" if n < 192 else "more"
    note(
        f"After table 1 of Vaswani et al. 2017. While n is below d, as in sentences, attention even does {cheaper} "
        "multiplications. The path is how many steps apart two words are at most: what a gradient must survive."
    )
    before = cost.committed()
    if not before.rows:
        st.info("No figures were measured beforehand: `python -m benchmarks.cost` makes them.")
        return
    for column, (quantity, title) in zip(st.columns(2, gap="large"), CHARTS.items(), strict=True):
        column.markdown(f"**{title}**")
        words = f"{title} over n on log axes, expected slopes dashed"
        draw_chart(cost_chart(before.rows, quantity), key=f"transformer_{quantity}", alt=words, on=column)
        words = _slopes(before.rows, quantity)
        column.caption(words, help=explain(words))
    st.caption(
        f"Measured beforehand on one slow core, torch {before.torch}, {before.when}. Forward passes of width 192 "
        "on one thread, processor time, median; dashed: the expected slope through the largest n. Attention without "
        "its projections, which grow with n as everything else does. Memory: most that was held at "
        "one moment, inputs not counted."
    )


def _slopes(rows: list[CostRow], quantity: str) -> str:
    slopes = {way: cost.fitted_slope(rows, way, quantity) for way in cost.WAYS}
    return "Slope over the largest n: " + ", ".join(
        f"{cost.WAYS[way].title} {slope:.2f} (expected {cost.expected_slope(way, quantity)})"
        for way, slope in slopes.items()
        if slope is not None
    )
