"""What a recurrent network forgets: why was attention needed?"""

import streamlit as st

from pages.memory import first_screen as screen
from pages.memory.numbers import draw_numbers
from pages.memory.scene import draw_memory_scene
from ui.computed import model_or_fault
from ui.labels import error_markdown
from ui.player import export_bar
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import try_this


def draw_networks() -> None:
    """Draw the open experiment, or what one vector loses, all the numbers, and the page's questions."""
    if draw_experiment(screen.NAME):
        return
    with st.container(key="memory_in_a_row", horizontal=True, vertical_alignment="bottom"):
        text = screen.read_sentence()
        if screen.traced(screen.WITHOUT, text):
            try_this(screen.NAME, screen.guess_loss(text))
    for name, label in screen.LABELS.items():
        if fault := model_or_fault(name)[1]:
            st.error(f"**The network with {label} cannot be loaded.** {error_markdown(fault)}", icon=":material/error:")
    attentive = draw_memory_scene(text)
    if attentive:
        take_along(lambda: export_bar(attentive.trace, screen.NAME, query=attentive.view.first_piece[0]))
    page_questions(screen.NAME, lambda: draw_numbers(text), players=(screen.WALK,))


page_frame(
    screen.NAME,
    "A recurrent network keeps **one vector**. It cannot go back to an earlier word. Attention can.",
)
page_body(draw_networks)
