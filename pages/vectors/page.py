"""Three vectors, nine pairs: how do inputs interact, and what do Q, K and V add?"""

from pages.vectors import first_screen as screen
from pages.vectors.inputs import draw_workbench
from pages.vectors.numbers import draw_numbers
from pages.vectors.tables import FIRST, NAME, PRESET, STEPS
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.try_this import TRY_STAGE, is_answered, try_this


def workbench() -> None:
    """Draw the open experiment, or nine pairs, all the numbers and the page's questions; the pairs last."""
    if draw_experiment(NAME):
        return
    bench = draw_workbench()
    if is_answered(NAME) and not screen.has_moved_input(bench.problem):
        TRY_STAGE[NAME].reset()  # its answer is about x1 where it was moved to
    if PRESET.value == FIRST:
        with bench.row:
            try_this(NAME, screen.MOVE_INPUT)
    page_questions(NAME, lambda: draw_numbers(bench.trace), players=(STEPS,))
    bench.draw_pairs(can_cover=True)


page_frame(NAME, "Every query asks every key: each pair has a weight. Drag an arrow.")
page_body(workbench)
