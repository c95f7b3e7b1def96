"""Translate and align: what does a decoder look at, word by word?"""

import streamlit as st

from pages.translate import first_screen as screen
from pages.translate import tabs
from pages.translate.forcing import WORD, change_arcs, force_french, forced_french_note
from ui.layout import last_on_phone
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.translators import NAME, translation_faithfulness
from ui.try_this import try_this


def translations() -> None:
    """Draw the translations, and what stands below them."""
    last_on_phone("translate_screen", "translate_text", "translate_examples", "desk_translate_all", "translate_list")
    with st.container(key="translate_screen"):
        input_column, output_column = screen.input_and_output_columns()
        with input_column:
            text = screen.sentence_input()
            try_this(NAME, screen.longer_sentence())
        with output_column, st.container(key="translate_pair"):
            models = screen.compare_two_models(text)
            if models:
                traced, row = screen.stepped_model(models), WORD.value
                forced_french_note(text, traced)
        with input_column:
            with st.container(key="desk_translate_all"):
                screen.ALL_MODELS.widget(st.toggle, "All six models")
                st.caption(
                    "Small networks, trained on 135,806 pairs of short sentences. With attention they lose words, too."
                )
            screen.list_translations(text)

    any_length = Tab("length", "Any length", lambda: tabs.draw_any_length(text))
    learned = Tab("learned", "How it was learned", tabs.draw_training)
    tab_row, sections = [any_length], [learned]
    if models:
        tab_row = [
            Tab("steps", "Step by step", lambda: tabs.translate_steps(traced, row)),
            Tab(
                "try",
                "Try",
                lambda: change_arcs(traced, row, text),
                below=Tab("force", "What the French begins with", lambda: force_french(traced, row, text)),
            ),
            any_length,
        ]
        sections = [
            Tab("unrolled", "Unrolled", lambda: tabs.draw_unrolled(traced, row)),
            Tab(
                "alignment",
                "Who looks where",
                lambda: tabs.draw_alignments(models, text),
                below=Tab("grammar", "Is grammar caught?", lambda: tabs.draw_grammar(models, text)),
            ),
            *([translation_faithfulness(NAME, text, traced)] if traced.view.source == traced.view.keys else []),
            learned,
        ]
        take_along(lambda: export_bar(traced.trace, NAME, query=traced.view.first_piece[row]))
    page_tabs(NAME, *tab_row, more=tuple(sections), players=(screen.STEPS,))


page_frame(
    NAME,
    "Without attention a network keeps **one vector**, with **attention** it looks back. What only one of the two says "
    "is coloured, and so is the English that it looks at most.",
)
page_body(translations)
