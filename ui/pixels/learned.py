"""What was learned: the map at eight moments of the training, and what asks for what after it."""

from collections.abc import Mapping

import streamlit as st
import torch
from torch import Tensor

from attention_core.attention.trace import AttentionTrace
from attention_core.device import to_array
from attention_core.models import attention_at_snapshot
from attention_core.topics.pixels import likeness_beyond
from attention_core.topics.pixels.split import INK, PLACE, score_parts, shares_of
from attention_core.weights import WeightsError
from ui.chart import draw_chart
from ui.computed import by_model, load_snapshots
from ui.labels import error_markdown
from ui.pixels.first_screen import INK_ONLY, LAYER, NAME, Reading, attention_received, map_chart
from ui.state import Field, whole_number

GIVEN = 0.4  # correlation, beyond that with the ink, above which much of a map was there at the start
MOMENT = Field(NAME, "snapshot", -1, address="moment", parse=whole_number)
at_snapshot = by_model(attention_at_snapshot)


def learned_section(reading: Reading) -> None:
    """Draw the drawing as a moment of the training saw it."""
    name, image, ink = LAYER.value, reading.image, reading.drawing.image
    try:
        snapshots, steps = _moments(name)
    except WeightsError as error:
        st.info(f"The snapshots of the training are not here. {error_markdown(error)}")
        return
    words = {one: f"batch {int(snapshots[f'{one}.step']):,}" for one in steps}
    moment = MOMENT.widget(st.select_slider, "Moment of the training", steps, format_func=words.__getitem__)
    begun, trace, ended = (_at_moment(name, snapshots, one, image) for one in (steps[0], moment, steps[-1]))
    first, now, last = (to_array(attention_received(one, image)) for one in (begun, trace, ended))
    row = to_array(trace.weights(0, [reading.query])[0])
    maps = (("The framed pixel takes from", row, reading.query), ("All ink takes from", now, None))
    *places, said = st.columns(3, gap="large")
    for place, (title, values, marked) in zip(places, maps, strict=True):
        with place:
            st.markdown(f"**{title}**")
            draw_chart(map_chart(trace, values, ink, size=200, marked=marked), width="content", alt=title)
    with said:
        st.markdown("**Are Q and K just random?**")
        st.caption(_whether_learned(name, likeness_beyond(first, last, ink)))
        if name != INK_ONLY:
            st.caption(_what_they_say(name, snapshots, steps[-1], image))


def _moments(name: str) -> tuple[Mapping[str, Tensor], list[int]]:
    """Return the snapshots of a training and their numbers, of which MOMENT is one; WeightsError without them."""
    snapshots = load_snapshots(name)
    steps = sorted(int(key.split(".")[0]) for key in snapshots if key.endswith(".step"))
    MOMENT.clamp_to_options(steps, steps[-1])
    return snapshots, steps


def _whether_learned(name: str, alike: float) -> str:
    if name == INK_ONLY:
        return "A pixel is its ink alone: Q Kᵀ is the drawing times itself, of rank one, learned or not."
    figures = f"Beyond the ink, which both follow, the maps of all ink before and after training correlate {alike:.2f}"
    return f"{figures}: much was there at the start." if alike > GIVEN else f"At first, yes. {figures}."


def _what_they_say(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> str:
    """Return which of place and ink has the larger share in what pixels ask, and in what is asked of them."""
    drawn, blank = (_at_moment(name, snapshots, moment, one) for one in (image, torch.zeros_like(image)))
    shares = shares_of(score_parts(drawn, blank))
    asks, asked = (
        max((sum(share for part, share in shares.items() if part[end] == one), one) for one in (PLACE, INK))
        for end in (0, 1)
    )
    return (
        f"After training Q, what a pixel looks for, is mostly up to its {asks[1]} ({asks[0]:.0%}); K, what it offers, "
        f"to its {asked[1]} ({asked[0]:.0%})."
    )


def _at_moment(name: str, snapshots: Mapping[str, Tensor], moment: int, image: Tensor) -> AttentionTrace:
    own = {key: tensor for key, tensor in snapshots.items() if key.startswith(f"{moment}.")}
    return at_snapshot(name, own, moment, image)[0]
