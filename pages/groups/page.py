"""Beyond pairs: why only pairs, and what can three do?"""

import streamlit as st

from attention_core.faithfulness import subjects
from pages.groups import sections
from ui.faithfulness import faithfulness_tab
from ui.labels import paragraph
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this

WHY_ONLY_PAIRS = r"""
**Three at once works**: the query scores the product of two keys,
$s_{ijl} = \frac{1}{\sqrt{d_k}} \sum_h q_{ih}\, k_{jh}\, k_{lh}$. The order does not matter:
((1, 2), 3) and (1, (2, 3)) give the same score.

**But triples cost n times as much.** The 784 pixels of a digit: 614,656 pairs or 481,890,304 triples.

**Two layers of pairs go far.** In the second, guests ask others that have met others.
"""
SUM_OF_ANGLES = r"""
Each number is a place on a circle. A lock opens when its number and two others add up to full turns.

A product of waves adds up their angles: $\cos a\, \cos b\, \cos c = \tfrac14 \cos(a + b + c) + \dots$
It is largest after full turns.
"""


def party() -> None:
    """Draw the party, and what stands below it."""
    numbers = sections.guest_numbers()
    traces = sections.heads_as_changed(numbers)
    query = sections.choose_query(numbers)
    with st.container(key="groups_party"):
        st.markdown(sections.rule(numbers, query))
        for head, column in zip(sections.HEADS, st.columns(2, gap="medium"), strict=True):
            with column:
                sections.draw_party(head, traces[head], numbers, query)
    try_this(sections.NAME, sections.surprise(numbers, traces))
    with st.container(key="desk_groups_numbers"):
        sections.type_numbers()

    hidden = "guests", subjects.match3_subject, numbers, query, sections.NAMES[: len(numbers)]
    page_tabs(
        sections.NAME,
        Tab("steps", "Step by step", lambda: sections.groups_steps(traces, query, numbers)),
        Tab("try", "Try", lambda: sections.try_tab(traces, numbers, query)),
        Tab("right", "How often are they right?", sections.accuracies),
        more=(
            Tab("all", "All n × n × n weights", lambda: sections.all_weights(traces["triples"], numbers)),
            Tab("why", "So why only pairs?", lambda: paragraph(WHY_ONLY_PAIRS)),
            Tab("fit", "How two keys fit one lock", lambda: paragraph(SUM_OF_ANGLES)),
            faithfulness_tab(sections.NAME, sections.HEADS[sections.HEAD.value], *hidden),
        ),
        players=(sections.STEPS,),
    )
    take_along(lambda: export_bar(traces["triples"], sections.NAME, query=query))


page_frame(
    sections.NAME,
    "At this party *two* keys, turned together, open a lock; one alone never does. Attention tries one at a time.",
)
page_body(party)
