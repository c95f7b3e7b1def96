"""What are all n × n × n weights? One square for each guest: whom they look at, two at once."""

import numpy as np

from attention_core.attention.key_pairs import pair_scores, pair_weights
from attention_core.charts import weights_ramp
from attention_core.charts.pictures import contact_sheet
from attention_core.device import to_array
from pages.groups.inputs import Party, draw_guests
from ui.chart import draw_chart


def draw_input() -> Party:
    """Draw the guests."""
    return draw_guests(asks_for_lock=False)


def answer(party: Party) -> str:
    """Say how many there are."""
    n = len(party.numbers)
    return f"{n} × {n} × {n} = {n**3:,} cells: in each guest's square, row and column are two others, or nobody."


def draw(party: Party) -> None:
    """Draw one small square of weights per guest."""
    trace = party.traces["triples"]
    squares = np.stack([to_array(pair_weights(trace, query)) for query in range(len(party.numbers))])
    ramp = weights_ramp(int(np.isfinite(to_array(pair_scores(trace, 0))).sum()))
    chart = contact_sheet(squares, party.names, ramp, title="weight", columns=4, size=150)
    draw_chart(chart, width="content", alt="Weights of all guests")
