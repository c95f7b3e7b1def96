"""Which pixels does one pixel take from? The page's scene, for a lecture, whose first screen has no room for it."""

from pages.pixels import first_screen as screen
from pages.pixels.drawing import draw_drawing_and_scene
from pages.pixels.inputs import export_reading
from ui.take_along import take_along


def draw_input() -> screen.Reading:
    """Draw the pad, and how a pixel asks all others; return what is read."""
    reading = draw_drawing_and_scene()
    take_along(lambda: export_reading(reading))
    return reading


def answer(_: screen.Reading) -> str:
    """Say nothing: the scene does."""
    return ""


def draw(_: screen.Reading) -> None:
    """Draw nothing more."""
