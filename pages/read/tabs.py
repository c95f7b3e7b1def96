"""The answer beside the drawing, and the tabs: look after look, another question, what changing looks does."""

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from attention_core.attention.edits import DropHead, Uniform
from attention_core.attention.types import Role, Step
from attention_core.attention.wording import format_count, percent
from attention_core.charts.bars import SERIES, bar_table
from attention_core.charts.overlay import GLOW, glow_ramp, map_png, strongest_weight
from attention_core.charts.ramps import ROLE_COLOURS
from attention_core.data.scenes import MAX_DIGITS
from attention_core.device import to_array
from attention_core.inference.number_reading import ReadDrawing, begins_at, column_weights, labels_of
from attention_core.models.digit_reader import CLASSES, DigitReader, DigitReading
from pages.read.first_screen import COLUMNS, MODEL, NAME, PAD_SIZE, answer_cards, maps_of, numbered
from ui.chart import draw_layers, draw_map, note_picture
from ui.computed import by_model, card_or_empty
from ui.edits import EditList, ListedEdit, show_outcome
from ui.fragments import BODY, rerun_fragments, with_rerun
from ui.layout import bar_rows, grey_out, section
from ui.player import Stepper, StepStyle, Walk, described_key, show_all_numbers
from ui.region import Region
from ui.state import Field, single_choice, whole_number
from ui.try_this import TryThis, try_this
from ui.words import number_bars


def _without(look: int) -> ListedEdit:
    return ListedEdit(DropHead(0, query=look), f"look {look + 1} hands over nothing")


AFTER = Field(NAME, "after", 0, address="after", parse=whole_number)
"""The look whose state is the first query; 0 = the learned one."""
EDITS = EditList(NAME, skipped=lambda text: [_without(whole_number(look)) for look in text.split(".")])
REGIONS = Region(NAME, EDITS, "regions")
read_again = by_model(DigitReader.read)


class ChangedReading(NamedTuple):
    learned: DigitReading  # with the same first query, nothing edited
    reading: DigitReading
    after: int  # see AFTER

    @property
    def is_changed(self) -> bool:
        return bool(self.after or self.reading.trace.edits)

    @property
    def withheld(self) -> list[int]:
        """The looks whose glimpse is withheld."""
        return [
            edit.query for edit in self.reading.trace.edits if isinstance(edit, DropHead) and edit.query is not None
        ]

    def left_out(self, drawing: ReadDrawing) -> int:
        """Return how many digits at the beginning of a drawing are not read now, but the rest is."""
        return begins_at(drawing.reading.digits, self.reading.digits) or 0


def read_changed(drawing: ReadDrawing) -> ChangedReading:
    """Read a drawing with the first query, and with the edits, that a visitor has chosen."""
    after = AFTER.clamp(0, len(drawing.labels))
    start = drawing.reading.states[after]
    learned = read_again(MODEL, drawing.picture, start=start) if after else drawing.reading
    edits = EDITS.fitting(learned.trace)
    reading = read_again(MODEL, drawing.picture, start=start, edits=edits) if edits else learned
    return ChangedReading(learned, reading, after)


def begin_at_second() -> None:
    """Let the first query be that of the second look."""
    AFTER.value = 1
    EDITS.reset()


def change_section(drawing: ReadDrawing, changed: ChangedReading) -> None:
    """Draw the controls that change the weights, the glimpses and the first query, and what is read then."""
    left, right = st.columns([1.65, 1], gap="large")
    maps = (maps_of(reading).mean(0) for reading in (changed.learned, changed.reading))
    with left:
        hint = "Brush over a digit, then let no look go there."
        REGIONS.draw(drawing.canvas, *maps, changed.reading.trace, hint=hint, size=560)
    with right:
        st.caption("Withhold the glimpse of look")
        with st.container(horizontal=True, gap="xsmall"):
            for look in range(len(changed.learned.probabilities)):
                key = f"read_withhold_{look}"
                st.button(f"{look + 1}", key=key, on_click=with_rerun(EDITS.toggle), args=(_without(look),))
        names = {look: f"{look}: {label}" for look, label in enumerate(drawing.labels, 1)}
        label, choices = "Begin as if it had read up to", {0: "nothing"} | names
        single_choice(label, AFTER, choices, wrap=True, on_change=partial(rerun_fragments, BODY))
        st.markdown(f"As it was: **{drawing.reading.digits or 'nothing'}**")
        if changed.is_changed:
            finished = "" if changed.reading.is_finished else ", and no end"
            st.markdown(f"Read now: **{changed.reading.digits or 'nothing'}**{finished}")
        if changed.reading.trace.edits:
            before, after = (to_array(reading.probabilities) for reading in (changed.learned, changed.reading))
            look = max(range(min(len(before), len(after))), key=lambda look: abs(before[look] - after[look]).sum())
            st.caption(f"At look {look + 1}, where most has changed:")
            show_outcome(CLASSES, before[look], after[look])


def draw_looks(drawing: ReadDrawing, changed: ChangedReading) -> None:
    """Draw the weights of all looks, column by column, under the drawing, where read.css puts them."""
    weights, left_out = to_array(column_weights(changed.reading.trace)), changed.left_out(drawing)
    weights = np.vstack([np.zeros((left_out, weights.shape[1])), weights])
    labels, high = ["no look"] * left_out + numbered(labels_of(changed.reading)), float(weights.max())
    layer = glow_ramp(weights.shape[1], high)
    with st.container(key="read_looks", horizontal=True, gap="xsmall"):
        layers, alt = [map_png(weights, layer, False)], "All looks: where each goes"
        values, width = 100 * weights, PAD_SIZE[1]
        draw_layers(layers, values, "read_columns", alt, size=width, row_height=27, row_labels=labels, tooltip="{}%")
        st.html(f'<div class="looks">{"".join(f"<b>{label}</b>" for label in labels)}</div>')


def draw_answer(drawing: ReadDrawing, changed: ChangedReading, is_present: bool) -> None:
    """Draw the reading, and that of a reader that cannot choose."""
    reading, uniform = changed.reading, read_again(MODEL, drawing.picture, edits=(Uniform(),))
    for key in ("read_looks", "read_answer"):
        grey_out(key, not is_present)
    with st.container(key="read_answer"):
        section("Looking digit by digit" + (", changed" if changed.is_changed else ""), Role.WEIGHTS)
        st.html(answer_cards(reading, changed.withheld, changed.left_out(drawing)))
        ending = "stopped by itself" if reading.is_finished else "was stopped"
        st.markdown(f"It {ending} after {format_count(len(reading.probabilities), 'looks')}.")
        section("With every weight equal")
        st.html(f'<div class="baseline">{answer_cards(uniform)}</div>')
    try_this(NAME, _later(drawing))


def draw_test_figures() -> None:
    """Say how often it is right, on numbers that it never saw."""
    if shares := card_or_empty(MODEL).get("test_numbers"):
        five, six = shares["accuracy_1_to_5"], shares["accuracy_by_length"][str(MAX_DIGITS)]
        st.caption(
            "The map says where a digit was read, not why: cover the spot in *Try*. The network is right on "
            f"{percent(five)} of new numbers of up to five digits, on {percent(six)} of six."
        )


def _later(drawing: ReadDrawing) -> TryThis:
    digits, remainder = drawing.reading.digits, drawing.reading.digits[1:] or "the end"

    def outcome() -> tuple[int, str]:
        reread = read_again(MODEL, drawing.picture, start=drawing.reading.states[1]).digits or "the end"
        text = f"Then it reads *{reread}*: the picture is the same; its question alone knows how far it has come."
        return (1, text) if reread == remainder else (0 if reread == digits else 2, f"Then it reads *{reread}*.")

    return TryThis(
        f"Pretend the {digits[0]} is already read" if digits else "Pretend the first digit is already read",
        "Pretend it has already read the first digit. What will it read?",
        (f"{digits or 'Nothing'} again", f"Only {remainder}", "Something else"),
        begin_at_second,
        outcome,
        "read_answer",
        subject=AFTER.value,
    )


WALK = Walk(NAME, label="Look")
STEPS = Stepper(NAME, modifier="Shift+")
REGION = Field(NAME, "region", None, address="region", parse=whole_number)
STEP_SIZE = 480
WIDTH = 576  # screen pixels of a drawing with a map over it: as wide as the pad


def film_section(drawing: ReadDrawing) -> None:
    """Draw the present look: its map over the drawing, and what it says."""
    look = WALK.draw(drawing.labels)
    film, draw_answer = st.columns(COLUMNS, gap="large")
    with film:
        maps, keys = maps_of(drawing.reading), drawing.reading.trace.story.key_axis
        alt, high = "The chosen look: where it goes, over the drawing", float(maps.max())
        draw_map(maps[look], drawing.canvas, "read_film", alt, size=WIDTH, high=high)
        bar = f'<i style="background:linear-gradient(90deg,{",".join(GLOW)})"></i>'
        strongest = f"{percent(strongest_weight(len(keys), high))} of the weight (all equal: {percent(1 / len(keys))})"
        st.html(f'<p class="glow">0 {bar} {strongest}</p>')
        draw_test_figures()
    with draw_answer:
        section(f"Look {look + 1} says", Role.OUTPUT)
        shares = drawing.reading.probabilities[look].tolist()
        note_picture(partial(bar_table, CLASSES, {"probability": shares}, SERIES), "What the chosen look says")
        best = sorted(zip(CLASSES, shares, strict=True), key=lambda line: -line[1])[:5]
        st.html(bar_rows((*line, SERIES[0]) for line in best))


def question_section(drawing: ReadDrawing) -> None:
    """Draw one region's score at every look: the picture stays, the query changes."""
    look = WALK.draw(drawing.labels)
    trace, labels = drawing.reading.trace, [f"{number}: {label}" for number, label in enumerate(drawing.labels, 1)]
    region = REGION.value
    if region is None or region >= trace.n_keys:
        region = int(trace.weights(rows=[0])[0].argmax())
    row, column = divmod(region, trace.story.key_axis.picture_grid[1])
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        maps, alt = maps_of(drawing.reading), "The chosen look: where it goes, over the drawing; click a region"
        high, pick = float(maps.max()), REGION.set
        draw_map(maps[look], drawing.canvas, "read_regions", alt, size=WIDTH, high=high, chosen=region, on_choose=pick)
        st.markdown(
            "The picture stays; the network's state is the question, another at every look. It is not shown its own "
            "answers."
        )
    with right:
        section(f"Row {row + 1}, column {column + 1} through all looks: its score (and weight)", Role.SCORES)
        scores, weights = to_array(trace.scores(cols=[region])[:, 0]), to_array(trace.weights(cols=[region])[:, 0])
        names = [f"{label} ({percent(weight)})" for label, weight in zip(labels, weights.tolist(), strict=True)]
        title, colour = "Score of the chosen region at every look", ROLE_COLOURS[Role.SCORES]
        number_bars("read_region", names, scores.tolist(), colour, title, "go there", WALK.field.set, chosen=look)


def read_steps(drawing: ReadDrawing) -> None:
    """Draw all the numbers, at the present look."""
    look, trace = WALK.draw(drawing.labels), drawing.reading.trace
    keys = trace.story.key_axis

    def style_of(step: Step) -> StepStyle:
        if step.role is Role.INPUT:
            return StepStyle(size=504)
        return StepStyle(described_key(trace, 0, look, NAME) if step.row_axis is keys else look, size=STEP_SIZE)

    show_all_numbers(trace, STEPS, NAME, query=look, style_of=style_of, on_query=WALK.field.set, widths=(0.9, 1.1))
