"""Beyond pairs: why only pairs, and what can three do?"""

import streamlit as st

from pages.groups import sections
from pages.groups.sections import party_doubts
from ui.player import export_bar
from ui.skeleton import Tab, page_body, page_frame, page_tabs
from ui.take_along import take_along
from ui.try_this import try_this


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

    def why_only_pairs() -> None:
        """Say what three can do that two cannot, and what it costs."""
        st.markdown(
            "**Three at once works**: the query scores the product of two keys, "
            "$s_{ijl} = \\frac{1}{\\sqrt{d_k}} \\sum_h q_{ih}\\, k_{jh}\\, k_{lh}$. The order does not matter: "
            "((1, 2), 3) and (1, (2, 3)) give the same score.\n\n"
            "**But triples cost n times as much.** The 784 pixels of a digit: 614,656 pairs or 481,890,304 triples.\n\n"
            "**Two layers of pairs go far.** In the second, guests ask others that have met others."
        )

    page_tabs(
        sections.NAME,
        Tab("steps", "Step by step", lambda: sections.groups_steps(traces, query, numbers)),
        Tab("try", "Try", lambda: sections.try_tab(traces, numbers, query)),
        Tab("right", "How often are they right?", sections.accuracies),
        more=(
            Tab("all", "All n × n × n weights", lambda: sections.all_weights(traces["triples"], numbers)),
            Tab("why", "So why only pairs?", why_only_pairs),
            Tab("fit", "How two keys fit one lock", sections.how_keys_fit),
            party_doubts(numbers, query),
        ),
        players=(sections.STEPS,),
    )
    take_along(lambda: export_bar(traces["triples"], sections.NAME, query=query))


page_frame(
    sections.NAME,
    "At this party *two* keys, turned together, open a lock; one alone never does. Attention tries one at a time.",
)
page_body(party)
