"""Draw a digit: from which pixels does a pixel take?"""

import streamlit as st

from attention_core.data.drawing import CanvasRemark
from attention_core.faithfulness import subjects
from pages.pixels import first_screen as screen
from pages.pixels import tabs
from ui.canvas import draw_pad, readable_content
from ui.digits import WORTH, all_ten_digits, draw_reading, inked, prepared, remark_on
from ui.faithfulness import KeysInPicture, faithfulness_tab
from ui.layout import grey_out, last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this


def drawing_and_reading() -> None:
    """Draw the pad, what the network reads on it, and what stands below."""
    last_on_phone("pixels_first", "pixels_presets", "pixels_tools", "desk_pixels_layer")
    with st.container(key="pixels_first"):
        pad_column, comparison_column = st.columns([1, 1.3], gap="medium")
    with pad_column, st.container(key="pixels_stage"):
        reading_area = st.container(key="pixels_said", gap="xsmall")
        pad = draw_pad(screen.PAD)
    prepared_drawing = prepared(pad.canvas)
    is_empty = prepared_drawing.remark is CanvasRemark.EMPTY
    last_canvas = readable_content(screen.PAD, pad, is_empty).canvas
    reading = screen.read_drawing(prepared(last_canvas))
    with reading_area:
        draw_reading(f"Weights {'changed' if reading.trace.edits else 'as learned'}:", reading.edited.probabilities)
        if not is_empty:
            screen.draw_pixel_map(reading, pad)
    with comparison_column:
        if remark := remark_on(screen.REMARKS, prepared_drawing.remark, bool(pad.strokes)):
            st.container(key="pixels_notice").info(remark)
        equal_column, worth_column = st.columns([1.5, 1], gap="medium", vertical_alignment="center")
        with equal_column.container(key="pixels_read"):
            if not is_empty:
                screen.draw_equal_map(reading)
        worth_column.container(key=WORTH).caption(screen.worth_text(screen.LAYER.value))
        surprise = all_ten_digits(screen.learned_and_equal, screen.PAD, "pixels_first", screen.equal_weight())
        try_this(screen.NAME, surprise)
        with st.container(key="desk_pixels_layer"), st.popover("Another map or layer"):
            screen.draw_layer_choice()
    grey_out("pixels_said", is_empty)

    image = reading.drawing.image
    over = KeysInPicture(screen.light_ink(image), image.shape, smooth=False, high=screen.MAX_MAP_WEIGHT)
    erased = "ink pixels", subjects.pixel_subject, image
    faithfulness = faithfulness_tab(screen.NAME, screen.LAYER.value, *erased, over=over)
    page_tabs(
        screen.NAME,
        Tab("steps", "Step by step", lambda: tabs.pixels_steps(reading)),
        Tab("try", "Try", lambda: tabs.change_section(reading)),
        Tab("learned", "What was learned", lambda: tabs.learned_section(reading)),
        more=(
            Tab("worth", "How much of the work did attention do?", tabs.worth_section),
            Tab("kept", "Does V stay close to X?", lambda: tabs.projection_section(reading)),
            Tab("patches", "49 patches", lambda: tabs.patches_section(reading)),
            *([faithfulness] if reading.learned.traces[0].has_softmax else []),
        ),
        players=(screen.STEPS,),
    )
    take_along(
        lambda: export_bar(reading.trace, screen.NAME, query=reading.query, picture=inked(reading.drawing.image))
    )


page_frame(screen.NAME, screen.page_question())
page_body(drawing_and_reading)
