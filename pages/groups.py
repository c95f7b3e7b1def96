"""Beyond pairs: why only pairs, and what can three do?"""

import streamlit as st

from attention_core.attention.types import Role
from ui.export import export_bar
from ui.groups.parts import (
    HEAD_WORDS,
    all_slices,
    answers_table,
    choose_query,
    figures,
    number_input,
    show_step,
    single_row,
    trace_of,
)
from ui.layout import section, who_asks
from ui.skeleton import page_frame
from ui.step_view import show_words
from ui.stepper import is_hidden, play_interval, stepper

NAME = "groups"

page_frame(NAME, "Attention compares one with one. Why only pairs, why not ((1, 2), 3)?")
who_asks("each number", "every pair of two others", "the product of their values")

entry, answer = st.columns([1, 1.6], gap="medium")
with entry:
    section("Numbers")
    st.markdown("The question of each number: *do some two of the others make 0 with me, modulo 31?*")
    numbers = number_input(NAME).numbers
traces = {head: trace_of(head, numbers) for head in HEAD_WORDS}
with answer:
    section("Answers")
    query = choose_query(NAME, numbers)
    answers_table(numbers, traces, query)


def explore() -> None:
    """Step through either head for the chosen number."""
    head = st.segmented_control(
        "Step through the head that",
        list(HEAD_WORDS),
        format_func=HEAD_WORDS.get,
        default="triples",
        key=f"{NAME}_head",
        required=True,
        persist_state="session",
    )
    trace = traces[head]
    step = stepper(trace, NAME)
    if is_hidden(step, NAME):
        return
    words, matrix = st.columns([0.82, 1], gap="large")
    best = int(trace.weights(0, [query])[0].argmax())
    with words:
        show_words(trace, step, 0, query, best)
        if head == "triples":
            st.caption(
                f"Here a key is a pair: number {best} is the pair {trace.story.key_axis.labels[best]}. The softmax and "
                "the weighted sum are those of every other page, only over n × n keys instead of n."
            )
    with matrix:
        show_step(trace, step, query, numbers, NAME)


st.divider()
st.fragment(explore, run_every=play_interval(NAME))()
st.divider()
block, alone = st.columns([1.35, 1], gap="large")
with block:
    section("All n × n × n weights", Role.WEIGHTS)
    st.caption("One square per query: first of the pair down, second across, nobody last.")
    all_slices(traces["triples"], numbers)
with alone:
    section("The same query, looking at single others", Role.WEIGHTS)
    single_row(traces["pairs"], query, numbers)
    st.caption(
        "Its weights must go somewhere, but no single number can settle the question: whatever it is, the answer "
        "hangs on a second one that this score never sees beside it."
    )
st.divider()
section("How often are they right?")
figures(NAME)
st.divider()
section("So why only pairs?")
why, cost = st.columns(2, gap="large")
with why:
    st.markdown(
        "**((1, 2), 3) works.** Multiply the keys of 1 and 2 and let 3 score the product: "
        "$s_{ijl} = \\frac{1}{\\sqrt{d_k}} \\sum_h q_{ih}\\, k_{jh}\\, k_{lh}$. The sum does not mind how it is "
        "bracketed: ((1, 2), 3) and (1, (2, 3)) are the same score."
    )
    st.markdown(
        "**Pairs, stacked, go far.** In a second layer a number asks others that have already met others. "
        "But each brings one mixture of all it met, squeezed into d numbers; which two belonged together may be lost."
    )
with cost:
    st.markdown(
        "**Triples cost n times as much.** Eight numbers: 64 pairs or 512 triples. The 784 pixels of a digit: "
        "614,656 or 481,890,304. Four at a time would cost n times more again."
    )
    with st.expander("Sources"):
        st.markdown(
            "Clift, Doryn, Murfet and Wallbridge 2019, *Logic and the 2-simplicial transformer*. "
            "Roy et al. 2025, *Fast and simplex: 2-simplicial attention in Triton*. "
            "Sanford, Hsu and Telgarsky 2023, *Representational strengths and limitations of transformers*: they prove "
            "that one layer of pairwise attention must grow with n to solve this task, while one head over triples "
            "need not."
        )
export_bar(traces["triples"], NAME, query=query)
