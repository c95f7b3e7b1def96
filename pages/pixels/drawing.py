"""One's own drawing: the pad with a pixel's weights over it, and what the network reads."""

import streamlit as st

from pages.pixels import first_screen as screen
from ui.canvas import draw_pad
from ui.digits import draw_reading
from ui.layout import grey_out, last_on_phone


def draw_drawing_and_scene() -> screen.Reading:
    """Draw the pad and what is read on it; return that."""
    screen.mount_pad_anew()
    return _draw_scene() if screen.has_scene() else _draw_pair()


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
        with st.container(key="pixels_read"):
            if not is_empty:
                screen.draw_equal_map(reading)
        _draw_layers()
    grey_out("pixels_said", is_empty)
    return reading


def _draw_layers() -> None:
    with st.container(key="desk_pixels_layer"), st.popover("Another map or layer"):
        screen.draw_layer_choice()
