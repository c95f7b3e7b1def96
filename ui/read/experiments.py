"""Experiments with a reading: another first query, a glimpse withheld, and what is read then."""

import streamlit as st
from torch import Tensor

from attention_core.charts import overlay_strip
from attention_core.models.digit_reader import DigitReading
from attention_core.topics.read import (
    ReadDrawing,
    begins_at,
    glimpses_of,
    labels_of,
    nearest_look,
    random_state,
    written,
)
from ui.chart import draw_chart
from ui.read.first_screen import MODEL, NAME, PRESETS, cards, maps_of, numbered, read_again
from ui.state import Field, multiple_choice, one_of, single_choice, whole_number

STARTS = {
    "learned": "the learned one",
    "later": "from later in this number",
    "other": "from another number",
    "zeros": "zeros",
    "random": "random",
}
OTHERS = list(PRESETS)[1:5]
START = Field(NAME, "start", "learned", address="start", parse=one_of(STARTS))
AFTER = Field(NAME, "after", 1, address="after", parse=whole_number)
OTHER = Field(NAME, "other", OTHERS[1], address="other", parse=one_of(OTHERS))
OTHER_AFTER = Field(NAME, "other_after", 1, address="other_after", parse=whole_number)
SEED = Field(NAME, "seed_of_start", 0, address="seed", parse=whole_number)
SKIPPED = Field[list[int]](NAME, "skipped", list, address="skipped")


def another_start(drawing: ReadDrawing) -> None:
    """Draw the choices, the reading that follows from them beside the original one, and how far to believe a map."""
    st.markdown(
        "Nothing here touches the drawing. Give the reader another first query, or withhold a glimpse: zeros take its "
        "place, and the state goes on without having seen."
    )
    choose, result = st.columns([1, 1.62], gap="large")
    with choose:
        start, why = _choose_start(drawing)
        looks = {look: f"{look + 1}: {label}" for look, label in enumerate(drawing.labels)}
        skipped = sorted(multiple_choice("Withhold the glimpse of look", SKIPPED, looks))
    with result:
        st.markdown(f"As it was: **{drawing.reading.digits or 'nothing'}**")
        st.html(cards(drawing.reading))
        if start is not None or skipped:
            _read_now(drawing, start, why, skipped)
        else:
            st.caption(
                "Nothing is changed yet. Try *from later in this number*: the same picture, read from the middle."
            )
    with st.expander("How far to believe a map"):
        st.markdown(
            "A map shows from where features were taken, not why a digit was said. A feature also sees its "
            "surroundings: each was computed from a patch of the picture much wider than its own region, so a map "
            "beside a digit can still tell the digit. Withholding a glimpse, above, is the stronger test: it changes "
            "what is read."
        )


def _read_now(drawing: ReadDrawing, start: Tensor | None, why: str, skipped: list[int]) -> None:
    after = read_again(MODEL, drawing.picture, start=start, skipped=skipped)
    st.markdown(f"Read now: **{after.digits or 'nothing'}**" + ("" if after.finished else ", and no end"))
    st.html(cards(after, blind=skipped))
    st.markdown(" ".join([why, *_effects(drawing, after, skipped)]).strip())
    looks = numbered(labels_of(after))
    looks = [look + ", withheld" if number in skipped else look for number, look in enumerate(looks)]
    chart = overlay_strip(drawing.canvas, maps_of(after), looks, size=185, columns=3)
    words = f"The maps of the {len(looks)} looks of the changed reading"
    draw_chart(chart, key="read_try_strip", width="content", alt=words)


def _choose_start(drawing: ReadDrawing) -> tuple[Tensor | None, str]:
    kind = single_choice("The first query", START, STARTS, wrap=True)
    reading = drawing.reading
    if kind == "later":
        after = _choose_look(AFTER, drawing.labels)
        return reading.states[after], f"The first query is the state that this reading had after look {after}."
    if kind == "other":
        number = single_choice("Its number", OTHER, OTHERS, wrap=True)
        other = read_again(MODEL, written(number))
        after = _choose_look(OTHER_AFTER, labels_of(other))
        words = f"The first query is the state of another reading: {number}, after look {after}."
        return other.states[after], words + " It never saw this drawing."
    if kind == "zeros":
        return reading.states[0] * 0, "The first query is a vector of zeros."
    if kind == "random":
        st.button("Another random one", key="read_reseed", on_click=_reseed, icon=":material/casino:")
        words = "The first query points in a random direction, as long as a usual state."
        return random_state(reading, SEED.value), words
    return None, ""


def _choose_look(field: Field[int], labels: list[str]) -> int:
    field.clamp(1, len(labels))
    names = {after: f"{after}: {label}" for after, label in enumerate(labels, 1)}
    return single_choice("The state after look", field, names, wrap=True)


def _reseed() -> None:
    SEED.value += 1


def _effects(drawing: ReadDrawing, after: DigitReading, skipped: list[int]) -> list[str]:
    """Say in words what the change did; nothing is claimed that these two readings do not show."""
    before = drawing.reading
    told = []
    if not skipped:
        place = begins_at(before.digits, after.digits)
        if place == 0:
            told.append("It reads the same: with this query, too, the first look goes to the beginning.")
        elif place is not None:
            told.append(
                f"It begins at digit {place + 1}. The picture is the same; how far it had come was in the state alone."
            )
        elif not after.digits:
            told.append("It says “end” at once: this state holds that everything has been read.")
    original, now = glimpses_of(before.trace, drawing.picture), glimpses_of(after.trace, drawing.picture)
    for look in (place for place in skipped if place < len(now)):
        said = labels_of(after)[look]
        sentence = (
            f"At look {look + 1} it saw nothing and said **{said}** ({float(after.probabilities[look].max()):.0%})."
        )
        if look + 1 < len(now):
            nearest = nearest_look(now[look + 1].centre, original)
            sentence += f" Its next look goes where look {nearest + 1} of the original went"
            sentence += (
                ": back to what it has not seen."
                if nearest == nearest_look(now[look].centre, original)
                else ": the state moved on although it saw nothing, and that digit is lost."
            )
        told.append(sentence)
    return told
