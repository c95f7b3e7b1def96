"""Which words matter: what attention weighs, and what each word does to a judgement."""

import streamlit as st

from attention_core.data.sentence_presets import PRESETS
from attention_core.faithfulness import subjects
from attention_core.inference.sentiment import MAX_WORDS, read_sentence
from pages.matter import judgement as judge
from ui.computed import model_or_stop
from ui.faithfulness import faithfulness_tab
from ui.player import export_bar, show_all_numbers
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this
from ui.words import readable_sentence, report_unknown_words, sentence_box


def judged_sentence() -> None:
    """Draw the judged sentence, and what stands below it."""
    model_or_stop(judge.ATTENTION)

    with st.container(key="matter_first"):
        input_column, answer_column = st.columns([1.15, 1], gap="medium")
        with input_column:
            entry = sentence_box(judge.NAME, PRESETS, max_words=MAX_WORDS, label="A sentence about a film")
            text = readable_sentence(judge.NAME, entry, next(iter(PRESETS.values())), "matter_answer", "matter_words")
            sentence = read_sentence(text)
            is_read = report_unknown_words(sentence.words, sentence.in_vocabulary)
        edits = judge.EDITS.fitting(judge.attention_trace(text), input_id=text)
        trace = judge.attention_trace(text, edits)
        with answer_column:
            with st.container(key="matter_answer"):
                judge.draw_answer(text, edits, is_read)
            judge.draw_comparison(sentence, text, trace, is_read)
            try_this(judge.NAME, judge.surprise())
        judge.draw_words(sentence, text, trace, is_read)
        with st.container(key="desk_matter_worth"):
            judge.draw_worth_of_attention()

    take_along(lambda: export_bar(trace, judge.NAME, query=0))
    page_tabs(
        judge.NAME,
        Tab("steps", "Step by step", lambda: show_all_numbers(trace, judge.STEPS, judge.NAME)),
        Tab("try", "Try", lambda: judge.try_section(text, trace)),
        Tab("models", "Two phases", lambda: judge.two_phases(text, edits, is_read)),
        more=(faithfulness_tab(judge.NAME, judge.ATTENTION, "words", subjects.sentence_subject, sentence.words),),
        players=(judge.STEPS,),
    )


page_frame(
    judge.NAME, "Is it praise or blame? The word that gets the most attention is not always the one that decides."
)
page_body(judged_sentence)
