"""What a visitor changes in how a number is read: attention, glimpses and the first query."""

from typing import NamedTuple

from attention_core.attention.edits import DropHead
from attention_core.inference.number_reading import ReadDrawing
from attention_core.models.digit_reader import DigitReader, DigitReading
from pages.read.pad import MODEL, NAME
from ui.computed import by_model
from ui.edits import EditList, ListedEdit
from ui.state import Field, whole_number


def withheld_glimpse(look: int) -> ListedEdit:
    return ListedEdit(DropHead(0, query=look), f"look {look + 1} hands over nothing")


AFTER = Field(NAME, "after", 0, address="after", parse=whole_number)
"""The look whose state is the first query; 0 = the learned one."""
EDITS = EditList(NAME, skipped=lambda text: [withheld_glimpse(whole_number(look)) for look in text.split(".")])
read_again = by_model(DigitReader.read)


class ChangedReading(NamedTuple):
    """A drawing as it is read with the visitor's changes."""

    drawing: ReadDrawing  # as learned
    learned: DigitReading  # with the same first query, nothing edited
    reading: DigitReading
    after: int  # see AFTER

    @property
    def is_changed(self) -> bool:
        return bool(self.after or self.reading.trace.edits)

    @property
    def present(self) -> ReadDrawing:
        """The drawing as it is read now."""
        return self.drawing._replace(reading=self.reading)

    def describe(self) -> str:
        """Say what is read, and what was read as learned."""
        before, after = (reading.digits or "nothing" for reading in (self.drawing.reading, self.reading))
        if not self.is_changed:
            return f"It reads **{before}**."
        ending = "" if self.reading.is_finished else " and comes to no end"
        return f"Now it reads **{after}**{ending}; as learned, **{before}**."


def read_changed(drawing: ReadDrawing) -> ChangedReading:
    """Read a drawing with the first query, and with the edits, that a visitor has chosen."""
    after = AFTER.clamp(0, len(drawing.labels))
    start = drawing.reading.states[after]
    learned = read_again(MODEL, drawing.picture, start=start) if after else drawing.reading
    edits = EDITS.fitting(learned.trace)
    reading = read_again(MODEL, drawing.picture, start=start, edits=edits) if edits else learned
    return ChangedReading(drawing, learned, reading, after)
