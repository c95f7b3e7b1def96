"""What if it looked elsewhere? A region is brushed over, glimpses are withheld, and the number is read anew."""

import streamlit as st

from attention_core.device import to_array
from attention_core.models.digit_reader import CLASSES
from pages.read.changes import EDITS, ChangedReading, withheld_glimpse
from pages.read.inputs import draw_number, maps_of
from pages.read.pad import NAME
from ui.edits import show_outcome
from ui.fragments import with_rerun
from ui.region import Region

REGIONS = Region(NAME, EDITS, "regions")
draw_input = draw_number


def answer(changed: ChangedReading) -> str:
    """Say what is read."""
    sentence = changed.describe()
    return sentence if changed.is_changed else f"{sentence[:-1]}: {REGIONS.hint}"


def draw(changed: ChangedReading) -> None:
    """Draw the mean of all looks, to be brushed over, the glimpses, and what is read then."""
    learned, reading = changed.learned, changed.reading
    learned_map, present_map = (maps_of(each).mean(0) for each in (learned, reading))
    with REGIONS.draw(changed.drawing.canvas, learned_map, present_map, reading.trace, size=500):
        st.caption("Withhold the glimpse of look")
        with st.container(horizontal=True, gap="xsmall"):
            for look in range(len(learned.probabilities)):
                key, edit = f"read_withhold_{look}", withheld_glimpse(look)
                st.button(f"{look + 1}", key=key, on_click=with_rerun(EDITS.toggle), args=(edit,))
        if reading.trace.edits:
            before, after = (to_array(each.probabilities) for each in (learned, reading))
            look = max(range(min(len(before), len(after))), key=lambda look: abs(before[look] - after[look]).sum())
            st.caption(f"At look {look + 1}, where most has changed:")
            show_outcome(CLASSES, before[look], after[look])
