"""Experiments with a reading: the question of a later look at its beginning, a glimpse withheld, and what is read."""

from typing import NamedTuple

import streamlit as st

from attention_core.attention.edits import Uniform
from attention_core.charts import overlay_strip
from attention_core.models.digit_reader import DigitReader, DigitReading
from attention_core.topics.read import ReadDrawing, begins_at, labels_of
from ui.chart import draw_chart
from ui.computed import by_model
from ui.read.first_screen import MODEL, NAME, cards, maps_of, numbered
from ui.state import Field, multiple_choice, single_choice, whole_number

AFTER = Field(NAME, "after", 0, address="after", parse=whole_number)
"""The look whose state is the first query; 0 = the learned one."""
SKIPPED = Field[list[int]](NAME, "skipped", list, address="skipped")
read_again = by_model(DigitReader.read)


class ChangedReading(NamedTuple):
    """A drawing as it is read now."""

    reading: DigitReading
    after: int  # see AFTER
    skipped: list[int]  # looks whose glimpse is withheld

    @property
    def is_changed(self) -> bool:
        return bool(self.after or self.skipped)

    def left_out(self, drawing: ReadDrawing) -> int:
        """Return how many digits at the beginning of a drawing are not read now, but the rest is."""
        return begins_at(drawing.reading.digits, self.reading.digits) or 0


def read_now(drawing: ReadDrawing) -> ChangedReading:
    """Read a drawing with the first query, and without the glimpses, that a visitor has chosen."""
    after = AFTER.clamp(0, len(drawing.labels))
    skipped = sorted(look for look in SKIPPED.value if look < len(drawing.labels))
    if not (after or skipped):
        return ChangedReading(drawing.reading, 0, [])
    start = drawing.reading.states[after]
    return ChangedReading(read_again(MODEL, drawing.picture, start=start, skipped=skipped), after, skipped)


def read_alike(drawing: ReadDrawing) -> DigitReading:
    """Read a drawing with every weight equal: no look can choose where it goes."""
    return read_again(MODEL, drawing.picture, edits=(Uniform(),))


def begin_later() -> None:
    """Let the first query be that of the second look."""
    AFTER.value, SKIPPED.value = 1, []


def another_start(drawing: ReadDrawing, shown: ChangedReading) -> None:
    """Draw the choices, and the reading that follows from them.

    The page shows a changed reading above; once it is another, the whole page runs again.
    """
    choose, result = st.columns([1, 1.62], gap="large")
    with choose:
        st.markdown("The drawing stays. What happens when the reader's memory changes?")
        AFTER.clamp(0, len(drawing.labels))
        single_choice("Begin as if it had read up to", AFTER, {0: "nothing"} | _names(drawing, 1), wrap=True)
        multiple_choice("Withhold the glimpse of", SKIPPED, _names(drawing, 0))
    now = read_now(drawing)
    if (now.after, now.skipped) != (shown.after, shown.skipped):
        st.rerun()
    with result:
        st.markdown(f"As it was: **{drawing.reading.digits or 'nothing'}**")
        if now.is_changed:
            finished = "" if now.reading.finished else ", and no end"
            st.markdown(f"Read now: **{now.reading.digits or 'nothing'}**{finished}")
            st.html(cards(now.reading, blind=now.skipped))
            st.markdown(" ".join(_effects(drawing.reading, now)))
        names = enumerate(numbered(labels_of(now.reading)))
        labels = [name + ", withheld" if look in now.skipped else name for look, name in names]
        chart = overlay_strip(drawing.canvas, maps_of(now.reading), labels, size=185, columns=3)
        draw_chart(chart, width="content", alt=f"Where each of the {len(labels)} looks goes, over the drawing")


def _names(drawing: ReadDrawing, first: int) -> dict[int, str]:
    """Return names of the looks, counted from 0 or 1."""
    return {look + first: f"{look + 1}: {label}" for look, label in enumerate(drawing.labels)}


def _effects(before: DigitReading, now: ChangedReading) -> list[str]:
    """Say in words what the change did; nothing is claimed that these two readings do not show."""
    after, told = now.reading, []
    if not now.skipped:
        place = begins_at(before.digits, after.digits)
        if place == 0:
            told.append("It reads the same: this state, too, asks for the beginning.")
        elif place is not None:
            told.append(f"It begins at digit {place + 1}: the state alone knows how far it has come.")
        elif not after.digits:
            told.append("It says “end” at once: this state says that all has been read.")
    for look in (look for look in now.skipped if look < len(after.probabilities)):
        said, sure = labels_of(after)[look], float(after.probabilities[look].max())
        told.append(f"At look {look + 1} it saw nothing and said **{said}** ({sure:.0%}).")
    return told
