"""The network unrolled: its present step is lit while the words, or the steps, are played."""

import streamlit as st

from attention_core.attention.harmless import as_markdown
from attention_core.attention.steps import step_of
from attention_core.attention.types import Role
from attention_core.device import to_array
from attention_core.topics.translate.unrolled import unrolled_chart
from ui.chart import draw_chart
from ui.glossary import note, say
from ui.step_view import describe
from ui.translate.first_screen import STEPS, WORD
from ui.translate.translations import TRANSLATORS, ShownTranslation

OUTPUTS = {"read_out": "layer", "output": "word"}


def unrolled(shown: ShownTranslation, row: int) -> None:
    """Draw the network at the present word, with the present step lit, beside what that step does."""
    if shown.translator == "transformer":
        st.info("The transformer has no recurrent network to unroll. Take another model above, or click its words.")
        return
    if row != WORD.value:
        st.rerun()
    trace, query = shown.trace, shown.view.first_piece[row]
    say(
        "The whole network, one line per piece of a word: the encoder reads downwards and upwards, the decoder speaks "
        "downwards. *Play* above goes from word to word; the steps below light up one after the other."
    )
    step = STEPS.draw(trace)
    if STEPS.hides(trace, step, query):
        return
    picture, words = st.columns([1, 1.1], gap="large")
    numbers = None, None
    if not shown.view.is_single:
        numbers = tuple(to_array(one(0, [query])[0]) for one in (trace.scores, trace.weights))
    source, target = step_of(trace, "embedding").row_axis.labels, trace.story.query_axis.labels
    lit = OUTPUTS[step.name] if step.role is Role.OUTPUT else step.role.value
    draw_chart(
        unrolled_chart(source, target, query, lit, *numbers),
        width="content",
        key="translate_unrolled",
        alt=f"The network unrolled, saying {target[query]}; lit is: {step.title}",
        on=picture,
    )
    with words:
        describe(step)
        fed = f"fed **{as_markdown(target[query - 1])}**, the piece before" if query else "fed the start"
        st.markdown(
            f"{TRANSLATORS[shown.translator].capitalize()}, word {row + 1} of {len(shown.view.target)}: the decoder is "
            f"{fed}, and says **{as_markdown(target[query])}**. The next state is fed that in turn."
        )
        note(
            "Scores are drawn from the lowest one upwards: the softmax sees their differences alone. The next layer "
            "joins state and context. A line is as thick as its weight."
            if numbers[0] is not None
            else "Nothing is scored: the two ends of the reading are all that is handed over, the same at every word."
        )
