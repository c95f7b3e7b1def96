"""Beyond pairs: why only pairs, and what can three do?"""

import streamlit as st

from ui.groups.sections import (
    HEADS,
    NAME,
    STEPS,
    accuracies,
    all_at_once,
    choose_query,
    draw_party,
    groups_steps,
    guest_numbers,
    head_trace,
    number_input,
    surprise,
)
from ui.player import export_bar
from ui.skeleton import Tab, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

page_frame(NAME, "At this party a lock opens only when *two* other guests turn their keys together. Who finds the two?")
numbers = guest_numbers()
traces = {head: head_trace(model, numbers) for head, model in HEADS.items()}
party = st.container(key="groups_party")
query = choose_query(numbers)
with party:
    for head, column in zip(HEADS, st.columns(2, gap="medium"), strict=True):
        with column:
            draw_party(head, traces[head], numbers, query)
try_this(NAME, surprise(numbers, traces))
with st.container(key="desk_groups_numbers"):
    number_input()


def how_keys_fit() -> None:
    """Say how numbers, circles and products make a lock."""
    st.markdown(
        "Each guest has a number from 0 to 30, a place on a circle with 31 places. Adding is walking on, and after 30 "
        "comes 0. A lock opens when three walks end at 0: the sum is a multiple of 31.\n\n"
        "The score multiplies one guest's lock with two others' keys, and in a product of waves angles add up: "
        "$\\cos a\\, \\cos b\\, \\cos c = \\tfrac14 \\cos(a + b + c) + \\dots$ It is largest after a full turn. "
        "A product with one key alone never meets the second one."
    )


def why_only_pairs() -> None:
    """Say what three can do that two cannot, and what it costs."""
    why, cost = st.columns(2, gap="large")
    why.markdown(
        "**Three at once works.** Multiply the keys of two others and let the query score the product: "
        "$s_{ijl} = \\frac{1}{\\sqrt{d_k}} \\sum_h q_{ih}\\, k_{jh}\\, k_{lh}$. It does not matter which two "
        "are multiplied first: ((1, 2), 3) and (1, (2, 3)) give the same score.\n\n"
        "**Two layers of pairs go far.** In the second layer a guest asks others that have already met others. "
        "But each brings one mixture of all that it met: which two belonged together may be lost."
    )
    cost.markdown(
        "**Triples cost n times as much.** Eight guests: 64 pairs or 512 triples. The 784 pixels of a digit: "
        "614,656 or 481,890,304."
    )
    cost.expander("Sources").markdown(
        "Clift, Doryn, Murfet and Wallbridge 2019, *Logic and the 2-simplicial transformer*. "
        "Roy et al. 2025, *Fast and simplex: 2-simplicial attention in Triton*. "
        "Sanford, Hsu and Telgarsky 2023, *Representational strengths and limitations of transformers*: one layer of "
        "pairwise attention must grow with n to solve this task; one head over triples need not."
    )


page_tabs(
    NAME,
    Tab("steps", "Step by step", lambda: groups_steps(traces, query, numbers)),
    Tab("right", "How often are they right?", accuracies),
    more=(
        Tab("all", "All n × n × n weights", lambda: all_at_once(traces["triples"], numbers)),
        Tab("why", "So why only pairs?", why_only_pairs),
        Tab("fit", "How two keys fit one lock: circles and products", how_keys_fit),
    ),
    players=(STEPS,),
)
take_along(lambda: export_bar(traces["triples"], NAME, query=query))
