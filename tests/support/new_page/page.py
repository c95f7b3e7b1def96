"""Which word is nearest: a page of a table and two fields, to begin a new one with."""

from pages.nearest import parts

from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along


def nearest_words() -> None:
    """Draw the open experiment, or the words that are compared and what stands below them."""
    if draw_experiment(parts.NAME):
        return
    trace = parts.compare(*parts.query_and_keys())
    parts.show_shares(trace)
    page_questions(parts.NAME, lambda: parts.show_steps(trace), players=(parts.STEPS,))
    take_along(lambda: parts.export(trace))


page_frame(parts.NAME, "The more runs of letters two words share, the more one *query* takes from the other's value.")
page_body(nearest_words)
