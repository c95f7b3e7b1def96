"""Try: the question of a later look at its beginning, a region or a glimpse left out, and what is read then."""

from typing import NamedTuple

import streamlit as st

from attention_core.attention.edits import DropHead, Uniform
from attention_core.device import to_array
from attention_core.models.digit_reader import CLASSES, DigitReader, DigitReading
from attention_core.topics.read import ReadDrawing, begins_at
from ui.computed import by_model
from ui.edits import EditList, ListedEdit, show_outcome
from ui.read.first_screen import MODEL, NAME, PAD, maps_of, readable
from ui.region import Region
from ui.state import Field, single_choice, whole_number


def _without(look: int) -> ListedEdit:
    return ListedEdit(DropHead(0, query=look), f"look {look + 1} hands over nothing")


AFTER = Field(NAME, "after", 0, address="after", parse=whole_number)
"""The look whose state is the first query; 0 = the learned one."""
EDITS = EditList(NAME, skipped=lambda text: [_without(whole_number(look)) for look in text.split(".")])
REGIONS = Region(NAME, EDITS, "regions", copies=tuple(PAD.presets))
read_again = by_model(DigitReader.read)


class ChangedReading(NamedTuple):
    """A drawing as it is read now."""

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


def read_now(drawing: ReadDrawing) -> ChangedReading:
    """Read a drawing with the first query, and with the edits, that a visitor has chosen."""
    after = AFTER.clamp(0, len(drawing.labels))
    start = drawing.reading.states[after]
    learned = read_again(MODEL, drawing.picture, start=start) if after else drawing.reading
    runs = PAD.runs(lambda canvas: read_again(MODEL, readable(canvas).picture, goes_on=True).trace)
    edits = EDITS.fitting(learned.trace, runs=runs)
    now = read_again(MODEL, drawing.picture, start=start, edits=edits) if edits else learned
    return ChangedReading(learned, now, after)


def read_alike(drawing: ReadDrawing) -> DigitReading:
    """Read a drawing with every weight equal: no look can choose where it goes."""
    return read_again(MODEL, drawing.picture, edits=(Uniform(),))


def begin_later() -> None:
    """Let the first query be that of the second look."""
    AFTER.value = 1
    EDITS.reset()


def change_section(drawing: ReadDrawing, now: ChangedReading) -> None:
    """Let a person change where the reader looks and what it is told, and draw what is read."""
    left, right = st.columns([1.65, 1], gap="large")
    before, after = (maps_of(reading).mean(0) for reading in (now.learned, now.reading))
    with left:
        hint = "Brush over a digit, then let no look go there; or withhold what a look has seen."
        REGIONS.draw(drawing.canvas, before, after, now.reading.trace, hint=hint, size=560)
    with right:
        with st.container(horizontal=True, gap="xsmall"):
            st.caption("Withhold the glimpse of look")
            for look in range(len(now.learned.probabilities)):
                key = f"read_withhold_{look}"
                st.button(f"{look + 1}", key=key, on_click=EDITS.toggle, args=(_without(look),))
        names = {look: f"{look}: {label}" for look, label in enumerate(drawing.labels, 1)}
        single_choice("Begin as if it had read up to", AFTER, {0: "nothing"} | names, wrap=True)
        if now.after != AFTER.value:
            st.rerun()  # the page shows the reading above
        st.markdown(f"As it was: **{drawing.reading.digits or 'nothing'}**")
        if now.is_changed:
            finished = "" if now.reading.finished else ", and no end"
            st.markdown(f"Read now: **{now.reading.digits or 'nothing'}**{finished}")
        if now.reading.trace.edits:
            one, other = (to_array(reading.probabilities) for reading in (now.learned, now.reading))
            look = max(range(min(len(one), len(other))), key=lambda look: abs(one[look] - other[look]).sum())
            st.caption(f"At look {look + 1}, where most has changed:")
            show_outcome(NAME, CLASSES, one[look], other[look])
