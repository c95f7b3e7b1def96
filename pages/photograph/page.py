"""Ask a photograph: where in a real picture is what a word asks for?"""

import streamlit as st

from pages.photograph import first_screen as screen
from pages.photograph.numbers import STEPS, draw_numbers, export_reading
from pages.photograph.own import draw_upload
from pages.photograph.reading import MODEL, NAME, learned_and_edited
from ui.computed import model_or_stop
from ui.lecture.mode import LECTURE
from ui.questions import draw_experiment, page_questions
from ui.skeleton import page_body, page_frame
from ui.take_along import take_along
from ui.try_this import TRY_STAGE, try_this


def question_and_answer() -> None:
    """Draw the open experiment, or a question and its answer, all the numbers, and the page's questions."""
    if draw_experiment(NAME):
        return
    with st.container(key="photograph_first"):
        with st.container(horizontal=True, key="photograph_line"):
            screen.draw_question()
            try_this(NAME, screen.absent_surprise())
        nearest_area, scene_area = st.container(), st.container()
        if not (LECTURE.value and TRY_STAGE[NAME].value):  # whose question and outcome need the room
            with st.container(horizontal=True, gap="small", vertical_alignment="center", key="photograph_choice"):
                screen.draw_photographs()
                screen.draw_settings()
                draw_upload()
        model_or_stop(MODEL)
        learned, edited = learned_and_edited()
        with nearest_area:
            screen.draw_nearest(learned)
        with scene_area:
            screen.draw_scene(learned, edited)
    page_questions(NAME, lambda: draw_numbers(edited), players=(STEPS,))
    take_along(lambda: export_reading(edited))


page_frame(NAME, "A word asks a photograph; what it looks at comes back.")
page_body(question_and_answer)
