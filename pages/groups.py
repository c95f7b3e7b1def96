"""Beyond pairs: why only pairs, and what can three do?"""

import streamlit as st

from ui.groups.sections import (
    HEADS,
    NAME,
    STEPS,
    accuracies,
    all_at_once,
    answers_table,
    choose_query,
    groups_steps,
    head_trace,
    number_input,
)
from ui.layout import attention_roles, section
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs

page_frame(NAME, "Attention compares one thing with one other. What if it compared it with two others at once?")
attention_roles(
    "each number",
    "every pair of two others",
    "the product of their values",
    here="Here each number asks every pair of two others.",
    try_this="Press <i>A number twice</i>: the head that looks at one at a time misses all three who have a pair.",
)

entry, answer = st.columns([1, 1.6], gap="medium")
with entry:
    section("Numbers")
    st.markdown("Each number asks: *are there two others that, added to me, give a multiple of 31?*")
    numbers = number_input()
with answer:
    section("Answers")
    traces = {head: head_trace(model, numbers) for head, model in HEADS.items()}
    query = choose_query(numbers)
    answers_table(numbers, traces, query)


def why_only_pairs() -> None:
    """Say what three can do that two cannot, and what it costs."""
    why, cost = st.columns(2, gap="large")
    why.markdown(
        "**Three at once works.** Multiply the keys of two others and let the query score the product: "
        "$s_{ijl} = \\frac{1}{\\sqrt{d_k}} \\sum_h q_{ih}\\, k_{jh}\\, k_{lh}$. It does not matter which two "
        "are multiplied first: ((1, 2), 3) and (1, (2, 3)) give the same score.\n\n"
        "**Two layers of pairs go far.** In the second layer a number asks others that have already met others. "
        "But each brings one mixture of all that it met, in d numbers. Which two belonged together may be lost."
    )
    cost.markdown(
        "**Triples cost n times as much.** Eight numbers: 64 pairs or 512 triples. The 784 pixels of a digit: "
        "614,656 or 481,890,304. Four at a time would cost n times more again."
    )
    cost.expander("Sources").markdown(
        "Clift, Doryn, Murfet and Wallbridge 2019, *Logic and the 2-simplicial transformer*. "
        "Roy et al. 2025, *Fast and simplex: 2-simplicial attention in Triton*. "
        "Sanford, Hsu and Telgarsky 2023, *Representational strengths and limitations of transformers*: they prove "
        "that one layer of pairwise attention must grow with n to solve this task, while one head over triples "
        "need not."
    )


page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: groups_steps(traces, query, numbers)),
    Tab("all", "All n × n × n weights", lambda: all_at_once(traces, query, numbers)),
    Tab("right", "How often are they right?", accuracies),
    Tab("why", "So why only pairs?", why_only_pairs),
    Tab("take", "Take it along", lambda: export_bar(traces["triples"], NAME, query=query)),
    players=(STEPS,),
)
