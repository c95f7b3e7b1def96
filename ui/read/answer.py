"""The answer of the first screen: what is read with looks that move, and what without."""

import streamlit as st

from attention_core.attention.types import Role
from attention_core.data.scenes import MAX_DIGITS
from attention_core.device import to_array
from attention_core.topics.read import ReadDrawing, column_weights, labels_of
from attention_core.topics.read.charts import columns_chart
from ui.chart import draw_chart
from ui.computed import card_or_empty
from ui.first_screen import grey_out
from ui.layout import section
from ui.read.experiments import ChangedReading, begin_later, read_alike
from ui.read.first_screen import MODEL, NAME, SIZE, cards, numbered
from ui.try_this import TryThis, try_this


def looks_chart(drawing: ReadDrawing, now: ChangedReading) -> None:
    """Draw where each look of a reading goes, straight under the drawing: first_screen's style puts it there."""
    weights = to_array(column_weights(now.reading.trace))
    words = f"Where each of the {len(weights)} looks goes"
    with st.container(key="read_looks"):
        labels = numbered(labels_of(now.reading))
        chart = columns_chart(weights, labels, SIZE[1], left_out=now.left_out(drawing))
        draw_chart(chart, width="content", alt=words)


def answer(drawing: ReadDrawing, now: ChangedReading, is_present: bool) -> None:
    """Draw the reading, and that of a reader that cannot choose."""
    reading, alike = now.reading, read_alike(drawing)
    for part in ("read_looks", "read_answer"):
        grey_out(part, not is_present)
    with st.container(key="read_answer"):
        section("Looking digit by digit" + (", changed under Try" if now.is_changed else ""), Role.WEIGHTS)
        st.html(cards(reading, now.withheld, now.left_out(drawing)))
        n = len(reading.digits)
        how = f"in {n + 1} looks; at the last it stopped by itself" if reading.finished else "then it was stopped"
        st.markdown(f"**{reading.digits or 'Nothing'}**: {n} digit{'s' * (n != 1)} {how}.")
        section("Seeing everything at once")
        st.html(cards(alike))
        st.caption("The same network, with every weight made equal as it runs.")
    try_this(NAME, _later(drawing, now))


def figures() -> None:
    """Say how often it is right, on numbers that it never saw."""
    if told := card_or_empty(MODEL).get("test_numbers"):
        five, six = told["accuracy_1_to_5"], told["accuracy_by_length"][str(MAX_DIGITS)]
        st.caption(
            f"Right on {five:.1%} of new numbers of up to five digits, on {six:.1%} of six. Looking and reading were "
            "learned together; often attention for pictures is trained beforehand."
        )


def _later(drawing: ReadDrawing, now: ChangedReading) -> TryThis:
    whole, rest = drawing.reading.digits, drawing.reading.digits[1:] or "the end"

    def outcome() -> tuple[int, str]:
        read = now.reading.digits or "the end"
        words = f"It reads *{read}*: the picture is the same; its question alone knew how far it had come."
        return (1, words) if read == rest else (0 if read == whole else 2, f"It reads *{read}*.")

    return TryThis(
        "Begin with a later question",
        "The drawing stays. It begins with the question that it asked after its first digit. What does it read?",
        (f"{whole} again", f"Only {rest}", "Something else"),
        begin_later,
        outcome,
        "read_answer",
    )
