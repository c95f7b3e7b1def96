"""The tabs and sections below the first screen: steps, what was learned, what ink is worth, what a change does."""

from collections.abc import Mapping

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.attention.types import Role, Step
from attention_core.attention.wording import percent
from attention_core.charts import VIRIDIS, Ramp
from attention_core.charts.overlay import image_png, overlay, overlay_strip
from attention_core.charts.pictures import picture
from attention_core.data.presets import preset_canvas
from attention_core.device import to_array
from attention_core.faithfulness.subjects import erase_ink, ink_mask
from attention_core.inference import digits as core
from attention_core.inference import pixel_readout as readout
from attention_core.inference.digits import Answer, partial_correlation
from attention_core.models import attention_at_snapshot
from attention_core.models.digit_vit import NAME as MODEL
from attention_core.weights import WeightsError
from pages.pixels import first_screen as screen
from ui.chart import draw_chart, draw_layers
from ui.computed import by_model, card_or_empty, load_snapshots
from ui.digits import inked, prepared, read_image
from ui.edits import show_outcome
from ui.labels import error_markdown, explain, number, paragraph
from ui.layout import figures_table
from ui.player import StepStyle, show_all_numbers
from ui.region import Region
from ui.state import Field, between, expander, single_choice, slugs, whole_number

INITIAL_LIKENESS = 0.4  # correlation beyond the ink, above which much of a map counts as there from the start
MOMENT = Field(screen.NAME, "snapshot", -1, address="moment", parse=whole_number)
_at_snapshot = by_model(attention_at_snapshot)


def learned_section(reading: screen.Reading) -> None:
    """Draw the attention that the network paid to the drawing at a moment of its training."""
    name, image, ink = screen.LAYER.value, reading.image, reading.drawing.image
    try:
        snapshots = load_snapshots(name)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error_markdown(error)}")
        return
    moments = sorted(int(key.split(".")[0]) for key in snapshots if key.endswith(".step"))
    MOMENT.clamp_to_options(moments, moments[-1])
    labels = {moment: f"batch {int(snapshots[f'{moment}.step']):,}" for moment in moments}
    chosen = MOMENT.widget(st.select_slider, "Moment of the training", moments, format_func=labels.__getitem__)
    traces = [_at_moment(name, snapshots, moment, image) for moment in (moments[0], chosen, moments[-1])]
    first_map, chosen_map, last_map = (to_array(screen.attention_received(trace, image)) for trace in traces)
    row = to_array(traces[1].weights(0, [reading.query])[0])
    maps = (("The framed pixel takes from", row, reading.query), ("All ink takes from", chosen_map, None))
    *columns, text_column = st.columns(3, gap="large")
    for column, (title, values, marked) in zip(columns, maps, strict=True):
        with column:
            st.markdown(f"**{title}**")
            draw_chart(screen.map_chart(traces[1], values, ink, size=200, marked=marked), width="content", alt=title)
    text = f"**Are Q and K just random?** {_whether_learned(name, partial_correlation(first_map, last_map, ink))}"
    if name != screen.INK_ONLY:
        text += f"\n\n{_describe_score_sources(name, snapshots, moments[-1], image)}"
    text_column.markdown(text)


def _whether_learned(name: str, correlation: float) -> str:
    if name == screen.INK_ONLY:
        return "A pixel is its ink alone: Q Kᵀ is the drawing times itself, of rank one, learned or not."
    figures = f"Beyond the ink, maps before and after training correlate {number(correlation)}"
    if name == screen.GUIDED:
        return f"Never: near pixels and ink were preferred from the start. {figures}."
    was_initial = correlation > INITIAL_LIKENESS
    return f"{figures}: much was there at the start." if was_initial else f"At first, yes. {figures}."


def _describe_score_sources(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> str:
    """Say whether ink or position has the larger share in the queries, and in the keys."""
    inked_trace, blank_trace = (
        _at_moment(name, snapshots, moment, pixels) for pixels in (image, torch.zeros_like(image))
    )
    shares = readout.term_shares(readout.split_scores(inked_trace, blank_trace))
    query_source, key_source = (
        _describe_larger_share(sum(share for sources, share in shares.items() if sources[side] == readout.INK))
        for side in (0, 1)
    )
    return f"After training Q, what a pixel looks for, is {query_source}; K, what it offers, {key_source}."


def _describe_larger_share(ink: float) -> str:
    """Say which of ink and position decides, from the share of the ink; above 1 the position works against it."""
    if round(100 * ink) == 50:
        return "up to its ink and its place alike"
    share, larger, smaller = max((ink, readout.INK, readout.POSITION), (1 - ink, readout.POSITION, readout.INK))
    against = f"; its {smaller} works the other way" if share > 1 else ""
    return f"mostly up to its {larger} ({percent(share)}{against})"


def _at_moment(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> AttentionTrace:
    tensors = {key: tensor for key, tensor in snapshots.items() if key.startswith(f"{moment}.")}
    return _at_snapshot(name, tensors, moment, image)[0]


CLOSE_R2 = 0.9  # R² above which a projection is close to what it projects
SAME_INK = 0.01  # mean difference of the ink below which two drawings are one
_compute_readouts = by_model(readout.compute_readouts)


def projection_section(reading: screen.Reading) -> None:
    """Draw how much of X can be read back from Q, K and V of the chosen layer."""
    presets = (prepared(preset_canvas(digit)).image for digit in range(10))
    different = (preset for preset in presets if np.abs(preset - reading.drawing.image).mean() > SAME_INK)
    references = list(map(torch.from_numpy, different))
    readouts = _compute_readouts(screen.LAYER.value, reading.image, references)
    value = readouts["V"]
    text_column, table_column = st.columns([1, 1.2], gap="large", vertical_alignment="center")
    text_column.markdown(
        f"**{'Yes' if value.token > CLOSE_R2 else 'No'}**: {percent(value.token)} of a pixel's vector X can be read "
        f"back from V. At best, {value.width} numbers would give {percent(value.best)}."
    )
    with table_column:
        figures_table(
            ("", "numbers", "give back (R²)", "at best", "ink"),
            *(
                (letter, str(of_letter.width), *map(percent, (of_letter.token, of_letter.best, of_letter.ink)))
                for letter, of_letter in readouts.items()
            ),
        )


PATCH_LAYER = Field(screen.NAME, "patch_layer", 4, address="patch_layer", parse=between(1, 4))
read_patches = by_model(core.read_patches)


def patches_section(reading: screen.Reading) -> None:
    """Draw the attention of the class token, layer by layer and through all layers, and what is read."""
    patches = read_patches(MODEL, reading.image)
    st.markdown(
        "**784 pixels cost 614,656 scores a head, 49 patches and a class token 2,500.** From what its *class token* "
        f"collects, a vision transformer reads **{int(patches.probabilities.argmax())}** "
        f"({percent(float(patches.probabilities.max()))})."
    )
    ink = inked(reading.drawing.image).repeat(8, 0).repeat(8, 1)
    rollout_column, head_column = st.columns([1, 1.8], gap="large")
    with rollout_column:
        paragraph("**Through all layers** (rollout)")
        draw_chart(overlay(ink, patches.rolled, size=224), width="content", alt="Patches through all layers")
    with head_column:
        layer = PATCH_LAYER.widget(st.slider, "Layer", 1, len(patches.maps))
        maps = patches.maps[layer - 1]
        labels = [f"head {head + 1}" for head in range(len(maps))]
        sheet = overlay_strip(ink, maps, labels, size=150, columns=3)
        draw_chart(sheet, width="content", alt=f"Patches in layer {layer}, by head")


NETWORKS = screen.LAYERS | {
    screen.SELF_ONLY: "each pixel from itself, A = I",
    screen.EQUAL_FROM_START: "all from all alike, A = 1/784",
    screen.NO_ATTENTION: "no attention",
}
TEST_ACCURACY = "test_accuracy"
FIGURES = TEST_ACCURACY, "held_out_stroke_accuracy"
"""Figures of a card: of 10,000 test digits, and of 750 drawn with a pen."""


def worth_section() -> None:
    """Draw the figures of every layer and control as a table, with the errors of attention and of the fair control."""
    cards = {name: card for name in NETWORKS if TEST_ACCURACY in (card := card_or_empty(name))}
    if not {screen.PLAIN, screen.SELF_ONLY} <= set(cards):
        return
    control_errors, attention_errors = (
        readout.mean_errors(cards[name], TEST_ACCURACY, 10_000) for name in (screen.SELF_ONLY, screen.PLAIN)
    )
    st.markdown(
        "**The fair control of *ink and position* is A = I**, with almost as many parameters: of 10,000 test digits it "
        f"misreads {control_errors:.0f} on average, attention {attention_errors:.0f}.",
        help=explain("softmax"),
    )
    figures_table(
        ("network", "parameters", "test digits", "pen digits"),
        *(
            (NETWORKS[name], f"{card['parameters']:,}", *(readout.figure_range(card, figure) for figure in FIGURES))
            for name, card in cards.items()
        ),
    )
    if any(len(readout.figures_by_seed(card, TEST_ACCURACY)) > 1 for card in cards.values()):
        st.caption("Ranges: trained with several seeds.")


N_DRAWS = 20  # how often as much ink is erased at random
BY_WEIGHT, BY_JACOBIAN = "taken from most", "largest Jacobian"
FFN = "ffn-classifier"
ERASED_BY = Field(screen.NAME, "erased", BY_WEIGHT, address="erase", **slugs(taken=BY_WEIGHT, moving=BY_JACOBIAN))
N_ERASED = Field(screen.NAME, "erase_n", -1, address="pixels", parse=between(1, 784))
CASE_SIZE = 150  # screen pixels of a map
ask_many, pixel_influence = by_model(core.ask_many), by_model(core.pixel_influence)


def erase_section(reading: screen.Reading) -> None:
    """Draw the drawing as it is, without some ink, and without as much at random: both maps and the answer of each."""
    image, before, name = reading.image, reading.learned, screen.LAYER.value
    st.markdown(
        "**A feed-forward network pays attention, too**: how much each pixel moves *its* answer, its *Jacobian*, "
        "depends on the drawing."
    )
    weights, jacobian = screen.attention_received(before.traces[0], image).abs(), pixel_influence(FFN, image)
    max_erased = max(2, int(ink_mask(image).sum()) - 1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        criterion = single_choice("Erase", ERASED_BY, (BY_WEIGHT, BY_JACOBIAN), wrap=True)
        N_ERASED.value = N_ERASED.clamp_to_options(range(1, max_erased + 1), max(1, max_erased // 4))
        n = N_ERASED.widget(st.slider, "Ink pixels", 1, max_erased, width=320)
    erased = erase_ink(image, (weights if criterion == BY_WEIGHT else jacobian).flatten(), n)
    after = read_image(name, erased)
    random_orders = torch.rand(N_DRAWS, image.numel(), generator=torch.Generator().manual_seed(0))
    trials = torch.stack([erase_ink(image, order, n) for order in random_orders])
    n_agreeing = int((ask_many(name, trials).argmax(1) == before.digit).sum())
    after_trial = read_image(name, trials[0])
    trial_text = f"Reads **{before.digit}** in {n_agreeing} of {N_DRAWS} draws."
    cases = (
        ("As drawn", image, before, jacobian, _describe_reading(before, before)),
        (f"Without these {n}", erased, after, pixel_influence(FFN, erased), _describe_reading(after, before)),
        (f"Without {n} at random", trials[0], after_trial, pixel_influence(FFN, trials[0]), trial_text),
    )
    for column, case in zip(st.columns(3, gap="medium"), cases, strict=True):
        with column:
            _draw_case(*case)


def _describe_reading(answer: Answer, learned: Answer) -> str:
    digit = learned.digit
    also = "" if answer.digit == digit else f"; {digit} gets {percent(answer.probabilities[digit])}"
    return f"Reads **{answer.digit}** ({percent(answer.confidence)}){also}."


def _draw_case(title: str, image: Tensor, answer: Answer, influence: Tensor, text: str) -> None:
    st.markdown(f"**{title}**")
    received = to_array(screen.attention_received(answer.traces[0], image).abs())
    attention = screen.map_chart(answer.traces[0], received, to_array(image), size=CASE_SIZE, bar=False)
    ramp = Ramp(VIRIDIS, 0.0, float(influence.max()) or 1.0)
    jacobian = picture(to_array(influence), ramp, title="moves", size=CASE_SIZE, bar=False, outline=to_array(image))
    with st.container(horizontal=True, gap="small"):
        for label, chart in (("attention", attention), ("Jacobian", jacobian)):
            with st.container(width="content", gap=None):
                st.caption(label)
                draw_chart(chart, width="content", alt=f"{title}: {label}, pixel by pixel")
    st.markdown(text)


def pixels_steps(reading: screen.Reading) -> None:
    """Draw all the numbers, and the drawing with the query."""
    trace, query = reading.trace, reading.query

    def draw_query(_: Step) -> None:
        picture_column, hint = st.columns([1, 1.1], vertical_alignment="center")
        with picture_column:
            ink, alt = reading.drawing.image, "The drawing in 28 x 28 pixels; click one to let it ask"
            layers, key, pick = [image_png(inked(ink))], "pixels_pick", screen.QUERY.set
            draw_layers(layers, ink, key, alt, size=168, axis="pixels", tooltip="ink {}", chosen=query, on_choose=pick)
        with hint:
            row, column = divmod(query, 28)
            st.caption(f"Pixel {query + 1} asks (row {row + 1}, column {column + 1}). Click another.")

    def style_of(step: Step) -> StepStyle:
        return StepStyle(query, glow=screen.MAX_MAP_WEIGHT if step.role is Role.WEIGHTS else 0.0)

    show_all_numbers(
        trace,
        screen.STEPS,
        screen.NAME,
        query=query,
        style_of=style_of,
        on_query=screen.QUERY.set,
        above_text=draw_query,
    )


BRUSHED_INK = 0.6  # of its darkness, under the map that is brushed over
DIGITS = [str(digit) for digit in range(10)]
ERASE_OPEN = Field(screen.NAME, "erases", False, address="erases")
REGION = Region(screen.NAME, screen.EDITS, "pixels")


def change_section(reading: screen.Reading) -> None:
    """Draw the attention that each pixel receives from all ink, to be brushed over, and how the answer changes."""
    ink = reading.drawing.image
    before, after = (
        to_array(screen.attention_received(answer.traces[0], reading.image))
        for answer in (reading.learned, reading.edited)
    )
    left, right = st.columns([1.65, 1], gap="large")
    with left:
        paper = inked(BRUSHED_INK * ink).repeat(4, 0).repeat(4, 1)
        hint = "Brush over ink, then let no pixel look there."
        high = screen.MAX_MAP_WEIGHT if reading.trace.has_softmax else None
        REGION.draw(paper, before, after, reading.trace, hint=hint, size=280, pixels=True, high=high)
    with right:
        show_outcome(DIGITS, reading.learned.probabilities, reading.edited.probabilities)
    if (erase_box := expander("Erase ink instead", ERASE_OPEN)).open:
        with erase_box:
            erase_section(reading)
