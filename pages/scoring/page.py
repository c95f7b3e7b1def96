"""What a score measures: eight ways to compare a query with a key."""

from pages.scoring.controls import NAME
from pages.scoring.first_screen import DOUBLE_QUERY
from pages.scoring.inputs import draw_comparison
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.try_this import try_this


def comparison() -> None:
    """Draw the open experiment, or the scores and the page's questions; the plane last."""
    if draw_experiment(NAME):
        return
    compared = draw_comparison()
    with compared.row:
        try_this(NAME, DOUBLE_QUERY)
    page_questions(NAME, None)
    compared.draw_plane(is_hero=True)


page_frame(NAME, "A dot product counts **length**, too. Blue: query. Yellow: keys, as thick as their weight.")
page_body(comparison)
