"""Which word is nearest: a page of a table and two fields, to begin a new one with."""

from pages.nearest import parts

from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along


def nearest_words() -> None:
    """Draw the words that are compared, and what stands below them."""
    trace = parts.compared_words()
    parts.show_shares(trace)
    page_tabs(parts.NAME, Tab("steps", "Step by step", lambda: parts.show_steps(trace)), players=(parts.STEPS,))
    take_along(lambda: parts.export(trace))


page_frame(parts.NAME, "The more runs of letters two words share, the more one *query* takes from the other's value.")
page_body(nearest_words)
