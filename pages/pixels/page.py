"""Draw a digit: from which pixels does a pixel take?"""

import streamlit as st

from pages.pixels import first_screen as screen
from pages.pixels.inputs import export_reading
from pages.pixels.numbers import draw_numbers
from ui.canvas import draw_pad
from ui.digits import WORTH, all_ten_digits, draw_reading
from ui.layout import grey_out, last_on_phone
from ui.lecture.mode import LECTURE
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def drawing_and_reading() -> None:
    """Draw the open experiment, or the pad and what is read on it, all the numbers, and the page's questions."""
    if draw_experiment(screen.NAME):
        return
    screen.mount_pad_anew()
    reading = _draw_scene() if screen.has_scene() else _draw_pair()
    page_questions(screen.NAME, lambda: draw_numbers(reading), players=(screen.STEPS,))
    take_along(lambda: export_reading(reading))


def _draw_scene() -> screen.Reading:
    """Draw how a pixel asks all others, with the pad over its picture; return what is read."""
    with st.container(key="pixels_first"):
        scene = st.container(key="tells_pixels")
        with st.container(horizontal=True, gap="small", key="pixels_buttons"):
            pad = draw_pad(screen.PAD)
            _draw_layers()
        reading, is_empty, remark = screen.read_pad(pad)
        if remark:
            st.info(remark)
        with scene:
            screen.draw_pixel_scene(reading, pad.paper, is_empty=is_empty)
        left, right = (st, st) if LECTURE.value else st.columns(2, gap="medium", vertical_alignment="center")
        with left.container():
            _draw_try_this("tells_pixels")
        with right.container():
            _draw_worth()
    grey_out("tells_pixels", is_empty)
    return reading


def _draw_pair() -> screen.Reading:
    """Draw over the pad a map that no scene shows, and beside it that of equal weights; return what is read."""
    last_on_phone("pixels_pair", "pixels_presets", "pixels_tools", "desk_pixels_layer")
    with st.container(key="pixels_pair"):
        pad_column, comparison_column = st.columns([1, 1.3], gap="medium")
    with pad_column, st.container(key="pixels_stage"):
        reading_area = st.container(key="pixels_said", gap="xsmall")
        pad = draw_pad(screen.PAD)
    reading, is_empty, remark = screen.read_pad(pad)
    with reading_area:
        draw_reading(f"Weights {'changed' if reading.trace.edits else 'as learned'}:", reading.edited.probabilities)
        if not is_empty:
            screen.draw_pixel_map(reading, pad)
    with comparison_column:
        if remark:
            st.container(key="pixels_notice").info(remark)
        equal_column, worth_column = st.columns([1.5, 1], gap="medium", vertical_alignment="center")
        with equal_column.container(key="pixels_read"):
            if not is_empty:
                screen.draw_equal_map(reading)
        with worth_column:
            _draw_worth()
        _draw_try_this("pixels_pair")
        _draw_layers()
    grey_out("pixels_said", is_empty)
    return reading


def _draw_worth() -> None:
    st.container(key=WORTH).caption(screen.worth_text(screen.LAYER.value))


def _draw_try_this(picture: str) -> None:
    try_this(screen.NAME, all_ten_digits(screen.learned_and_equal, screen.PAD, picture, screen.equal_weight()))


def _draw_layers() -> None:
    with st.container(key="desk_pixels_layer"), st.popover("Another map or layer"):
        screen.draw_layer_choice()


page_frame(screen.NAME, screen.page_question())
page_body(drawing_and_reading)
